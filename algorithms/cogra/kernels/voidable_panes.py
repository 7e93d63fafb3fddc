"""Panes of queries with negation: a negated event empties columns of the map of its pane.

Trends that an event comes after may not go on over a negation that the event matches; those that end at its time or
later may. So when its time is over it empties the columns of the slots that the negation stands on, the trends from
before the pane among them: a linear map, too, for which a map has to have what comes from before as rows of its own
(`voidable_tables`). `panes` serves queries without negation, in fewer rows.
"""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.cogra.kernels.appending import append
from cepbench.algorithms.cogra.kernels.pane_products import RESULT
from cepbench.algorithms.cogra.kernels.pane_tables import BACK, FIRST, PaneCells, PaneShape
from cepbench.algorithms.cogra.kernels.panes import advance_panes, live, show, wait
from cepbench.algorithms.cogra.kernels.type_tables import END
from cepbench.algorithms.cogra.kernels.voidable_tables import VoidableTables
from cepbench.algorithms.kernels.arrays import Ints, Place
from cepbench.algorithms.kernels.cells import ONE, add, clear
from cepbench.algorithms.kernels.clock import HIGH, LOW, NOW, next_boundary
from cepbench.algorithms.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.kernels.events import KernelEvents, RowCells, Sliding, fits
from cepbench.algorithms.kernels.peak import note
from cepbench.algorithms.kernels.windows import TOUCHED


@kernel
def aggregate_voidable_panes(
    first: int,
    until: int,
    events: KernelEvents,
    latest: Ints,
    seen: Ints,
    tables: VoidableTables,
    shape: PaneShape,
    span: int,
    window: Sliding,
    state: PaneCells,
    out: RowCells,
) -> tuple[int, int]:
    """As `panes.aggregate_panes`, with the latest match of each negation after all events, and before the next one.

    O(C l + C f) per event for C rows, l transitions into its positions and f slots that they feed, O(C) per slot that
    a negated event empties, O(C^3) per pane, O(C^2) per window.
    """
    clock = state.clock
    now = clock[NOW]
    size = 0
    boundary = next_boundary(clock[LOW], clock[HIGH], window)
    inside = clock[LOW] <= clock[HIGH]
    number = np.uint64(len(events.time))
    checked = len(tables.panes.local.one) > 0
    for i in range(np.uint64(first), number + ONE):
        time = until if i == number else events.time[i]
        if time != now:
            if i == number and time <= now:
                break
            if time >= boundary and (size + span > len(out.window) or state.counters[BACK] == len(state.back_first)):
                clock[NOW] = now
                return int(i), size
            for j in range(len(seen)):
                match = latest[j] if i == number else events.negated[i, j]
                if match > seen[j]:
                    seen[j] = match
                    if inside:
                        _void(j, now, tables, state)
            if time >= boundary:
                clock[NOW] = now
                size = advance_panes(time, tables.panes, window, state, out, size)
                boundary = next_boundary(clock[LOW], clock[HIGH], window)
                inside = clock[LOW] <= clock[HIGH]
            elif clock[TOUCHED] > 0:
                show(tables.panes, state)
            now = time
        if i == number:
            break
        if not inside:  # between windows
            continue
        b = tables.panes.first_binding[np.uint64(events.kind[i])]
        while tables.panes.binding[b] != END:
            p = tables.panes.binding[b]
            if not checked or fits(p, i, events, tables.panes):
                if state.counters[FIRST] < 0:
                    state.counters[FIRST] = now
                _bind(i, p, events, tables, shape, state)
            b += ONE
    clock[NOW] = now
    note(live(tables.panes, state), clock)
    return len(events.time) + 1, size


@inlined
def _bind(
    i: Place, p: np.uint64, events: KernelEvents, tables: VoidableTables, shape: PaneShape, state: PaneCells
) -> None:
    """Appends event i at position p to the trends that it may follow, row by row; they wait in the columns it feeds."""
    panes, cells = tables.panes, state.cells
    size = np.uint64(panes.enters.size)
    nothing, made = cells.ring.dtype.type(0), RESULT * size
    for f in range(tables.feed_ptr[p], tables.feed_ptr[p + ONE]):
        wait(np.uint64(tables.feed[f]), state)
    k = panes.first_row[p]
    base = panes.row[k]
    while base != END:
        clear(cells, made)
        append(i, p, nothing, base, made, made, False, made, events, panes, shape, cells)
        for f in range(tables.feed_ptr[p], tables.feed_ptr[p + ONE]):
            add(cells, size + base + np.uint64(tables.feed[f]), cells, made)
        k += ONE
        base = panes.row[k]


@inner
def _void(j: int, now: int, tables: VoidableTables, state: PaneCells) -> None:
    """Empties what a match of negation j at the time stamp that ends takes away, but not what ended at that time."""
    columns, size = np.uint64(tables.panes.enters.shape[1]), np.uint64(tables.panes.enters.size)
    if state.counters[FIRST] < 0:
        state.counters[FIRST] = now
    for v in range(tables.void_ptr[j], tables.void_ptr[j + 1]):
        for at in range(np.uint64(tables.void[v]), size, columns):
            clear(state.cells, at)
