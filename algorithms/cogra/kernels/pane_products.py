"""Products of the maps of panes, and windows as products of panes by two stacks.

The map of a pane has a cell per entry and position: the aggregates of the trends inside the pane that begin there and
end here. A trend over two panes lies in one of them, or it ends in the first at some position and continues in the
second from the entry after it. So the map of both is A + B + A.B, where a product of two cells concatenates each trend
of one with each of the other: counts multiply, sums are sx * cy + cx * sy, a minimum is the lesser of both.

Overflow is decided as by the direct computation. A count has overflowed if and only if 2^64 is reached by the number
itself, not by its residue; so a product has overflowed if neither side is 0 and one of them has overflowed or their
product reaches 2^64, and 0 times an overflowed count is 0 and raises nothing. Maps thus may hold overflowed counts
of trends that no window has; no flag of these gets into a row.

The panes of the open windows lie on two stacks (Tangwongsan, Hirzel, Schneider: Low-latency sliding-window aggregation
in worst-case constant time, DEBS 2017, Section 3.2: two-stacks). The back keeps the panes since the last turn and their
product, the front the products of each older pane with all after it, of which a window needs the row of entry 0 only.
When the front is empty, the back is turned over. Each pane so takes two products of maps, and each window one of a row
with a map, however much windows overlap.
"""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.cogra.kernels.pane_tables import BACK, EMPTY, FIRST, FRONT, PaneCells, PaneTables
from cepbench.algorithms.kernels.arrays import Flags, Index, Place
from cepbench.algorithms.kernels.cells import ONE, ZERO, Cells, add, clear, copy, is_empty, sum_exceeds
from cepbench.algorithms.kernels.compilation import inlined, inner
from cepbench.algorithms.online.kernels.type_tables import END
from cepbench.algorithms.snapshots.kernels.products import times

PRODUCT, RESULT, NEXT_RESULT, SLOTS = np.uint64(2), np.uint64(3), np.uint64(4), np.uint64(EMPTY + 1)
"""Maps in `PaneCells.cells` behind that of the current pane and that of what waits, and where the back begins."""


@inner
def push_pane(tables: PaneTables, state: PaneCells) -> None:
    """Ends the current pane, of which nothing waits: it joins the back."""
    positions, size = np.uint64(tables.enters.shape[1]), np.uint64(tables.enters.size)
    counters = state.counters
    if counters[FIRST] < 0:
        return
    top = np.uint64(counters[BACK])
    _copy_cells(state.cells, SLOTS * size + top * (size + positions), ZERO, size)
    state.back_first[counters[BACK]] = counters[FIRST]
    counters[BACK] += 1
    counters[FIRST] = -1
    made = ZERO
    if top > ZERO:
        made = RESULT * size
        _concatenate(state.cells, made, PRODUCT * size, ZERO, tables)
    _copy_cells(state.cells, PRODUCT * size, made, size)
    _clear_cells(state.cells, ZERO, size)
    if tables.whole:
        for c in range(np.uint64(tables.enters.shape[0])):
            for q in range(positions):
                if tables.enters[c, q]:
                    state.cells.ring[c * positions + q, 0] = state.cells.ring.dtype.type(1)


@inner
def evict_panes(begin: int, tables: PaneTables, state: PaneCells) -> None:
    """Drops the panes before `begin`; turns the back over once the front is empty."""
    counters = state.counters
    if counters[BACK] > 0 and state.back_first[counters[BACK] - 1] < begin:
        counters[BACK], counters[FRONT] = 0, 0
    while counters[FRONT] > 0 and state.front_first[counters[FRONT] - 1] < begin:
        counters[FRONT] -= 1
    if counters[FRONT] == 0 and counters[BACK] > 0 and state.back_first[0] < begin:
        _turn(begin, tables, state)


@inner
def _turn(begin: int, tables: PaneTables, state: PaneCells) -> None:
    """Moves the panes from `begin` on to the front, the latest first."""
    counters = state.counters
    positions, size = np.uint64(tables.enters.shape[1]), np.uint64(tables.enters.size)
    product, following = RESULT * size, NEXT_RESULT * size
    while counters[BACK] > 0 and state.back_first[counters[BACK] - 1] >= begin:
        counters[BACK] -= 1
        at = SLOTS * size + np.uint64(counters[BACK]) * (size + positions)
        if counters[FRONT] == 0:
            _copy_cells(state.cells, product, at, size)
        else:
            _concatenate(state.cells, following, at, product, tables)
            product, following = following, product
        top = SLOTS * size + np.uint64(counters[FRONT]) * (size + positions) + size
        _copy_cells(state.cells, top, product, positions)
        state.front_first[counters[FRONT]] = state.back_first[counters[BACK]]
        counters[FRONT] += 1
    counters[BACK] = 0


@inner
def window_result(out: Cells, i: int, tables: PaneTables, state: PaneCells) -> None:
    """Sets cell i to the trends of all panes that are kept (at least one), from START to END positions."""
    counters = state.counters
    positions, size = np.uint64(tables.enters.shape[1]), np.uint64(tables.enters.size)
    product, made = PRODUCT * size, RESULT * size
    top = SLOTS * size + np.uint64(max(counters[FRONT] - 1, 0)) * (size + positions) + size
    if counters[FRONT] == 0:
        made = product
    elif counters[BACK] == 0:
        made = top
    else:
        concatenate_row(state.cells, made, top, product, ZERO, True, tables.after, tables.end, tables.whole)
    clear(out, i)
    for p in range(positions):
        if tables.end[p]:
            add(out, i, state.cells, made + p)


@inlined
def _concatenate(cells: Cells, at: np.uint64, a: np.uint64, b: np.uint64, tables: PaneTables) -> None:
    """Sets the map from cell `at` on to that of the panes with maps from cells a and b on; O(C P^2) products."""
    positions = np.uint64(tables.enters.shape[1])
    row = ZERO
    for _ in range(tables.enters.shape[0]):
        concatenate_row(cells, at + row, a + row, b, row, False, tables.after, tables.end, tables.whole)
        row += positions


@inner
def concatenate_row(
    cells: Cells,
    at: np.uint64,
    a: np.uint64,
    b: np.uint64,
    row: np.uint64,
    only_ends: bool,
    after: Index,
    end: Flags,
    whole: bool,
) -> None:
    """Sets the P cells from `at` on to a row of `_concatenate`, that from cell a on and `row` cells after b.

    The cells of positions that are no END are left as they are with `only_ends`. A map that is `whole` has also the
    trends that continue as they are, and those that begin later.
    """
    positions = np.uint64(len(after))
    for p in range(positions):
        if only_ends and not end[p]:
            continue
        if whole:
            clear(cells, at + p)
        else:
            copy(cells, at + p, cells, a + p)
            add(cells, at + p, cells, b + row + p)
        for q in range(positions):
            if after[q] != END:
                _add_concatenated(cells, at + p, a + q, b + after[q] * positions + p)


@inner
def _copy_cells(cells: Cells, i: np.uint64, j: np.uint64, count: np.uint64) -> None:
    for k in range(count):
        copy(cells, i + k, cells, j + k)


@inner
def _clear_cells(cells: Cells, i: np.uint64, count: np.uint64) -> None:
    for k in range(count):
        clear(cells, i + k)


@inlined
def _add_concatenated(cells: Cells, i: Place, a: Place, b: Place) -> None:
    """Adds to cell i each trend of cell a followed by each of cell b."""
    if is_empty(cells, a) or is_empty(cells, b):
        return
    nothing = cells.ring.dtype.type(0)
    modular = cells.ring.dtype.type(0.5) == nothing
    many, others = cells.ring[a, 0], cells.ring[b, 0]
    many_over, others_over = cells.over[a] & ONE != ZERO, cells.over[b] & ONE != ZERO
    more, exceeds = times(many, many_over, others, others_over, nothing, modular)
    total = cells.ring[i, 0] + more
    over = cells.over[i] | np.uint64(exceeds or sum_exceeds(total, more))
    cells.ring[i, 0] = total
    for c in range(ONE, np.uint64(cells.ring.shape[1])):
        bit = ONE << c
        more, exceeds = times(cells.ring[a, c], cells.over[a] & bit != ZERO, others, others_over, nothing, modular)
        total = cells.ring[i, c] + more
        exceeds |= sum_exceeds(total, more)
        more, beyond = times(cells.ring[b, c], cells.over[b] & bit != ZERO, many, many_over, nothing, modular)
        total += more
        if exceeds or beyond or sum_exceeds(total, more):
            over |= bit
        cells.ring[i, c] = total
    cells.over[i] = over
    for c in range(np.uint64(cells.real.shape[1])):
        cells.real[i, c] += cells.real[a, c] * float(others) + cells.real[b, c] * float(many)
    for c in range(np.uint64(cells.least.shape[1])):
        cells.least[i, c] = min(cells.least[i, c], cells.least[a, c], cells.least[b, c])
