"""Skip-till-next-match and contiguous aggregation with predicates on adjacent events (dissertation Section 16.2).

Algorithm 9 keeps one last matched event. Definition 2.7 needs every event that still waits for its first successor:
under skip-till-next-match an event leaves when events of one time stamp extend it, under contiguous semantics when the
time moves on. So O(u) time per event and O(u) space for u waiting events, instead of O(1); u is 1 where Algorithm 9 is
right.
"""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.kernels.arrays import Flags, Ints, Reals
from cepbench.algorithms.kernels.cells import Cells, add, clear, copy
from cepbench.algorithms.kernels.clock import HIGH, LOW, NOW, next_boundary
from cepbench.algorithms.kernels.compilation import inlined, kernel
from cepbench.algorithms.kernels.events import KernelEvents, RowCells, Sliding, fits, keep_columns
from cepbench.algorithms.kernels.peak import note
from cepbench.algorithms.kernels.predicates import hold
from cepbench.algorithms.kernels.windows import (
    CONTIGUOUS,
    OCCUPIED,
    OpenWindows,
    Slots,
    advance,
    append,
    commit,
)
from cepbench.queries.tables import Tables

ROOM, OUTPUT, DONE = 0, 1, 2
SHOWN, SIZE = 0, 1


class Waiting(NamedTuple):
    """Events without a successor: `counters[SIZE]` in all, the first `counters[SHOWN]` before the current time stamp.

    `position[V]`, `high[V]` (the last window of the event), `taken[V]` (extended at the current time), attributes
    `ints[I, V]`, `reals[F, V]`; cell `v * K + k % K` is that of window k.
    """

    position: Ints
    high: Ints
    taken: Flags
    ints: Ints
    reals: Reals
    cells: Cells
    counters: Ints


@kernel
def extend_waiting(
    first: int,
    events: KernelEvents,
    tables: Tables,
    slots: Slots,
    semantics: int,
    window: Sliding,
    waiting: Waiting,
    state: OpenWindows,
    out: RowCells,
    size: int,
) -> tuple[int, int, int]:
    """Processes events `first..`; returns (next event, rows in `out`, why it stopped: ROOM, OUTPUT or DONE)."""
    span = len(state.final.over)
    clock = state.clock
    boundary = next_boundary(clock[LOW], clock[HIGH], window)
    for i in range(first, len(events.time)):
        now = events.time[i]
        if now != clock[NOW]:
            if now < boundary:
                note(waiting.counters[SIZE], clock)
                only_last = semantics == CONTIGUOUS and clock[OCCUPIED] == 1
                commit(events.negated[i], slots, semantics, state)
                clock[NOW] = now
                _settle(only_last, waiting, clock[LOW], span)
            elif size + span > len(out.window):
                return i, size, OUTPUT
            else:
                size = advance_waiting(now, events.negated[i], slots, semantics, window, waiting, state, out, size)
                boundary = next_boundary(clock[LOW], clock[HIGH], window)
        clock[OCCUPIED] = 1
        positions = tables.binding_ptr[events.kind[i] + 1] - tables.binding_ptr[events.kind[i]]
        if waiting.counters[SIZE] + positions > len(waiting.position):
            return i, size, ROOM
        low, high = clock[LOW], now // window.slide
        for b in range(tables.binding_ptr[events.kind[i]], tables.binding_ptr[events.kind[i] + 1]):
            p = tables.binding[b]
            if fits(p, i, events, tables):
                _bind(i, p, low, high, events, tables, slots, window, waiting, state)
    return len(events.time), size, DONE


@inlined
def _bind(
    i: int,
    p: int,
    low: int,
    high: int,
    events: KernelEvents,
    tables: Tables,
    slots: Slots,
    window: Sliding,
    waiting: Waiting,
    state: OpenWindows,
) -> None:
    """Event i at position p extends the waiting events that it may follow, and waits.

    Inlined, since to hand over so many arrays took as long as the work.
    """
    span = len(state.final.over)
    for k in range(high - low + 1):
        clear(state.reached, k)
    for e in range(tables.enter_ptr[p], tables.enter_ptr[p + 1]):
        for v in range(waiting.counters[SHOWN]):
            if waiting.position[v] != tables.source[e]:
                continue
            if not hold(tables.adjacent, e, waiting.ints, waiting.reals, v, events.ints, events.reals, i):
                continue
            waiting.taken[v] = True
            for k in range(low, min(high, waiting.high[v]) + 1):
                add(state.reached, k - low, waiting.cells, v * span + k % span)
    if not append(i, p, low, high, events, tables, slots, window, state):
        return
    v = waiting.counters[SIZE]
    waiting.counters[SIZE] = v + 1
    waiting.position[v], waiting.high[v], waiting.taken[v] = p, high, False
    keep_columns(i, events, waiting.ints, waiting.reals, v)
    for k in range(low, high + 1):
        copy(waiting.cells, v * span + k % span, state.reached, k - low)


@kernel
def advance_waiting(
    now: int,
    negated: Ints,
    slots: Slots,
    semantics: int,
    window: Sliding,
    waiting: Waiting,
    state: OpenWindows,
    out: RowCells,
    size: int,
) -> int:
    """Ends the current time stamp, closes windows, settles the waiting events; returns rows in `out`."""
    note(waiting.counters[SIZE], state.clock)
    only_last = semantics == CONTIGUOUS and state.clock[OCCUPIED] == 1
    size = advance(now, negated, slots, semantics, window, state, out, size)
    _settle(only_last, waiting, state.clock[LOW], len(state.final.over))
    return size


@kernel
def _settle(only_last: bool, waiting: Waiting, low: int, span: int) -> None:
    """Drops events that were extended or left all windows (all older ones if `only_last`); the rest are shown."""
    kept = 0
    for v in range(waiting.counters[SIZE]):
        old = v < waiting.counters[SHOWN]
        if waiting.high[v] < low or waiting.taken[v] or (only_last and old):
            continue
        if kept < v:
            waiting.position[kept], waiting.high[kept], waiting.taken[kept] = (
                waiting.position[v],
                waiting.high[v],
                False,
            )
            for c in range(waiting.ints.shape[0]):
                waiting.ints[c, kept] = waiting.ints[c, v]
            for c in range(waiting.reals.shape[0]):
                waiting.reals[c, kept] = waiting.reals[c, v]
            for k in range(span):
                copy(waiting.cells, kept * span + k, waiting.cells, v * span + k)
        kept += 1
    waiting.counters[SHOWN] = kept
    waiting.counters[SIZE] = kept
