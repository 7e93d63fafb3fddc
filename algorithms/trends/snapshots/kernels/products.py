"""Expressions over snapshots: a coefficient times a value, with the overflow that aggregating the events would have.

The coefficient of a snapshot in an expression is a cell: the aggregates of the sub-trends in the graphlet that begin at
the snapshot. So the count of an event that is `4x + z` has a cell with count 4 for x, and one with count 1 for z. The
value of a snapshot, per query and window, is a cell too: the aggregates of the trends that end there. Their product is
the concatenation of both sets of trends: counts multiply, sums are sx * cy + cx * sy, a minimum is the lesser of both.

A product is 0 if either side has no trend, even if the other one has overflowed; otherwise it has overflowed if a side
has, or if it exceeds 2^64. So a query's value overflows exactly if its trends are too many, however large the
coefficients are that it shares with others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Place
from cepbench.algorithms.engine.kernels.cells import (
    ONE,
    ZERO,
    Cells,
    Weighing,
    counts_only,
    is_empty,
    is_modular,
    product_exceeds,
    sum_exceeds,
)
from cepbench.algorithms.engine.kernels.compilation import inlined, inner
from cepbench.algorithms.trends.snapshots.kernels.cells import Index


@inlined
def times(x: Any, x_over: bool, y: Any, y_over: bool, nothing: Any, modular: bool) -> tuple[Any, bool]:
    """A product, and whether it overflowed; `nothing` is the 0 of its type, which infinity times 0 is, too."""
    if (x == 0 and not x_over) or (y == 0 and not y_over):
        return nothing, False
    over = x_over or y_over or (modular and product_exceeds(np.uint64(x), np.uint64(y)))
    return x * y, over


@inlined
def add_product(to: Cells, i: Place, cells: Cells, s: Place, v: Place, weights: Weighing | None, p: int) -> None:
    """Adds to cell i the product of coefficient s and value v of `cells`, for the query of position p.

    Events at p have changed only the channels for which they count since the snapshot; the others are those of v.
    Without `weights` all channels count.
    """
    if is_empty(cells, s) or is_empty(cells, v):
        return
    factor, count = cells.ring[s, 0], cells.ring[v, 0]
    factor_over, count_over = cells.over[s] & ONE != ZERO, cells.over[v] & ONE != ZERO
    over, nothing, modular = to.over[i], to.ring.dtype.type(0), is_modular(to)
    for c in range(to.ring.shape[1]):
        bit = ONE << np.uint64(c)
        addend, exceeds = times(cells.ring[v, c], cells.over[v] & bit != ZERO, factor, factor_over, nothing, modular)
        total = to.ring[i, c] + addend
        if exceeds or sum_exceeds(total, addend):
            over |= bit
        if c > 0 and (weights is None or weights.ring.bound[c, p]):
            addend, exceeds = times(cells.ring[s, c], cells.over[s] & bit != ZERO, count, count_over, nothing, modular)
            total += addend
            if exceeds or sum_exceeds(total, addend):
                over |= bit
        to.ring[i, c] = total
    to.over[i] = over
    for c in range(to.real.shape[1]):
        to.real[i, c] += cells.real[v, c] * float(factor)
        if weights is None or weights.real.bound[c, p]:
            to.real[i, c] += cells.real[s, c] * float(count)
    for c in range(to.least.shape[1]):
        to.least[i, c] = min(to.least[i, c], cells.least[v, c])
        if weights is None or weights.least.bound[c, p]:
            to.least[i, c] = min(to.least[i, c], cells.least[s, c])


@inner
def evaluate(
    to: Cells, i: int, cells: Cells, coefficient: Index, value: Index, count: Index, weights: Weighing, p: int
) -> None:
    """Adds to cell i the value of an expression: `count` coefficients times the values of their snapshots. O(s).

    p: a position, or another number in `weights`. Values of snapshots that the query does not share may be stale;
    their coefficients are empty.
    """
    if counts_only(to):
        evaluate_counts(to, i, cells, coefficient, value, count)
        return
    for n in range(count):
        add_product(to, i, cells, int(coefficient) + n, int(value) + n, weights, p)


@inner
def evaluate_counts(to: Cells, i: int, cells: Cells, coefficient: Index, value: Index, count: Index) -> None:
    """Adds to the count of cell i that of an expression: `count` coefficients times the values of their snapshots."""
    nothing: Any = cells.ring.dtype.type(0)
    modular = is_modular(to)
    total, flags = to.ring[i, 0], to.over[i]
    for n in range(count):
        x, y = cells.ring[coefficient + n, 0], cells.ring[value + n, 0]
        over = cells.over[coefficient + n] | cells.over[value + n]
        if over != ZERO:
            has_trends = x != nothing or cells.over[coefficient + n] != ZERO
            if has_trends and (y != nothing or cells.over[value + n] != ZERO):
                flags |= ONE
        addend = x * y if x != nothing and y != nothing else nothing  # 0 times infinity is 0
        if modular and product_exceeds(np.uint64(x), np.uint64(y)):
            flags |= ONE
        total += addend
        if sum_exceeds(total, addend):
            flags |= ONE
    to.ring[i, 0], to.over[i] = total, flags
