"""Negated sub-patterns of a query on all keys, for all systems."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from cepbench.algorithms.base import KeyedBatch, StateSize
from cepbench.algorithms.engine.batches import kernel_events
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.constants import NEVER
from cepbench.algorithms.engine.kernels.events import KernelEvents
from cepbench.algorithms.engine.kernels.negation import (
    KeptEvents,
    KeyRecord,
    NegatedVertexRecord,
    NegationRecord,
    StartRecord,
    starts_by_event,
    starts_by_type,
)
from cepbench.algorithms.growth import with_room
from cepbench.events.batch import EventBatch
from cepbench.events.windows import FOREVER, Window
from cepbench.queries.columns import ColumnSet
from cepbench.queries.compile import Part
from cepbench.queries.records import records_of

EVENT_BYTES = 24
"""A vertex: time, position and greatest start."""


class Negations:
    """Follows negated sub-patterns, and those nested in them, on all keys.

    `negated`: sub-patterns with their windows; events are dropped when they have left all windows. O(1) per event and
    position of a sub-pattern without nested negation and predicates between events, otherwise as GRETA
    (`kernels.negation`).
    """

    def __init__(self, negated: Iterable[tuple[Part, Window]], columns: ColumnSet) -> None:
        self.columns = columns
        self.patterns = [_Pattern(part, window, columns) for part, window in negated]

    def __len__(self) -> int:
        return len(self.patterns)

    def follow(self, batch: KeyedBatch) -> KernelEvents:
        """The events of a batch as kernels read them, with the results for each negation (`KernelEvents.negated`)."""
        return self._follow(kernel_events(self.columns, batch.events), batch.keys, batch.offsets, batch.known)

    def follow_one_key(self, events: EventBatch) -> KernelEvents:
        """The same for the events of the only key."""
        return self.with_negated(kernel_events(self.columns, events))

    def with_negated(self, events: KernelEvents) -> KernelEvents:
        """The same for events of the only key as kernels read them."""
        return self._follow(events, np.zeros(1, np.int64), np.array([0, len(events.time)]), 1)

    def latest(self, keys: Ints) -> Ints:
        """int64[m, J], read-only: the greatest START among the matches of each negation so far, by key, or `NEVER`."""
        latest = np.full((len(keys), len(self.patterns)), NEVER, np.int64)
        for j, pattern in enumerate(self.patterns):
            has_progress = keys < len(pattern.progress)
            progress = pattern.progress[keys[has_progress]]
            latest[has_progress, j] = np.maximum(progress["ended"], progress["ending"])
        latest.flags.writeable = False  # as `KernelEvents.negated` is: one kernel serves both
        return latest

    @property
    def latest_of_one_key(self) -> Ints:
        """int64[J], read-only: the same for the only key."""
        latest: Ints = self.latest(np.zeros(1, np.int64))[0]
        return latest

    def clear(self, keys: Ints) -> None:
        """Forgets all events of some keys."""
        for pattern in self.patterns:
            pattern.clear(keys)

    def largest_state(self) -> StateSize:
        """Peak state since the last call; a whole batch is followed before its rows are made."""
        if not self.patterns:
            return StateSize()
        events = sum(pattern.take_most() for pattern in self.patterns)
        return StateSize(EVENT_BYTES * events, {"events": events})

    def _follow(self, events: KernelEvents, keys: Ints, offsets: Ints, known: int) -> KernelEvents:
        if not self.patterns:
            return events
        negated = np.empty((len(events.time) + len(keys), len(self.patterns)), np.int64)
        for j, pattern in enumerate(self.patterns):
            negated[:, j] = pattern.follow(events, keys, offsets, known)
        negated.flags.writeable = False
        return events._replace(negated=negated)


class _Pattern:
    """Follows one negated sub-pattern on all keys."""

    def __init__(self, part: Part, window: Window, columns: ColumnSet) -> None:
        self.tables = part.tables
        self.horizon = NEVER if window.within >= FOREVER else window.within
        self.nested = negations_of(part.negations, window, columns)
        self.by_type = not len(self.nested) and len(self.tables.adjacent.one) == 0
        self.best = np.empty((0, len(self.tables.start)), records_of(StartRecord))
        self.progress = np.empty(0, records_of(NegationRecord))
        self.kept = KeptEvents(
            np.empty(0, records_of(KeyRecord)),
            np.empty(0, records_of(NegatedVertexRecord)),
            np.empty((len(columns.ints), 0), np.int64),
            np.empty((len(columns.reals), 0), np.float64),
        )
        self.bindings = int(np.diff(self.tables.binding_ptr).max(initial=0))
        self.used = 0  # space of kept events that keys have or had

    def follow(self, events: KernelEvents, keys: Ints, offsets: Ints, known: int) -> Ints:
        """int64[n + m]: per event, the greatest start among the matches that ended before its time, or `NEVER`; and
        behind the events of each key, the greatest start so far.
        """
        self._make_lanes(known)
        starts = np.empty(len(events.time) + len(keys), np.int64)
        if self.by_type:
            starts_by_type(events, keys, offsets, self.tables, self.best, self.progress, starts)
            return starts
        events = self.nested._follow(events, keys, offsets, known)
        self._reserve(keys, np.diff(offsets) * self.bindings)
        starts_by_event(events, keys, offsets, self.horizon, self.tables, self.kept, self.progress, starts)
        return starts

    def clear(self, keys: Ints) -> None:
        """Forgets all events of some keys, which keep their space."""
        keys = keys[keys < len(self.progress)]
        self.best[keys], self.progress[keys] = NEVER, NEVER
        self.kept.key["live"][keys] = 0
        self.nested.clear(keys)

    def take_most(self) -> int:
        """Peak number of kept events of all keys since the last call, including nested sub-patterns."""
        key = self.kept.key
        events = int(np.maximum(key["live"], key["most"]).sum())
        key["most"] = key["live"]
        return events + sum(pattern.take_most() for pattern in self.nested.patterns)

    def _make_lanes(self, known: int) -> None:
        self.best, self.progress = with_room(self.best, known, NEVER), with_room(self.progress, known, NEVER)
        self.kept = self.kept._replace(key=with_room(self.kept.key, known))

    def _reserve(self, keys: Ints, fresh: Ints) -> None:
        """Space for the kept events of some keys and `fresh` more of each; keys that lack it move to the end."""
        kept = self.kept
        needed = kept.key["live"][keys] + fresh
        lacks = needed > kept.key["room"][keys]
        if not lacks.any():
            return
        keys, sizes = keys[lacks], 2 * needed[lacks]
        begins = self.used + np.cumsum(sizes) - sizes
        self.used += int(sizes.sum())
        columns = {name: with_room(getattr(kept, name), self.used, axis=-1) for name in ("vertex", "ints", "reals")}
        kept = self.kept = kept._replace(**columns)
        live = kept.key["live"][keys]
        within = np.arange(int(live.sum())) - np.repeat(np.cumsum(live) - live, live)
        old, new = (np.repeat(begin, live) + within for begin in (kept.key["begin"][keys], begins))
        for array in (kept.vertex, kept.ints, kept.reals):
            array[..., new] = array[..., old]
        kept.key["begin"][keys], kept.key["room"][keys] = begins, sizes


def negations_of(parts: Iterable[Part], window: Window, columns: ColumnSet) -> Negations:
    """The negated sub-patterns of one automaton."""
    return Negations([(part, window) for part in parts], columns)
