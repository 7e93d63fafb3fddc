"""Products of the maps of panes, and windows as products of panes by two stacks.

The map of a pane has a cell per entry and column: the aggregates of the trends inside the pane that begin there and
end here. A trend over two panes lies in one of them, or it ends in the first in some column and continues in the
second from the entry after it. So the map of both is A + B + A.B, where a product of two cells concatenates each trend
of one with each of the other: counts multiply, sums are sx * cy + cx * sy, a minimum is the lesser of both. Matches of
negations in B take the columns that they empty from A, and those in A the rows that they stop from B.

Overflow is decided as by the direct computation. A count has overflowed if and only if 2^64 is reached by the number
itself, not by its residue; so a product has overflowed if neither side is 0 and one of them has overflowed or their
product reaches 2^64, and 0 times an overflowed count is 0 and raises nothing. Maps thus may hold overflowed counts
of trends that no window has; no flag of these gets into a row.

The panes of the open windows lie on two stacks (Tangwongsan, Hirzel, Schneider: Low-latency sliding-window aggregation
in worst-case constant time, DEBS 2017, Section 3.2: two-stacks). The back keeps the panes since the last turn and their
product, the front the products of each older pane with all after it, of which a window needs the rows of the trend
without an event only. When the front is empty, the back is turned over. Each pane so takes two products of maps, and
each window one of these rows with a map, however much windows overlap.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cepbench.algorithms.engine.kernels.cells import ZERO, Cells, add, add_product, clear, clear_run, copy, copy_run
from cepbench.algorithms.engine.kernels.compilation import in_python, inlined, inner
from cepbench.algorithms.engine.kernels.constants import END, NEVER
from cepbench.algorithms.trends.cogra.kernels.pane_tables import (
    ALWAYS,
    EMPTY,
    PaneCells,
    PaneMaps,
)

PRODUCT, RESULT, SLOTS = np.uint64(2), np.uint64(3), np.uint64(EMPTY + 1)
"""Maps in `PaneCells.cells` after those of the current pane and of the trends that wait; the back begins at SLOTS."""

copy_cells: Any = inner(in_python(copy_run))


@inlined
def map_size(maps: PaneMaps) -> np.uint64:
    """Cells of a map."""
    return np.uint64(len(maps.stopped) * len(maps.after))


@inlined
def back_place(k: int, maps: PaneMaps) -> np.uint64:
    """The first cell of the map of pane k at the back."""
    size = map_size(maps)
    return SLOTS * size + np.uint64(k) * (size + np.uint64(maps.starts * len(maps.after)))


@inner
def push_pane(maps: PaneMaps, state: PaneCells) -> None:
    """Ends the current pane, of which nothing waits: pushes it to the back."""
    progress, cells, size = state.progress[0], state.cells, map_size(maps)
    if progress.first < 0:
        return
    top = progress.back
    copy_cells(cells, back_place(top, maps), cells, ZERO, size)
    state.back[top].first, state.back[top].negated = progress.first, progress.negated
    product = ZERO
    if top > 0:
        product = RESULT * size
        shape = np.uint64(len(maps.stopped)), np.uint64(len(maps.after))
        negated = progress.product_negated, progress.negated
        _concatenate(cells, product, PRODUCT * size, ZERO, shape, negated, maps)
        progress.product_negated |= progress.negated
    else:
        progress.product_negated = progress.negated
    copy_cells(cells, PRODUCT * size, cells, product, size)
    clear_run(cells, ZERO, size)
    progress.back += 1
    progress.first, progress.negated = NEVER, ALWAYS


@inner
def evict_panes(begin: int, maps: PaneMaps, state: PaneCells) -> None:
    """Drops the panes before `begin`; turns the back over once the front is empty."""
    progress = state.progress[0]
    if progress.back > 0 and state.back[progress.back - 1].first < begin:
        progress.back, progress.front = 0, 0
    while progress.front > 0 and state.front[progress.front - 1].first < begin:
        progress.front -= 1
    if progress.front == 0 and progress.back > 0 and state.back[0].first < begin:
        _turn(begin, maps, state)


@inner
def _turn(begin: int, maps: PaneMaps, state: PaneCells) -> None:
    """Moves the panes from `begin` on to the front, the latest first; the product of the back is of no more use."""
    progress, cells, size = state.progress[0], state.cells, map_size(maps)
    shape = np.uint64(len(maps.stopped)), np.uint64(len(maps.after))
    product, following = PRODUCT * size, RESULT * size
    negated = ALWAYS
    while progress.back > 0 and state.back[progress.back - 1].first >= begin:
        progress.back -= 1
        back, front = progress.back, progress.front
        at = back_place(back, maps)
        if front == 0:
            copy_cells(cells, product, cells, at, size)
        else:
            _concatenate(cells, following, at, product, shape, (state.back[back].negated, negated), maps)
            product, following = following, product
        negated |= state.back[back].negated
        copy_cells(cells, back_place(front, maps) + size, cells, product, np.uint64(maps.starts * len(maps.after)))
        state.front[front].first, state.front[front].negated = state.back[back].first, negated
        progress.front += 1
    progress.back = 0


@inner
def window_result(out: Cells, i: int, maps: PaneMaps, state: PaneCells) -> None:
    """Sets cell i to the matches of all panes that are kept (at least one)."""
    progress, cells, size = state.progress[0], state.cells, map_size(maps)
    starts, ends = np.uint64(maps.starts), np.uint64(maps.ends)
    product = PRODUCT * size
    if progress.front > 0:
        top = progress.front - 1
        product = back_place(top, maps) + size
        if progress.back > 0:
            negated = state.front[top].negated, progress.product_negated
            _concatenate(cells, RESULT * size, product, PRODUCT * size, (starts, ends), negated, maps)
            product = RESULT * size
    clear(out, i)
    for c in range(starts):
        for p in range(ends):
            add(out, i, cells, product + c * np.uint64(len(maps.after)) + p)


@inner
def _concatenate(
    cells: Cells, at: np.uint64, a: np.uint64, b: np.uint64, shape: tuple[np.uint64, np.uint64],
    negated: tuple[int, int], maps: PaneMaps,
) -> None:  # fmt: skip
    """Sets the first rows and columns (`shape`) of the map from cell `at` on to those of the map from cell a on,
    followed by that from cell b on; `negated`: the negations that match in the events of each. O(P) products each.
    """
    (rows, columns), (before, later) = shape, negated
    width = np.uint64(len(maps.after))
    for c in range(rows):
        row = c * width
        continues = maps.stopped[c] & before == 0
        for p in range(columns):
            to = at + row + p
            if maps.emptied[p] & later == 0:
                copy(cells, to, cells, a + row + p)
            else:
                clear(cells, to)
            if continues:
                add(cells, to, cells, b + row + p)
            for q in range(width):
                if maps.after[q] != END:
                    following = b + maps.after[q] * width + p
                    add_product(cells, to, cells, a + row + q, following, None, 0)
