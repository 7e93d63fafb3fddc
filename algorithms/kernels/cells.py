"""Aggregates of sets of (partial) trends, and the algebra by which every algorithm propagates them.

A cell holds the channels of `queries.aggregates` for one set of trends. Adding cells unites disjoint sets; extending a
cell by an event appends the event to each trend (dissertation Theorem 12.1, Table 18.1). Counts are generic in the
dtype of `ring`: uint64 is the ring modulo 2**64 with a sticky overflow bit per channel; float64 overflows to infinity.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.kernels.arrays import Ints, Reals
from cepbench.algorithms.kernels.compilation import inlined
from cepbench.queries.aggregates import NO_VALUE, Layout
from cepbench.queries.tables import Tables

ONE = np.uint64(1)
ZERO = np.uint64(0)
HALF = np.uint64(32)


class Cells(NamedTuple):
    """N cells of R ring, F real and M least channels; bit c of `over` tells that ring channel c overflowed."""

    ring: NDArray[Any]
    over: NDArray[np.uint64]
    real: Reals
    least: Ints


def empty_cells(count: int, layout: Layout, arithmetic: str) -> Cells:
    """`count` cells of no trend."""
    return Cells(
        np.zeros((count, len(layout.ring)), np.uint64 if arithmetic == "modular" else np.float64),
        np.zeros(count, np.uint64),
        np.zeros((count, len(layout.real)), np.float64),
        np.full((count, len(layout.least)), NO_VALUE, np.int64),
    )


@inlined
def clear(cells: Cells, i: int) -> None:
    """Makes cell i that of no trend."""
    for c in range(cells.ring.shape[1]):
        cells.ring[i, c] = cells.ring.dtype.type(0)
    cells.over[i] = ZERO
    for c in range(cells.real.shape[1]):
        cells.real[i, c] = 0.0
    for c in range(cells.least.shape[1]):
        cells.least[i, c] = NO_VALUE


@inlined
def copy(cells: Cells, i: int, other: Cells, j: int) -> None:
    """Sets cell i to cell j of `other`."""
    for c in range(cells.ring.shape[1]):
        cells.ring[i, c] = other.ring[j, c]
    cells.over[i] = other.over[j]
    for c in range(cells.real.shape[1]):
        cells.real[i, c] = other.real[j, c]
    for c in range(cells.least.shape[1]):
        cells.least[i, c] = other.least[j, c]


@inlined
def add(cells: Cells, i: int, other: Cells, j: int) -> None:
    """Adds the trends of cell j of `other` to cell i."""
    over = cells.over[i] | other.over[j]
    for c in range(cells.ring.shape[1]):
        more = other.ring[j, c]
        total = cells.ring[i, c] + more
        if total < more:  # a carry; never true of non-negative floats
            over |= ONE << np.uint64(c)
        cells.ring[i, c] = total
    cells.over[i] = over
    for c in range(cells.real.shape[1]):
        cells.real[i, c] += other.real[j, c]
    for c in range(cells.least.shape[1]):
        cells.least[i, c] = min(cells.least[i, c], other.least[j, c])


@inlined
def is_empty(cells: Cells, i: int) -> bool:
    """Whether cell i holds no trend: an overflowed count may be zero and is not empty."""
    empty: bool = cells.ring[i, 0] == 0 and cells.over[i] & ONE == ZERO
    return empty


@inlined
def begin(cells: Cells, i: int) -> None:
    """Adds the trend of no event yet: the caller extends it by a START event."""
    count = cells.ring[i, 0] + cells.ring.dtype.type(1)
    if count < cells.ring[i, 0]:
        cells.over[i] |= ONE
    cells.ring[i, 0] = count


@inlined
def exceeds(weight: np.uint64, count: np.uint64) -> bool:
    """Whether weight * count >= 2**64."""
    if (weight | count) >> HALF == ZERO or weight == ZERO:
        return False
    return weight * count // weight != count


@inlined
def extend(cells: Cells, i: int, tables: Tables, position: int, ints: Ints, reals: Reals, event: int) -> None:
    """Appends an event bound to `position` to every trend of cell i; `ints[I, n]`, `reals[F, n]` are its columns."""
    count = cells.ring[i, 0]
    many = cells.over[i] & ONE
    for c in range(1, cells.ring.shape[1]):
        if not tables.ring.bound[c, position]:
            continue
        column = tables.ring.column[c]
        bit = ONE << np.uint64(c)
        if column < 0:
            more = count
            over = many != ZERO
        else:
            weight = np.uint64(ints[column, event])
            more = cells.ring.dtype.type(weight * np.uint64(count))
            over = weight != ZERO and (many != ZERO or exceeds(weight, np.uint64(count)))
        total = cells.ring[i, c] + more
        if over or total < more:
            cells.over[i] |= bit
        cells.ring[i, c] = total
    for c in range(cells.real.shape[1]):
        if tables.real.bound[c, position]:
            cells.real[i, c] += reals[tables.real.column[c], event] * float(count)
    for c in range(cells.least.shape[1]):
        if tables.least.bound[c, position]:
            cells.least[i, c] = min(cells.least[i, c], ints[tables.least.column[c], event])


def cell_bytes(tables: Tables) -> int:
    """Bytes of one cell."""
    return 8 * (len(tables.ring.column) + 1 + len(tables.real.column) + len(tables.least.column))
