"""Type-grained aggregation: one cell per position and window (dissertation Section 15.1, Algorithm 7).

Serves all aggregates, local predicates, a type at several positions, and all three semantics; `visits` serves
negation. An event that is alone at its time stamp updates the cells at once; only simultaneous events, which never
precede one another, wait for the time to move on.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Flags, Ints
from cepbench.algorithms.engine.kernels.cells import (
    ONE,
    ZERO,
    Cells,
    add,
    clear,
    copy,
    empty_cells,
    is_empty,
    sum_exceeds,
)
from cepbench.algorithms.engine.kernels.clock import (
    HIGH,
    LOW,
    NOW,
    OCCUPIED,
    TOUCHED,
    has_ended,
    next_boundary,
    note,
    opened,
    touch,
)
from cepbench.algorithms.engine.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.engine.kernels.events import KernelEvents, RowCells, Sliding, fits
from cepbench.algorithms.engine.kernels.lanes import DONE, ROWS, Calls, over_keys
from cepbench.algorithms.trends.online.kernels.appending import append, first_of, lasts
from cepbench.algorithms.trends.online.kernels.template import ANY, CONTIGUOUS, NEXT
from cepbench.algorithms.trends.online.kernels.type_tables import END, Shape, TypeTables
from cepbench.queries.aggregates import NO_VALUE, Layout

TWO = np.uint64(2)

ALL = END
"""In place of the position that holds trends: any may."""


class Typed(NamedTuple):
    """The constants of a lane; `span` is the number of windows that hold an event."""

    template: TypeTables
    shape: Shape
    span: int
    window: Sliding


class TypeCells(NamedTuple):
    """Cells of K windows and P positions; channels are the first axis of their arrays, since so a channel's place is no
    product.

    - Window k has P + 1 cells from `(k % K) * (P + 1)` on: at position p the trends that ended there before the current
      time stamp; behind them one that stays empty. As many more hold those that end at it, and wait. Then come the
      finished trends of each window, at `k % K`: under skip-till-any-match those that its END positions hold when it
      closes, otherwise all that came to one; and a cell for the results of events that end no trend.
    - `waiting[P]`: positions with trends that wait, `clock[TOUCHED]` of them; `consumed[P + 1]`: those that were read.
    - `clock` (`kernels.clock`); `clock[OCCUPIED]`: whether an event came at the current time that the
      cells do not show yet.
    """

    cells: Cells
    waiting: Ints
    consumed: Flags
    clock: Ints


def new_cells(span: int, positions: int, layout: Layout, arithmetic: str, clock: Ints) -> TypeCells:
    """Cells of `span` windows before the first event."""
    cells = empty_cells(2 * span * (positions + 1) + span + 1, layout, arithmetic)
    return TypeCells(
        Cells(*(np.ascontiguousarray(channels.T) for channels in cells)),
        np.zeros(positions, np.int64),
        np.zeros(positions + 1, np.bool_),
        clock,
    )


@inner
def aggregate_trends(
    first: int, until: int, events: KernelEvents, fixed: Typed, arena: tuple[()], stored: TypeCells, out: RowCells,
    written: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Aggregates trends of one key (`kernels.lanes`): O(w l) per event in w windows, for l transitions into its
    positions.
    """
    template, shape, window, span = fixed.template, fixed.shape, fixed.window, fixed.span
    state = _cell_by_cell(stored)
    clock, cells = state.clock, state.cells
    count = np.uint64(span)
    positions = np.uint64(len(state.waiting))
    stride = positions + ONE
    half = count * stride
    results = half + half
    now, occupied = clock[NOW], clock[OCCUPIED] != 0
    size = written
    boundary = next_boundary(clock[LOW], clock[HIGH], window)  # divisions are left to the boundaries of panes
    row = np.uint64(clock[LOW]) % count
    windows = np.uint64(clock[HIGH] - clock[LOW] + 1)
    number = np.uint64(len(events.time))
    checked, finishes = len(events.flags) > 0, len(shape.semantics) != ANY
    shown = ALL  # under contiguous semantics, other positions hold nothing
    i: Any = np.uint64(first)
    while i <= number:
        time = until if i == number else events.time[i]
        alone = False
        if time != now:
            if time >= boundary or i == number:
                if i == number and not has_ended(clock[LOW], clock[HIGH], time, window):
                    break
                clock[NOW], clock[OCCUPIED] = now, occupied
                if size + span > len(out.window):
                    stopped: Any = np.int64(i)  # with an unsigned place Numba would count events in floats
                    return stopped, size, ROWS
                size = _advance(time, template, shape, count, window, state, out, size)
                boundary = next_boundary(clock[LOW], clock[HIGH], window)
                row = np.uint64(clock[LOW]) % count
                windows = np.uint64(clock[HIGH] - clock[LOW] + 1)
                shown = ALL
                occupied = False
            elif occupied:
                clock[OCCUPIED] = 1
                _show(shape, count, state)
                shown = ALL
                occupied = False
            now = time
            alone = bool(i + ONE < number and events.time[i + ONE] != now)
        if i == number:
            break
        kind = np.uint64(events.kind[i])
        p, b, waits, following = template.sole[kind], ZERO, ZERO, now
        if alone and p != END:
            following = events.time[i + ONE]
        else:
            occupied = True
            b, waits = template.first_binding[kind], half
            p = template.binding[b]
        while p != END:  # positions of an event that waits, or events that are alone, up to the next boundary
            fitting = p != positions and (not checked or fits(template.local[p], i, events))
            if fitting:
                held = template.held[p]
                if waits != ZERO:
                    held = p + half
                    _wait(p, shape, template, state)
                begun = cells.ring.dtype.type(template.start[p])
                base, final = row * stride, results + row
                for _ in range(windows):
                    own, kept = base + p + waits, base + held
                    at = final if template.end[p] else results + count
                    append(i, p, begun, base, own, kept, finishes, at, events, template, shape, cells)
                    if waits == ZERO:
                        if len(shape.semantics) == NEXT:
                            e = f = first_of(p, template, shape)
                            while lasts(e, f, template, shape):
                                q = template.source[e]
                                _empty(base + (positions if q == p else q), shape, cells)  # that of p was replaced
                                e += ONE
                        elif len(shape.semantics) == CONTIGUOUS and shown != ALL:
                            _empty(base + (positions if shown == p else shown), shape, cells)
                    base += stride
                    final += ONE
                    if base == half:
                        base, final = ZERO, results
            if waits != ZERO:
                b += ONE
                p = template.binding[b]
                continue
            if len(shape.semantics) == CONTIGUOUS:
                if shown == ALL:
                    _drop_others(p, fitting, count, state)
                elif not fitting:
                    for r in range(count):
                        clear(cells, r * stride + shown)
                shown = p if fitting else positions
            if i + TWO >= number:
                break
            time = following
            following = events.time[i + TWO]
            if time >= boundary or time == following:
                break
            p = template.sole[np.uint64(events.kind[i + ONE])]
            if p != END:
                i += ONE
                now = time
        i += ONE
    clock[NOW], clock[OCCUPIED] = now, occupied
    note(max(clock[TOUCHED], 1) * (clock[HIGH] - clock[LOW] + 1), clock)
    return len(events.time), size, DONE


@kernel
def aggregate_keys(
    at: int, done: int, calls: Calls, fixed: Typed, arena: tuple[()], lanes: TypeCells, rows: RowCells
) -> tuple[int, int, int, int]:
    """`aggregate_trends` over keys."""
    return over_keys(aggregate_trends, at, done, calls, fixed, arena, lanes, rows)


@inlined
def _cell_by_cell(stored: TypeCells) -> TypeCells:
    """The same memory with cells as the first axis."""
    ring, over, real, least = stored.cells
    return TypeCells(Cells(ring.T, over, real.T, least.T), stored.waiting, stored.consumed, stored.clock)


@inlined
def _empty(i: np.uint64, shape: Shape, cells: Cells) -> None:
    """As `clear`, which does not know how many channels there are when it is compiled."""
    for c in range(np.uint64(len(shape.ring))):
        cells.ring[i, c] = cells.ring.dtype.type(0)
    cells.over[i] = ZERO
    for c in range(np.uint64(len(shape.real))):
        cells.real[i, c] = 0.0
    for c in range(np.uint64(len(shape.least))):
        cells.least[i, c] = NO_VALUE


@inlined
def _move(i: np.uint64, half: np.uint64, shape: Shape, cells: Cells) -> None:
    """Adds to cell i the trends that wait `half` behind it, and empties these."""
    j = i + half
    over = cells.over[i] | cells.over[j]
    for c in range(np.uint64(len(shape.ring))):
        more = cells.ring[j, c]
        total = cells.ring[i, c] + more
        over |= np.uint64(sum_exceeds(total, more)) << c
        cells.ring[i, c] = total
    cells.over[i] = over
    for c in range(np.uint64(len(shape.real))):
        cells.real[i, c] += cells.real[j, c]
    for c in range(np.uint64(len(shape.least))):
        cells.least[i, c] = min(cells.least[i, c], cells.least[j, c])
    _empty(j, shape, cells)


@inner
def _drop_others(p: np.uint64, fitting: bool, span: np.uint64, state: TypeCells) -> None:
    """Empties the cells of all positions but p, or of that, too, if the event did not fit."""
    positions = np.uint64(len(state.waiting))
    for r in range(span):
        for q in range(positions):
            if q != p or not fitting:
                clear(state.cells, r * (positions + ONE) + q)


@inlined
def _wait(p: np.uint64, shape: Shape, template: TypeTables, state: TypeCells) -> None:
    """Notes that trends at position p wait for the time to move on, and what they extend."""
    touch(p, state.waiting, state.clock)
    if len(shape.semantics) == NEXT:
        e = template.first_source[p]
        while template.source[e] != END:
            state.consumed[template.source[e]] = True
            e += ONE


@inlined
def _show(shape: Shape, span: np.uint64, state: TypeCells) -> None:
    """Lets later events see the trends that ended at the current time stamp, and drops those that they do not.

    Compiled in: as a call, simultaneous events took up to 1.7 times as long.
    """
    cells, clock = state.cells, state.clock
    positions = np.uint64(len(state.waiting))
    stride = positions + ONE
    half = span * stride
    note(max(clock[TOUCHED], 1) * (clock[HIGH] - clock[LOW] + 1), clock)
    if len(shape.semantics) != ANY:
        for p in range(positions):
            if state.consumed[p] or (len(shape.semantics) == CONTIGUOUS and clock[OCCUPIED] == 1):
                for r in range(span):
                    _empty(r * stride + p, shape, cells)
                state.consumed[p] = False
    base = np.uint64(clock[LOW]) % span * stride
    for _ in range(clock[HIGH] - clock[LOW] + 1):
        for k in range(clock[TOUCHED]):
            _move(base + np.uint64(state.waiting[k]), half, shape, cells)
        base += stride
        if base == half:
            base = ZERO
    clock[TOUCHED] = 0
    clock[OCCUPIED] = 0


@inner
def _advance(
    now: int, template: TypeTables, shape: Shape, span: np.uint64, window: Sliding, state: TypeCells, out: RowCells,
    size: int,
) -> int:  # fmt: skip
    """Ends the current time stamp, closes windows that end by `now`, opens those of `now`; returns rows in `out`."""
    cells, clock = state.cells, state.clock
    positions = np.uint64(len(state.waiting))
    stride = positions + ONE
    _show(shape, span, state)
    clock[NOW] = now
    while has_ended(clock[LOW], clock[HIGH], now, window):
        row = np.uint64(clock[LOW]) % span
        final = (span + span) * stride + row
        for p in range(positions):
            if len(shape.semantics) == ANY and template.end[p]:
                add(cells, final, cells, row * stride + p)
            clear(cells, row * stride + p)
        if not is_empty(cells, final):
            out.window[size] = clock[LOW]
            copy(out.cells, size, cells, final)
            size += 1
        clear(cells, final)
        clock[LOW] += 1
    clock[LOW], clock[HIGH] = opened(clock[LOW], clock[HIGH], now, window)
    return size
