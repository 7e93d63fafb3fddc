"""Loops over rows of counters: the inner loops of A-Seq and Sharon. All are O(n) for n slots.

Rows are equally long slices: `ring` values uint64[n] (with overflow flags bool[n]) or float64[n], `real` float64[n],
`least` int64[n]. A value is flagged if and only if it is exactly 2^64 or more, for all terms are counts. `modular` is
False for float64, which need no flags.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.kernels.arrays import Flags, Ints, Reals
from cepbench.algorithms.kernels.compilation import inlined, kernel
from cepbench.queries.aggregates import NO_VALUE

HALF = np.uint64(32)
LOWER = np.uint64(2**32 - 1)
ZERO = np.uint64(0)
ONE = np.uint64(1)


@inlined
def product_exceeds(a: np.uint64, b: np.uint64) -> bool:
    """Whether a * b >= 2^64, without a branch."""
    upper, lower = a >> HALF, a & LOWER
    other_upper, other_lower = b >> HALF, b & LOWER
    middle = upper * other_lower + lower * other_upper + (lower * other_lower >> HALF)
    return (upper * other_upper | (middle >> HALF)) != ZERO


@kernel
def add_row(to: NDArray[Any], to_over: Flags, row: NDArray[Any], over: Flags) -> None:
    """`to += row`."""
    for i in range(len(row)):
        more = row[i]
        total = to[i] + more
        to_over[i] |= over[i] | (total < more)
        to[i] = total


@kernel
def add_multiple(
    to: NDArray[Any], to_over: Flags, row: NDArray[Any], over: Flags, factor: np.uint64, modular: bool
) -> None:
    """`to += factor * row`, for a factor of 1 or more."""
    scale = to.dtype.type(factor)
    for i in range(len(row)):
        more = row[i] * scale
        total = to[i] + more
        to_over[i] |= over[i] | (total < more) | (modular & product_exceeds(np.uint64(row[i]), factor))
        to[i] = total


@kernel
def add_weighted(
    to: NDArray[Any], to_over: Flags, count: NDArray[Any], over: Flags, weight: np.uint64, weight_over: bool
) -> None:
    """`to += weight * count`, in the ring."""
    some = weight_over | (weight != ZERO)
    for i in range(len(count)):
        known = np.uint64(count[i])
        more = weight * known
        total = np.uint64(to[i]) + more
        exceeds = (over[i] & some) | ((known != ZERO) & weight_over) | product_exceeds(known, weight)
        to_over[i] |= exceeds | (total < more)
        to[i] = to.dtype.type(total)


@kernel
def add_real(to: Reals, row: Reals, number: float, count: NDArray[Any], weight: float) -> None:
    """`to += number * row + weight * count`."""
    for i in range(len(row)):
        to[i] += number * row[i] + weight * float(count[i])


@kernel
def add_least(to: Ints, row: Ints, count: NDArray[Any], over: Flags, weight: int) -> None:
    """`to = min(to, row, weight)` where there is a sequence."""
    for i in range(len(row)):
        own = weight if count[i] != 0 or over[i] else NO_VALUE
        to[i] = min(to[i], row[i], own)


@kernel
def row_sum(row: NDArray[Any], over: Flags, modular: bool) -> tuple[Any, Any]:
    """The sum and whether it overflowed."""
    if not modular:
        total = row.dtype.type(0)
        for i in range(len(row)):
            total += row[i]
        return total, False
    lower, upper, flagged = ZERO, ZERO, False
    for i in range(len(row)):
        value = np.uint64(row[i])
        lower += value & LOWER
        upper += value >> HALF
        flagged |= over[i]
    upper += lower >> HALF
    return row.dtype.type((upper << HALF) + (lower & LOWER)), flagged | (upper > LOWER)


@kernel
def dot(one: NDArray[Any], over: Flags, other: NDArray[Any], other_over: Flags, modular: bool) -> tuple[Any, bool]:
    """The sum of products and whether it overflowed."""
    if not modular:
        value = one.dtype.type(0)
        for i in range(len(one)):
            if one[i] != 0 and other[i] != 0:  # infinity times no sequence is no sequence
                value += one[i] * other[i]
        return value, False
    total, ones, others, flagged = ZERO, ZERO, ZERO, False
    for i in range(len(one)):
        a, b = np.uint64(one[i]), np.uint64(other[i])
        total += a * b
        ones |= a
        others |= b
        flagged |= over[i] | other_over[i]
    result = one.dtype.type(total)
    if not flagged and _bits(ones) + _bits(others) + _bits(np.uint64(len(one))) <= 64:
        return result, False
    return result, _exact_overflow(one, over, other, other_over)


@inlined
def _bits(value: np.uint64) -> int:
    bits = 0
    while value != ZERO:
        value >>= ONE
        bits += 1
    return bits


@kernel
def _exact_overflow(one: NDArray[Any], over: Flags, other: NDArray[Any], other_over: Flags) -> bool:
    total = ZERO
    for i in range(len(one)):
        a, b = np.uint64(one[i]), np.uint64(other[i])
        a_some, b_some = over[i] | (a != ZERO), other_over[i] | (b != ZERO)
        if (over[i] and b_some) or (other_over[i] and a_some) or product_exceeds(a, b):
            return True
        more = a * b
        total += more
        if total < more:
            return True
    return False


@kernel
def dot_real(one: Reals, other: NDArray[Any]) -> float:
    """The sum of products of a float sum and a count."""
    total = 0.0
    for i in range(len(one)):
        if other[i] != 0:
            total += one[i] * float(other[i])
    return total


@kernel
def least_of_both(
    least: Ints,
    other_least: Ints,
    one: NDArray[Any],
    over: Flags,
    other: NDArray[Any],
    other_over: Flags,
) -> int:
    """The least value where both have a sequence."""
    found = NO_VALUE
    for i in range(len(one)):
        if (one[i] != 0 or over[i]) and (other[i] != 0 or other_over[i]):
            found = min(found, least[i], other_least[i])
    return found
