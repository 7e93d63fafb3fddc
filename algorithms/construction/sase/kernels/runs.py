"""Stacks for detection: instances of events at positions, with pointers, as far back as the span allows
(Wu et al., SIGMOD 2006, active instance stacks with windows pushed down).
"""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.engine.kernels.arrays import Flags, Ints, Reals
from cepbench.algorithms.engine.kernels.compilation import inlined, kernel
from cepbench.algorithms.engine.kernels.constants import NONE
from cepbench.algorithms.engine.kernels.events import KernelEvents, fits, keep_columns
from cepbench.queries.records import Records
from cepbench.queries.tables import Predicates

NEVER = -(2**62)
"""Earlier than every event."""

WAITING_BYTES = 40
"""Bytes of a match that waits for the end of its span, without 8 bytes per event."""


class SpanTables(NamedTuple):
    """P positions: those of an automaton, or the operands of an AND; and J negated types.

    - bindings of an event type: `binding_ptr[T + 1]`, `binding`: positions, and from P on negated types. `local`: the
      local predicates of both.
    - transitions by target: `enter_ptr[P + 1]`, `source[E]`: their source, another position; in an AND every position,
      including the target. `guarded[E]`: whether an event that is negated before the target must not lie in between.
    - `kleene[P]`: whether a position follows itself; `start[P]`, `end[P]`: where a match can begin and end.
    - `before[J, P]`: the types negated before a position, `after[J, P]`: after a match that ends there.
    - predicates on two positions: a list of one predicate each; the event at a `left[N, P]` position comes first.
    """

    binding_ptr: Ints
    binding: Ints
    local: Ints
    enter_ptr: Ints
    source: Ints
    guarded: Flags
    kleene: Flags
    start: Flags
    end: Flags
    before: Flags
    after: Flags
    pairs: Predicates
    left: Flags
    right: Flags


class SpanRecord:
    """Parameters of the detection. `reach`: the span, in time or, if it `counts`, in events; `ordered`: paths, not AND.

    With `waits`, some matches are decided at the end of their span. With `digests`, matches are not written.
    """

    reach: int
    counts: bool
    ordered: bool
    waits: bool
    digests: bool
    instance_bytes: int


class InstanceRecord:
    """An event at a position.

    - `point`: its coordinate in the unit of the span: its time, or its number among the events of its key.
    - `place`: its position in the input.
    - `below`: the instance below it on the stack of its position.
    - `barrier`: the latest earlier event that is negated before its position: its time, or at a START its point.
    """

    time: int
    point: int
    place: int
    position: int
    below: int
    barrier: int


class NegatedRecord:
    """The latest event of a negated type, and the latest event of that type that is strictly older."""

    time: int
    point: int
    older_time: int
    older_point: int


class WaitingRecord:
    """A match: times of its first and last event, and the `stop` of its events in the array of positions.

    `decided`: the point from which nothing can invalidate it, which is its last event or the end of its span, depending
    on its last position `end`. `alive` is False once it is invalidated.
    """

    first: int
    last: int
    stop: int
    end: int
    decided: int
    alive: bool


class CountersRecord:
    """Numbers of a detection.

    - instances `base..size - 1` are live; from those at `root` and later the search has not started yet.
    - `seen`: events so far.
    - of the search: `depth`, the number of operands `missing` from an AND, and whether its match is `held` back since
      the output is full.
    - of the output: `matches` and their `written` positions, or `digest_rows`. The first `settled` matches are decided;
      the next one is decided at point `due`.
    - so far: `constructed` matches, `updates` (their events), the `longest` match, and ticks of searching and in total.
    - `peak_...`: the largest state.
    """

    base: int
    size: int
    root: int
    seen: int
    depth: int
    missing: int
    held: int
    matches: int
    written: int
    digest_rows: int
    settled: int
    due: int
    constructed: int
    updates: int
    longest: int
    search_ticks: int
    all_ticks: int
    peak_bytes: int
    peak_events: int
    peak_matches: int
    peak_written: int


class Runs(NamedTuple):
    """V instances in the order of the stream, P positions, J negated types.

    - `instance[V]` (`InstanceRecord`); `ints[I, V]`, `reals[F, V]`: their columns.
    - `pointer[V, w]`: for paths, the latest strictly older instance of the own position and then of the source of each
      transition; in an AND, w = P: the latest earlier instance of each operand.
    - `top[P]`: the latest instance of each position. `negated[J]`: the latest negated events (`NegatedRecord`).
    - `counters[1]`: `CountersRecord`.
    """

    instance: Records
    ints: Ints
    reals: Reals
    pointer: Ints
    top: Ints
    negated: Records
    counters: Records


@inlined
def push(
    i: int, events: KernelEvents, places: Ints, span: Records, tables: SpanTables, runs: Runs, waiting: Records
) -> None:
    """Pushes event i at every position that it matches, and lets it invalidate waiting matches where it is negated.

    There must be space for one instance per position. O(1) per transition, amortized.
    """
    count = runs.counters[0]
    time = events.time[i]
    point = count.seen if span[0].counts else time
    count.seen += 1
    positions = len(tables.kleene)
    while count.base < count.size and runs.instance[count.base].point < point - span[0].reach:
        count.base += 1
    first = count.size
    kind = events.kind[i]
    for at in range(tables.binding_ptr[kind], tables.binding_ptr[kind + 1]):
        bound = tables.binding[at]
        if fits(tables.local[bound], i, events):
            if bound < positions:
                _push_instance(bound, i, time, point, places[i], events, span, tables, runs)
            else:
                _invalidate(bound - positions, time, point, span, tables, runs, waiting)
    for v in range(first, count.size):
        runs.top[runs.instance[v].position] = v
    note(span, runs)


@inlined
def note(span: Records, runs: Runs) -> None:
    """Records the state if it is the largest so far: live instances, and waiting matches."""
    count = runs.counters[0]
    live, matches, written = count.size - count.base, 0, 0
    if span[0].waits:
        matches, written = count.matches, count.written
    size = live * span[0].instance_bytes + WAITING_BYTES * matches + 8 * written
    if size > count.peak_bytes:
        count.peak_bytes, count.peak_events = size, live
        count.peak_matches, count.peak_written = matches, written


@inlined
def _push_instance(
    p: int,
    i: int,
    time: int,
    point: int,
    place: int,
    events: KernelEvents,
    span: Records,
    tables: SpanTables,
    runs: Runs,
) -> None:
    v = runs.counters[0].size
    runs.counters[0].size = v + 1
    instance = runs.instance[v]
    instance.time, instance.point, instance.place, instance.position = time, point, place, p
    instance.below = runs.top[p]
    if span[0].ordered:
        instance.barrier = _barrier(p, time, tables, runs)
        runs.pointer[v, 0] = _older(runs.top[p], time, runs)
        first = tables.enter_ptr[p]
        for e in range(first, tables.enter_ptr[p + 1]):
            runs.pointer[v, 1 + e - first] = _older(runs.top[tables.source[e]], time, runs)
    else:
        for q in range(len(runs.top)):
            runs.pointer[v, q] = runs.top[q]
    keep_columns(i, events, runs.ints, runs.reals, v)


@inlined
def _older(v: int, time: int, runs: Runs) -> int:
    """The latest instance that is strictly older than `time`, among v and those below it."""
    if v != NONE and runs.instance[v].time == time:
        return runs.pointer[v, 0]
    return v


@inlined
def _barrier(p: int, time: int, tables: SpanTables, runs: Runs) -> int:
    """The latest event that is negated before p and older than `time`: its point at a START, otherwise its time."""
    latest = NEVER
    for j in range(len(runs.negated)):
        if tables.before[j, p]:
            negated = runs.negated[j]
            if negated.time < time:
                latest = max(latest, negated.point if tables.start[p] else negated.time)
            else:
                latest = max(latest, negated.older_point if tables.start[p] else negated.older_time)
    return latest


@inlined
def _invalidate(j: int, time: int, point: int, span: Records, tables: SpanTables, runs: Runs, waiting: Records) -> None:
    """Processes an event of negated type j: invalidates the older matches whose trailing NOT it violates."""
    negated = runs.negated[j]
    if negated.time < time:
        negated.older_time, negated.older_point = negated.time, negated.point
    negated.time, negated.point = time, point
    if not span[0].waits:
        return
    count = runs.counters[0]
    for at in range(count.settled, count.matches):
        match = waiting[at]
        if match.last >= time:
            break
        match.alive = match.alive and not (tables.after[j, match.end] and match.decided >= point)
        if at == count.settled and (match.decided < point or not match.alive):
            count.settled = at + 1


@kernel
def drop_expired(runs: Runs) -> None:
    """Frees space: drops the instances before `base` and renumbers the rest. O(V * w). Not to be called in a search."""
    count = runs.counters[0]
    gone = count.base
    for v in range(gone, count.size):
        w = v - gone
        runs.instance[w] = runs.instance[v]
        runs.instance[w].below = max(runs.instance[w].below - gone, NONE)
        for q in range(runs.pointer.shape[1]):
            runs.pointer[w, q] = max(runs.pointer[v, q] - gone, NONE)
        for c in range(runs.ints.shape[0]):
            runs.ints[c, w] = runs.ints[c, v]
        for c in range(runs.reals.shape[0]):
            runs.reals[c, w] = runs.reals[c, v]
    for p in range(len(runs.top)):
        runs.top[p] = max(runs.top[p] - gone, NONE)
    count.base, count.size, count.root = 0, count.size - gone, count.root - gone
