"""Skip-till-next-match and contiguous aggregation with predicates on adjacent events (dissertation Section 16.2), and
with negation under any semantics.

Algorithm 9 keeps one last matched event. Definition 2.7 needs every event that still waits for its first successor:
under skip-till-next-match an event leaves when events of one time stamp extend it, under contiguous semantics when the
time moves on. So O(u) time per event and O(u) space for u waiting events, instead of O(1); u is 1 where Algorithm 9 is
right. Where no predicate selects single events, slots have sums of the trends, which a negated event empties;
`reach.sums` serves queries without negation, several times as fast.
"""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.kernels.arrays import Ints, Reals
from cepbench.algorithms.kernels.cells import Cells, add, clear, copy
from cepbench.algorithms.kernels.clock import HIGH, LOW, NOW, OCCUPIED, TOUCHED, has_ended, next_boundary
from cepbench.algorithms.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.kernels.events import KernelEvents, RowCells, fits, keep_columns
from cepbench.algorithms.kernels.lanes import DONE, ROOM, ROWS, Calls, over_keys
from cepbench.algorithms.kernels.peak import note
from cepbench.algorithms.kernels.predicates import hold
from cepbench.algorithms.online.kernels.lifecycle import (
    CONTIGUOUS,
    NEXT,
    OpenWindows,
    Slots,
    Windowed,
    advance,
    append,
    commit,
)
from cepbench.queries.records import Records

FIRST, LAST, SIZE = 0, 1, 2
NOBODY = -1


class WaitingRecord:
    """An event without a successor: the `next` one of its key, its `time` and `position`, its last window (`high`).

    `taken`: it was extended at the current time.
    """

    next: int
    time: int
    position: int
    high: int
    taken: bool


class Waiting(NamedTuple):
    """Places for the V waiting events of all keys; cell `v * K + k % K` is that of event v in window k.

    `event[V]` (`WaitingRecord`); `free[V]`: a stack of free places, of which there are `left[0]`; attributes
    `ints[I, V]`, `reals[F, V]`.
    """

    event: Records
    free: Ints
    left: Ints
    ints: Ints
    reals: Reals
    cells: Cells


class KeyWaiting(NamedTuple):
    """What a key has: `list`, the places of its first and its last waiting event and how many there are, in order of
    time; and its open windows.
    """

    list: Ints
    windows: OpenWindows


@inner
def extend_waiting(
    first: int,
    until: int,
    events: KernelEvents,
    fixed: Windowed,
    waiting: Waiting,
    own: KeyWaiting,
    out: RowCells,
    size: int,
) -> tuple[int, int, int]:
    """Extends the waiting events of one key by its events (`kernels.lanes`)."""
    tables, slots, semantics, window, state = fixed.tables, fixed.slots, fixed.semantics, fixed.window, own.windows
    span = len(state.final.over)
    clock = state.clock
    boundary = next_boundary(clock[LOW], clock[HIGH], window)
    for i in range(first, len(events.time)):
        now = events.time[i]
        if now != clock[NOW]:
            if now < boundary:
                note(_kept(slots, own), clock)
                ended = _ended(semantics, clock)
                commit(events.negated[i], slots, semantics, state)
                clock[NOW] = now
                if own.list[SIZE] > 0:
                    _settle(ended, waiting, own)
            elif size + span > len(out.window):
                return i, size, ROWS
            else:
                size = _advance(now, events.negated[i], fixed, waiting, own, out, size)
                boundary = next_boundary(clock[LOW], clock[HIGH], window)
        clock[OCCUPIED] = 1
        if waiting.left[0] < tables.binding_ptr[events.kind[i] + 1] - tables.binding_ptr[events.kind[i]]:
            return i, size, ROOM
        low, high = clock[LOW], clock[HIGH]
        for b in range(tables.binding_ptr[events.kind[i]], tables.binding_ptr[events.kind[i] + 1]):
            p = tables.binding[b]
            if fits(p, i, events, tables):
                _bind(i, p, low, high, events, fixed, waiting, own)
    n = len(events.time)
    if has_ended(clock[LOW], clock[HIGH], until, window):
        if size + span > len(out.window):
            return n, size, ROWS
        size = _advance(until, events.negated[n], fixed, waiting, own, out, size)
    return n, size, DONE


@kernel
def extend_keys(
    at: int, done: int, calls: Calls, fixed: Windowed, waiting: Waiting, lanes: KeyWaiting, rows: RowCells
) -> tuple[int, int, int, int]:
    """`extend_waiting` over keys."""
    return over_keys(extend_waiting, at, done, calls, fixed, waiting, lanes, rows)


@inlined
def _bind(
    i: int, p: int, low: int, high: int, events: KernelEvents, fixed: Windowed, waiting: Waiting, own: KeyWaiting
) -> None:
    """Event i at position p extends the waiting events that it may follow, and waits.

    Inlined, since to hand over so many arrays took as long as the work.
    """
    tables, slots, state, event = fixed.tables, fixed.slots, own.windows, waiting.event
    now = events.time[i]
    span = len(state.final.over)
    if slots.summed[p]:  # and so are all
        _collect(p, low, high, fixed, state)
        append(i, p, low, high, events, tables, slots, fixed.window, state)
        return
    for k in range(high - low + 1):
        clear(state.reached, k)
    for e in range(tables.enter_ptr[p], tables.enter_ptr[p + 1]):
        v = own.list[FIRST]
        while v != NOBODY and event[v].time < now:
            if event[v].position == tables.source[e] and hold(
                tables.adjacent, e, waiting.ints, waiting.reals, v, events.ints, events.reals, i
            ):
                event[v].taken = True
                for k in range(low, min(high, event[v].high) + 1):
                    add(state.reached, k - low, waiting.cells, v * span + k % span)
            v = event[v].next
    if not append(i, p, low, high, events, tables, slots, fixed.window, state):
        return
    waiting.left[0] -= 1
    v = waiting.free[waiting.left[0]]
    event[v].next, event[v].time, event[v].position = NOBODY, now, p
    event[v].high, event[v].taken = high, False
    _link(own.list[LAST], v, waiting, own)
    own.list[LAST] = v
    own.list[SIZE] += 1
    keep_columns(i, events, waiting.ints, waiting.reals, v)
    for k in range(low, high + 1):
        copy(waiting.cells, v * span + k % span, state.reached, k - low)


@inlined
def _collect(p: int, low: int, high: int, fixed: Windowed, state: OpenWindows) -> None:
    """Sets `state.reached` to the sums of trends that an event at position p may extend in windows low..high."""
    tables, slots = fixed.tables, fixed.slots
    if fixed.semantics == NEXT:
        for e in range(tables.enter_ptr[p], tables.enter_ptr[p + 1]):
            state.consumed[slots.read[e]] = True
    for k in range(low, high + 1):
        base = (k % len(state.final.over)) * len(state.touched)
        clear(state.reached, k - low)
        for e in range(tables.enter_ptr[p], tables.enter_ptr[p + 1]):
            add(state.reached, k - low, state.cells, base + slots.read[e])


@inlined
def _link(v: int, following: int, waiting: Waiting, own: KeyWaiting) -> None:
    """Lets an event follow event v in the list, or be the first."""
    if v == NOBODY:
        own.list[FIRST] = following
    else:
        waiting.event[v].next = following


@inlined
def _kept(slots: Slots, own: KeyWaiting) -> int:
    """Waiting events; or, where slots have sums, cells in which trends wait for the current time stamp to end."""
    clock = own.windows.clock
    kept: int = clock[TOUCHED] * (clock[HIGH] - clock[LOW] + 1) if slots.summed[0] else own.list[SIZE]
    return kept


@inlined
def _ended(semantics: int, clock: Ints) -> int:
    """Older events than this cannot be extended any more: those of earlier time stamps than the current one, if there
    were others at it and trends are contiguous.
    """
    time: int = clock[NOW] if semantics == CONTIGUOUS and clock[OCCUPIED] == 1 else 0
    return time


@inner
def _advance(
    now: int, negated: Ints, fixed: Windowed, waiting: Waiting, own: KeyWaiting, out: RowCells, size: int
) -> int:
    """Ends the current time stamp, closes windows, settles the waiting events; returns rows in `out`."""
    clock = own.windows.clock
    note(_kept(fixed.slots, own), clock)
    ended = _ended(fixed.semantics, clock)
    size = advance(now, negated, fixed.slots, fixed.semantics, fixed.window, own.windows, out, size)
    _settle(ended, waiting, own)
    return size


@inner
def _settle(ended: int, waiting: Waiting, own: KeyWaiting) -> None:
    """Drops events that were extended, left all windows or are older than `ended`."""
    event, low = waiting.event, own.windows.clock[LOW]
    before, v = NOBODY, own.list[FIRST]
    while v != NOBODY:
        following = event[v].next
        if event[v].high < low or event[v].taken or event[v].time < ended:
            _link(before, following, waiting, own)
            waiting.free[waiting.left[0]] = v
            waiting.left[0] += 1
            own.list[SIZE] -= 1
        else:
            before = v
        v = following
    own.list[LAST] = before
