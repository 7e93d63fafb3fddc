"""The stacks of SASE: matched events with pointers to the events that may precede them (dissertation 8.1, 19.1).

Each position of the automaton has a stack. An event that is pushed gets, per transition, pointers into the stack of
the source: one pointer to its top if every event below may precede it (the pointer to the most recent instance of
SASE), or one to each predecessor if predicates or the semantics select them. For complete matches, it gets a pointer to
each predecessor from which no longer way leads to it (the edges of Algorithm 4).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Flags, Ints, Reals
from cepbench.algorithms.engine.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.engine.kernels.constants import ANY, CONTIGUOUS, NEXT, NONE
from cepbench.algorithms.engine.kernels.events import KernelEvents, fits, keep_columns
from cepbench.algorithms.engine.kernels.predicates import hold
from cepbench.queries.records import Records
from cepbench.queries.tables import Tables

ALONE = -2
"""In place of the `floor` of a pointer that leads to one event only."""
COMPLETE, UNORDERED = 3, 4
"""Besides the semantics, kinds of pointers: for complete matches; and to all earlier events, of the same time too."""

EVENTS, POINTERS = 1, 2
"""The tables of the stacks (`engine.arena`)."""

FROM_START, TO_END = 1, 2
"""Marks of events: a path leads from a START event to it, and from it to an END event."""


class StackCountersRecord:
    """Numbers of events and pointers; of events `waiting` for a successor, and of those `shown`, i.e. from before the
    current time, which is `now`.
    """

    events: int
    pointers: int
    waiting: int
    shown: int
    now: int


class Stacks(NamedTuple):
    """The events of a key in time order, in all stacks. `counters[1]`: `StackCountersRecord`.

    - `time[V]`, `position[V]`, `place[V]` (position in the input), `barrier[V]` (latest START of a leading negation),
      `below[V]` (the next event down the same stack), `ints[I, V]`, `reals[F, V]`.
    - pointers of event v: `pointer_ptr[v]:pointer_ptr[v + 1]`; `target` is an event, `floor` the earliest time down to
      which the stack below it counts too, or ALONE.
    - `top[P]`, `shown[P]`: the stacks, with and without the events of the current time.
    - `waiting[V]`: events without successor (next, contiguous), `waiting` in all, the first `shown` before the current
      time; `taken[V]`: extended at the current time, or (complete matches) reached by a longer way.
    - `alike_ptr[P + 1]`, `alike`: the positions that stand in for each, itself first (`engine.complete_matches`); none
      unless matches are complete.
    """

    time: Ints
    position: Ints
    place: Ints
    barrier: Ints
    below: Ints
    ints: Ints
    reals: Reals
    pointer_ptr: Ints
    target: Ints
    floor: Ints
    top: Ints
    shown: Ints
    waiting: Ints
    taken: Flags
    counters: Records
    alike_ptr: Ints
    alike: Ints


@kernel
def push_events(
    first: int, last: int, events: KernelEvents, place: Ints, tables: Tables, semantics: int, oldest: int,
    stacks: Stacks,
) -> tuple[int, int]:  # fmt: skip
    """Pushes events first..last-1; returns the next event, and the table that is full, or 0.

    Events before `oldest` are in no open window. O(n) per event with predicates, O(l) without; O(V + E) for complete
    matches, with V events and E pointers.
    """
    count = stacks.counters[0]
    most = 0
    for p in range(len(stacks.top)):
        most = max(most, tables.enter_ptr[p + 1] - tables.enter_ptr[p])
    one_each = semantics == ANY and len(tables.adjacent.one) == 0
    for i in range(first, last):
        if events.time[i] != count.now or semantics == UNORDERED:
            _show(semantics, stacks)
            count.now = events.time[i]
        bindings = tables.binding_ptr[events.kind[i] + 1] - tables.binding_ptr[events.kind[i]]
        needed = bindings * most * (1 if one_each else count.events + bindings)
        if count.events + bindings >= len(stacks.time):
            return i, EVENTS
        if count.pointers + needed > len(stacks.target):
            return i, POINTERS
        for b in range(tables.binding_ptr[events.kind[i]], tables.binding_ptr[events.kind[i] + 1]):
            p = tables.binding[b]
            if fits(tables.local[p], i, events):
                _push(i, p, place[i], events, tables, semantics, oldest, stacks)
    return last, 0


@inlined
def _push(
    i: int, p: int, place: int, events: KernelEvents, tables: Tables, semantics: int, oldest: int, stacks: Stacks
) -> None:
    count = stacks.counters[0]
    v = count.events
    before = count.pointers
    if semantics == COMPLETE:
        _point_without_detour(i, p, oldest, events, tables, stacks)
    for e in range(tables.enter_ptr[p], tables.enter_ptr[p + 1]):
        floor = oldest
        for k in range(tables.between_ptr[e], tables.between_ptr[e + 1]):
            floor = max(floor, events.negated[i, tables.between[k]])
        if semantics in (ANY, UNORDERED):
            _point_down(i, e, floor, events, tables, stacks)
        elif semantics != COMPLETE:
            _point_to_waiting(i, e, floor, events, tables, stacks)
    if not tables.start[p] and count.pointers == before:
        return
    barrier = -1
    for k in range(tables.leading_ptr[p], tables.leading_ptr[p + 1]):
        barrier = max(barrier, events.negated[i, tables.leading[k]])
    stacks.time[v], stacks.position[v], stacks.place[v], stacks.barrier[v] = events.time[i], p, place, barrier
    keep_columns(i, events, stacks.ints, stacks.reals, v)
    stacks.below[v] = stacks.top[p]
    stacks.top[p] = v
    stacks.pointer_ptr[v + 1] = count.pointers
    count.events = v + 1
    if semantics in (NEXT, CONTIGUOUS):
        stacks.waiting[count.waiting] = v
        stacks.taken[v] = False
        count.waiting += 1


@inlined
def _point(target: int, floor: int, stacks: Stacks) -> None:
    at = stacks.counters[0].pointers
    stacks.target[at], stacks.floor[at] = target, floor
    stacks.counters[0].pointers = at + 1


@inlined
def _point_down(i: int, e: int, floor: int, events: KernelEvents, tables: Tables, stacks: Stacks) -> None:
    """Pointers over transition e under skip-till-any-match."""
    u = stacks.shown[tables.source[e]]
    if tables.adjacent.ptr[e] == tables.adjacent.ptr[e + 1]:
        if u != NONE and stacks.time[u] >= floor:
            _point(u, floor, stacks)
        return
    while u != NONE and stacks.time[u] >= floor:
        if hold(tables.adjacent, e, stacks.ints, stacks.reals, u, events.ints, events.reals, i):
            _point(u, ALONE, stacks)
        u = stacks.below[u]


@inner
def _point_without_detour(i: int, p: int, oldest: int, events: KernelEvents, tables: Tables, stacks: Stacks) -> None:
    """Pointers from position p for complete matches (Algorithm 4): the latest first, and to none on a way that exists.

    A longer way may end at a position that stands in for p.
    """
    others = stacks.alike_ptr[p] + 1  # itself is the first
    for v in range(stacks.counters[0].events - 1, -1, -1):
        if stacks.time[v] >= events.time[i]:
            continue
        reached = stacks.taken[v]
        stacks.taken[v] = False
        if not reached and stacks.time[v] >= oldest:
            reached = _follows(v, i, p, events, tables, stacks)
            if reached:
                _point(v, ALONE, stacks)
            for k in range(others, stacks.alike_ptr[p + 1]):
                q = stacks.alike[k]
                if not reached and fits(tables.local[q], i, events):
                    reached = _follows(v, i, q, events, tables, stacks)
        if reached:
            for at in range(stacks.pointer_ptr[v], stacks.pointer_ptr[v + 1]):
                if stacks.target[at] != NONE:
                    stacks.taken[stacks.target[at]] = True


@inlined
def _follows(v: int, i: int, p: int, events: KernelEvents, tables: Tables, stacks: Stacks) -> bool:
    """Whether event i at position p can follow event v of the stacks."""
    for e in range(tables.enter_ptr[p], tables.enter_ptr[p + 1]):
        if tables.source[e] == stacks.position[v]:
            return hold(tables.adjacent, e, stacks.ints, stacks.reals, v, events.ints, events.reals, i)
    return False


@inner
def _is_continued(v: int, marks: Ints, stacks: Stacks) -> bool:
    """Whether event v, at its position or at one that stands in for it, has a predecessor FROM_START, by `marks[V]`.

    Then a complete match does not start with v at its position. The places of an event are neighbors in the stacks.
    """
    w, p = v, stacks.position[v]
    while w > 0 and stacks.place[w - 1] == stacks.place[v]:
        w -= 1
    while w < stacks.counters[0].events and stacks.place[w] == stacks.place[v]:
        for k in range(stacks.alike_ptr[p], stacks.alike_ptr[p + 1]):
            if stacks.alike[k] == stacks.position[w]:
                for at in range(stacks.pointer_ptr[w], stacks.pointer_ptr[w + 1]):
                    if stacks.target[at] != NONE and marks[stacks.target[at]] & FROM_START:
                        return True
        w += 1
    return False


@inlined
def reaches(at: int, u: int, stacks: Stacks) -> bool:
    """Whether pointer `at` leads to event u of its stack. Events before the window have been dropped."""
    return u != NONE and stacks.time[u] >= stacks.floor[at]


@inlined
def next_below(u: int, at: int, stacks: Stacks) -> int:
    """The event to which pointer `at` leads after event u, or NONE."""
    return NONE if stacks.floor[at] == ALONE else stacks.below[u]


@kernel
def number_live(earliest: int, tables: Tables, stacks: Stacks, number: Ints) -> tuple[int, int]:
    """Numbers the live events of the window that starts at `earliest`: those that a match from a START to an END event
    binds. Sets `number[V]`, NONE for others; returns their number, and that of the pairs that follow one another.

    O(V + E) for V events and E pairs.
    """
    size = stacks.counters[0].events
    for v in range(size):
        number[v] = 0
        if stacks.time[v] < earliest:
            continue
        number[v] = FROM_START if tables.start[stacks.position[v]] and not _is_continued(v, number, stacks) else 0
        for at in range(stacks.pointer_ptr[v], stacks.pointer_ptr[v + 1]):
            u = stacks.target[at]
            while reaches(at, u, stacks):
                number[v] |= number[u]
                u = next_below(u, at, stacks)
    for v in range(size - 1, -1, -1):
        if tables.end[stacks.position[v]] and number[v] & FROM_START:
            number[v] |= TO_END
        if number[v] & TO_END:
            for at in range(stacks.pointer_ptr[v], stacks.pointer_ptr[v + 1]):
                u = stacks.target[at]
                while reaches(at, u, stacks):
                    number[u] |= number[u] << 1 & TO_END
                    u = next_below(u, at, stacks)
    vertices, edges = 0, 0
    for v in range(size):
        if not number[v] & TO_END:
            number[v] = NONE
            continue
        number[v] = vertices
        vertices += 1
        for at in range(stacks.pointer_ptr[v], stacks.pointer_ptr[v + 1]):
            u = stacks.target[at]
            while reaches(at, u, stacks):
                edges += number[u] != NONE
                u = next_below(u, at, stacks)
    return vertices, edges


@inner
def _point_to_waiting(i: int, e: int, floor: int, events: KernelEvents, tables: Tables, stacks: Stacks) -> None:
    """Pointers over transition e to events that have no earlier successor (Definition 2.7)."""
    for w in range(stacks.counters[0].shown):
        u = stacks.waiting[w]
        if stacks.position[u] != tables.source[e] or stacks.time[u] < floor:
            continue
        if hold(tables.adjacent, e, stacks.ints, stacks.reals, u, events.ints, events.reals, i):
            _point(u, ALONE, stacks)
            stacks.taken[u] = True


@inlined
def _show(semantics: int, stacks: Stacks) -> None:
    """Ends a time stamp: its events may now precede others."""
    count = stacks.counters[0]
    for p in range(len(stacks.top)):
        stacks.shown[p] = stacks.top[p]
    kept = 0
    for w in range(count.waiting):
        u = stacks.waiting[w]
        if stacks.taken[u] or (semantics == CONTIGUOUS and w < count.shown):
            continue
        stacks.waiting[kept] = u
        kept += 1
    count.waiting = kept
    count.shown = kept


@kernel
def drop_before(oldest: int, stacks: Stacks) -> int:
    """Forgets events before time `oldest` and renumbers the rest; returns how many were dropped."""
    gone = int(np.searchsorted(stacks.time[: stacks.counters[0].events], oldest))
    if gone > 0:
        drop_first(gone, stacks)
    return gone


@kernel
def drop_first(gone: int, stacks: Stacks) -> None:
    """Forgets the first events and renumbers the rest. O(V + E)."""
    count = stacks.counters[0]
    size = count.events
    removed = stacks.pointer_ptr[gone]
    for v in range(gone, size):
        w = v - gone
        stacks.time[w], stacks.position[w], stacks.place[w] = stacks.time[v], stacks.position[v], stacks.place[v]
        stacks.barrier[w] = stacks.barrier[v]
        stacks.below[w] = max(stacks.below[v] - gone, NONE)
        stacks.taken[w] = stacks.taken[v]
        stacks.pointer_ptr[w + 1] = stacks.pointer_ptr[v + 1] - removed
        for c in range(stacks.ints.shape[0]):
            stacks.ints[c, w] = stacks.ints[c, v]
        for c in range(stacks.reals.shape[0]):
            stacks.reals[c, w] = stacks.reals[c, v]
    for at in range(removed, count.pointers):
        stacks.target[at - removed] = max(stacks.target[at] - gone, NONE)
        stacks.floor[at - removed] = stacks.floor[at]
    for p in range(len(stacks.top)):
        stacks.top[p] = max(stacks.top[p] - gone, NONE)
        stacks.shown[p] = max(stacks.shown[p] - gone, NONE)
    kept, shown = 0, 0
    for w in range(count.waiting):
        if stacks.waiting[w] >= gone:
            stacks.waiting[kept] = stacks.waiting[w] - gone
            kept += 1
            shown += w < count.shown
    count.events, count.pointers, count.waiting, count.shown = size - gone, count.pointers - removed, kept, shown
