"""Negated sub-patterns of a query on one key, for the evaluators of all systems."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.events import KernelEvents
from cepbench.algorithms.engine.kernels.growth import wider
from cepbench.algorithms.engine.kernels.negation import NEVER, starts_by_event, starts_by_type
from cepbench.events.windows import FOREVER, Window
from cepbench.queries.columns import ColumnSet
from cepbench.queries.compile import Part

EVENT_BYTES = 24
"""A vertex: time, position and greatest start."""


class Negation:
    """Follows one negated sub-pattern, and those nested in it, on one key.

    `horizon`: the window length, after which events are dropped, or None.
    """

    def __init__(self, part: Part, horizon: int | None, ints: int, reals: int) -> None:
        self.tables = part.tables
        self.nested = [Negation(negation, horizon, ints, reals) for negation in part.negations]
        self.horizon = horizon
        self.by_type = not self.nested and len(self.tables.adjacent.one) == 0
        positions = len(self.tables.start)
        self.best = np.full((2, positions), NEVER, np.int64)  # committed, and of the current time stamp
        self.clock = np.array([NEVER, NEVER, NEVER], np.int64)  # current time, latest start before it, and at it
        self.live = self.most = 0
        self.vertex = np.empty((3, 0), np.int64)  # time, position, greatest start
        self.ints = np.empty((ints, 0), np.int64)
        self.reals = np.empty((reals, 0), np.float64)

    @property
    def latest(self) -> int:
        """The greatest start among all matches so far, or NEVER."""
        return int(max(self.clock[1], self.clock[2]))

    def take_most(self) -> int:
        """Peak number of kept events since the last call, including nested sub-patterns."""
        found, self.most = self.most, self.live
        return found + sum(nested.take_most() for nested in self.nested)

    def follow(self, events: KernelEvents) -> Ints:
        """int64[n]: for each event, the greatest start among the matches that ended before its time, or NEVER.

        `events.negated` is not read.
        """
        seen = np.empty(len(events.time), np.int64)
        if self.by_type:
            starts_by_type(events, self.tables, self.best, self.clock, seen)
            return seen
        events = with_negated(self.nested, events)
        self._reserve(events)
        self.live = starts_by_event(
            events, self.tables, self.vertex, self.ints, self.reals, self.live, self.clock, seen
        )
        self.most = max(self.most, self.live)
        if self.horizon is not None and self.live and len(events.time):
            self._forget(int(events.time[-1]) - self.horizon)
        return seen

    def _reserve(self, events: KernelEvents) -> None:
        """Room for the vertices that a batch may add."""
        most = int(np.diff(self.tables.binding_ptr).max(initial=0))
        needed = self.live + len(events.time) * most
        if needed > self.vertex.shape[1]:
            more = max(needed, 2 * self.vertex.shape[1]) - self.vertex.shape[1]
            self.vertex = wider(self.vertex, more)
            self.ints, self.reals = wider(self.ints, more), wider(self.reals, more)

    def _forget(self, before: int) -> None:
        """Drops vertices older than every window that is still open."""
        first = int(np.searchsorted(self.vertex[0, : self.live], before, side="left"))
        if first > self.live // 2:
            rest = slice(first, self.live)
            self.live -= first
            for array in (self.vertex, self.ints, self.reals):
                array[:, : self.live] = array[:, rest].copy()


def with_negated(negations: Sequence[Negation], events: KernelEvents) -> KernelEvents:
    """`events` with the results of `follow` for each negation, and a last row for later events."""
    negated = np.empty((len(events.time) + 1, len(negations)), np.int64)
    for j, negation in enumerate(negations):
        negated[:-1, j] = negation.follow(events)
    negated[-1] = latest_starts(negations)
    negated.flags.writeable = False
    return events._replace(negated=negated)


def negations_of(negated: Iterable[Part], window: Window, columns: ColumnSet) -> list[Negation]:
    """A `Negation` per negated sub-pattern; events are dropped once they have left all windows."""
    horizon = None if window.within >= FOREVER else window.within
    return [Negation(part, horizon, len(columns.ints), len(columns.reals)) for part in negated]


def largest_state(negations: Sequence[Negation]) -> StateSize:
    """Peak state of the negations since the last call; they process a whole batch before its rows are made."""
    events = sum(negation.take_most() for negation in negations)
    return StateSize(EVENT_BYTES * events, {"events": events})


def latest_starts(negations: Sequence[Negation]) -> Ints:
    """int64[J]: the greatest start so far of each negation."""
    latest = np.array([negation.latest for negation in negations], np.int64)
    latest.flags.writeable = False  # as rows of `KernelEvents.negated` are: one kernel serves both
    return latest
