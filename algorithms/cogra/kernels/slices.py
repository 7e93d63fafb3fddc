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
from cepbench.algorithms.kernels.cells import ONE, ZERO, Cells, add, clear, copy
from cepbench.algorithms.kernels.compilation import kernel


@kernel
def open_windows(first: int, count: int, slide: int, tables: PaneTables, state: PaneCells, out: Cells) -> None:
    """Sets each P cells of `out` to the row of a window, `count` of them from window `first` on.

    Ends all panes, and their last time stamp. The back must have room for a pane. O(P^2) products per window, O(C P^2)
    per pane that is turned over.
    """
    positions, size = np.uint64(tables.enters.shape[1]), np.uint64(tables.enters.size)
    counters, cells = state.counters, state.cells
    show(tables, state)
    push_pane(tables, state)
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
        for p in range(positions):
            clear(out, at + p)
            if counters[FRONT] + counters[BACK] > 0:
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
def close_windows(tables: PaneTables, rows: Cells, out: Cells) -> None:
    """Sets each cell of `out` to the trends of a row that end at END positions."""
    positions = np.uint64(tables.enters.shape[1])
    for w in range(np.uint64(len(out.over))):
        clear(out, w)
        for p in range(positions):
            if tables.end[p]:
                add(out, w, rows, w * positions + p)
