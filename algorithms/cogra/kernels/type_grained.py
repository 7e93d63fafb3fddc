"""Type-grained aggregation: one cell per position and window (dissertation Section 15.1, Algorithm 7).

Serves all aggregates, local predicates, a type at several positions, and all three semantics; `voidable` serves
negation. An event that is alone at its time stamp updates the cells at once; only simultaneous events, which never
precede one another, wait for the time to move on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.cogra.kernels.type_tables import END, Shape, TypeTables
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


class TypeCells(NamedTuple):
    """Cells of K windows and P positions.

    - Cell `(k % K) * P + p` holds the trends that ended at position p before the current time stamp, in window k; cell
      `K * P` behind it those that end at it, and wait. Cell `2 * K * P + k % K` holds the finished trends of window k:
      under skip-till-any-match those that its END positions hold when it closes, else all that came to one.
    - `waiting[P]`: positions with trends that wait, `clock[TOUCHED]` of them; `consumed[P]`: those that were read.
    - `clock` (`kernels.clock`, `kernels.peak`); `clock[OCCUPIED]`: whether an event came at the current time that the
      cells do not show yet.
    """

    cells: Cells
    waiting: Ints
    consumed: Flags
    clock: Ints


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
    shape: Shape,
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
    now, occupied = clock[NOW], clock[OCCUPIED] != 0
    size = 0
    boundary = next_boundary(clock[LOW], clock[HIGH], window)  # divisions are left to the boundaries of panes
    row = np.uint64(clock[LOW]) % count
    windows = np.uint64(clock[HIGH] - clock[LOW] + 1)
    number = np.uint64(len(events.time))
    checked = len(template.local.one) > 0
    shown, showing = ZERO, positions  # under contiguous semantics, positions outside of these hold nothing
    for i in range(np.uint64(first), number + ONE):
        alone = False
        time = until if i == number else events.time[i]
        if time != now:
            if time >= boundary or i == number:
                if i == number and time <= now:
                    break
                clock[NOW], clock[OCCUPIED] = now, occupied
                if size + span > len(out.window):
                    return int(i), size
                size = _advance(time, template, shape, count, window, state, out, size)
                boundary = next_boundary(clock[LOW], clock[HIGH], window)
                row = np.uint64(clock[LOW]) % count
                windows = np.uint64(clock[HIGH] - clock[LOW] + 1)
                shown, showing = ZERO, positions
                occupied = False
            elif occupied:
                clock[OCCUPIED] = 1
                _show(shape, count, template, state)
                shown, showing = ZERO, positions
                occupied = False
            now = time
            alone = bool(i + ONE < number and events.time[i + ONE] != now)
        if i == number:
            break
        kind = np.uint64(events.kind[i])
        b = template.first_binding[kind]
        p = template.binding[b]
        bound = False
        alone = alone and (p == END or template.binding[b + ONE] == END)
        while p != END:
            if not checked or fits(p, i, events, template):
                bound = True
                if not alone:
                    _wait(p, shape, template, state)
                _bind(i, p, alone, row, windows, shown, showing, events, template, shape, count, state)
                if alone:
                    shown, showing = p, ONE
            b += ONE
            p = template.binding[b]
        if not alone:
            occupied = True
        elif len(shape.semantics) == CONTIGUOUS and not bound:
            for r in range(count):
                for q in range(shown, shown + showing):
                    clear(state.cells, r * positions + q)
            showing = ZERO
    clock[NOW], clock[OCCUPIED] = now, occupied
    note(max(clock[TOUCHED], 1) * (clock[HIGH] - clock[LOW] + 1), clock)
    return len(events.time) + 1, size


@inlined
def _bind(
    i: Place,
    p: np.uint64,
    alone: bool,
    row: np.uint64,
    windows: np.uint64,
    shown: np.uint64,
    showing: np.uint64,
    events: KernelEvents,
    template: TypeTables,
    shape: Shape,
    span: np.uint64,
    state: TypeCells,
) -> None:
    """Appends event i at position p to the trends that it may follow in `windows` windows from row `row` on.

    Channel by channel in registers: with a cell between them the parts of the algebra took up to twice as long.
    """
    cells = state.cells
    positions = np.uint64(len(state.waiting))
    half = span * positions
    first = template.first_source[p]
    waits = ZERO if alone else half
    finishes = len(shape.semantics) != ANY and template.end[p]
    keeps = True  # what the own cell held
    if alone and len(shape.semantics) == NEXT:
        e = first
        while template.source[e] != END:
            keeps &= template.source[e] != p
            e += ONE
    elif alone and len(shape.semantics) == CONTIGUOUS:
        keeps = False
    for _ in range(windows):
        base = row * positions
        own = base + p + waits
        final = half + half + row
        count = cells.ring.dtype.type(template.start[p])
        over = ZERO
        e = first
        while template.source[e] != END:
            q = base + template.source[e]
            more = cells.ring[q, 0]
            count += more
            over |= cells.over[q] | np.uint64(sum_exceeds(count, more))
            e += ONE
        found = count != 0 or over & ONE != ZERO
        if found:
            many = over & ONE
            kept = cells.over[own] if keeps else ZERO
            finished = ZERO
            total = count
            if keeps:
                total += cells.ring[own, 0]
                kept |= np.uint64(sum_exceeds(total, count))
            cells.ring[own, 0] = total
            if finishes:
                total = cells.ring[final, 0] + count
                finished = np.uint64(sum_exceeds(total, count))
                cells.ring[final, 0] = total
            for c in range(ONE, np.uint64(len(shape.ring))):
                wrapped = False
                reached = cells.ring.dtype.type(0)
                e = first
                while template.source[e] != END:
                    more = cells.ring[base + template.source[e], c]
                    reached += more
                    wrapped |= sum_exceeds(reached, more)
                    e += ONE
                if template.ring.bound[c, p]:
                    more, beyond = weighted(cells, template.ring.column[c], events.ints, i, count, many)
                    reached += more
                    wrapped |= beyond or sum_exceeds(reached, more)
                over |= np.uint64(wrapped) << c
                total = reached
                if keeps:
                    total += cells.ring[own, c]
                    kept |= np.uint64(sum_exceeds(total, reached)) << c
                cells.ring[own, c] = total
                if finishes:
                    total = cells.ring[final, c] + reached
                    finished |= np.uint64(sum_exceeds(total, reached)) << c
                    cells.ring[final, c] = total
            cells.over[own] = over | kept
            for c in range(np.uint64(len(shape.real))):
                real = 0.0
                e = first
                while template.source[e] != END:
                    real += cells.real[base + template.source[e], c]
                    e += ONE
                if template.real.bound[c, p]:
                    real += events.reals[template.real.column[c], i] * float(count)
                cells.real[own, c] = cells.real[own, c] + real if keeps else real
                if finishes:
                    cells.real[final, c] += real
            for c in range(np.uint64(len(shape.least))):
                least = NO_VALUE
                e = first
                while template.source[e] != END:
                    least = min(least, cells.least[base + template.source[e], c])
                    e += ONE
                if template.least.bound[c, p]:
                    least = min(least, events.ints[template.least.column[c], i])
                cells.least[own, c] = min(cells.least[own, c], least) if keeps else least
                if finishes:
                    cells.least[final, c] = min(cells.least[final, c], least)
            if finishes:
                cells.over[final] |= over | finished
        if alone and len(shape.semantics) == NEXT:
            e = first
            while found and template.source[e] != END:  # else there is nothing to drop
                if template.source[e] != p:  # which was replaced
                    clear(cells, base + template.source[e])
                e += ONE
        elif alone and len(shape.semantics) == CONTIGUOUS:
            for q in range(shown, shown + showing):
                if q != p or not found:
                    clear(cells, base + q)
        row += ONE
        if row == span:
            row = ZERO


@inlined
def _wait(p: np.uint64, shape: Shape, template: TypeTables, state: TypeCells) -> None:
    """Notes that trends at position p wait for the time to move on, and what they extend."""
    listed = False
    for k in range(state.clock[TOUCHED]):
        listed |= state.waiting[k] == p
    if not listed:
        state.waiting[state.clock[TOUCHED]] = p
        state.clock[TOUCHED] += 1
    if len(shape.semantics) == NEXT:
        e = template.first_source[p]
        while template.source[e] != END:
            state.consumed[template.source[e]] = True
            e += ONE


@inner
def _show(shape: Shape, span: np.uint64, template: TypeTables, state: TypeCells) -> None:
    """Lets later events see the trends that ended at the current time stamp, and drops those that they do not."""
    cells, clock = state.cells, state.clock
    positions = np.uint64(len(state.waiting))
    half = span * positions
    note(max(clock[TOUCHED], 1) * (clock[HIGH] - clock[LOW] + 1), clock)
    if len(shape.semantics) != ANY:
        for p in range(positions):
            if state.consumed[p] or (len(shape.semantics) == CONTIGUOUS and clock[OCCUPIED] == 1):
                for r in range(span):
                    clear(cells, r * positions + p)
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
    shape: Shape,
    span: np.uint64,
    window: Sliding,
    state: TypeCells,
    out: RowCells,
    size: int,
) -> int:
    """Ends the current time stamp, closes windows that end by `now`, opens those of `now`; returns rows in `out`."""
    cells, clock = state.cells, state.clock
    positions = np.uint64(len(state.waiting))
    _show(shape, span, template, state)
    clock[NOW] = now
    while has_ended(clock[LOW], clock[HIGH], now, window):
        row = np.uint64(clock[LOW]) % span
        final = np.uint64(2) * span * positions + row
        for p in range(positions):
            if len(shape.semantics) == ANY and template.end[p]:
                add(cells, final, cells, row * positions + p)
            clear(cells, row * positions + p)
        if not is_empty(cells, final):
            out.window[size] = clock[LOW]
            copy(out.cells, size, cells, final)
            size += 1
        clear(cells, final)
        clock[LOW] += 1
    clock[LOW], clock[HIGH] = opened(clock[LOW], clock[HIGH], now, window)
    return size
