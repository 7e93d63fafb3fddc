"""Type-grained aggregation by panes: an event changes the map of its pane alone, however many windows hold it.

Under skip-till-any-match, without predicates on adjacent events and negation, an event at a position p adds to the
trends that end at p a sum of those that end at the positions before, whatever trends there were before the pane: a
linear map of the cells of type granularity, and an affine one with sums. The map of a pane has a row per entry
(`pane_tables`), which an event at p changes in column p alone; the cells of a window are those of a product of the maps
of its panes (`pane_products`). A pane ends where a window begins or ends.
"""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.cogra.kernels.pane_products import evict_panes, push_pane, window_result
from cepbench.algorithms.cogra.kernels.pane_tables import BACK, FIRST, FRONT, PaneCells, Panes, PaneShape, PaneTables
from cepbench.algorithms.kernels.arrays import Ints, Place
from cepbench.algorithms.kernels.cells import ONE, ZERO, add, clear, is_empty
from cepbench.algorithms.kernels.clock import HIGH, LOW, NOW, TOUCHED, has_ended, next_boundary, opened
from cepbench.algorithms.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.kernels.events import KernelEvents, RowCells, Sliding, fits
from cepbench.algorithms.kernels.lanes import DONE, ROOM, ROWS, Calls, over_keys
from cepbench.algorithms.kernels.peak import note
from cepbench.algorithms.online.kernels.appending import append
from cepbench.algorithms.online.kernels.type_tables import END


@inner
def aggregate_panes(
    first: int,
    until: int,
    events: KernelEvents,
    fixed: Panes,
    arena: tuple[()],
    state: PaneCells,
    out: RowCells,
    size: int,
) -> tuple[int, int, int]:
    """Aggregates the trends of one key (`kernels.lanes`).

    Stops before an event, or the end, at which `out` might not have room for the windows that close (`span` at most)
    or the back for a pane. O(C l) per event for C entries and l transitions into its positions, O(C P^2) per pane of P
    positions, O(P^2) per window.
    """
    tables, shape, window = fixed.tables, fixed.shape, fixed.window
    clock = state.clock
    now = clock[NOW]
    boundary = next_boundary(clock[LOW], clock[HIGH], window)  # divisions are left to the boundaries of panes
    inside = clock[LOW] <= clock[HIGH]
    number = np.uint64(len(events.time))
    checked = len(tables.local.one) > 0
    for i in range(np.uint64(first), number):
        alone = False
        time = events.time[i]
        if time != now:
            if time >= boundary:
                clock[NOW] = now
                why = lacking(fixed.span, state, out, size)
                if why != DONE:
                    return int(i), size, why
                size = advance_panes(time, tables, window, state, out, size)
                boundary = next_boundary(clock[LOW], clock[HIGH], window)
                inside = clock[LOW] <= clock[HIGH]
            elif clock[TOUCHED] > 0:
                show(tables, state)
            now = time
            alone = bool(i + ONE < number and events.time[i + ONE] != now)
        if not inside:  # between windows
            continue
        b = tables.first_binding[np.uint64(events.kind[i])]
        p = tables.binding[b]
        alone = alone and (p == END or tables.binding[b + ONE] == END)
        while p != END:
            if not checked or fits(p, i, events, tables):
                if state.counters[FIRST] < 0:
                    state.counters[FIRST] = now
                if not alone:
                    wait(p, state)
                _bind(i, p, alone, events, tables, shape, state)
            b += ONE
            p = tables.binding[b]
    clock[NOW] = now
    note(live(tables, state), clock)
    if has_ended(clock[LOW], clock[HIGH], until, window):
        why = lacking(fixed.span, state, out, size)
        if why != DONE:
            return int(number), size, why
        size = advance_panes(until, tables, window, state, out, size)
    return int(number), size, DONE


@kernel
def aggregate_panes_keys(
    at: int, done: int, calls: Calls, fixed: Panes, arena: tuple[()], lanes: PaneCells, rows: RowCells
) -> tuple[int, int, int, int]:
    """`aggregate_panes` over keys."""
    return over_keys(aggregate_panes, at, done, calls, fixed, arena, lanes, rows)


@inlined
def lacking(span: int, state: PaneCells, out: RowCells, size: int) -> int:
    """What there may not be room for when a pane ends: `ROWS`, or `ROOM` at the back, or `DONE`, nothing."""
    if size + span > len(out.window):
        return ROWS
    return ROOM if state.counters[BACK] == len(state.back_first) else DONE


@inlined
def _bind(
    i: Place,
    p: np.uint64,
    alone: bool,
    events: KernelEvents,
    tables: PaneTables,
    shape: PaneShape,
    state: PaneCells,
) -> None:
    """Appends event i at position p to the trends of the pane that it may follow, and to the entries, row by row."""
    cells = state.cells
    waits = ZERO if alone else np.uint64(tables.enters.size)
    k = tables.first_row[p]
    base = tables.row[k]
    while base != END:
        own = base + p + waits
        begun = cells.ring.dtype.type(tables.begun[k])
        append(i, p, begun, base, own, own, False, own, events, tables, shape, cells)
        k += ONE
        base = tables.row[k]


@inlined
def wait(p: np.uint64, state: PaneCells) -> None:
    """Notes that trends at position p wait for the time to move on."""
    listed = False
    for k in range(state.clock[TOUCHED]):
        listed |= state.waiting[k] == p
    if not listed:
        state.waiting[state.clock[TOUCHED]] = p
        state.clock[TOUCHED] += 1


@kernel
def show(tables: PaneTables, state: PaneCells) -> None:
    """Lets later events see the trends that ended at the current time stamp."""
    note(live(tables, state), state.clock)
    positions, size = np.uint64(tables.enters.shape[1]), np.uint64(tables.enters.size)
    for k in range(state.clock[TOUCHED]):
        for at in range(np.uint64(state.waiting[k]), size, positions):
            add(state.cells, at, state.cells, at + size)
            clear(state.cells, at + size)
    state.clock[TOUCHED] = 0


@inner
def advance_panes(now: int, tables: PaneTables, window: Sliding, state: PaneCells, out: RowCells, size: int) -> int:
    """Ends the current pane, closes windows that end by `now`, opens those of `now`; returns rows in `out`."""
    clock = state.clock
    show(tables, state)
    push_pane(tables, state)
    note(live(tables, state), clock)
    clock[NOW] = now
    while has_ended(clock[LOW], clock[HIGH], now, window):
        evict_panes(clock[LOW] * window.slide, tables, state)
        if state.counters[BACK] + state.counters[FRONT] > 0:
            window_result(out.cells, size, tables, state)
            if not is_empty(out.cells, size):
                out.window[size] = clock[LOW]
                size += 1
        clock[LOW] += 1
    clock[LOW], clock[HIGH] = opened(clock[LOW], clock[HIGH], now, window)
    evict_panes(clock[LOW] * window.slide, tables, state)
    return size


@inlined
def live(tables: PaneTables, state: PaneCells) -> int:
    """Cells in use: maps of the current pane, of the panes at the back and of their product, and rows at the front."""
    maps = 1 + state.counters[BACK] + min(state.counters[BACK], 1)
    entries, positions = tables.enters.shape
    cells: int = maps * entries * positions + state.counters[FRONT] * positions + state.clock[TOUCHED] * entries
    return cells


def live_cells(tables: PaneTables, states: PaneCells) -> Ints:
    """int64[K]: as `live`, of K keys, outside of kernels; a key without an event so far has none."""
    entries, positions = tables.enters.shape
    back, front, touched = states.counters[:, BACK], states.counters[:, FRONT], states.clock[:, TOUCHED]
    maps = (states.clock[:, NOW] >= 0) + back + np.minimum(back, 1)
    cells: Ints = maps * entries * positions + front * positions + touched * entries
    return cells
