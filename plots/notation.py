"""One notation of measured numbers, 235 times, 0.66 %, 8.3 ms, n^1.9, and of the names of metrics and algorithms."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from math import ceil, inf, log10

from cepbench.metrics.figure import EXPONENT, RATIO, SHARE, ClaimResult, Evidence, Figure
from cepbench.plots.style import label
from cepbench.plots.units import human, plain

METRICS = {
    "latency_mean": "mean latency",
    "latency_max": "largest latency",
    "latency_p50": "median latency",
    "service_total": "CPU time",
    "service_per_window": "CPU time per window",
    "plan_seconds": "planning time",
    "state_peak": "state",
    "process_peak": "process memory",
}
"""Words for metrics whose names are not."""
LARGE = 1e7
"""From this ratio on, a number has too many digits to read."""
SUFFIXES = {"_seconds": " time", "_peak": "", "_mean": ""}
"""Replaces the ends of the names of details."""
METRIC = re.compile(rf"\b(?:(?P<of>details|realised|state_kinds)\.(?P<name>\w+)|(?P<metric>{'|'.join(METRICS)})\b)")


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


def spoken(text: str, figure: Figure) -> str:
    """A text on a claim of a figure, with words for metrics, and the labels of its algorithms."""
    text = METRIC.sub(_metric, text)
    names = "|".join(re.escape(name) for name in sorted(figure.algorithms, key=len, reverse=True))
    return re.sub(rf"(?<![\w=]){names and f'(?:{names})'}(?![\w\[=])", lambda m: label(m[0], figure.labels), text)


def _metric(match: re.Match[str]) -> str:
    """`search time` for `details.search_seconds`, and `state of events` for `state_kinds.events`."""
    if match["metric"]:
        return METRICS[match["metric"]]
    name = match["name"]
    for suffix, words_in in SUFFIXES.items():
        name = f"{name.removesuffix(suffix)}{words_in}" if name.endswith(suffix) else name
    return f"{'state of ' if match['of'] == 'state_kinds' else ''}{name.replace('_', ' ')}"


def between(result: Evidence) -> str:
    """The least and the largest number: `1.2 to 85 times`."""
    low, high = result.low or 0.0, result.high or 0.0
    show, bare = _notation(high, result.unit)
    return show(high) if low == high else f"{bare(low)} to {show(high)}"


def in_unit_of(result: Evidence | ClaimResult, value: float) -> str:
    """Another number, written as that of the result."""
    return _notation(result.measured or value, result.unit)[0](value)


def _notation(measured: float, unit: str) -> tuple[Callable[[float], str], Callable[[float], str]]:
    """How a number like `measured` is written, and how beside another one: 235 times, 6.6 %, 8.3 ms, n^1.9."""
    if unit == EXPONENT:
        return _exponent, _exponent
    if unit == RATIO:
        return (lambda value: f"{_ratio(value)} times"), _ratio
    if unit == SHARE:
        if measured > 1:
            return (bare := partial(plain, digits=3)), bare
        return (lambda value: f"{_percent(value)} %"), _percent
    return (written := partial(human, unit=unit)), written


def _ratio(value: float) -> str:
    """Three digits; powers of ten from ten million on, as in `1.6·10^8`."""
    if LARGE <= value < inf:
        mantissa, _, exponent = f"{value:.2e}".partition("e")
        first = "" if float(mantissa) == 1 else f"{float(mantissa):g}·"
        return f"{first}10^{int(exponent)}"
    return plain(value, _digits(value))


def _percent(value: float) -> str:
    return plain(100 * value, _digits(value))


def _digits(ratio: float) -> int:
    """Three digits, or as many as show the difference of a ratio from 1: 1.01, 1.0003."""
    difference = abs(ratio - 1)
    return 1 + ceil(-log10(difference)) if 0 < difference < 0.005 else 3


def _exponent(value: float) -> str:
    return f"{EXPONENT}{plain(value, 3)}"
