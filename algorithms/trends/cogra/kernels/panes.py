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
from cepbench.algorithms.engine.kernels.cells import ONE, ZERO, add, clear, is_empty, with_words
from cepbench.algorithms.engine.kernels.clock import has_ended, next_boundary, note, opened, touch
from cepbench.algorithms.engine.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.engine.kernels.constants import END
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
from cepbench.algorithms.trends.cogra.kernels.pane_tables import PaneCells, PaneMaps, Panes
from cepbench.algorithms.trends.online.kernels.appending import Target, append


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
    template, maps, window, clock = fixed.tables.template, fixed.tables.maps, fixed.window, state.clock[0]
    now = clock.now
    boundary = next_boundary(clock.low, clock.high, window)  # divisions are left to the boundaries of panes
    inside = clock.low <= clock.high
    number = np.uint64(len(events.time))
    checked, negates = len(events.flags) > 0, bool(fixed.negates)
    for i in range(np.uint64(first), number):
        alone = False
        time = events.time[i]
        if time != now:
            _end_time(now, negates, events.negated[i], inside, maps, state)
            if time >= boundary:
                clock.now = now
                why = _lacking(fixed.span, state, out, size)
                if why != DONE:
                    return int(i), size, why
                size = _advance(time, maps, window, state, out, size)
                boundary = next_boundary(clock.low, clock.high, window)
                inside = clock.low <= clock.high
            now = time
            alone = bool(not negates and i + ONE < number and events.time[i + ONE] != now)
        if not inside:  # between windows
            continue
        b = template.first_binding[np.uint64(events.kind[i])]
        p = template.binding[b]
        alone = alone and (p == END or template.binding[b + ONE] == END)
        while p != END:
            if not checked or fits(template.local[p], i, events):
                if state.progress[0].first < 0:
                    state.progress[0].first = now
                _bind(i, p, alone, events, fixed, state)
            b += ONE
            p = template.binding[b]
    clock.now = now
    _note(maps, state)
    if has_ended(clock.low, clock.high, until, window):
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
    maps, window, clock = fixed.tables.maps, fixed.window, state.clock[0]
    panes = lane(arena, 0)
    number = panes.progress[0].back
    for k in range(first, number):
        why = _lacking(fixed.span, state, out, size)
        if why != DONE:
            return k, size, why
        size = _advance(panes.back[k].first, maps, window, state, out, size)
        copy_cells(state.cells, ZERO, panes.cells, back_place(k, maps), map_size(maps))
        state.progress[0].first, state.progress[0].negated = panes.back[k].first, panes.back[k].negated
    if has_ended(clock.low, clock.high, until, window):
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
    clock = state.clock[0]
    _end_time(clock.now, len(latest) > 0, latest, clock.low <= clock.high, maps, state)
    push_pane(maps, state)


@inlined
def _lacking(span: int, state: PaneCells, out: RowCells, size: int) -> int:
    """The room that may be lacking when a pane ends: `ROWS`, or `ROOM` at the back; `DONE` if none is."""
    if size + span > len(out.window):
        return ROWS
    return ROOM if state.progress[0].back == len(state.back) else DONE


@inlined
def _bind(i: Place, p: np.uint64, alone: bool, events: KernelEvents, fixed: Panes, state: PaneCells) -> None:
    """Appends event i in column p to the trends of the pane that it may follow, and to the entries, row by row. Unless
    it is `alone`, they wait for the time to move on.
    """
    cells, tables, negated = with_words(state.cells, fixed.words), fixed.tables, state.progress[0].negated
    waits = ZERO
    if not alone:
        waits = map_size(tables.maps)
        touch(p, state.waiting, state.clock[0])
    k = tables.first_row[p]
    base = tables.row[k]
    while base != END:
        at = base + p + waits
        begun = cells.counts.dtype.type(tables.bars[k] & negated == 0)
        append(i, p, begun, Target(base, at, at, at, False), events, tables.template, cells)
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
    if state.clock[0].touched > 0:
        _show(maps, state)


@inner
def _negate(j: int, now: int, maps: PaneMaps, state: PaneCells) -> None:
    """Removes the trends that a match of negation j ends."""
    bit = np.int64(1) << j
    if state.progress[0].first < 0:
        state.progress[0].first = now
    state.progress[0].negated |= bit
    columns = np.uint64(len(maps.after))
    for p in range(columns):
        if maps.emptied[p] & bit != 0:
            for at in range(p, map_size(maps), columns):
                clear(state.cells, at)


@inner
def _show(maps: PaneMaps, state: PaneCells) -> None:
    """Lets later events see the trends that wait."""
    _note(maps, state)
    size = map_size(maps)
    for k in range(state.clock[0].touched):
        for at in range(np.uint64(state.waiting[k]), size, np.uint64(len(maps.after))):
            add(state.cells, at, state.cells, at + size)
            clear(state.cells, at + size)
    state.clock[0].touched = 0


@inner
def _advance(now: int, maps: PaneMaps, window: Sliding, state: PaneCells, out: RowCells, size: int) -> int:
    """Ends the current pane, closes windows that end by `now`, opens those of `now`; returns rows in `out`."""
    clock = state.clock[0]
    push_pane(maps, state)
    _note(maps, state)
    clock.now = now
    while has_ended(clock.low, clock.high, now, window):
        evict_panes(clock.low * window.slide, maps, state)
        if state.progress[0].back + state.progress[0].front > 0:
            window_result(out.cells, size, maps, state)
            if not is_empty(out.cells, size):
                out.window[size] = clock.low
                size += 1
        clock.low += 1
    clock.low, clock.high = opened(clock.low, clock.high, now, window)
    evict_panes(clock.low * window.slide, maps, state)
    return size


@inlined
def _note(maps: PaneMaps, state: PaneCells) -> None:
    """Notes the state of a key."""
    progress, clock = state.progress[0], state.clock[0]
    note(live_cells(maps, progress.back, progress.front, clock.touched), clock)


@inlined
def live_cells(maps: PaneMaps, back: Any, front: Any, touched: Any) -> Any:
    """Cells in use: maps of the current pane, of the panes at the back and of their product, rows at the front, and
    those of `touched` columns whose trends wait.
    """
    entries, columns = len(maps.stopped), len(maps.after)
    maps_in_use = 1 + back + (back > 0)
    return maps_in_use * entries * columns + front * maps.starts * columns + touched * entries
