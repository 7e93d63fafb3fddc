"""One notation of measured numbers: 235 times, 0.66 %, 8.3 ms, n^1.9."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from cepbench.metrics.figure import EXPONENT, RATIO, SHARE, ClaimResult, Evidence
from cepbench.plots.units import human, plain


def words(result: ClaimResult | Evidence) -> tuple[str, str]:
    """The number and its interval as text; the interval is empty if there is none, and has no unit beside a ratio."""
    if result.measured is None:
        return "–", ""
    show, bare = _notation(result.measured, result.unit)
    if result.bound and result.low and result.high:
        return f"{bare(result.low)} to {show(result.high)}", ""
    if result.bound:
        return f"{'≤' if result.low is None else '≥'} {show(result.measured)}", ""
    if result.low == result.high:
        return show(result.measured), ""
    low = "0" if result.low is None else bare(result.low)
    high = "∞" if result.high is None else bare(result.high)
    return show(result.measured), f"{low} to {high}"


def in_unit_of(result: Evidence | ClaimResult, value: float) -> str:
    """Another number, written as that of the result."""
    return _notation(result.measured or value, result.unit)[0](value)


def _notation(measured: float, unit: str) -> tuple[Callable[[float], str], Callable[[float], str]]:
    """How a number like `measured` is written, and how beside another one: 235 times, 6.6 %, 8.3 ms, n^1.9."""
    if unit == EXPONENT:
        return _exponent, _exponent
    if unit in (RATIO, SHARE):
        factor, name = (1.0, "times") if unit == RATIO else (100.0, "%") if measured <= 1 else (1.0, "")
        return (lambda value: f"{plain(factor * value, 3)} {name}".strip()), (lambda value: plain(factor * value, 3))
    return (written := partial(human, unit=unit)), written


def _exponent(value: float) -> str:
    return f"{EXPONENT}{plain(value, 3)}"
