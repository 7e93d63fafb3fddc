"""Type-grained aggregation by panes: an event changes the map of its pane alone, however many windows hold it.

Under skip-till-any-match, without predicates on adjacent events, an event at a position p adds to the trends that end
at p those that end at the positions before. This is a linear map of the cells of type granularity, and with sums an
affine one, for any trends from before the pane. The map of a pane has a row per entry (`pane_tables`), and an event at
p changes the columns of p alone. The cells of a window are those of a product of the maps of its panes
(`pane_products`). A pane ends where a window begins or ends.

An event that matches a negation ends the trends before it: they cannot continue over the negation, those that end at
its time or later can. So when its time is over it empties the columns that the negation affects, and from then on
nothing follows the entries that it stops. Its effect on trends from before the pane is noted with the map.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Ints, Place
from cepbench.algorithms.engine.kernels.cells import ONE, ZERO, add, clear, is_empty
from cepbench.algorithms.engine.kernels.clock import (
    HIGH,
    LOW,
    NOW,
    TOUCHED,
    has_ended,
    next_boundary,
    note,
    opened,
    touch,
)
from cepbench.algorithms.engine.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.engine.kernels.events import KernelEvents, RowCells, Sliding, fits
from cepbench.algorithms.engine.kernels.lanes import DONE, ROOM, ROWS, Calls, lane, over_keys
from cepbench.algorithms.trends.cogra.kernels.pane_products import (
    back_place,
    copy_cells,
    evict_panes,
    map_size,
    push_pane,
    window_result,
)
from cepbench.algorithms.trends.cogra.kernels.pane_tables import (
    BACK,
    FIRST,
    FRONT,
    NEGATED,
    PaneCells,
    PaneMaps,
    Panes,
)
from cepbench.algorithms.trends.online.kernels.appending import append
from cepbench.algorithms.trends.online.kernels.type_tables import END


@inner
def aggregate_panes(
    first: int, until: int, events: KernelEvents, fixed: Panes, arena: tuple[()], state: PaneCells, out: RowCells,
    size: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Aggregates the trends of one key; arguments as in `kernels.lanes`.

    Stops before an event, or the end, at which `out` might not have room for the windows that close (`span` at most)
    or the back for a pane. O(C l) per event for C entries and l transitions into its columns, O(C P^2) per pane of P
    columns, O(P^2) per window, O(C) per column that a negated event empties.
    """
    template, maps, window, clock = fixed.tables.template, fixed.tables.maps, fixed.window, state.clock
    now = clock[NOW]
    boundary = next_boundary(clock[LOW], clock[HIGH], window)  # divisions are left to the boundaries of panes
    inside = clock[LOW] <= clock[HIGH]
    number = np.uint64(len(events.time))
    checked, negates = len(events.flags) > 0, len(fixed.negates) > 0
    for i in range(np.uint64(first), number):
        alone = False
        time = events.time[i]
        if time != now:
            _end_time(now, negates, events.negated[i], inside, maps, state)
            if time >= boundary:
                clock[NOW] = now
                why = _lacking(fixed.span, state, out, size)
                if why != DONE:
                    return int(i), size, why
                size = _advance(time, maps, window, state, out, size)
                boundary = next_boundary(clock[LOW], clock[HIGH], window)
                inside = clock[LOW] <= clock[HIGH]
            now = time
            alone = bool(not negates and i + ONE < number and events.time[i + ONE] != now)
        if not inside:  # between windows
            continue
        b = template.first_binding[np.uint64(events.kind[i])]
        p = template.binding[b]
        alone = alone and (p == END or template.binding[b + ONE] == END)
        while p != END:
            if not checked or fits(template.local[p], i, events):
                if state.counters[FIRST] < 0:
                    state.counters[FIRST] = now
                _bind(i, p, alone, events, fixed, state)
            b += ONE
            p = template.binding[b]
    clock[NOW] = now
    note(live(maps, state), clock)
    if has_ended(clock[LOW], clock[HIGH], until, window):
        why = _lacking(fixed.span, state, out, size)
        if why != DONE:
            return int(number), size, why
        _end_time(now, negates, events.negated[number], inside, maps, state)
        size = _advance(until, maps, window, state, out, size)
    return int(number), size, DONE


@kernel
def aggregate_panes_keys(
    at: int, done: int, calls: Calls, fixed: Panes, arena: Any, lanes: PaneCells, rows: RowCells
) -> tuple[int, int, int, int]:
    """`aggregate_panes` over keys."""
    return over_keys(aggregate_panes, at, done, calls, fixed, arena, lanes, rows)


@inner
def join_panes(
    first: int, until: int, events: KernelEvents, fixed: Panes, arena: PaneCells, state: PaneCells, out: RowCells,
    size: int,
) -> tuple[int, int, int]:  # fmt: skip
    """As `aggregate_panes`, of the panes at the back of the only key in `arena` in place of events."""
    maps, window, clock = fixed.tables.maps, fixed.window, state.clock
    panes = lane(arena, 0)
    number = panes.counters[BACK]
    for k in range(first, number):
        why = _lacking(fixed.span, state, out, size)
        if why != DONE:
            return k, size, why
        size = _advance(panes.back[k, FIRST], maps, window, state, out, size)
        copy_cells(state.cells, ZERO, panes.cells, back_place(k, maps), map_size(maps))
        state.counters[FIRST], state.counters[NEGATED] = panes.back[k, FIRST], panes.back[k, NEGATED]
    if has_ended(clock[LOW], clock[HIGH], until, window):
        why = _lacking(fixed.span, state, out, size)
        if why != DONE:
            return int(number), size, why
        size = _advance(until, maps, window, state, out, size)
    return int(number), size, DONE


@kernel
def join_panes_keys(
    at: int, done: int, calls: Calls, fixed: Panes, arena: PaneCells, lanes: PaneCells, rows: RowCells
) -> tuple[int, int, int, int]:
    """`join_panes` for the only key."""
    return over_keys(join_panes, at, done, calls, fixed, arena, lanes, rows)


@kernel
def end_pane(latest: Ints, maps: PaneMaps, lanes: PaneCells) -> None:
    """Ends the current time stamp, up to which `latest` has the matches of negations, and the current pane of the only
    key. The back must have room for it.
    """
    state = lane(lanes, 0)
    clock = state.clock
    _end_time(clock[NOW], len(latest) > 0, latest, clock[LOW] <= clock[HIGH], maps, state)
    push_pane(maps, state)


@inlined
def _lacking(span: int, state: PaneCells, out: RowCells, size: int) -> int:
    """The room that may be lacking when a pane ends: `ROWS`, or `ROOM` at the back; `DONE` if none is."""
    if size + span > len(out.window):
        return ROWS
    return ROOM if state.counters[BACK] == len(state.back) else DONE


@inlined
def _bind(i: Place, p: np.uint64, alone: bool, events: KernelEvents, fixed: Panes, state: PaneCells) -> None:
    """Appends event i in column p to the trends of the pane that it may follow, and to the entries, row by row. Unless
    it is `alone`, they wait for the time to move on.
    """
    cells, tables, clock, negated = state.cells, fixed.tables, state.clock, state.counters[NEGATED]
    waits = ZERO
    if not alone:
        waits = map_size(tables.maps)
        touch(p, state.waiting, clock)
    k = tables.first_row[p]
    base = tables.row[k]
    while base != END:
        at = base + p + waits
        begun = cells.counts.dtype.type(tables.bars[k] & negated == 0)
        append(i, p, begun, base, at, at, False, at, events, tables.template, fixed.shape, cells)
        k += ONE
        base = tables.row[k]


@inlined
def _end_time(now: int, negates: bool, latest: Ints, inside: bool, maps: PaneMaps, state: PaneCells) -> None:
    """Ends the time stamp `now`: matches of negations remove earlier trends; then later events see those of `now`."""
    if negates:
        for j in range(len(latest)):
            if latest[j] > state.seen[j]:
                state.seen[j] = latest[j]
                if inside:
                    _negate(j, now, maps, state)
    if state.clock[TOUCHED] > 0:
        _show(maps, state)


@inner
def _negate(j: int, now: int, maps: PaneMaps, state: PaneCells) -> None:
    """Removes the trends that a match of negation j ends."""
    bit = np.int64(1) << j
    if state.counters[FIRST] < 0:
        state.counters[FIRST] = now
    state.counters[NEGATED] |= bit
    columns = np.uint64(len(maps.after))
    for p in range(columns):
        if maps.emptied[p] & bit != 0:
            for at in range(p, map_size(maps), columns):
                clear(state.cells, at)


@inner
def _show(maps: PaneMaps, state: PaneCells) -> None:
    """Lets later events see the trends that wait."""
    note(live(maps, state), state.clock)
    size = map_size(maps)
    for k in range(state.clock[TOUCHED]):
        for at in range(np.uint64(state.waiting[k]), size, np.uint64(len(maps.after))):
            add(state.cells, at, state.cells, at + size)
            clear(state.cells, at + size)
    state.clock[TOUCHED] = 0


@inner
def _advance(now: int, maps: PaneMaps, window: Sliding, state: PaneCells, out: RowCells, size: int) -> int:
    """Ends the current pane, closes windows that end by `now`, opens those of `now`; returns rows in `out`."""
    clock = state.clock
    push_pane(maps, state)
    note(live(maps, state), clock)
    clock[NOW] = now
    while has_ended(clock[LOW], clock[HIGH], now, window):
        evict_panes(clock[LOW] * window.slide, maps, state)
        if state.counters[BACK] + state.counters[FRONT] > 0:
            window_result(out.cells, size, maps, state)
            if not is_empty(out.cells, size):
                out.window[size] = clock[LOW]
                size += 1
        clock[LOW] += 1
    clock[LOW], clock[HIGH] = opened(clock[LOW], clock[HIGH], now, window)
    evict_panes(clock[LOW] * window.slide, maps, state)
    return size


@inlined
def live(maps: PaneMaps, state: PaneCells) -> int:
    """Cells in use: maps of the current pane, of the panes at the back and of their product, and rows at the front."""
    back, entries, columns = state.counters[BACK], len(maps.stopped), len(maps.after)
    cells: int = (1 + back + min(back, 1)) * entries * columns
    cells += state.counters[FRONT] * maps.starts * columns + state.clock[TOUCHED] * entries
    return cells
