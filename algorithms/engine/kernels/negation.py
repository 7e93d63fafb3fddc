"""Matches of negative sub-patterns, summarised by the latest START (dissertation Section 11.2).

A match of N that starts at s and ends at f forbids a pair of events (e, e') with `e.time < s` and `f < e'.time`. So for
an event at time t all that matters is the greatest s among the matches that ended before t: an earlier event e may
connect over N iff `e.time >= s`. This is invalid event pruning, with finished trends pruned at once (Definition 11.3,
Theorem 11.4): of a negative graph only the greatest START time that reaches each vertex is kept.

Without predicates on adjacent events and nested negation one value per position is enough: O(l) per event. Otherwise
vertices are kept and each event visits its predecessors, as GRETA does: O(n) per event, O(n) space.
"""

from __future__ import annotations

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


@kernel
def starts_by_type(events: KernelEvents, tables: Tables, best: Ints, clock: Ints, seen: Ints) -> None:
    """One greatest start per position; `best[1]` waits for the current time stamp to end."""
    for i in range(len(events.time)):
        if events.time[i] != clock[0]:
            _commit(best, clock, events.time[i])
        seen[i] = clock[1]
        for b in range(tables.binding_ptr[events.kind[i]], tables.binding_ptr[events.kind[i] + 1]):
            p = tables.binding[b]
            if not fits(tables.local[p], i, events):
                continue
            start = events.time[i] if tables.start[p] else NEVER
            for e in range(tables.enter_ptr[p], tables.enter_ptr[p + 1]):
                start = max(start, best[0, tables.source[e]])
            best[1, p] = max(best[1, p], start)
            if tables.end[p]:
                clock[2] = max(clock[2], start)


@inner
def _commit(best: Ints, clock: Ints, now: int) -> None:
    for p in range(best.shape[1]):
        best[0, p] = max(best[0, p], best[1, p])
    clock[1] = max(clock[1], clock[2])
    clock[0] = now


@kernel
def starts_by_event(
    events: KernelEvents, tables: Tables, vertex: Ints, vertex_ints: Ints, vertex_reals: Reals, live: int, clock: Ints,
    seen: Ints,
) -> int:  # fmt: skip
    """One greatest start per vertex; returns the number of vertices. Those of the current time are skipped."""
    for i in range(len(events.time)):
        now = events.time[i]
        if now != clock[0]:
            clock[1] = max(clock[1], clock[2])
            clock[0] = now
        seen[i] = clock[1]
        known = live
        for b in range(tables.binding_ptr[events.kind[i]], tables.binding_ptr[events.kind[i] + 1]):
            p = tables.binding[b]
            if not fits(tables.local[p], i, events):
                continue
            start = now if tables.start[p] else NEVER
            for e in range(tables.enter_ptr[p], tables.enter_ptr[p + 1]):
                between, end = tables.between_ptr[e], tables.between_ptr[e + 1]
                floor = latest_start(events.negated[i], tables.between, between, end)
                for v in range(known - 1, -1, -1):
                    if vertex[0, v] < floor:
                        break
                    if (
                        vertex[1, v] == tables.source[e]
                        and vertex[0, v] < now
                        and vertex[2, v] > start
                        and hold(tables.adjacent, e, vertex_ints, vertex_reals, v, events.ints, events.reals, i)
                    ):
                        start = vertex[2, v]
            if start == NEVER:
                continue
            vertex[0, live], vertex[1, live], vertex[2, live] = now, p, start
            keep_columns(i, events, vertex_ints, vertex_reals, live)
            live += 1
            if tables.end[p]:
                clock[2] = max(clock[2], start)
    return live
