"""Loops over rows of counters: the inner loops of A-Seq and Sharon (dissertation 22.2, 22.3). All are O(n) for n slots.

Rows have equal lengths. A value is flagged if and only if it is exactly 2^64 or more, since all terms are counts.
`modular` is False for float64, which needs no flags.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.engine.kernels.arrays import Ints, Reals
from cepbench.algorithms.engine.kernels.cells import HALF, LOWER, ONE, ZERO, product_exceeds, sum_exceeds
from cepbench.algorithms.engine.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.sequences.kernels.counters import Counters, Values
from cepbench.algorithms.sequences.kernels.program import PerFamily
from cepbench.queries.aggregates import NO_VALUE


@inlined
def clear_cell(width: PerFamily, at: PerFamily, values: Values) -> None:
    """Clears the given number of channels."""
    for c in range(width.ring):
        values.ring[at.ring + c] = values.ring.dtype.type(0)
        values.over[at.ring + c] = False
    for c in range(width.real):
        values.real[at.real + c] = 0.0
    for c in range(width.least):
        values.least[at.least + c] = NO_VALUE


@inlined
def copy_spread(values: NDArray[Any], to: int, by: int, at: int, step: int, size: int) -> None:
    """Copies values from positions `at`, `at + step`, ... to positions `to`, `to + by`, ..."""
    for _ in range(size):
        values[to] = values[at]
        to += by
        at += step


@inlined
def fill_spread(values: NDArray[Any], to: int, by: int, value: Any, size: int) -> None:
    """Writes one value to positions `to`, `to + by`, ..."""
    for _ in range(size):
        values[to] = value
        to += by


@inlined
def row_of(values: Values, at: int, size: int) -> Counters:
    """The ring values from `at` on."""
    return Counters(values.ring[at : at + size], values.over[at : at + size])


@inlined
def add_to(counters: Counters | Values, i: int, value: Any, over: bool) -> None:
    """Adds a number to counter i."""
    total = counters.ring[i] + value
    counters.over[i] |= over | sum_exceeds(total, value)
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
    """`to += number * row`, with a separate loop for 1, the most frequent number."""
    if number == ONE:
        add_row(to, row)
    else:
        add_multiple(to, row, number, modular)


@kernel
def add_weighted(to: Counters, count: Counters, weight: np.uint64, weight_over: bool) -> None:
    """`to += weight * count`, in the ring."""
    weighs = weight_over | (weight != ZERO)
    for i in range(len(count.ring)):
        factor = np.uint64(count.ring[i])
        product = weight * factor
        total = np.uint64(to.ring[i]) + product
        exceeds = (count.over[i] & weighs) | ((factor != ZERO) & weight_over) | product_exceeds(factor, weight)
        to.over[i] |= exceeds | sum_exceeds(total, product)
        to.ring[i] = to.ring.dtype.type(total)


@inner
def add_real(to: Reals, row: Reals, number: float, count: Counters, weight: float) -> None:
    """`to += number * row + weight * count`."""
    for i in range(len(row)):
        to[i] += number * row[i] + weight * float(count.ring[i])


@kernel
def add_least(to: Ints, row: Ints, count: Counters, weight: int) -> None:
    """`to = min(to, row, weight)` where there is a sequence."""
    for i in range(len(row)):
        value = weight if count.ring[i] != 0 or count.over[i] else NO_VALUE
        to[i] = min(to[i], row[i], value)


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
