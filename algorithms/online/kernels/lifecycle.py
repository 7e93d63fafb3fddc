"""Aggregates of the open windows: what cells hold, how events feed them, and how windows open and close.

They aggregate the positions whose events the graph of GRETA does not keep, and what negations empty (dissertation
Chapters 11, 15, 16).
Events of one time stamp never precede one another, so what they add waits in `pending` cells until the time moves on;
only an event that is alone at its time stamp may add at once.
Cells are numbered `(k % K) * slots + slot` for window k, where K is the most windows that hold one event.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.kernels.arrays import Flags, Ints
from cepbench.algorithms.kernels.cells import Cells, add, begin, clear, copy, empty_cells, extend, is_empty
from cepbench.algorithms.kernels.clock import HIGH, LOW, OCCUPIED, TOUCHED, row_of, touch
from cepbench.algorithms.kernels.compilation import inlined, inner
from cepbench.algorithms.kernels.events import KernelEvents, RowCells, Sliding
from cepbench.algorithms.kernels.negation import first_free, latest_start
from cepbench.queries.aggregates import Layout
from cepbench.queries.tables import Tables

ANY, NEXT, CONTIGUOUS = 0, 1, 2


class Slots(NamedTuple):
    """What the cells of a window hold, S slots (`online.slots`); those that transitions read come first.

    - `feed_ptr[P + 1]`, `feed`: slots that an event at a position adds to.
    - `read[E]`: the slot that transition e reads.
    - `direct[P]`: END positions whose trends are final at once; `late`: slots that are final when the window closes.
    - `void_ptr[J + 1]`, `void`: slots that a match of negation j empties.
    """

    feed_ptr: Ints
    feed: Ints
    read: Ints
    direct: Flags
    late: Ints
    void_ptr: Ints
    void: Ints


class Windowed(NamedTuple):
    """What does not change (`kernels.lanes`). `keeps` has an item if the events of some position are kept, so that this
    is known when a kernel is compiled: where none are, an event took up to 1.4 times as long without.
    """

    tables: Tables
    slots: Slots
    semantics: int
    keeps: tuple[bool, ...]
    window: Sliding


class OpenWindows(NamedTuple):
    """Cells of the open windows of a key.

    `cells`, `pending`: K * S cells; `final`, `reached`: K cells. `touched[S]`: slots with pending cells,
    `consumed[S]`: whether it is emptied when the time moves on, since events at it extended its trends.
    `clock`: as in `kernels.clock`. `seen[J]`: negation starts known.
    """

    cells: Cells
    pending: Cells
    final: Cells
    reached: Cells
    touched: Ints
    consumed: Flags
    clock: Ints
    seen: Ints


@inlined
def append(
    i: int, p: int, low: int, high: int, alone: bool, events: KernelEvents, fixed: Windowed, state: OpenWindows
) -> bool:
    """Appends event i at position p to the trends in `state.reached` (cell k - low for window k), begins those that it
    starts, and feeds them to their windows; returns whether there is any.
    """
    tables = fixed.tables
    if tables.start[p]:
        latest = latest_start(events.negated[i], tables.leading, tables.leading_ptr[p], tables.leading_ptr[p + 1])
        for k in range(first_free(low, high, fixed.window.slide, latest), high + 1):
            begin(state.reached, k - low)
    found, span = False, len(state.final.over)
    row = low % span
    for k in range(low, high + 1):
        if not is_empty(state.reached, k - low):
            found = True
            extend(state.reached, k - low, tables, p, events.ints, events.reals, i)
            feed(p, row_of(k, low, row, span), k - low, alone, fixed.slots, state)
    return found


@inlined
def feed(p: int, w: int, j: int, alone: bool, slots: Slots, state: OpenWindows) -> None:
    """Adds cell j of `state.reached`, trends that end with an event at position p, to what the window of row w keeps:
    at once if the event is `alone` at its time stamp.
    """
    for f in range(slots.feed_ptr[p], slots.feed_ptr[p + 1]):
        slot = slots.feed[f]
        if alone:
            add(state.cells, w * len(state.touched) + slot, state.reached, j)
            continue
        add(state.pending, w * len(state.touched) + slot, state.reached, j)
        touch(slot, state.touched, state.clock)
    if slots.direct[p]:
        add(state.final, w, state.reached, j)


@inner
def close_window(slots: Slots, state: OpenWindows, out: RowCells, size: int) -> int:
    """Writes the row of the lowest open window, if it has a trend, and forgets the window; returns rows in `out`."""
    clock = state.clock
    slots_each = len(state.touched)
    final = clock[LOW] % len(state.final.over)
    base = final * slots_each
    for f in range(len(slots.late)):
        add(state.final, final, state.cells, base + slots.late[f])
    if not is_empty(state.final, final):
        out.window[size] = clock[LOW]
        copy(out.cells, size, state.final, final)
        size += 1
    clear(state.final, final)
    for slot in range(slots_each):
        clear(state.cells, base + slot)
    clock[LOW] += 1
    return size


@inlined
def commit(negated: Ints, slots: Slots, semantics: int, state: OpenWindows) -> None:
    """Lets later events see the trends that ended at the current time stamp."""
    clock = state.clock
    span = len(state.final.over)
    size = len(state.touched)
    low, high, row = clock[LOW], clock[HIGH], clock[LOW] % span
    for j in range(len(negated)):
        if negated[j] > state.seen[j]:  # a match of a single event, at the time stamp that ends
            state.seen[j] = negated[j]
            for v in range(slots.void_ptr[j], slots.void_ptr[j + 1]):
                for k in range(low, high + 1):
                    clear(state.cells, row_of(k, low, row, span) * size + slots.void[v])
    if semantics != ANY:
        for slot in range(size - len(slots.late)):
            if state.consumed[slot] or (semantics == CONTIGUOUS and clock[OCCUPIED] == 1):
                for k in range(low, high + 1):
                    clear(state.cells, row_of(k, low, row, span) * size + slot)
                state.consumed[slot] = False
    for t in range(clock[TOUCHED]):
        for k in range(low, high + 1):
            at = row_of(k, low, row, span) * size + state.touched[t]
            add(state.cells, at, state.pending, at)
            clear(state.pending, at)
    clock[TOUCHED] = 0
    clock[OCCUPIED] = 0


def new_state(span: int, size: int, negations: int, layout: Layout, arithmetic: str, clock: Ints) -> OpenWindows:
    """State of `span` windows with `size` slots before the first event."""
    return OpenWindows(
        empty_cells(span * size, layout, arithmetic),
        empty_cells(span * size, layout, arithmetic),
        empty_cells(span, layout, arithmetic),
        empty_cells(span, layout, arithmetic),
        np.zeros(size, np.int64),
        np.zeros(size, np.bool_),
        clock,
        np.full(negations, -1, np.int64),
    )
