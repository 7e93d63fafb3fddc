"""Type-grained aggregation by panes: an event changes the map of its pane alone, however many windows hold it.

Under skip-till-any-match, without predicates on adjacent events, an event at a position p adds to the trends that end
at p those that end at the positions before. This is a linear map of the cells of type granularity, and with sums an
affine one, for any trends from before the pane. The map of a pane has a row per entry (`pane_tables`), and an event at
p changes column p alone. The cells of a window are those of a product of the maps of its panes (`pane_products`). A
pane ends where a window begins or ends.

An event that matches a negation ends the trends before it: they cannot continue over the negation, those that end at
its time or later can. So when its time is over it empties the columns of the slots that the negation affects, also of
trends from before the pane. This is a linear map, too; the trends from before have rows of their own for it (`Voids`).
"""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.cogra.kernels.pane_products import RESULT, evict_panes, push_pane, window_result
from cepbench.algorithms.cogra.kernels.pane_tables import (
    BACK,
    FIRST,
    FRONT,
    PaneCells,
    Panes,
    PaneShape,
    PaneTables,
    Voids,
)
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
    positions, O(P^2) per window. With negation, O(C l + C f) per event for C rows and f slots that it feeds, O(C) per
    slot that a negated event empties, O(C^3) per pane, O(C^2) per window.
    """
    tables, voids, shape, window = fixed.tables, fixed.voids, fixed.shape, fixed.window
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
                why = _lacking(fixed.span, state, out, size)
                if why != DONE:
                    return int(i), size, why
                if len(shape.negated) > 0:
                    _void_all(now, events.negated[i], inside, tables, voids, state)
                size = _advance(time, tables, window, state, out, size)
                boundary = next_boundary(clock[LOW], clock[HIGH], window)
                inside = clock[LOW] <= clock[HIGH]
            else:
                if len(shape.negated) > 0:
                    _void_all(now, events.negated[i], inside, tables, voids, state)
                if clock[TOUCHED] > 0:
                    show(tables, state)
            now = time
            alone = bool(len(shape.negated) == 0 and i + ONE < number and events.time[i + ONE] != now)
        if not inside:  # between windows
            continue
        b = tables.first_binding[np.uint64(events.kind[i])]
        p = tables.binding[b]
        alone = alone and (p == END or tables.binding[b + ONE] == END)
        while p != END:
            if not checked or fits(p, i, events, tables):
                if state.counters[FIRST] < 0:
                    state.counters[FIRST] = now
                if len(shape.negated) > 0:
                    _bind_to_slots(i, p, events, tables, voids, shape, state)
                else:
                    if not alone:
                        _wait(p, state)
                    _bind(i, p, alone, events, tables, shape, state)
            b += ONE
            p = tables.binding[b]
    clock[NOW] = now
    note(live(tables, state), clock)
    if has_ended(clock[LOW], clock[HIGH], until, window):
        why = _lacking(fixed.span, state, out, size)
        if why != DONE:
            return int(number), size, why
        if len(shape.negated) > 0:
            _void_all(now, events.negated[number], inside, tables, voids, state)
        size = _advance(until, tables, window, state, out, size)
    return int(number), size, DONE


@kernel
def aggregate_panes_keys(
    at: int, done: int, calls: Calls, fixed: Panes, arena: tuple[()], lanes: PaneCells, rows: RowCells
) -> tuple[int, int, int, int]:
    """`aggregate_panes` over keys."""
    return over_keys(aggregate_panes, at, done, calls, fixed, arena, lanes, rows)


@inlined
def _lacking(span: int, state: PaneCells, out: RowCells, size: int) -> int:
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
def _bind_to_slots(
    i: Place, p: np.uint64, events: KernelEvents, tables: PaneTables, voids: Voids, shape: PaneShape, state: PaneCells
) -> None:
    """Appends event i at position p to the trends that it may follow, row by row; they wait in the columns it feeds."""
    cells = state.cells
    size = np.uint64(tables.enters.size)
    nothing, made = cells.ring.dtype.type(0), RESULT * size
    for f in range(voids.feed_ptr[p], voids.feed_ptr[p + ONE]):
        _wait(np.uint64(voids.feed[f]), state)
    k = tables.first_row[p]
    base = tables.row[k]
    while base != END:
        clear(cells, made)
        append(i, p, nothing, base, made, made, False, made, events, tables, shape, cells)
        for f in range(voids.feed_ptr[p], voids.feed_ptr[p + ONE]):
            add(cells, size + base + np.uint64(voids.feed[f]), cells, made)
        k += ONE
        base = tables.row[k]


@inlined
def _void_all(now: int, latest: Ints, inside: bool, tables: PaneTables, voids: Voids, state: PaneCells) -> None:
    """Notes the matches of negations at the time stamp `now`, which ends, and which empty columns."""
    for j in range(len(latest)):
        if latest[j] > state.seen[j]:
            state.seen[j] = latest[j]
            if inside:
                _void(j, now, tables, voids, state)


@inner
def _void(j: int, now: int, tables: PaneTables, voids: Voids, state: PaneCells) -> None:
    """Empties what a match of negation j at the time stamp that ends takes away, but not what ended at that time."""
    columns, size = np.uint64(tables.enters.shape[1]), np.uint64(tables.enters.size)
    if state.counters[FIRST] < 0:
        state.counters[FIRST] = now
    for v in range(voids.void_ptr[j], voids.void_ptr[j + 1]):
        for at in range(np.uint64(voids.void[v]), size, columns):
            clear(state.cells, at)


@inlined
def _wait(p: np.uint64, state: PaneCells) -> None:
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
def _advance(now: int, tables: PaneTables, window: Sliding, state: PaneCells, out: RowCells, size: int) -> int:
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
