"""Aggregates of the open windows: what cells hold, how events feed them, and how windows open and close.

They aggregate the positions whose events the graph of GRETA does not keep, and what negations empty (dissertation
Chapters 11, 15, 16).
Events of one time stamp never precede one another, so what they add waits in `pending` cells until the time moves on.
Cells are numbered `(k % K) * slots + slot` for window k, where K is the most windows that hold one event.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.kernels.arrays import Flags, Ints
from cepbench.algorithms.kernels.cells import Cells, add, begin, clear, copy, empty_cells, extend, is_empty
from cepbench.algorithms.kernels.clock import HIGH, LOW, OCCUPIED, TOUCHED, row_of
from cepbench.algorithms.kernels.compilation import inlined, inner
from cepbench.algorithms.kernels.events import KernelEvents, RowCells, Sliding
from cepbench.queries.aggregates import Layout
from cepbench.queries.tables import Tables, csr

ANY, NEXT, CONTIGUOUS = 0, 1, 2


class Slots(NamedTuple):
    """What the cells of a window hold.

    Slot p < P holds the trends that end at position p and may be extended. Each transition with a negation and each
    END position with a trailing one has a slot of its own, which a match of the negation empties.

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
    `marked[S]`: whether a slot is listed there, `consumed[S]`: whether it was read at the current time.
    `clock`: as in `kernels.clock`. `seen[J]`: negation starts known.
    """

    cells: Cells
    pending: Cells
    final: Cells
    reached: Cells
    touched: Ints
    marked: Flags
    consumed: Flags
    clock: Ints
    seen: Ints


@inlined
def first_free_window(
    p: int, i: int, low: int, high: int, events: KernelEvents, tables: Tables, window: Sliding
) -> int:
    """The lowest window in low..high+1 that holds no earlier match of a leading negation of START position p."""
    reach = low
    for k in range(tables.leading_ptr[p], tables.leading_ptr[p + 1]):
        while reach <= high and reach * window.slide <= events.negated[i, tables.leading[k]]:
            reach += 1
    return reach


@inlined
def append(
    i: int, p: int, low: int, high: int, events: KernelEvents, tables: Tables, slots: Slots, window: Sliding,
    state: OpenWindows,
) -> bool:  # fmt: skip
    """Appends event i at position p to the trends in `state.reached` (cell k - low for window k), begins those that it
    starts, and feeds them to their windows; returns whether there is any.
    """
    if tables.start[p]:
        for k in range(first_free_window(p, i, low, high, events, tables, window), high + 1):
            begin(state.reached, k - low)
    found, span = False, len(state.final.over)
    row = low % span
    for k in range(low, high + 1):
        if not is_empty(state.reached, k - low):
            found = True
            extend(state.reached, k - low, tables, p, events.ints, events.reals, i)
            feed(p, row_of(k, low, row, span), slots, state, state.reached, k - low)
    return found


@inlined
def feed(p: int, w: int, slots: Slots, state: OpenWindows, trends: Cells, j: int) -> None:
    """Adds cell j of `trends`, those of an event at position p, to what the window of row w keeps."""
    for f in range(slots.feed_ptr[p], slots.feed_ptr[p + 1]):
        slot = slots.feed[f]
        add(state.pending, w * len(state.touched) + slot, trends, j)
        if not state.marked[slot]:
            state.marked[slot] = True
            state.touched[state.clock[TOUCHED]] = slot
            state.clock[TOUCHED] += 1
    if slots.direct[p]:
        add(state.final, w, trends, j)


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
        for p in range(len(slots.direct)):
            if state.consumed[p] or (semantics == CONTIGUOUS and clock[OCCUPIED] == 1):
                for k in range(low, high + 1):
                    clear(state.cells, row_of(k, low, row, span) * size + p)
                state.consumed[p] = False
    for t in range(clock[TOUCHED]):
        slot = state.touched[t]
        state.marked[slot] = False
        for k in range(low, high + 1):
            at = row_of(k, low, row, span) * size + slot
            add(state.cells, at, state.pending, at)
            clear(state.pending, at)
    clock[TOUCHED] = 0
    clock[OCCUPIED] = 0


def new_state(span: int, slots: Slots, layout: Layout, arithmetic: str, clock: Ints) -> OpenWindows:
    """State of `span` windows before the first event."""
    size = slot_count(slots)
    return OpenWindows(
        empty_cells(span * size, layout, arithmetic),
        empty_cells(span * size, layout, arithmetic),
        empty_cells(span, layout, arithmetic),
        empty_cells(span, layout, arithmetic),
        np.zeros(size, np.int64),
        np.zeros(size, np.bool_),
        np.zeros(size, np.bool_),
        clock,
        np.full(len(slots.void_ptr) - 1, -1, np.int64),
    )


def slot_count(slots: Slots) -> int:
    """Slots per window."""
    return int(max(len(slots.direct), *(array.max(initial=-1) + 1 for array in (slots.feed, slots.read, slots.late))))


def make_slots(tables: Tables, negations: int, summed: Flags, late_summed: Flags, contiguous: bool) -> Slots:
    """Slots for an automaton: the positions in `summed` feed those that transitions read, and END positions in
    `late_summed` with a trailing negation feed one that is final when the window closes.

    Between contiguous events nothing can match, so under that semantics transitions need no slots of their own.
    """
    positions = len(tables.start)
    feeds: list[list[int]] = [[p] if summed[p] else [] for p in range(positions)]
    void: list[list[int]] = [[] for _ in range(negations)]
    read = tables.source.copy()
    late = []
    size = positions
    for e, source in enumerate(tables.source):
        between = tables.between[tables.between_ptr[e] : tables.between_ptr[e + 1]]
        if len(between) and summed[source] and not contiguous:
            read[e] = size
            feeds[source].append(size)
            for j in between:
                void[j].append(size)
            size += 1
    trailing = np.diff(tables.trailing_ptr) > 0
    for p in np.flatnonzero(tables.end & trailing & late_summed):
        for j in tables.trailing[tables.trailing_ptr[p] : tables.trailing_ptr[p + 1]]:
            void[j].append(size)
        feeds[p].append(size)
        late.append(size)
        size += 1
    feed_ptr, feed_list = csr(feeds)
    void_ptr, void_list = csr(void)
    direct = tables.end & ~trailing
    return Slots(feed_ptr, feed_list, read, direct, np.array(late, np.int64), void_ptr, void_list)
