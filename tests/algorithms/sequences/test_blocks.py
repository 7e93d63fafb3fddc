"""Snapshots in blocks, combined with counters: exact, wherever the blocks lie."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from cepbench.algorithms.sequences.kernels.blocks import SlotRow, dot, dot_real, least_of_both
from cepbench.algorithms.sequences.kernels.counters import BLOCK, Values
from cepbench.queries.aggregates import NO_VALUE

LIMIT = 2**64
APART = 3 * BLOCK
"""Blocks of three rows; the one in the middle is used."""
KEPT, COUNTS = SlotRow(BLOCK, APART), SlotRow(1000 * APART, BLOCK)


def spread(row: SlotRow, values: Sequence[float], to: np.ndarray) -> None:
    """Writes slots where a row has them."""
    for slot, value in enumerate(values):
        block, place = divmod(slot, BLOCK)
        to[row.at + block * row.apart + place] = value


def combined(one: Sequence[float], other: Sequence[float], dtype: type = np.uint64) -> tuple[Values, SlotRow, SlotRow]:
    """Exact counts of snapshots and of counters, as they are kept; everything else is wrong."""
    size = 2000 * APART
    values = Values(np.full(size, 77, dtype), np.ones(size, np.bool_), np.full(size, 7.5), np.full(size, -9, np.int64))
    for row, numbers in ((KEPT, one), (COUNTS, other)):
        whole = [number % LIMIT for number in numbers] if dtype is np.uint64 else numbers
        spread(row, whole, values.ring)
        spread(row, [dtype is np.uint64 and number >= LIMIT for number in numbers], values.over)
    return values, KEPT, COUNTS


def test_a_sum_of_products_is_exact() -> None:
    cases = [
        ([2**31] * 4, [2**31] * 4),
        ([2**32 - 1] * 2, [2**32 - 1] * 2),
        ([2**32] * 3, [2**30] * 3),
        ([2**31] * 8, [2**31] * 4 + [0] * 4),
        ([LIMIT, 3], [0, 2]),
        ([LIMIT, 3], [1, 2]),
        ([0, 3], [LIMIT, 2]),
        ([2**63, 1, 2**63], [1, 5, 1]),
        ([1] * 300, [2] * 300),
    ]
    for one, other in cases:
        exact = sum(a * b for a, b in zip(one, other, strict=True))
        total, over = dot(*combined(one, other), 0, len(one), True)
        assert (int(total), bool(over)) == (exact % LIMIT, exact >= LIMIT), (one, other)


@pytest.mark.parametrize(("low", "high"), [(0, 0), (0, 8), (3, 8), (5, 6), (7, 9), (1, 30)])
def test_only_live_slots_are_combined(low: int, high: int) -> None:
    one, other = list(range(2, 32)), list(range(40, 70))
    exact = sum(a * b for a, b in zip(one[low:high], other[low:high], strict=True))
    values, kept, counts = combined(one, other)
    assert dot(values, kept, counts, low, high, True) == (exact, False)
    spread(kept, [0.5 * number for number in one], values.real)
    assert dot_real(values, kept, counts, low, high) == exact / 2


def test_infinity_times_nothing_is_nothing() -> None:
    """In float arithmetic."""
    infinite, others, more = [np.inf, 0.0, 2.0], [0.0, np.inf, 3.0], [1.0, np.inf, 3.0]
    assert dot(*combined(infinite, others, np.float64), 0, 3, False) == (6.0, False)
    assert dot(*combined(infinite, more, np.float64), 0, 3, False) == (np.inf, False)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([1, 0, 3, 1], [1, 1, 0, 1], 4),
        ([1, LIMIT, 3, 1], [1, 1, 0, 1], 1),
        ([0, 0, 3, 1], [1, 1, LIMIT, 0], 2),
        ([0, 0, 0, 0], [1, 1, 1, 1], NO_VALUE),
    ],
)
def test_the_least_value_is_one_of_both_sides(one: list[int], other: list[int], expected: int) -> None:
    """Of slots in which both sides have a sequence; 2^64 of them are 0 with a flag."""
    values, kept, counts = combined(one, other)
    spread(kept, [5, 1, 2, 7], values.least)
    spread(counts, [6, 9, NO_VALUE, 4], values.least)
    assert least_of_both(values, kept, counts, kept, counts, 0, 4) == expected
