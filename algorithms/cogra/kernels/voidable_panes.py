"""Panes of queries with negation: a negated event empties columns of the map of its pane.

Trends that an event comes after may not go on over a negation that the event matches; those that end at its time or
later may. So when its time is over it empties the columns of the slots that the negation stands on, the trends from
before the pane among them: a linear map, too, for which a map has to have what comes from before as rows of its own
(`voidable_tables`). `panes` serves queries without negation, in fewer rows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.cogra.kernels.pane_products import RESULT
from cepbench.algorithms.cogra.kernels.pane_tables import FIRST, PaneCells, PaneShape
from cepbench.algorithms.cogra.kernels.panes import advance_panes, lacking, live, show, wait
from cepbench.algorithms.cogra.kernels.voidable_tables import VoidableTables
from cepbench.algorithms.kernels.arrays import Ints, Place
from cepbench.algorithms.kernels.cells import ONE, add, clear
from cepbench.algorithms.kernels.clock import HIGH, LOW, NOW, TOUCHED, has_ended, next_boundary
from cepbench.algorithms.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.kernels.events import KernelEvents, RowCells, Sliding, fits
from cepbench.algorithms.kernels.lanes import DONE, Calls, over_keys
from cepbench.algorithms.kernels.peak import note
from cepbench.algorithms.online.kernels.appending import append
from cepbench.algorithms.online.kernels.type_tables import END


class VoidablePanes(NamedTuple):
    """As `Panes`."""

    tables: VoidableTables
    shape: PaneShape
    span: int
    window: Sliding


@inner
def aggregate_voidable_panes(
    first: int,
    until: int,
    events: KernelEvents,
    fixed: VoidablePanes,
    arena: tuple[()],
    state: PaneCells,
    out: RowCells,
    size: int,
) -> tuple[int, int, int]:
    """As `panes.aggregate_panes`.

    O(C l + C f) per event for C rows, l transitions into its positions and f slots that they feed, O(C) per slot that
    a negated event empties, O(C^3) per pane, O(C^2) per window.
    """
    tables, shape, window = fixed.tables, fixed.shape, fixed.window
    clock = state.clock
    now = clock[NOW]
    boundary = next_boundary(clock[LOW], clock[HIGH], window)
    inside = clock[LOW] <= clock[HIGH]
    number = np.uint64(len(events.time))
    checked = len(tables.panes.local.one) > 0
    for i in range(np.uint64(first), number):
        time = events.time[i]
        if time != now:
            if time >= boundary:
                clock[NOW] = now
                why = lacking(fixed.span, state, out, size)
                if why != DONE:
                    return int(i), size, why
                _void_all(events.negated[i], inside, tables, state)
                size = advance_panes(time, tables.panes, window, state, out, size)
                boundary = next_boundary(clock[LOW], clock[HIGH], window)
                inside = clock[LOW] <= clock[HIGH]
            else:
                clock[NOW] = now
                _void_all(events.negated[i], inside, tables, state)
                if clock[TOUCHED] > 0:
                    show(tables.panes, state)
            now = time
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
    if has_ended(clock[LOW], clock[HIGH], until, window):
        why = lacking(fixed.span, state, out, size)
        if why != DONE:
            return int(number), size, why
        _void_all(events.negated[number], inside, tables, state)
        size = advance_panes(until, tables.panes, window, state, out, size)
    return int(number), size, DONE


@kernel
def aggregate_voidable_panes_keys(
    at: int, done: int, calls: Calls, fixed: VoidablePanes, arena: tuple[()], lanes: PaneCells, rows: RowCells
) -> tuple[int, int, int, int]:
    """`aggregate_voidable_panes` over keys."""
    return over_keys(aggregate_voidable_panes, at, done, calls, fixed, arena, lanes, rows)


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


@inlined
def _void_all(latest: Ints, inside: bool, tables: VoidableTables, state: PaneCells) -> None:
    """Notes the matches of negations at the time stamp that ends, which empty columns."""
    for j in range(len(latest)):
        if latest[j] > state.seen[j]:
            state.seen[j] = latest[j]
            if inside:
                _void(j, tables, state)


@inner
def _void(j: int, tables: VoidableTables, state: PaneCells) -> None:
    """Empties what a match of negation j at the time stamp that ends takes away, but not what ended at that time."""
    columns, size = np.uint64(tables.panes.enters.shape[1]), np.uint64(tables.panes.enters.size)
    if state.counters[FIRST] < 0:
        state.counters[FIRST] = state.clock[NOW]
    for v in range(tables.void_ptr[j], tables.void_ptr[j + 1]):
        for at in range(np.uint64(tables.void[v]), size, columns):
            clear(state.cells, at)
