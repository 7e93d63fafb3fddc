"""Stacks of one clause of detection: instances of events at operands, with pointers, for as long as a span reaches
(Wu et al., SIGMOD 2006, active instance stacks with windows pushed down).
"""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.kernels.arrays import Ints, Reals
from cepbench.algorithms.kernels.compilation import inlined, kernel
from cepbench.algorithms.kernels.events import KernelEvents, fits, keep_columns
from cepbench.queries.detection_tables import DetectionTables
from cepbench.queries.records import Records

NOBODY = -1
NEVER = -(2**62)
"""A time before every event."""

BASE, SIZE, ROOT, SEEN, DEPTH, MISSING, HELD, MATCHES, WRITTEN, SETTLED, DUE, ROWS, UPDATES, LONGEST = range(14)
PEAK_BYTES, PEAK_EVENTS, PEAK_MATCHES, PEAK_WRITTEN, FOUND, SEARCH_TICKS, ALL_TICKS = range(14, 21)
COUNTERS = 21
"""See `Runs.counters`."""

WAITING_BYTES = 40
"""A match that waits for the end of its span; and 8 bytes per event."""


class ClauseRecord:
    """What a clause is: `reach` of its span, in time or, if it `counts`, in events; a SEQ if `ordered`, else an AND.

    With `waits` a match is decided at the end of its span. With `digests` matches are not written.
    """

    reach: int
    counts: bool
    ordered: bool
    waits: bool
    digests: bool
    instance_bytes: int


class InstanceRecord:
    """An event at an operand.

    - `point`: where it lies on the axis of the span: its time, or its number among those of its key.
    - `place`: its position in the input.
    - `below`: the instance below it on the stack of its operand.
    - `barrier`: the latest event before it that is negated in front of its operand: its time; at operand 0 its point.
    """

    time: int
    point: int
    place: int
    operand: int
    below: int
    barrier: int


class NegatedRecord:
    """The latest event that is negated in a gap, and the latest of those that are strictly older than it."""

    time: int
    point: int
    older_time: int
    older_point: int


class WaitingRecord:
    """A match: times of its first and last event, and where its events end in the array of positions.

    `decided`: the point by which nothing can undo it any more; it is not `alive` once it is undone.
    """

    first: int
    last: int
    stop: int
    decided: int
    alive: bool


class Runs(NamedTuple):
    """V instances in the order of the stream, m operands.

    - `one[V]`: instances (`InstanceRecord`); `ints[I, V]`, `reals[F, V]`: their columns.
    - `pointer[V, w]`: in a SEQ, w = 2: the latest instance of its own and of the previous operand that is strictly
      older; in an AND, w = m: the latest of each operand that came before.
    - `top[m]`: the latest instance of each operand. `gap[m + 1]`: what is negated (`NegatedRecord`).
    - `counters`: instances `BASE..SIZE - 1` are live; those from ROOT on have not been searched from; events SEEN.
      DEPTH of the search, how many operands it is MISSING, whether its match is HELD back. MATCHES and positions
      WRITTEN to the output; the first SETTLED of them need no further look, and DUE is when the next of the others is
      decided. ROWS of digests; UPDATES, LONGEST match; the largest state; matches FOUND; what searches took, and
      everything, in ticks.
    """

    one: Records
    ints: Ints
    reals: Reals
    pointer: Ints
    top: Ints
    gap: Records
    counters: Ints


@inlined
def push(
    i: int, events: KernelEvents, places: Ints, clause: Records, tables: DetectionTables, runs: Runs, waiting: Records
) -> None:
    """Pushes event i at every operand that it may bind to, and lets it undo what it is negated for.

    There must be room for an instance per operand. O(1) per SEQ operand, O(m) per operand of an AND, amortised.
    """
    count = runs.counters
    time = events.time[i]
    point = count[SEEN] if clause[0].counts else time
    count[SEEN] += 1
    m, types = len(tables.kleene), len(tables.operand)
    while count[BASE] < count[SIZE] and runs.one[count[BASE]].point < point - clause[0].reach:
        count[BASE] += 1
    first = count[SIZE]
    kind = events.kind[i]
    for at in range(tables.binding_ptr[kind], tables.binding_ptr[kind + 1]):
        bound = tables.binding[at]
        if bound >= types:
            if fits(bound, i, events, tables):
                _refuse(tables.gap[bound - types], time, point, m, runs, waiting)
            continue
        operand = tables.operand[bound]
        last = count[SIZE] - 1
        if last >= first and runs.one[last].operand == operand:
            continue  # both types of an OR are the event's
        if fits(bound, i, events, tables):
            _push_instance(operand, i, time, point, places[i], events, clause, runs)
    for v in range(first, count[SIZE]):
        runs.top[runs.one[v].operand] = v
    note(clause, runs)


@inlined
def note(clause: Records, runs: Runs) -> None:
    """Notes the state if it is the largest so far: live instances, and matches that wait."""
    count = runs.counters
    live, matches, written = count[SIZE] - count[BASE], 0, 0
    if clause[0].waits:
        matches, written = count[MATCHES], count[WRITTEN]
    size = live * clause[0].instance_bytes + WAITING_BYTES * matches + 8 * written
    if size > count[PEAK_BYTES]:
        count[PEAK_BYTES], count[PEAK_EVENTS] = size, live
        count[PEAK_MATCHES], count[PEAK_WRITTEN] = matches, written


@inlined
def _push_instance(
    operand: int, i: int, time: int, point: int, place: int, events: KernelEvents, clause: Records, runs: Runs
) -> None:
    v = runs.counters[SIZE]
    runs.counters[SIZE] = v + 1
    instance = runs.one[v]
    instance.time, instance.point, instance.place, instance.operand = time, point, place, operand
    instance.below = runs.top[operand]
    if clause[0].ordered:
        instance.barrier = _barrier(runs.gap[operand], operand, time)
        runs.pointer[v, 0] = _older(runs.top[operand], time, runs)
        runs.pointer[v, 1] = _older(runs.top[operand - 1], time, runs) if operand > 0 else NOBODY
    else:
        for q in range(len(runs.top)):
            runs.pointer[v, q] = runs.top[q]
    keep_columns(i, events, runs.ints, runs.reals, v)


@inlined
def _older(v: int, time: int, runs: Runs) -> int:
    """The latest of instance v and those below it that is strictly older than `time`."""
    if v != NOBODY and runs.one[v].time == time:
        return runs.pointer[v, 0]
    return v


@inlined
def _barrier(negated: NegatedRecord, operand: int, time: int) -> int:
    """Of the latest negated event that is strictly older than `time`: its point at operand 0, else its time."""
    if negated.time < time:
        return negated.point if operand == 0 else negated.time
    return negated.older_point if operand == 0 else negated.older_time


@inlined
def _refuse(gap: int, time: int, point: int, m: int, runs: Runs, waiting: Records) -> None:
    """A negated event came. At the end of a SEQ it undoes the matches that are older and whose spans reach it."""
    negated = runs.gap[gap]
    if negated.time < time:
        negated.older_time, negated.older_point = negated.time, negated.point
    negated.time, negated.point = time, point
    if gap == m:
        count = runs.counters
        while count[SETTLED] < count[MATCHES] and waiting[count[SETTLED]].last < time:
            match = waiting[count[SETTLED]]
            match.alive = match.decided < point
            count[SETTLED] += 1


@kernel
def drop_expired(runs: Runs) -> None:
    """Makes room: forgets instances before `BASE` and renumbers the rest. O(V * w); not during a search."""
    count = runs.counters
    gone = count[BASE]
    for v in range(gone, count[SIZE]):
        w = v - gone
        runs.one[w] = runs.one[v]
        runs.one[w].below = max(runs.one[w].below - gone, NOBODY)
        for q in range(runs.pointer.shape[1]):
            runs.pointer[w, q] = max(runs.pointer[v, q] - gone, NOBODY)
        for c in range(runs.ints.shape[0]):
            runs.ints[c, w] = runs.ints[c, v]
        for c in range(runs.reals.shape[0]):
            runs.reals[c, w] = runs.reals[c, v]
    for p in range(len(runs.top)):
        runs.top[p] = max(runs.top[p] - gone, NOBODY)
    count[BASE], count[SIZE], count[ROOT] = 0, count[SIZE] - gone, count[ROOT] - gone
