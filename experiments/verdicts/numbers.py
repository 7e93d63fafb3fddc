"""Numbers that are known in part: bounds where cells were cut off, and the interval of repetitions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from cepbench.metrics.statistics import estimate
from cepbench.metrics.values import unit

SAME = 1.05  # times that differ by less are the same: runs of one executor on one input differ by as much


@dataclass(frozen=True)
class Number:
    """A number that is not negative.

    - `low`, `high`: where the median of what was measured lies; equal, unless cells were cut off by a limit.
    - `least`, `most`: the interval of its repetitions, which holds these: by order statistics from six runs on, else
      their range.
    """

    low: float
    high: float
    least: float
    most: float

    @property
    def exact(self) -> bool:
        """Whether nothing was cut off."""
        return self.low == self.high

    @property
    def known(self) -> float:
        """The number, or the end of it that is known."""
        return self.low if self.low > 0 or self.exact else self.high

    def __truediv__(self, other: Number) -> Number:
        return Number(
            _quotient(self.low, other.high, 0.0),
            _quotient(self.high, other.low, inf),
            _quotient(self.least, other.most, 0.0),
            _quotient(self.most, other.least, inf),
        )


ANYTHING = Number(0.0, inf, 0.0, inf)


def exactly(value: float) -> Number:
    """A number that was measured once."""
    return Number(value, value, value, value)


def pooled(lows: Sequence[float], highs: Sequence[float]) -> Number:
    """The median over repetitions, each known to lie between a low and a high end."""
    low, high = estimate(lows), estimate(highs)
    least = low.values[0] if low.low is None else low.low
    most = high.values[-1] if high.high is None else high.high
    return Number(low.median, high.median, least, most)


def tolerance(metric: str) -> float:
    """The ratio up to which two values of a metric are the same: counts and bytes are exact, times are not."""
    return SAME if unit(metric) in ("s", "events/s") else 1.0


def _quotient(numerator: float, denominator: float, otherwise: float) -> float:
    if denominator == inf:
        return otherwise if numerator == inf else 0.0
    return otherwise if denominator == 0 else numerator / denominator
