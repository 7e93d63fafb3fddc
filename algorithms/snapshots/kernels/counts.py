"""The counts of cells that have nothing else, compiled into all kernels that need them for each event.

A call hands over every array of both cells, which takes many times as long as to add two counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cepbench.algorithms.kernels.cells import ONE, ZERO, Cells, add_ring, product_exceeds, sum_exceeds
from cepbench.algorithms.kernels.compilation import inner
from cepbench.algorithms.snapshots.kernels.cells import Index, add, clear, copy


@inner
def add_cell(cells: Cells, i: int, other: Cells, j: Index, only: bool) -> None:
    """`kernels.cells.add`, if counts are the `only` aggregates without a call."""
    if only:
        more = other.ring[j, 0]
        add_ring(cells, i, 0, more)
        cells.over[i] |= other.over[j]
    else:
        add(cells, i, other, j)


@inner
def clear_cell(cells: Cells, i: int, only: bool) -> None:
    """`kernels.cells.clear`, if counts are the `only` aggregates without a call."""
    if only:
        cells.ring[i, 0] = cells.ring.dtype.type(0)
        cells.over[i] = ZERO
    else:
        clear(cells, i, np.int64(1))


@inner
def copy_cell(cells: Cells, i: int, other: Cells, j: int, only: bool) -> None:
    """`kernels.cells.copy`, if counts are the `only` aggregates without a call."""
    if only:
        cells.ring[i, 0] = other.ring[j, 0]
        cells.over[i] = other.over[j]
    else:
        copy(cells, i, other, j)


@inner
def add_counts(cells: Cells, i: int, j: int, count: int) -> None:
    """Adds the counts of `count` cells from cell j on to those from cell i on."""
    for n in range(count):
        more = cells.ring[j + n, 0]
        total = cells.ring[i + n, 0] + more
        cells.ring[i + n, 0] = total
        over = cells.over[j + n]
        if sum_exceeds(total, more):
            over |= ONE
        cells.over[i + n] |= over


@inner
def evaluate_counts(
    to: Cells, i: int, cells: Cells, coefficient: Index, value: Index, count: Index, modular: bool
) -> None:
    """Adds to the count of cell i that of an expression: `count` coefficients times the values of their snapshots."""
    nothing: Any = cells.ring.dtype.type(0)
    total, flags = to.ring[i, 0], to.over[i]
    for n in range(count):
        x, y = cells.ring[coefficient + n, 0], cells.ring[value + n, 0]
        over = cells.over[coefficient + n] | cells.over[value + n]
        if over != ZERO:
            some = x != nothing or cells.over[coefficient + n] != ZERO
            if some and (y != nothing or cells.over[value + n] != ZERO):
                flags |= ONE
        more = x * y if x != nothing and y != nothing else nothing  # infinity times none is none
        if modular and product_exceeds(np.uint64(x), np.uint64(y)):
            flags |= ONE
        total += more
        if sum_exceeds(total, more):
            flags |= ONE
    to.ring[i, 0], to.over[i] = total, flags
