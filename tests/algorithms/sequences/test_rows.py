"""Rows of counters against exact integers: a value is flagged if and only if it is 2^64 or more."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import numpy as np
import pytest

from cepbench.algorithms.sequences.kernels.counters import Counters
from cepbench.algorithms.sequences.kernels.rows import (
    add_least,
    add_multiple,
    add_row,
    add_weighted,
    row_sum,
)
from cepbench.queries.aggregates import NO_VALUE

LIMIT = 2**64
EDGES = (0, 1, 2, 3, 2**31, 2**32 - 1, 2**32, 2**32 + 1, 2**33 + 1, 2**63 - 1, 2**63, 2**64 - 2**32, 2**64 - 1)


def numbers(random: Random, size: int, most: int = LIMIT) -> list[int]:
    """Of all magnitudes below `most`."""
    drawn = [(0, random.randrange(2 ** random.randint(1, 66)), random.choice(EDGES)) for _ in range(size)]
    return [random.choice(values) % most for values in drawn]


def row(values: Sequence[int]) -> Counters:
    """Exact values as they are kept."""
    over = [value >= LIMIT for value in values]
    return Counters(np.array([value % LIMIT for value in values], np.uint64), np.array(over, np.bool_))


def is_row(found: Counters, exact: Sequence[int]) -> bool:
    kept = row(exact)
    return np.array_equal(found.ring, kept.ring) and np.array_equal(found.over, kept.over)


@pytest.mark.parametrize("seed", range(5))
def test_rows_are_added_exactly(seed: int) -> None:
    random = Random(seed)
    some, others = numbers(random, 50), [2 * LIMIT if i % 7 == 0 else n for i, n in enumerate(numbers(random, 50))]
    to = row(some)
    add_row(to, row(others))
    assert is_row(to, [a + b for a, b in zip(some, others, strict=True)])


@pytest.mark.parametrize("seed", range(5))
def test_multiples_of_rows_are_added_exactly(seed: int) -> None:
    random = Random(seed)
    for factor in (1, 2, 255, 2**32, 2**63):
        some, others = numbers(random, 50), numbers(random, 50, LIMIT**2)
        to = row(some)
        add_multiple(to, row(others), np.uint64(factor), True)
        assert is_row(to, [a + factor * b for a, b in zip(some, others, strict=True)])


@pytest.mark.parametrize("weight", [0, 1, 2**32, 2**63, LIMIT, LIMIT + 5])
def test_weighted_counts_are_added_exactly(weight: int) -> None:
    random = Random(weight)
    some, counts = numbers(random, 50), [LIMIT, 3 * LIMIT, 0, *numbers(random, 47)]
    to = row(some)
    add_weighted(to, row(counts), np.uint64(weight % LIMIT), weight >= LIMIT)
    assert is_row(to, [a + weight * b for a, b in zip(some, counts, strict=True)])


def test_a_sum_of_a_row_is_exact() -> None:
    for values in ([2**63, 2**63 - 1], [2**63, 2**63], [2**32 - 1] * 9, [2**64 - 1, 1], [LIMIT, 0], [], [2**62] * 3):
        total, over = row_sum(row(values), True)
        assert (int(total), bool(over)) == (sum(values) % LIMIT, sum(values) >= LIMIT)


def test_a_minimum_is_taken_where_there_is_a_sequence() -> None:
    """2^64 of them are 0 with a flag."""
    to, before = np.array([NO_VALUE, NO_VALUE, 4, NO_VALUE], np.int64), np.array([NO_VALUE, 8, 7, 3], np.int64)
    add_least(to, before, row([0, 5, 1, LIMIT]), 6)
    assert to.tolist() == [NO_VALUE, 6, 4, 3]
    add_least(to, before, row([LIMIT, 0, 0, 0]), 5)
    assert to.tolist() == [5, 6, 4, 3]
