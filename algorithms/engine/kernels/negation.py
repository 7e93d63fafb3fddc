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
from cepbench.algorithms.engine.kernels.constants import NEVER
from cepbench.algorithms.engine.kernels.events import KernelEvents, fits, keep_columns
from cepbench.algorithms.engine.kernels.predicates import hold
from cepbench.queries.records import Records
from cepbench.queries.tables import Tables


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


class NegationRecord:
    """The latest START of the matches that ended before the current time (`ended`), and of those at it (`ending`);
    `now`: that time.
    """

    now: int
    ended: int
    ending: int


class StartRecord:
    """The latest START that reaches a position before the current time (`ended`), and at it (`ending`)."""

    ended: int
    ending: int


class KeyRecord:
    """The kept events of a key: `live` vertices from `begin` on, in a range of `room`; `most`: their peak."""

    begin: int
    room: int
    live: int
    most: int


class NegatedVertexRecord:
    """A kept event: its time, its position and the latest `start` that reaches it."""

    time: int
    position: int
    start: int


class KeptEvents(NamedTuple):
    """The kept events of K keys, each key's in a contiguous range of V vertices, in time order.

    `key[K]` (`KeyRecord`); `vertex[V]` (`NegatedVertexRecord`) with the columns `ints[I, V]`, `reals[F, V]`.
    """

    key: Records
    vertex: Records
    ints: Ints
    reals: Reals


@kernel
def starts_by_type(
    events: KernelEvents, keys: Ints, offsets: Ints, tables: Tables, best: Records, progress: Records, starts: Ints
) -> None:
    """One latest start per key and position: `best[K, P]` (`StartRecord`), `progress[K]` (`NegationRecord`).

    `starts[n + m]`: events of the j-th key begin at `offsets[j] + j`, and the latest start follows them.
    """
    for j in range(len(keys)):
        of_key, latest = best[keys[j]], progress[keys[j]]
        for i in range(offsets[j], offsets[j + 1]):
            if events.time[i] != latest.now:
                _commit(of_key, latest, events.time[i])
            starts[i + j] = latest.ended
            for b in range(tables.binding_ptr[events.kind[i]], tables.binding_ptr[events.kind[i] + 1]):
                p = tables.binding[b]
                if not fits(tables.local[p], i, events):
                    continue
                start = events.time[i] if tables.start[p] else NEVER
                for e in range(tables.enter_ptr[p], tables.enter_ptr[p + 1]):
                    start = max(start, of_key[tables.source[e]].ended)
                of_key[p].ending = max(of_key[p].ending, start)
                if tables.end[p]:
                    latest.ending = max(latest.ending, start)
        starts[offsets[j + 1] + j] = max(latest.ended, latest.ending)


@inner
def _commit(best: Records, latest: NegationRecord, now: int) -> None:
    for p in range(len(best)):
        best[p].ended = max(best[p].ended, best[p].ending)
    latest.ended = max(latest.ended, latest.ending)
    latest.now = now


@kernel
def starts_by_event(
    events: KernelEvents, keys: Ints, offsets: Ints, horizon: int, tables: Tables, kept: KeptEvents, progress: Records,
    starts: Ints,
) -> None:  # fmt: skip
    """One latest start per vertex, with space for the events of all keys; vertices of the current time are skipped.

    Vertices older than the `horizon` are dropped when they are more than half of a key's; `NEVER` drops none.
    """
    for j in range(len(keys)):
        key, latest = kept.key[keys[j]], progress[keys[j]]
        first, end = key.begin, key.begin + key.live
        for i in range(offsets[j], offsets[j + 1]):
            now = events.time[i]
            if now != latest.now:
                latest.ended = max(latest.ended, latest.ending)
                latest.now = now
            starts[i + j] = latest.ended
            end = _keep(i, i + j, first, end, events, tables, kept, latest)
        starts[offsets[j + 1] + j] = max(latest.ended, latest.ending)
        key.most = max(key.most, end - first)
        if horizon != NEVER and offsets[j] < offsets[j + 1]:
            end = _forget(first, end, events.time[offsets[j + 1] - 1] - horizon, kept)
        key.live = end - first


@inner
def _keep(
    i: int, row: int, first: int, end: int, events: KernelEvents, tables: Tables, kept: KeptEvents,
    latest: NegationRecord,
) -> int:  # fmt: skip
    """Appends the vertices of event i, whose nested negations are in a `row`; returns the end of the vertices."""
    now, before = events.time[i], end
    for b in range(tables.binding_ptr[events.kind[i]], tables.binding_ptr[events.kind[i] + 1]):
        p = tables.binding[b]
        if not fits(tables.local[p], i, events):
            continue
        start = now if tables.start[p] else NEVER
        for e in range(tables.enter_ptr[p], tables.enter_ptr[p + 1]):
            floor = latest_start(events.negated[row], tables.between, tables.between_ptr[e], tables.between_ptr[e + 1])
            for v in range(before - 1, first - 1, -1):
                vertex = kept.vertex[v]
                if vertex.time < floor:
                    break
                if (
                    vertex.position == tables.source[e]
                    and vertex.time < now
                    and vertex.start > start
                    and hold(tables.adjacent, e, kept.ints, kept.reals, v, events.ints, events.reals, i)
                ):
                    start = vertex.start
        if start == NEVER:
            continue
        added = kept.vertex[end]
        added.time, added.position, added.start = now, p, start
        keep_columns(i, events, kept.ints, kept.reals, end)
        end += 1
        if tables.end[p]:
            latest.ending = max(latest.ending, start)
    return end


@inner
def _forget(first: int, end: int, before: int, kept: KeptEvents) -> int:
    """Drops vertices older than `before` if they are more than half; returns the end of the vertices."""
    oldest = first
    while oldest < end and kept.vertex[oldest].time < before:
        oldest += 1
    dropped = oldest - first
    if dropped <= (end - first) // 2:
        return end
    for v in range(oldest, end):
        kept.vertex[v - dropped] = kept.vertex[v]
        keep_columns(v, kept, kept.ints, kept.reals, v - dropped)
    return end - dropped
