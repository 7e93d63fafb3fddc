"""Numbers with bounds, where cells reached a limit, and with the interval over workers or runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from cepbench.metrics.statistics import estimate


@dataclass(frozen=True)
class Number:
    """A number, with bounds instead of a value if cells reached a limit.

    - `low`, `high`: bounds of the median; equal unless cells reached a limit.
    - `least`, `most`: the interval over workers or runs, which contains these bounds: by order statistics from six on,
      their range otherwise. The range of five is the interval of order statistics with a coverage of 94 %.
    """

    low: float
    high: float
    least: float
    most: float

    @property
    def exact(self) -> bool:
        """Whether no cell reached a limit."""
        return self.low == self.high

    def __truediv__(self, divisor: Number) -> Number:
        return Number(
            _quotient(self.low, divisor.high, 0.0),
            _quotient(self.high, divisor.low, inf),
            _quotient(self.least, divisor.most, 0.0),
            _quotient(self.most, divisor.least, inf),
        )


def pooled(lows: Sequence[float], highs: Sequence[float]) -> Number:
    """The median over workers or runs, each with a lower and an upper bound."""
    low, high = estimate(lows), estimate(highs)
    least = low.values[0] if low.low is None else low.low
    most = high.values[-1] if high.high is None else high.high
    return Number(low.median, high.median, least, most)


def _quotient(numerator: float, denominator: float, otherwise: float) -> float:
    if denominator == inf:
        return otherwise if numerator == inf else 0.0
    return otherwise if denominator == 0 else numerator / denominator
