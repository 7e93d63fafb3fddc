"""Type-grained aggregation: one cell per position and window (dissertation Section 15.1, Algorithm 7).

Serves all aggregates, local predicates, a type at several positions, and all three semantics; `voidable` serves
negation. An event that is alone at its time stamp updates the cells at once; only simultaneous events, which never
precede one another, wait for the time to move on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.kernels.arrays import Flags, Ints, Place
from cepbench.algorithms.kernels.cells import (
    ONE,
    ZERO,
    Cells,
    add,
    clear,
    copy,
    empty_cells,
    is_empty,
    sum_exceeds,
    weighted,
)
from cepbench.algorithms.kernels.clock import HIGH, LOW, NOW, has_ended, next_boundary, opened
from cepbench.algorithms.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.kernels.events import KernelEvents, RowCells, Sliding, fits
from cepbench.algorithms.kernels.peak import note
from cepbench.algorithms.kernels.windows import ANY, CONTIGUOUS, NEXT, OCCUPIED, TOUCHED
from cepbench.queries.aggregates import NO_VALUE, Layout
from cepbench.queries.tables import Predicates, Tables, Weights


class TypeTables(NamedTuple):
    """What is read of the `Tables` of an automaton without negation: every array costs time at each call."""

    binding_ptr: Ints
    binding: Ints
    enter_ptr: Ints
    source: Ints
    start: Flags
    end: Flags
    local: Predicates
    ring: Weights
    real: Weights
    least: Weights


class TypeCells(NamedTuple):
    """Cells of K windows and P positions.

    - Cell `(k % K) * P + p` holds the trends that ended at position p before the current time stamp, in window k; cell
      `K * P` behind it those that end at it, and wait. Cell `2 * K * P + k % K` holds finished trends where semantics
      takes them from the others: under skip-till-any-match those of END positions do. The last cell is for the trends
      that end at the current event.
    - `waiting[P]`: positions with trends that wait, `clock[TOUCHED]` of them; `consumed[P]`: those that were read.
    - `clock` (`kernels.clock`, `kernels.peak`); `clock[OCCUPIED]`: whether an event came at the current time that the
      cells do not show yet.
    """

    cells: Cells
    waiting: Ints
    consumed: Flags
    clock: Ints


def template_of(tables: Tables) -> TypeTables:
    """The part of the tables that type-grained aggregation reads."""
    return TypeTables(*(getattr(tables, name) for name in TypeTables._fields))


def new_cells(span: int, positions: int, layout: Layout, arithmetic: str, clock: Ints) -> TypeCells:
    """Cells of `span` windows before the first event."""
    return TypeCells(
        empty_cells(2 * span * positions + span, layout, arithmetic),
        np.zeros(positions, np.int64),
        np.zeros(positions, np.bool_),
        clock,
    )


@kernel
def aggregate_trends(
    first: int,
    until: int,
    events: KernelEvents,
    template: TypeTables,
    semantics: int,
    span: int,
    window: Sliding,
    state: TypeCells,
    out: RowCells,
) -> tuple[int, int]:
    """Processes events `first..`, then closes the windows that end by `until`; returns (next event, rows in `out`).

    Stops before an event, or the end, that might close more windows than `out` has room for; one more than all events
    is returned at the end. O(w l) per event in w windows, for l transitions into its positions.
    """
    clock = state.clock
    count = np.uint64(span)
    positions = np.uint64(len(state.waiting))
    now = clock[NOW]
    size = 0
    boundary = next_boundary(clock[LOW], clock[HIGH], window)  # divisions are left to the boundaries of panes
    row = np.uint64(clock[LOW]) % count
    windows = np.uint64(clock[HIGH] - clock[LOW] + 1)
    last = len(events.time) - 1
    shown, showing = ZERO, positions  # under contiguous semantics, positions outside of these hold nothing
    for i in range(first, len(events.time) + 1):
        alone = False
        time = until if i > last else events.time[i]
        if time != now:
            if time >= boundary or i > last:
                if i > last and time <= now:
                    break
                if size + span > len(out.window):
                    return i, size
                size = _advance(time, template, semantics, count, window, state, out, size)
                boundary = next_boundary(clock[LOW], clock[HIGH], window)
                row = np.uint64(clock[LOW]) % count
                windows = np.uint64(clock[HIGH] - clock[LOW] + 1)
                shown, showing = ZERO, positions
            elif clock[OCCUPIED] != 0:
                _show(semantics, count, template, state)
                shown, showing = ZERO, positions
            now = time
            clock[NOW] = now
            alone = i < last and events.time[i + 1] != now
        if i > last:
            break
        kind = np.uint64(events.kind[i])
        begin, end = np.uint64(template.binding_ptr[kind]), np.uint64(template.binding_ptr[kind + ONE])
        if end - begin > ONE:
            alone = False
        bound = False
        for b in range(begin, end):
            p = np.uint64(template.binding[b])
            if fits(p, i, events, template):
                bound = True
                if not alone:
                    _wait(p, semantics, template, state)
                _bind(i, p, alone, row, windows, shown, showing, events, template, semantics, count, state)
                if alone:
                    shown, showing = p, ONE
        if not alone:
            clock[OCCUPIED] = 1
        elif semantics == CONTIGUOUS and not bound:
            for r in range(count):
                for k in range(showing):
                    _drop(r, shown + k, count, template, state)
            showing = ZERO
    note(max(clock[TOUCHED], 1) * (clock[HIGH] - clock[LOW] + 1), clock)
    return len(events.time) + 1, size


@inlined
def _bind(
    i: int,
    p: np.uint64,
    alone: bool,
    row: np.uint64,
    windows: np.uint64,
    shown: np.uint64,
    showing: np.uint64,
    events: KernelEvents,
    template: TypeTables,
    semantics: int,
    span: np.uint64,
    state: TypeCells,
) -> None:
    """Appends event i at position p to the trends that it may follow in `windows` windows from row `row` on.

    Channel by channel in registers: with a cell between them the parts of the algebra took up to twice as long.
    """
    cells = state.cells
    positions = np.uint64(len(state.waiting))
    half = span * positions
    first, last = np.uint64(template.enter_ptr[p]), np.uint64(template.enter_ptr[p + ONE])
    waits = ZERO if alone else half
    keeps = True  # what the own cell held
    dropped = ZERO
    if alone and semantics == NEXT:
        dropped = last - first
        for e in range(first, last):
            keeps &= np.uint64(template.source[e]) != p
    elif alone and semantics == CONTIGUOUS:
        dropped = showing
        keeps = False
    for _ in range(windows):
        base = row * positions
        own = base + p + waits
        for k in range(dropped):
            q = np.uint64(template.source[first + k]) if semantics == NEXT else shown + k
            if template.end[q]:
                add(cells, half + half + row, cells, base + q)
        count = cells.ring.dtype.type(template.start[p])
        over = ZERO
        for e in range(first, last):
            q = base + np.uint64(template.source[e])
            more = cells.ring[q, 0]
            count += more
            over |= cells.over[q] | np.uint64(sum_exceeds(count, more))
        found = count != 0 or over & ONE != ZERO
        if found:
            many = over & ONE
            before = ZERO
            total = count
            if keeps:
                before = cells.over[own]
                total += cells.ring[own, 0]
            over |= before | np.uint64(sum_exceeds(total, count))
            cells.ring[own, 0] = total
            for c in range(ONE, np.uint64(cells.ring.shape[1])):
                wrapped = False
                total = cells.ring[own, c] if keeps else cells.ring.dtype.type(0)
                for e in range(first, last):
                    more = cells.ring[base + np.uint64(template.source[e]), c]
                    total += more
                    wrapped |= sum_exceeds(total, more)
                if template.ring.bound[c, p]:
                    more, beyond = weighted(cells, template.ring.column[c], events.ints, i, count, many)
                    total += more
                    wrapped |= beyond or sum_exceeds(total, more)
                over |= np.uint64(wrapped) << c
                cells.ring[own, c] = total
            cells.over[own] = over
            for c in range(np.uint64(cells.real.shape[1])):
                real = cells.real[own, c] if keeps else 0.0
                for e in range(first, last):
                    real += cells.real[base + np.uint64(template.source[e]), c]
                if template.real.bound[c, p]:
                    real += events.reals[template.real.column[c], i] * float(count)
                cells.real[own, c] = real
            for c in range(np.uint64(cells.least.shape[1])):
                least = cells.least[own, c] if keeps else NO_VALUE
                for e in range(first, last):
                    least = min(least, cells.least[base + np.uint64(template.source[e]), c])
                if template.least.bound[c, p]:
                    least = min(least, events.ints[template.least.column[c], i])
                cells.least[own, c] = least
        for k in range(dropped):
            q = np.uint64(template.source[first + k]) if semantics == NEXT else shown + k
            if q != p or not found:  # else it was replaced
                clear(cells, base + q)
        row += ONE
        if row == span:
            row = ZERO


@inlined
def _wait(p: np.uint64, semantics: int, template: TypeTables, state: TypeCells) -> None:
    """Notes that trends at position p wait for the time to move on, and what they extend."""
    listed = False
    for k in range(state.clock[TOUCHED]):
        listed |= state.waiting[k] == p
    if not listed:
        state.waiting[state.clock[TOUCHED]] = p
        state.clock[TOUCHED] += 1
    if semantics == NEXT:
        for e in range(template.enter_ptr[p], template.enter_ptr[p + ONE]):
            state.consumed[template.source[e]] = True


@inner
def _drop(row: Place, p: Place, span: np.uint64, template: TypeTables, state: TypeCells) -> None:
    """Forgets the trends that may be extended at position p in the window of a row; at an END position they finish."""
    cells = state.cells
    positions = np.uint64(len(state.waiting))
    if template.end[p]:
        add(cells, np.uint64(2) * span * positions + row, cells, row * positions + p)
    clear(cells, row * positions + p)


@inner
def _show(semantics: int, span: np.uint64, template: TypeTables, state: TypeCells) -> None:
    """Lets later events see the trends that ended at the current time stamp, and drops those that they do not."""
    cells, clock = state.cells, state.clock
    positions = np.uint64(len(state.waiting))
    half = span * positions
    note(max(clock[TOUCHED], 1) * (clock[HIGH] - clock[LOW] + 1), clock)
    if semantics != ANY:
        for p in range(positions):
            if state.consumed[p] or (semantics == CONTIGUOUS and clock[OCCUPIED] == 1):
                for r in range(span):
                    _drop(r, p, span, template, state)
                state.consumed[p] = False
    row = np.uint64(clock[LOW]) % span
    for _ in range(clock[HIGH] - clock[LOW] + 1):
        for k in range(clock[TOUCHED]):
            at = row * positions + np.uint64(state.waiting[k])
            add(cells, at, cells, at + half)
            clear(cells, at + half)
        row += ONE
        if row == span:
            row = ZERO
    clock[TOUCHED] = 0
    clock[OCCUPIED] = 0


@inner
def _advance(
    now: int,
    template: TypeTables,
    semantics: int,
    span: np.uint64,
    window: Sliding,
    state: TypeCells,
    out: RowCells,
    size: int,
) -> int:
    """Ends the current time stamp, closes windows that end by `now`, opens those of `now`; returns rows in `out`."""
    cells, clock = state.cells, state.clock
    positions = np.uint64(len(state.waiting))
    _show(semantics, span, template, state)
    clock[NOW] = now
    while has_ended(clock[LOW], clock[HIGH], now, window):
        row = np.uint64(clock[LOW]) % span
        final = np.uint64(2) * span * positions + row
        for p in range(positions):
            _drop(row, p, span, template, state)
        if not is_empty(cells, final):
            out.window[size] = clock[LOW]
            copy(out.cells, size, cells, final)
            size += 1
        clear(cells, final)
        clock[LOW] += 1
    clock[LOW], clock[HIGH] = opened(clock[LOW], clock[HIGH], now, window)
    return size
