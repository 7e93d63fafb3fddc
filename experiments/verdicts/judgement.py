"""What is said of a claim, before it is put into words for the report."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isfinite

from cepbench.experiments.verdicts.numbers import Number
from cepbench.metrics.figure import Verdict


class NotComparable(Exception):
    """A claim that the records cannot decide; the message is the reason."""


@dataclass(frozen=True)
class Judgement:
    """A verdict with the number that it follows from.

    `number` is None where a claim is about no single number; `reason` says what the number does not, and `computation`
    how the number follows from the records.
    """

    verdict: Verdict
    number: Number | None = None
    unit: str = ""
    reasons: tuple[str, ...] = field(default=())
    computation: str = ""

    @property
    def told(self) -> dict[str, float | str | None]:
        """The fields of a `ClaimResult`; an end that is not known is None."""
        ends: dict[str, float | str | None] = {}
        if self.number is not None:
            low, high = (self.number.least, self.number.most) if self.number.exact else _bounds(self.number)
            ends = {"measured": _finite(self.number.known), "low": _finite(low), "high": _finite(high)}
        return {**ends, "unit": self.unit, "reason": "; ".join(self.reasons), "computation": self.computation}


def cut_off(number: Number) -> str:
    """In words, what is known of a number that a limit hides."""
    if number.high == float("inf"):
        return f"cut off by a limit: the number is at least {number.low:.4g}"
    if number.low == 0:
        return f"cut off by a limit: the number is at most {number.high:.4g}"
    return f"cut off by a limit: the number lies between {number.low:.4g} and {number.high:.4g}"


def _bounds(number: Number) -> tuple[float, float]:
    """Of a number that was cut off: what is certain, with no end where nothing is."""
    return number.low if number.low > 0 else float("nan"), number.high


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None
