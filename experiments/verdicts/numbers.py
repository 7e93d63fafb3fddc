"""Numbers with bounds, where cells reached a limit, and with the interval over workers or runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum, inf

from cepbench.metrics.statistics import estimate

REACH = 2.0
"""Standard errors from a mean to either end of its interval, which covers the mean of 30 draws with 95 %."""


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


def best(numbers: Sequence[Number], most: bool) -> Number:
    """The greatest of several numbers, or the least."""
    choose = max if most else min
    ends = zip(*((number.low, number.high, number.least, number.most) for number in numbers), strict=True)
    return Number(*map(choose, ends))


def mean(numbers: Sequence[Number]) -> Number:
    """The mean over at least two draws, with `REACH` standard errors on either side."""
    low, high = (fsum(ends) / len(numbers) for ends in zip(*((n.low, n.high) for n in numbers), strict=True))
    if low != high:
        return Number(low, high, low, high)
    error = (fsum((number.low - low) ** 2 for number in numbers) / (len(numbers) - 1) / len(numbers)) ** 0.5
    return Number(low, low, low - REACH * error, low + REACH * error)


def _quotient(numerator: float, denominator: float, otherwise: float) -> float:
    if denominator == inf:
        return otherwise if numerator == inf else 0.0
    return otherwise if denominator == 0 else numerator / denominator
