"""Loops over rows of counters: the inner loops of A-Seq and Sharon (dissertation 22.2, 22.3). All are O(n) for n slots.

Rows are equally long. A value is flagged if and only if it is exactly 2^64 or more, for all terms are counts. `modular`
is False for float64, which need no flags.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cepbench.algorithms.kernels.arrays import Ints, Reals
from cepbench.algorithms.kernels.cells import HALF, LOWER, ONE, ZERO, product_exceeds, sum_exceeds
from cepbench.algorithms.kernels.compilation import inlined, kernel
from cepbench.algorithms.sequences.kernels.counters import Counters, Values
from cepbench.algorithms.sequences.kernels.program import PerFamily
from cepbench.queries.aggregates import NO_VALUE


@inlined
def clear_cell(width: PerFamily, at: PerFamily, values: Values) -> None:
    """Makes so many channels those of no sequence."""
    for c in range(width.ring):
        values.ring[at.ring + c] = values.ring.dtype.type(0)
        values.over[at.ring + c] = False
    for c in range(width.real):
        values.real[at.real + c] = 0.0
    for c in range(width.least):
        values.least[at.least + c] = NO_VALUE


@inlined
def row_of(values: Values, at: int, size: int) -> Counters:
    """The ring values from `at` on."""
    return Counters(values.ring[at : at + size], values.over[at : at + size])


@inlined
def add_to(counters: Counters | Values, i: int, more: Any, over: bool) -> None:
    """Adds a number to counter i."""
    total = counters.ring[i] + more
    counters.over[i] |= over | sum_exceeds(total, more)
    counters.ring[i] = total


@kernel
def add_row(to: Counters, row: Counters) -> None:
    """`to += row`."""
    for i in range(len(row.ring)):
        add_to(to, i, row.ring[i], row.over[i])


@kernel
def add_multiple(to: Counters, row: Counters, factor: np.uint64, modular: bool) -> None:
    """`to += factor * row`, for a factor of 1 or more."""
    scale = to.ring.dtype.type(factor)
    for i in range(len(row.ring)):
        exceeds = modular & product_exceeds(np.uint64(row.ring[i]), factor)
        add_to(to, i, row.ring[i] * scale, row.over[i] | exceeds)


@inlined
def add_times(to: Counters, row: Counters, number: np.uint64, modular: bool) -> None:
    """`to += number * row`, in a loop of its own where the number is 1, as it is for most events."""
    if number == ONE:
        add_row(to, row)
    else:
        add_multiple(to, row, number, modular)


@kernel
def add_weighted(to: Counters, count: Counters, weight: np.uint64, weight_over: bool) -> None:
    """`to += weight * count`, in the ring."""
    some = weight_over | (weight != ZERO)
    for i in range(len(count.ring)):
        known = np.uint64(count.ring[i])
        more = weight * known
        total = np.uint64(to.ring[i]) + more
        exceeds = (count.over[i] & some) | ((known != ZERO) & weight_over) | product_exceeds(known, weight)
        to.over[i] |= exceeds | sum_exceeds(total, more)
        to.ring[i] = to.ring.dtype.type(total)


@kernel
def add_real(to: Reals, row: Reals, number: float, count: Counters, weight: float) -> None:
    """`to += number * row + weight * count`."""
    for i in range(len(row)):
        to[i] += number * row[i] + weight * float(count.ring[i])


@kernel
def add_least(to: Ints, row: Ints, count: Counters, weight: int) -> None:
    """`to = min(to, row, weight)` where there is a sequence."""
    for i in range(len(row)):
        own = weight if count.ring[i] != 0 or count.over[i] else NO_VALUE
        to[i] = min(to[i], row[i], own)


@kernel
def row_sum(row: Counters, modular: bool) -> tuple[Any, Any]:
    """The sum and whether it overflowed."""
    if not modular:
        total = row.ring.dtype.type(0)
        for i in range(len(row.ring)):
            total += row.ring[i]
        return total, False
    lower, upper, flagged = ZERO, ZERO, False
    for i in range(len(row.ring)):
        value = np.uint64(row.ring[i])
        lower += value & LOWER
        upper += value >> HALF
        flagged |= row.over[i]
    upper += lower >> HALF
    return row.ring.dtype.type((upper << HALF) + (lower & LOWER)), flagged | (upper > LOWER)


@kernel
def dot(one: Counters, other: Counters, modular: bool) -> tuple[Any, bool]:
    """The sum of products and whether it overflowed."""
    if not modular:
        value = one.ring.dtype.type(0)
        for i in range(len(one.ring)):
            if one.ring[i] != 0 and other.ring[i] != 0:  # infinity times no sequence is no sequence
                value += one.ring[i] * other.ring[i]
        return value, False
    total, ones, others, flagged = ZERO, ZERO, ZERO, False
    for i in range(len(one.ring)):
        a, b = np.uint64(one.ring[i]), np.uint64(other.ring[i])
        total += a * b
        ones |= a
        others |= b
        flagged |= one.over[i] | other.over[i]
    result = one.ring.dtype.type(total)
    if not flagged and _bits(ones) + _bits(others) + _bits(np.uint64(len(one.ring))) <= 64:
        return result, False
    return result, _exact_overflow(one, other)


@inlined
def _bits(value: np.uint64) -> int:
    bits = 0
    while value != ZERO:
        value >>= ONE
        bits += 1
    return bits


@kernel
def _exact_overflow(one: Counters, other: Counters) -> bool:
    total = ZERO
    for i in range(len(one.ring)):
        a, b = np.uint64(one.ring[i]), np.uint64(other.ring[i])
        a_some, b_some = one.over[i] | (a != ZERO), other.over[i] | (b != ZERO)
        if (one.over[i] and b_some) or (other.over[i] and a_some) or product_exceeds(a, b):
            return True
        more = a * b
        total += more
        if sum_exceeds(total, more):
            return True
    return False


@kernel
def dot_real(one: Reals, other: Counters) -> float:
    """The sum of products of a float sum and a count."""
    total = 0.0
    for i in range(len(one)):
        if other.ring[i] != 0:
            total += one[i] * float(other.ring[i])
    return total


@kernel
def least_of_both(least: Ints, other_least: Ints, one: Counters, other: Counters) -> int:
    """The least value where both have a sequence."""
    found = NO_VALUE
    for i in range(len(one.ring)):
        if (one.ring[i] != 0 or one.over[i]) and (other.ring[i] != 0 or other.over[i]):
            found = min(found, least[i], other_least[i])
    return found
