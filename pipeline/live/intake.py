"""Turns events in the order of arrival into a stream in the order of time."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cepbench.events.batch import EventBatch
from cepbench.events.schema import Schema
from cepbench.pipeline.store import joined


@dataclass(frozen=True, eq=False)
class Intake:
    """The state after the events so far: the strings that occurred, and the events that wait for the watermark.

    The watermark is the largest time so far, less `delay`. An event that is older than the watermark was when it
    arrived is late, and left out. All others leave in the order of time (of arrival for equal times), as soon
    as the watermark reaches them. So the events that leave depend only on the order of arrival, not on batches.

    - `waiting`: events in the order in which they leave.
    - `largest`: the largest time, 0 before the first event.
    - `arrived`, `late`, `left`: numbers of events.
    """

    delay: int
    waiting: EventBatch
    largest: int = 0
    arrived: int = 0
    late: int = 0
    left: int = 0

    @property
    def schema(self) -> Schema:
        """The schema, with all strings so far."""
        return self.waiting.schema

    @property
    def watermark(self) -> int:
        """The watermark, at least 0: no event that leaves later is older."""
        return max(0, self.largest - self.delay)

    def take(self, events: EventBatch) -> tuple["Intake", EventBatch, NDArray[np.int64]]:
        """Takes events in the order of arrival; returns the new state, the leaving events, and indices of late ones."""
        before = np.maximum.accumulate(np.append(self.largest, events.time))
        late = events.time < before[:-1] - self.delay
        kept = events.take(np.flatnonzero(~late)) if late.any() else events
        pool = joined([self.waiting, kept], events.schema)
        pool = pool.take(np.argsort(pool.time, kind="stable"))
        largest = int(before[-1])
        leaving = int(np.searchsorted(pool.time, largest - self.delay, side="right"))
        known = replace(
            self,
            waiting=pool.slice(leaving, len(pool)),
            largest=largest,
            arrived=self.arrived + len(events),
            late=self.late + int(late.sum()),
            left=self.left + leaving,
        )
        return known, self._numbered(pool.slice(0, leaving, known.watermark)), np.flatnonzero(late)

    def close(self) -> tuple["Intake", EventBatch]:
        """Ends the stream: returns the new state, and the events that waited."""
        nothing = self.waiting.slice(0, 0)
        return replace(self, waiting=nothing, left=self.left + len(self.waiting)), self._numbered(self.waiting)

    def _numbered(self, events: EventBatch) -> EventBatch:
        """Leaving events with their positions in the stream."""
        return replace(events, position=np.arange(self.left, self.left + len(events), dtype=np.int64))
