"""Products of the maps of panes, and windows as products of panes by two stacks.

The map of a pane has a cell per entry and position: the aggregates of the trends inside the pane that begin there and
end here. A trend over two panes lies in one of them, or it ends in the first at some position and goes on in the second
from the entry after it. So the map of both is A + B + A.B, where a product of two cells concatenates each trend of one
with each of the other: counts multiply, sums are sx * cy + cx * sy, a minimum is the lesser of both.

Overflow is decided as by the direct computation. A count has overflowed if and only if 2^64 is reached by the number
itself, not by its residue; so a product has overflowed if neither side is 0 and one of them has overflowed or their
product reaches 2^64, and 0 times an overflowed count is 0 and raises nothing. Maps thus may hold overflowed counts
of trends that no window has; no flag of these gets into a row.

The panes of the open windows lie on two stacks (Tangwongsan, Hirzel, Schneider: Low-latency sliding-window aggregation
in worst-case constant time, DEBS 2017, Section 3.2: two-stacks). The back keeps the panes since the last turn and their
product, the front the products of each older pane with all after it, of which a window needs the row of entry 0 only.
When the front is empty, the back is turned over. Each pane so takes two products of maps, and each window one of a row
with a map, whatever the windows' overlap.
"""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.cogra.kernels.pane_tables import BACK, FIRST, FRONT, PaneCells, PaneTables
from cepbench.algorithms.cogra.kernels.type_tables import END
from cepbench.algorithms.kernels.arrays import Place
from cepbench.algorithms.kernels.cells import ONE, ZERO, Cells, add, clear, copy, is_empty, sum_exceeds
from cepbench.algorithms.kernels.compilation import inlined, inner
from cepbench.algorithms.snapshots.kernels.products import times

TWO = np.uint64(2)
PRODUCT, RESULT, NEXT_RESULT = np.uint64(2), np.uint64(3), np.uint64(4)
"""Maps in `PaneCells.cells` behind that of the current pane and that of what waits."""


@inner
def push_pane(tables: PaneTables, state: PaneCells) -> None:
    """Ends the current pane, of which nothing waits: it joins the back."""
    size = np.uint64(tables.enters.size)
    counters = state.counters
    if counters[FIRST] < 0:
        return
    top = np.uint64(counters[BACK])
    _copy_cells(state.back, top * size, state.cells, ZERO, size)
    state.back_first[counters[BACK]] = counters[FIRST]
    counters[BACK] += 1
    counters[FIRST] = -1
    made = ZERO
    if top > ZERO:
        made = RESULT * size
        _concatenate(state.cells, made, state.cells, PRODUCT * size, state.cells, ZERO, tables)
    _copy_cells(state.cells, PRODUCT * size, state.cells, made, size)
    _clear_cells(state.cells, ZERO, size)


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
        at = np.uint64(counters[BACK]) * size
        if counters[FRONT] == 0:
            _copy_cells(state.cells, product, state.back, at, size)
        else:
            _concatenate(state.cells, following, state.back, at, state.cells, product, tables)
            product, following = following, product
        _copy_cells(state.front, np.uint64(counters[FRONT]) * positions, state.cells, product, positions)
        state.front_first[counters[FRONT]] = state.back_first[counters[BACK]]
        counters[FRONT] += 1
    counters[BACK] = 0


@inner
def window_result(out: Cells, i: int, tables: PaneTables, state: PaneCells) -> None:
    """Sets cell i to the trends of all panes that are kept (at least one), from START to END positions."""
    counters = state.counters
    positions, size = np.uint64(tables.enters.shape[1]), np.uint64(tables.enters.size)
    product, made = PRODUCT * size, RESULT * size
    top = np.uint64(max(counters[FRONT] - 1, 0)) * positions
    if counters[FRONT] == 0:
        made = product
    elif counters[BACK] == 0:
        _copy_cells(state.cells, made, state.front, top, positions)
    else:
        _concatenate_row(state.cells, made, state.front, top, state.cells, product, ZERO, True, tables)
    clear(out, i)
    for p in range(positions):
        if tables.end[p]:
            add(out, i, state.cells, made + p)


@inlined
def _concatenate(
    to: Cells, at: np.uint64, left: Cells, a: np.uint64, right: Cells, b: np.uint64, tables: PaneTables
) -> None:
    """Sets the map from cell `at` on to that of the panes with maps from cells a and b on; O(C P^2) products."""
    positions = np.uint64(tables.enters.shape[1])
    row = ZERO
    for _ in range(tables.enters.shape[0]):
        _concatenate_row(to, at + row, left, a + row, right, b, row, False, tables)
        row += positions


@inner
def _concatenate_row(
    to: Cells,
    at: np.uint64,
    left: Cells,
    a: np.uint64,
    right: Cells,
    b: np.uint64,
    row: np.uint64,
    only_ends: bool,
    tables: PaneTables,
) -> None:
    """Sets the P cells from `at` on to a row of `_concatenate`, that from cell a on and `row` cells after b.

    The cells of positions that are no END are left as they are with `only_ends`.
    """
    positions = np.uint64(tables.enters.shape[1])
    for p in range(positions):
        if only_ends and not tables.end[p]:
            continue
        copy(to, at + p, left, a + p)
        add(to, at + p, right, b + row + p)
        for q in range(positions):
            if tables.after[q] != END:
                _add_concatenated(to, at + p, left, a + q, right, b + tables.after[q] * positions + p)


@inner
def _copy_cells(to: Cells, i: np.uint64, cells: Cells, j: np.uint64, count: np.uint64) -> None:
    for k in range(count):
        copy(to, i + k, cells, j + k)


@inner
def _clear_cells(cells: Cells, i: np.uint64, count: np.uint64) -> None:
    for k in range(count):
        clear(cells, i + k)


@inlined
def _add_concatenated(to: Cells, i: Place, left: Cells, a: Place, right: Cells, b: Place) -> None:
    """Adds to cell i each trend of cell a of `left` followed by each of cell b of `right`."""
    if is_empty(left, a) or is_empty(right, b):
        return
    nothing = to.ring.dtype.type(0)
    modular = to.ring.dtype.type(0.5) == nothing
    many, others = left.ring[a, 0], right.ring[b, 0]
    many_over, others_over = left.over[a] & ONE != ZERO, right.over[b] & ONE != ZERO
    more, exceeds = times(many, many_over, others, others_over, nothing, modular)
    total = to.ring[i, 0] + more
    over = to.over[i] | np.uint64(exceeds or sum_exceeds(total, more))
    to.ring[i, 0] = total
    for c in range(ONE, np.uint64(to.ring.shape[1])):
        bit = ONE << c
        more, exceeds = times(left.ring[a, c], left.over[a] & bit != ZERO, others, others_over, nothing, modular)
        total = to.ring[i, c] + more
        exceeds |= sum_exceeds(total, more)
        more, beyond = times(right.ring[b, c], right.over[b] & bit != ZERO, many, many_over, nothing, modular)
        total += more
        if exceeds or beyond or sum_exceeds(total, more):
            over |= bit
        to.ring[i, c] = total
    to.over[i] = over
    for c in range(np.uint64(to.real.shape[1])):
        to.real[i, c] += left.real[a, c] * float(others) + right.real[b, c] * float(many)
    for c in range(np.uint64(to.least.shape[1])):
        to.least[i, c] = min(to.least[i, c], left.least[a, c], right.least[b, c])
