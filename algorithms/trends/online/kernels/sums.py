"""Type-grained aggregation: one cell per position and window (dissertation Section 15.1, Algorithm 7).

One kernel per semantics: `aggregate_any` is Algorithm 7, `aggregate_next` and `aggregate_contiguous` keep at a
position all trends that wait for their next event, where Algorithm 9 keeps the last event. They serve all aggregates,
local predicates, types at several positions, and, under skip-till-any-match, single negated events, which empty cells;
`visits` serves all other negations. `appending.append` is the step of the algorithm: an event at a position and the
cells of a window.

An event that is alone at its time stamp changes the cells at once. Simultaneous events, which never precede one
another, change cells that wait until the time moves on.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Flags, Ints
from cepbench.algorithms.engine.kernels.cells import ONE, ZERO, Cells, Words, add, clear, copy, empty_cells, is_empty
from cepbench.algorithms.engine.kernels.clock import has_ended, next_boundary, note, opened, touch
from cepbench.algorithms.engine.kernels.compilation import inlined, inner, kernel, written_out
from cepbench.algorithms.engine.kernels.constants import ANY, CONTIGUOUS, END, NEXT
from cepbench.algorithms.engine.kernels.events import KernelEvents, RowCells, Sliding, fits
from cepbench.algorithms.engine.kernels.lanes import DONE, ROWS, Calls, over_keys
from cepbench.algorithms.trends.online.kernels.appending import Target, append, first_of, is_source
from cepbench.algorithms.trends.online.kernels.type_tables import NEGATED, NegatedTypes, TypeTables
from cepbench.queries.aggregates import Layout
from cepbench.queries.records import Records

TWO = np.uint64(2)

ALL = END
"""In place of the only position that holds trends: any position may."""


class Typed(NamedTuple):
    """The constants of a lane: `words` of its cells; `span`, the number of windows that hold an event."""

    template: TypeTables
    negated: NegatedTypes
    words: Words
    span: int
    window: Sliding


class TypeCells(NamedTuple):
    """Cells of K windows and P positions; channels are the first axis of their arrays, since so a channel's place is no
    product.

    - Window k has P + 2 cells from `(k % K) * (P + 2)` on: at position p the trends that ended there before the current
      time stamp; at P a cell that stays empty; at P + 1 the finished trends of the window: under skip-till-any-match
      those that its END positions hold when it closes, otherwise all that came to an END position.
    - K * (P + 2) cells further there are cells of the same windows and places: at position p the trends that end at the
      current time stamp, which wait; at P + 1 the results of events at other positions than END ones, never read.
    - `waiting[P]`: positions with trends that wait, `clock.touched` of them; `consumed[P + 1]`: positions whose trends
      events of the current time stamp extend (skip-till-next-match) or forbid to extend (negated events).
    - `clock` (`ClockRecord[1]`): it is `occupied` if an event came at the current time that the cells do not show yet.
    """

    cells: Cells
    waiting: Ints
    consumed: Flags
    clock: Records


class Pane(NamedTuple):
    """The open windows until the next `boundary`, the time at which a window begins or ends: the `first` cell of the
    oldest one, and the number of `windows`.
    """

    boundary: int
    first: np.uint64
    windows: int


def new_cells(span: int, positions: int, layout: Layout, arithmetic: str, clock: Records) -> TypeCells:
    """Cells of `span` windows before the first event."""
    cells = empty_cells(2 * span * (positions + 2), layout, arithmetic)
    return TypeCells(
        cells.on(*(np.ascontiguousarray(plane.T) for plane in cells.planes)),
        np.zeros(positions, np.int64),
        np.zeros(positions + 1, np.bool_),
        clock,
    )


@inner
def aggregate_any(
    first: int, until: int, events: KernelEvents, fixed: Typed, arena: tuple[()], stored: TypeCells, out: RowCells,
    written: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Aggregates trends of one key under skip-till-any-match (Algorithm 7); arguments as in `kernels.lanes`.

    O(w l) per event in w windows, for l transitions into its positions.
    """
    return _aggregate(_extend_any, ANY, first, until, events, fixed, stored, out, written)


@inner
def aggregate_next(
    first: int, until: int, events: KernelEvents, fixed: Typed, arena: tuple[()], stored: TypeCells, out: RowCells,
    written: int,
) -> tuple[int, int, int]:  # fmt: skip
    """As `aggregate_any`, under skip-till-next-match: trends that an event extends wait no longer."""
    return _aggregate(_extend_next, NEXT, first, until, events, fixed, stored, out, written)


@inner
def aggregate_contiguous(
    first: int, until: int, events: KernelEvents, fixed: Typed, arena: tuple[()], stored: TypeCells, out: RowCells,
    written: int,
) -> tuple[int, int, int]:  # fmt: skip
    """As `aggregate_any`, under contiguous semantics: trends wait for the events of the next time stamp only."""
    return _aggregate(_extend_contiguous, CONTIGUOUS, first, until, events, fixed, stored, out, written)


@kernel
def aggregate_any_keys(
    at: int, done: int, calls: Calls, fixed: Typed, arena: tuple[()], lanes: TypeCells, rows: RowCells
) -> tuple[int, int, int, int]:
    """`aggregate_any` over keys."""
    return over_keys(aggregate_any, at, done, calls, fixed, arena, lanes, rows)


@kernel
def aggregate_next_keys(
    at: int, done: int, calls: Calls, fixed: Typed, arena: tuple[()], lanes: TypeCells, rows: RowCells
) -> tuple[int, int, int, int]:
    """`aggregate_next` over keys."""
    return over_keys(aggregate_next, at, done, calls, fixed, arena, lanes, rows)


@kernel
def aggregate_contiguous_keys(
    at: int, done: int, calls: Calls, fixed: Typed, arena: tuple[()], lanes: TypeCells, rows: RowCells
) -> tuple[int, int, int, int]:
    """`aggregate_contiguous` over keys."""
    return over_keys(aggregate_contiguous, at, done, calls, fixed, arena, lanes, rows)


@written_out
def _aggregate(
    extend: Any, semantics: int, first: int, until: int, events: KernelEvents, fixed: Typed, stored: TypeCells,
    out: RowCells, written: int,
) -> tuple[int, int, int]:  # fmt: skip
    """The loop over the events of a key: time stamps end and windows close before an event that comes later.

    `extend`: the function for an event that is alone at its time stamp.
    """
    template, window, span = fixed.template, fixed.window, fixed.span
    state = _cell_by_cell(stored, fixed.words)
    clock, size, shown = state.clock[0], written, ALL
    now, occupied = clock.now, bool(clock.occupied)
    pane = _pane(fixed, state)
    number = np.uint64(len(events.time))
    i: Any = np.uint64(first)
    while i <= number:
        time, alone = until if i == number else events.time[i], False
        if time != now:
            if time >= pane.boundary or i == number:
                if i == number and not has_ended(clock.low, clock.high, time, window):
                    break
                clock.now, clock.occupied = now, occupied
                if size + span > len(out.window):
                    stopped: Any = np.int64(i)  # with an unsigned place Numba would count events in floats
                    return stopped, size, ROWS
                size = _advance(time, semantics, fixed, state, out, size)
                pane = _pane(fixed, state)
                occupied, shown = False, ALL
            elif occupied:
                clock.occupied = True
                _show(semantics, fixed, state)
                occupied, shown = False, ALL
            now = time
            alone = bool(i + ONE < number and events.time[i + ONE] != now)
        if i == number:
            break
        p = template.sole[np.uint64(events.kind[i])] if alone else END
        if p == END:
            occupied = True
            _wait(i, semantics, pane, events, fixed, state)
        while p != END:  # events that are alone, up to the next boundary
            shown = extend(i, p, shown, pane, events, fixed, state)
            p = _alone_after(i, pane.boundary, events, template)
            if p != END:
                i += ONE
                now = events.time[i]
        i += ONE
    clock.now, clock.occupied = now, occupied
    note(max(clock.touched, 1) * (clock.high - clock.low + 1), clock)
    return len(events.time), size, DONE


@inlined
def _pane(fixed: Typed, state: TypeCells) -> Pane:
    """The pane of the windows that are open. Divisions are left to the boundaries of panes."""
    low, high = state.clock[0].low, state.clock[0].high
    first = np.uint64(low) % np.uint64(fixed.span) * _stride(state)
    return Pane(next_boundary(low, high, fixed.window), first, high - low + 1)


@inlined
def _alone_after(i: np.uint64, boundary: int, events: KernelEvents, template: TypeTables) -> np.uint64:
    """The position of the event after event i if it is alone at its time, too, before the boundary; otherwise, or if it
    may match several positions, END.
    """
    if i + TWO >= np.uint64(len(events.time)):
        return END
    time = events.time[i + ONE]
    if time >= boundary or time == events.time[i + TWO]:
        return END
    return template.sole[np.uint64(events.kind[i + ONE])]


@inlined
def _extend_any(
    i: np.uint64, p: np.uint64, shown: np.uint64, pane: Pane, events: KernelEvents, fixed: Typed, state: TypeCells
) -> np.uint64:
    """Adds the trends that end with event i, alone at its time, to those of position p; or empties what it forbids."""
    if p == NEGATED:
        _forbid(i, events, fixed, state)
    elif _matches(i, p, events, fixed.template, state):
        begun, base, half = state.cells.counts.dtype.type(fixed.template.start[p]), pane.first, _half(fixed, state)
        for _ in range(pane.windows):
            at = base + p
            append(i, p, begun, Target(base, at, at, at, False), events, fixed.template, state.cells)
            base = _following(base, half, state)
    return shown


@inlined
def _extend_next(
    i: np.uint64, p: np.uint64, shown: np.uint64, pane: Pane, events: KernelEvents, fixed: Typed, state: TypeCells
) -> np.uint64:
    """As `_extend_any`; empties the positions before p, whose trends the event extends."""
    template, cells = fixed.template, state.cells
    if _matches(i, p, events, template, state):
        begun, base, half = cells.counts.dtype.type(template.start[p]), pane.first, _half(fixed, state)
        empty = np.uint64(len(state.waiting))
        for _ in range(pane.windows):
            final = _final(base, p, half, template, state)
            to = Target(base, base + p, base + template.held[p], final, True)
            append(i, p, begun, to, events, template, cells)
            e = before = first_of(p, template)
            while is_source(e, before, template):
                q = template.source[e]
                clear(cells, base + (empty if q == p else q))  # the trends of p have replaced those before
                e += ONE
            base = _following(base, half, state)
    return shown


@inlined
def _extend_contiguous(
    i: np.uint64, p: np.uint64, shown: np.uint64, pane: Pane, events: KernelEvents, fixed: Typed, state: TypeCells
) -> np.uint64:
    """As `_extend_any`; empties all other positions, of which only `shown` holds trends, if that is known. Returns the
    only position that does now.
    """
    template, cells = fixed.template, state.cells
    empty = np.uint64(len(state.waiting))
    matches = _matches(i, p, events, template, state)
    if matches:
        begun, base, half = cells.counts.dtype.type(template.start[p]), pane.first, _half(fixed, state)
        for _ in range(pane.windows):
            final = _final(base, p, half, template, state)
            to = Target(base, base + p, base + template.held[p], final, True)
            append(i, p, begun, to, events, template, cells)
            if shown != ALL:
                clear(cells, base + (empty if shown == p else shown))
            base = _following(base, half, state)
    holds = p if matches else empty
    if shown == ALL:
        _drop_others(holds, fixed.span, state)
    elif not matches:
        for row in range(np.uint64(fixed.span)):
            clear(cells, row * _stride(state) + shown)
    return holds


@inlined
def _wait(i: Any, semantics: int, pane: Pane, events: KernelEvents, fixed: Typed, state: TypeCells) -> None:
    """Adds the trends that end with event i at its positions to the cells that wait for the time to move on."""
    template, half = fixed.template, _half(fixed, state)
    b = template.first_binding[np.uint64(events.kind[i])]
    p = template.binding[b]
    while p != END:
        if _matches(i, p, events, template, state):
            touch(p, state.waiting, state.clock[0])
            if semantics == NEXT:
                e = template.first_source[p]
                while template.source[e] != END:
                    state.consumed[template.source[e]] = True
                    e += ONE
            begun, base = state.cells.counts.dtype.type(template.start[p]), pane.first
            for _ in range(pane.windows):
                at, final = base + p + half, _final(base, p, half, template, state)
                to = Target(base, at, at, final, semantics != ANY)
                append(i, p, begun, to, events, template, state.cells)
                base = _following(base, half, state)
        b += ONE
        p = template.binding[b]
    if len(fixed.negated.first) > 0:
        n = fixed.negated.first[np.uint64(events.kind[i])]
        while fixed.negated.position[n] != END:
            if fits(fixed.negated.condition[n], i, events):
                state.consumed[fixed.negated.position[n]] = True
            n += ONE


@inlined
def _forbid(i: Any, events: KernelEvents, fixed: Typed, state: TypeCells) -> None:
    """Empties the positions that a negated event, alone at its time, forbids to extend."""
    n = fixed.negated.first[np.uint64(events.kind[i])]
    while fixed.negated.position[n] != END:
        if fits(fixed.negated.condition[n], i, events):
            for row in range(np.uint64(fixed.span)):
                clear(state.cells, row * _stride(state) + fixed.negated.position[n])
        n += ONE


@inlined
def _matches(i: Any, p: np.uint64, events: KernelEvents, template: TypeTables, state: TypeCells) -> bool:
    """Whether event i matches position p, which is P for an event of a type that has none."""
    checked = len(events.flags) > 0
    return p != np.uint64(len(state.waiting)) and (not checked or fits(template.local[p], i, events))


@inlined
def _stride(state: TypeCells) -> np.uint64:
    """Cells of a window."""
    return np.uint64(len(state.waiting)) + TWO


@inlined
def _half(fixed: Typed, state: TypeCells) -> np.uint64:
    """Cells of all windows, and the distance from a cell to that of the trends that wait."""
    return np.uint64(fixed.span) * _stride(state)


@inlined
def _following(base: np.uint64, half: np.uint64, state: TypeCells) -> np.uint64:
    """The first cell of the window behind that with first cell `base`."""
    base += _stride(state)
    return ZERO if base == half else base


@inlined
def _final(base: np.uint64, p: np.uint64, half: np.uint64, template: TypeTables, state: TypeCells) -> np.uint64:
    """The cell of the finished trends of a window, or one that is never read if p ends no trends."""
    final = base + np.uint64(len(state.waiting)) + ONE
    return final if template.end[p] else final + half


@inlined
def _cell_by_cell(stored: TypeCells, words: Words) -> TypeCells:
    """The same memory with cells as the first axis, and with words that may be known when a kernel is compiled."""
    by_word = stored.cells
    cells = Cells(by_word.counts.T, by_word.reals.T, by_word.ints.T, by_word.over, words)
    return TypeCells(cells, stored.waiting, stored.consumed, stored.clock)


@inlined
def _move(i: np.uint64, j: np.uint64, cells: Cells) -> None:
    """Adds the trends of cell j to cell i, and empties cell j."""
    add(cells, i, cells, j)
    clear(cells, j)


@inner
def _drop_others(p: np.uint64, span: int, state: TypeCells) -> None:
    """Empties the cells of all positions but p."""
    for row in range(np.uint64(span)):
        for q in range(np.uint64(len(state.waiting))):
            if q != p:
                clear(state.cells, row * _stride(state) + q)


@inlined
def _show(semantics: int, fixed: Typed, state: TypeCells) -> None:
    """Lets later events see the trends that ended at the current time stamp, and drops those that wait no longer.

    Compiled in: as a call, simultaneous events took up to 1.7 times as long.
    """
    cells, clock, stride = state.cells, state.clock[0], _stride(state)
    note(max(clock.touched, 1) * (clock.high - clock.low + 1), clock)
    if semantics != ANY or len(fixed.negated.first) > 0:
        for p in range(np.uint64(len(state.waiting))):
            if state.consumed[p] or (semantics == CONTIGUOUS and clock.occupied):
                for row in range(np.uint64(fixed.span)):
                    clear(cells, row * stride + p)
                state.consumed[p] = False
    half = _half(fixed, state)
    base = np.uint64(clock.low) % np.uint64(fixed.span) * stride
    for _ in range(clock.high - clock.low + 1):
        for n in range(clock.touched):
            at = base + np.uint64(state.waiting[n])
            _move(at, at + half, cells)
        base = _following(base, half, state)
    clock.touched = 0
    clock.occupied = False


@inner
def _advance(now: int, semantics: int, fixed: Typed, state: TypeCells, out: RowCells, size: int) -> int:
    """Ends the current time stamp, closes windows that end by `now`, opens those of `now`; returns rows in `out`."""
    template, window, cells, clock = fixed.template, fixed.window, state.cells, state.clock[0]
    positions = np.uint64(len(state.waiting))
    _show(semantics, fixed, state)
    clock.now = now
    while has_ended(clock.low, clock.high, now, window):
        base = np.uint64(clock.low) % np.uint64(fixed.span) * _stride(state)
        final = base + positions + ONE
        for p in range(positions):
            if semantics == ANY and template.end[p]:
                add(cells, final, cells, base + p)
            clear(cells, base + p)
        if not is_empty(cells, final):
            out.window[size] = clock.low
            copy(out.cells, size, cells, final)
            size += 1
        clear(cells, final)
        clock.low += 1
    last = clock.high
    clock.low, clock.high = opened(clock.low, clock.high, now, window)
    if len(fixed.negated.opened) > 0:
        for k in range(max(last + 1, clock.low), clock.high + 1):
            base = np.uint64(k) % np.uint64(fixed.span) * _stride(state)
            for n in range(np.uint64(len(fixed.negated.opened))):
                cells.counts[base + fixed.negated.opened[n], ZERO] = cells.counts.dtype.type(1)
    return size
