"""Matches of negative sub-patterns, summarised by the latest START (dissertation Section 11.2).

A match of N that starts at s and ends at f forbids a pair of events (e, e') with `e.time < s` and `f < e'.time`. So for
an event at time t all that matters is the greatest s among the matches that ended before t: an earlier event e may
connect over N iff `e.time >= s`. This is invalid event pruning, with finished trends pruned at once (Definition 11.3,
Theorem 11.4): of a negative graph only the greatest START time that reaches each vertex is kept.

Without predicates on adjacent events and nested negation one value per position is enough: O(l) per event. Otherwise
vertices are kept and each event visits its predecessors, as GRETA does: O(n) per event, O(n) space.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from algorithms.kernels.arrays import Ints, Reals
from algorithms.kernels.compilation import kernel
from algorithms.kernels.predicates import hold
from algorithms.kernels.streams import KernelEvents, fits, keep_columns
from events.windows import FOREVER, Window
from queries.compile import CompiledQuery, Part
from queries.tables import Tables

NEVER = -1


class Negation:
    """Follows one negated sub-pattern, and those nested in it, on one sub-stream.

    `horizon` is the window length, beyond which events are forgotten, or None.
    """

    def __init__(self, part: Part, horizon: int | None, ints: int, reals: int) -> None:
        self.tables = part.tables
        self.nested = [Negation(negation, horizon, ints, reals) for negation in part.negations]
        self.horizon = horizon
        self.by_type = not self.nested and len(self.tables.adjacent.op) == 0
        positions = len(self.tables.start)
        self.best = np.full((2, positions), NEVER, np.int64)  # committed, and of the current time stamp
        self.clock = np.array([NEVER, NEVER, NEVER], np.int64)  # current time, latest start before it, and at it
        self.live = 0
        self.vertex = np.empty((3, 0), np.int64)  # time, position, greatest start
        self.ints = np.empty((ints, 0), np.int64)
        self.reals = np.empty((reals, 0), np.float64)

    @property
    def latest(self) -> int:
        """The greatest start among all matches so far, or NEVER."""
        return int(max(self.clock[1], self.clock[2]))

    @property
    def vertices(self) -> int:
        """Events kept, here and in nested sub-patterns."""
        return self.live + sum(nested.vertices for nested in self.nested)

    def follow(self, events: KernelEvents) -> Ints:
        """int64[n]: for each event, the greatest start among the matches that ended before its time, or NEVER.

        `events.negated` is not read.
        """
        seen = np.empty(len(events.time), np.int64)
        if self.by_type:
            _by_type(events, self.tables, self.best, self.clock, seen)
            return seen
        events = with_negated(self.nested, events)
        self._reserve(events)
        self.live = _by_event(events, self.tables, self.vertex, self.ints, self.reals, self.live, self.clock, seen)
        if self.horizon is not None and self.live and len(events.time):
            self._forget(int(events.time[-1]) - self.horizon)
        return seen

    def _reserve(self, events: KernelEvents) -> None:
        """Room for the vertices that a batch may add."""
        most = int(np.diff(self.tables.binding_ptr).max(initial=0))
        needed = self.live + len(events.time) * most
        if needed > self.vertex.shape[1]:
            more = max(needed, 2 * self.vertex.shape[1]) - self.vertex.shape[1]
            self.vertex = _wider(self.vertex, more)
            self.ints, self.reals = _wider(self.ints, more), _wider(self.reals, more)

    def _forget(self, before: int) -> None:
        """Drops vertices older than every window that is still open."""
        first = int(np.searchsorted(self.vertex[0, : self.live], before, side="left"))
        if first > self.live // 2:
            rest = slice(first, self.live)
            self.live -= first
            for array in (self.vertex, self.ints, self.reals):
                array[:, : self.live] = array[:, rest].copy()


def with_negated(negations: list[Negation], events: KernelEvents) -> KernelEvents:
    """`events` with what each negation says of them: `follow`, a column per negation."""
    negated = np.empty((len(events.time), len(negations)), np.int64)
    for j, negation in enumerate(negations):
        negated[:, j] = negation.follow(events)
    negated.flags.writeable = False
    return events._replace(negated=negated)


def negations_of(query: CompiledQuery, part: Part, window: Window) -> list[Negation]:
    """The negations of an automaton; events are forgotten once they have left all windows."""
    horizon = None if window.within >= FOREVER else window.within
    return [Negation(negation, horizon, len(query.ints), len(query.reals)) for negation in part.negations]


def latest_starts(negations: list[Negation]) -> Ints:
    """int64[J]: the greatest start so far of each negation."""
    latest = np.array([negation.latest for negation in negations], np.int64)
    latest.flags.writeable = False  # as rows of `KernelEvents.negated` are: one kernel serves both
    return latest


def _wider(array: NDArray[Any], more: int) -> NDArray[Any]:
    return np.concatenate([array, np.empty((len(array), more), array.dtype)], axis=1)


@kernel
def _by_type(events: KernelEvents, tables: Tables, best: Ints, clock: Ints, seen: Ints) -> None:
    """One greatest start per position; `best[1]` waits for the current time stamp to end."""
    for i in range(len(events.time)):
        if events.time[i] != clock[0]:
            _commit(best, clock, events.time[i])
        seen[i] = clock[1]
        for b in range(tables.binding_ptr[events.kind[i]], tables.binding_ptr[events.kind[i] + 1]):
            p = tables.binding[b]
            if not fits(p, i, events, tables):
                continue
            start = events.time[i] if tables.start[p] else NEVER
            for e in range(tables.enter_ptr[p], tables.enter_ptr[p + 1]):
                start = max(start, best[0, tables.source[e]])
            best[1, p] = max(best[1, p], start)
            if tables.end[p]:
                clock[2] = max(clock[2], start)


@kernel
def _commit(best: Ints, clock: Ints, now: int) -> None:
    for p in range(best.shape[1]):
        best[0, p] = max(best[0, p], best[1, p])
    clock[1] = max(clock[1], clock[2])
    clock[0] = now


@kernel
def _by_event(
    events: KernelEvents,
    tables: Tables,
    vertex: Ints,
    vertex_ints: Ints,
    vertex_reals: Reals,
    live: int,
    clock: Ints,
    seen: Ints,
) -> int:
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
            if not fits(p, i, events, tables):
                continue
            start = now if tables.start[p] else NEVER
            for e in range(tables.enter_ptr[p], tables.enter_ptr[p + 1]):
                floor = NEVER
                for k in range(tables.between_ptr[e], tables.between_ptr[e + 1]):
                    floor = max(floor, events.negated[i, tables.between[k]])
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
