"""Windows that reach over slices of time: rows of windows that begin in a slice, and their products with later maps.

A row of P cells has the trends of a window's events so far, by their last position: the row of entry 0 of the product
of its panes. It is followed by the map of the next slice, or of the part of it that the window still holds, and so on.
Products, and what of them has overflowed, are those of `pane_products`.
"""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.cogra.kernels.pane_products import PRODUCT, SLOTS, concatenate_row, evict_panes, push_pane
from cepbench.algorithms.cogra.kernels.pane_tables import BACK, FRONT, PaneCells, PaneTables
from cepbench.algorithms.cogra.kernels.panes import show
from cepbench.algorithms.kernels.cells import ONE, ZERO, Cells, add, clear, copy, is_empty
from cepbench.algorithms.kernels.compilation import kernel
from cepbench.algorithms.kernels.events import RowCells
from cepbench.algorithms.kernels.lanes import lane


@kernel
def end_pane(tables: PaneTables, lanes: PaneCells) -> None:
    """Ends the current time stamp and the current pane of the only key. The back must have room for it."""
    state = lane(lanes, 0)
    show(tables, state)
    push_pane(tables, state)


@kernel
def open_windows(first: int, count: int, slide: int, tables: PaneTables, lanes: PaneCells, out: Cells) -> None:
    """Sets each P cells of `out`, which are empty, to the row of a window, `count` of them from window `first` on.

    All panes of the only key have ended. O(P^2) products per window, O(C P^2) per pane that is turned over.
    """
    positions, size = np.uint64(tables.enters.shape[1]), np.uint64(tables.enters.size)
    state = lane(lanes, 0)
    counters, cells = state.counters, state.cells
    for k in range(count):
        evict_panes((first + k) * slide, tables, state)
        at = np.uint64(k) * positions
        top = SLOTS * size + np.uint64(max(counters[FRONT] - 1, 0)) * (size + positions) + size
        made = PRODUCT * size
        if counters[FRONT] > 0:
            made = top
            if counters[BACK] > 0:
                made = (PRODUCT + ONE) * size
                concatenate_row(cells, made, top, PRODUCT * size, ZERO, False, tables.after, tables.end, False)
        if counters[FRONT] + counters[BACK] > 0:
            for p in range(positions):
                copy(out, at + p, cells, made + p)


@kernel
def extend_windows(windows: int, maps: int, tables: PaneTables, cells: Cells) -> None:
    """Sets row w of the first `windows` rows of P cells to row w of the next, followed by map w of those after these.

    There are `maps` maps, of which the last one is that of all further windows, too. O(P^2) products per window.
    """
    positions, size = np.uint64(tables.enters.shape[1]), np.uint64(tables.enters.size)
    rows = np.uint64(windows) * positions
    for w in range(windows):
        at = np.uint64(w) * positions
        following = rows + rows + np.uint64(min(w, maps - 1)) * size
        concatenate_row(cells, at, rows + at, following, ZERO, False, tables.after, tables.end, False)


@kernel
def close_windows(first: int, windows: int, tables: PaneTables, rows: Cells, out: RowCells) -> int:
    """Writes the windows from `first` on that have a match, from `windows` rows of P cells; returns rows in `out`."""
    positions = np.uint64(tables.enters.shape[1])
    size = 0
    for w in range(windows):
        clear(out.cells, size)
        for p in range(positions):
            if tables.end[p]:
                add(out.cells, size, rows, np.uint64(w) * positions + p)
        if not is_empty(out.cells, size):
            out.window[size] = first + w
            size += 1
    return size
