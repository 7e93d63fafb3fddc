"""Matches of negative sub-patterns, summarised by the latest START (dissertation Section 11.2).

A match of N that starts at s and ends at f forbids a pair of events (e, e') with `e.time < s` and `f < e'.time`. So for
an event at time t all that matters is the greatest s among the matches that ended before t: an earlier event e may
connect over N iff `e.time >= s`. This is invalid event pruning, with finished trends pruned at once (Definition 11.3,
Theorem 11.4): of a negative graph only the greatest START time that reaches each vertex is kept.

Without predicates on adjacent events and nested negation one value per position is enough: O(l) per event. Otherwise
vertices are kept and each event visits its predecessors, as GRETA does: O(n) per event, O(n) space.
"""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.engine.kernels.arrays import Ints, Reals
from cepbench.algorithms.engine.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.engine.kernels.events import KernelEvents, fits, keep_columns
from cepbench.algorithms.engine.kernels.predicates import hold
from cepbench.queries.tables import Tables

NEVER = -1


@inlined
def latest_start(negated: Ints, which: Ints, first: int, end: int) -> int:
    """The latest START of a match of one of the negated sub-patterns `which[first:end]`, or `NEVER`; `negated[J]`: that
    of each, as in `KernelEvents.negated`.
    """
    latest = NEVER
    for n in range(first, end):
        latest = max(latest, negated[which[n]])
    return latest


@inlined
def first_free(low: int, high: int, slide: int, latest: int) -> int:
    """The lowest of the windows low..high, or high + 1, that does not hold `latest`, the START of a leading match."""
    while low <= high and low * slide <= latest:
        low += 1
    return low


class KeptEvents(NamedTuple):
    """The kept events of K keys, each key's in a contiguous range of V vertices, in time order.

    - `space[K, 2]`: where the range of a key begins, and its length. `live[2, K]`: kept events, and the most of them.
    - `vertex[3, V]`: time, position and greatest start. `ints[I, V]`, `reals[F, V]`: the columns.
    """

    space: Ints
    live: Ints
    vertex: Ints
    ints: Ints
    reals: Reals


@kernel
def starts_by_type(
    events: KernelEvents, keys: Ints, offsets: Ints, tables: Tables, best: Ints, clock: Ints, starts: Ints
) -> None:
    """One greatest start per key and position; `best[key, 1]` waits for the current time stamp to end.

    `starts[n + m]`: events of the j-th key begin at `offsets[j] + j`, and the latest start follows them.
    """
    for j in range(len(keys)):
        of_key, time = best[keys[j]], clock[keys[j]]
        for i in range(offsets[j], offsets[j + 1]):
            if events.time[i] != time[0]:
                _commit(of_key, time, events.time[i])
            starts[i + j] = time[1]
            for b in range(tables.binding_ptr[events.kind[i]], tables.binding_ptr[events.kind[i] + 1]):
                p = tables.binding[b]
                if not fits(tables.local[p], i, events):
                    continue
                start = events.time[i] if tables.start[p] else NEVER
                for e in range(tables.enter_ptr[p], tables.enter_ptr[p + 1]):
                    start = max(start, of_key[0, tables.source[e]])
                of_key[1, p] = max(of_key[1, p], start)
                if tables.end[p]:
                    time[2] = max(time[2], start)
        starts[offsets[j + 1] + j] = max(time[1], time[2])


@inner
def _commit(best: Ints, clock: Ints, now: int) -> None:
    for p in range(best.shape[1]):
        best[0, p] = max(best[0, p], best[1, p])
    clock[1] = max(clock[1], clock[2])
    clock[0] = now


@kernel
def starts_by_event(
    events: KernelEvents, keys: Ints, offsets: Ints, horizon: int, tables: Tables, kept: KeptEvents, clock: Ints,
    starts: Ints,
) -> None:  # fmt: skip
    """One greatest start per vertex, with space for the events of all keys; vertices of the current time are skipped.

    Vertices older than the `horizon` are dropped when they are more than half of a key's; `NEVER` drops none.
    """
    for j in range(len(keys)):
        first, time = kept.space[keys[j], 0], clock[keys[j]]
        live = first + kept.live[0, keys[j]]
        for i in range(offsets[j], offsets[j + 1]):
            now = events.time[i]
            if now != time[0]:
                time[1] = max(time[1], time[2])
                time[0] = now
            starts[i + j] = time[1]
            live = _keep(i, i + j, first, live, events, tables, kept, time)
        starts[offsets[j + 1] + j] = max(time[1], time[2])
        kept.live[1, keys[j]] = max(kept.live[1, keys[j]], live - first)
        if horizon != NEVER and offsets[j] < offsets[j + 1]:
            live = _forget(first, live, events.time[offsets[j + 1] - 1] - horizon, kept)
        kept.live[0, keys[j]] = live - first


@inner
def _keep(
    i: int, row: int, first: int, live: int, events: KernelEvents, tables: Tables, kept: KeptEvents, clock: Ints
) -> int:
    """Appends the vertices of event i, whose nested negations are in a `row`; returns the end of the vertices."""
    now, vertex, known = events.time[i], kept.vertex, live
    for b in range(tables.binding_ptr[events.kind[i]], tables.binding_ptr[events.kind[i] + 1]):
        p = tables.binding[b]
        if not fits(tables.local[p], i, events):
            continue
        start = now if tables.start[p] else NEVER
        for e in range(tables.enter_ptr[p], tables.enter_ptr[p + 1]):
            between, end = tables.between_ptr[e], tables.between_ptr[e + 1]
            floor = latest_start(events.negated[row], tables.between, between, end)
            for v in range(known - 1, first - 1, -1):
                if vertex[0, v] < floor:
                    break
                if (
                    vertex[1, v] == tables.source[e]
                    and vertex[0, v] < now
                    and vertex[2, v] > start
                    and hold(tables.adjacent, e, kept.ints, kept.reals, v, events.ints, events.reals, i)
                ):
                    start = vertex[2, v]
        if start == NEVER:
            continue
        vertex[0, live], vertex[1, live], vertex[2, live] = now, p, start
        keep_columns(i, events, kept.ints, kept.reals, live)
        live += 1
        if tables.end[p]:
            clock[2] = max(clock[2], start)
    return live


@inner
def _forget(first: int, live: int, before: int, kept: KeptEvents) -> int:
    """Drops vertices older than `before` if they are more than half; returns the end of the vertices."""
    oldest = first
    while oldest < live and kept.vertex[0, oldest] < before:
        oldest += 1
    dropped = oldest - first
    if dropped <= (live - first) // 2:
        return live
    for v in range(oldest, live):
        for field in range(len(kept.vertex)):
            kept.vertex[field, v - dropped] = kept.vertex[field, v]
        keep_columns(v, kept, kept.ints, kept.reals, v - dropped)
    return live - dropped
