"""Robust summaries of repeated measurements: median with a distribution-free confidence interval.

The interval of order statistics assumes only independence: the number of n values below the true median is Binomial(n,
1/2), so [x_(k), x_(n+1-k)] covers the median with probability 1 - 2 P(B <= k - 1) (Hahn and Meeker, Statistical
Intervals, section 5.2). Five values cannot reach 95 %; six can. Fresh workers are expensive and agree less than runs of
one worker, so that five of them suffice, with 94 %.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, inf, isinf, isnan

CONFIDENCE = 0.95
WORKERS = 5
"""Fresh workers from which on numbers have an interval over workers: that of five has a coverage of 94 %."""


@dataclass(frozen=True)
class Estimate:
    """A median and its interval; `low` and `high` are None for too few `values`, whose raw points are shown."""

    values: tuple[float, ...]  # sorted; infinity stands for a measurement beyond its limit
    median: float
    low: float | None = None
    high: float | None = None
    coverage: float | None = None  # the exact probability that the interval covers the median, >= `confidence`


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the two in the middle (infinite if one of these is).

    Raises ValueError on no values or NaN.
    """
    ordered = sorted(values)
    if not ordered or any(isnan(value) for value in ordered):
        raise ValueError("the median needs at least one value and no NaN")
    left, right = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    if isinf(left) or isinf(right):
        return left if left == right else (inf if right == inf else -inf)
    return left + (right - left) / 2


def interval_rank(n: int, confidence: float = CONFIDENCE) -> tuple[int, float] | None:
    """The largest k (from 1) such that [x_(k), x_(n+1-k)] covers with at least `confidence`, and its coverage."""
    best: tuple[int, float] | None = None
    tail = 0
    for k in range(1, (n + 1) // 2 + 1):
        tail += comb(n, k - 1)
        coverage = 1 - 2 * tail / 2**n
        if coverage < confidence:
            break
        best = (k, coverage)
    return best


def sign_test(held: int, draws: int) -> float:
    """The probability that at least `held` of so many draws hold if each holds with probability 1/2."""
    return float(sum(comb(draws, k) for k in range(held, draws + 1)) / 2**draws)


def values_for(percent: int) -> int:
    """The number of values of which one is expected beyond a percentile: 2 for the 50th, 100 for the 99th.

    With fewer values, the percentile is no more informative than their maximum.
    """
    return -(-100 // (100 - percent))


def estimate(values: Sequence[float], confidence: float = CONFIDENCE) -> Estimate:
    """Median of `values` with its interval, or without one when there are too few (below six for 95 %)."""
    ordered = tuple(sorted(values))
    middle = median(ordered)
    rank = interval_rank(len(ordered), confidence)
    if rank is None:
        return Estimate(ordered, middle)
    k, coverage = rank
    return Estimate(ordered, middle, ordered[k - 1], ordered[-k], coverage)


def over_workers(values: Sequence[float]) -> Estimate:
    """As `estimate`, of a value per worker: of five, the interval extends from the least to the greatest."""
    return estimate(values, 1 - 2 / 2**WORKERS if len(values) == WORKERS else CONFIDENCE)
