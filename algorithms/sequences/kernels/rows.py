"""Loops over rows of counters: the inner loops of A-Seq and Sharon (dissertation 22.2, 22.3). All are O(n) for n slots.

Rows have equal lengths. A value is flagged if and only if it is exactly 2^64 or more, since all terms are counts.
Counts in float64 need no flags.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Ints, Reals
from cepbench.algorithms.engine.kernels.cells import HALF, LOWER, ONE, ZERO, is_modular, product_exceeds, sum_exceeds
from cepbench.algorithms.engine.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.sequences.kernels.counters import Counters, Values
from cepbench.algorithms.sequences.kernels.program import REAL, RING
from cepbench.queries.aggregates import NO_VALUE
from cepbench.queries.records import Records


@inlined
def copy_word(values: Values, to: int, at: int) -> None:
    """Copies a word, of any kind, and its flag."""
    values.ints[to] = values.ints[at]
    values.over[to] = values.over[at]


@inlined
def copy_spread(values: Values, to: int, by: int, at: int, step: int, size: int) -> None:
    """Copies words from positions `at`, `at + step`, ... to positions `to`, `to + by`, ..."""
    for _ in range(size):
        copy_word(values, to, at)
        to += by
        at += step


@inlined
def clear_spread(values: Values, to: int, by: int, empty: int, size: int) -> None:
    """Writes the empty word of a channel to positions `to`, `to + by`, ..."""
    for _ in range(size):
        values.ints[to] = empty
        values.over[to] = False
        to += by


@inlined
def clear_cell(values: Values, at: int, channel: Records) -> None:
    """Makes a cell that of no sequence."""
    for c in range(len(channel)):
        clear_spread(values, at + c, 1, channel[c].empty, 1)


@inlined
def row_of(values: Values, at: int, size: int) -> Counters:
    """Words of a ring channel from `at` on."""
    return Counters(values.counts[at : at + size], values.over[at : at + size])


@inlined
def add_to(counters: Counters | Values, i: int, value: Any, over: bool) -> None:
    """Adds a number to counter i."""
    total = counters.counts[i] + value
    counters.over[i] |= over | sum_exceeds(total, value)
    counters.counts[i] = total


@kernel
def add_row(to: Counters, row: Counters) -> None:
    """`to += row`."""
    for i in range(len(row.counts)):
        add_to(to, i, row.counts[i], row.over[i])


@kernel
def add_multiple(to: Counters, row: Counters, factor: np.uint64) -> None:
    """`to += factor * row`, for a factor of 1 or more."""
    scale = to.counts.dtype.type(factor)
    for i in range(len(row.counts)):
        exceeds = is_modular(row) & product_exceeds(np.uint64(row.counts[i]), factor)
        add_to(to, i, row.counts[i] * scale, row.over[i] | exceeds)


@inlined
def add_times(to: Counters, row: Counters, number: np.uint64) -> None:
    """`to += number * row`, with a separate loop for 1, the most frequent number."""
    if number == ONE:
        add_row(to, row)
    else:
        add_multiple(to, row, number)


@kernel
def add_weighted(to: Counters, count: Counters, weight: np.uint64, weight_over: bool) -> None:
    """`to += weight * count`, in the ring."""
    weighs = weight_over | (weight != ZERO)
    for i in range(len(count.counts)):
        factor = np.uint64(count.counts[i])
        product = weight * factor
        total = np.uint64(to.counts[i]) + product
        exceeds = (count.over[i] & weighs) | ((factor != ZERO) & weight_over) | product_exceeds(factor, weight)
        to.over[i] |= exceeds | sum_exceeds(total, product)
        to.counts[i] = to.counts.dtype.type(total)


@inner
def add_real(to: Reals, row: Reals, number: float, count: Counters, weight: float) -> None:
    """`to += number * row + weight * count`."""
    for i in range(len(row)):
        to[i] += number * row[i] + weight * float(count.counts[i])


@kernel
def add_least(to: Ints, row: Ints, count: Counters, weight: int) -> None:
    """`to = min(to, row, weight)` where there is a sequence."""
    for i in range(len(row)):
        value = weight if count.counts[i] != 0 or count.over[i] else NO_VALUE
        to[i] = min(to[i], row[i], value)


@kernel
def row_sum(row: Counters) -> tuple[Any, Any]:
    """The sum and whether it overflowed."""
    if not is_modular(row):
        total = row.counts.dtype.type(0)
        for i in range(len(row.counts)):
            total += row.counts[i]
        return total, False
    lower, upper, flagged = ZERO, ZERO, False
    for i in range(len(row.counts)):
        value = np.uint64(row.counts[i])
        lower += value & LOWER
        upper += value >> HALF
        flagged |= row.over[i]
    upper += lower >> HALF
    return row.counts.dtype.type((upper << HALF) + (lower & LOWER)), flagged | (upper > LOWER)


@inlined
def add_sum(values: Values, to: int, at: int, size: int, kind: int) -> None:
    """Adds the words of a channel from `at` on to word `to`."""
    if kind == RING:
        total, over = row_sum(row_of(values, at, size))
        add_to(values, to, total, over)
    elif kind == REAL:
        for i in range(at, at + size):
            values.reals[to] += values.reals[i]
    else:
        for i in range(at, at + size):
            values.ints[to] = min(values.ints[to], values.ints[i])
