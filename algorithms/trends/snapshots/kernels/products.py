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

from cepbench.algorithms.engine.kernels.cells import (
    ONE,
    ZERO,
    Cells,
    Weighing,
    add_product,
    counts_only,
    is_modular,
    product_exceeds,
    sum_exceeds,
)
from cepbench.algorithms.engine.kernels.compilation import inner
from cepbench.algorithms.trends.snapshots.kernels.cells import Index


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
    nothing: Any = cells.counts.dtype.type(0)
    modular = is_modular(to)
    total, flags = to.counts[i, 0], to.over[i]
    for n in range(count):
        x, y = cells.counts[coefficient + n, 0], cells.counts[value + n, 0]
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
    to.counts[i, 0], to.over[i] = total, flags
