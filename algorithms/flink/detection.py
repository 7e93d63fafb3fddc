"""A detection query on Flink, which has no windows but uses Flink's own bound on each match."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cepbench.algorithms.answers.detected_count import match_counter
from cepbench.algorithms.base import StateSize
from cepbench.algorithms.flink.session import EVERY_WINDOW, JobSession, rows_of_spans
from cepbench.algorithms.flink.specification import detection_specification
from cepbench.algorithms.rows import QueryRows
from cepbench.algorithms.running.evaluator import Evaluator
from cepbench.events.batch import EventBatch
from cepbench.queries.compile import CompiledQuery


class DetectionOnFlink(Evaluator):
    """Sends batches to the job of its query, which reports each match with its last event.

    - `held`: the events within reach of the span, for an evaluator that is unpickled. They are sent to its new job
      again; matches that the job reports for them have been reported before.
    - `seen`: number of events of the key so far; `first`: the number of the first event that was sent to the job.
    """

    def __init__(self, query: CompiledQuery) -> None:
        self.query = query
        self.count = match_counter(query)
        self.specification = detection_specification(query)
        self.counts = query.window is not None and query.window.counts_events
        self.held: list[EventBatch] = []
        self.seen = self.first = 0
        self.found = self.repeated = 0
        self._session: JobSession | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_session": None}

    def process(self, events: EventBatch) -> QueryRows | None:
        """Returns the matches that these events end. Raises `FlinkFailed`, `FlinkMissing` and `NotEnoughMemory`."""
        if not len(events):
            return None
        if self._session is None:
            self._session = JobSession(self.query, self.specification)
            self.first = self.seen - sum(map(len, self.held))
            for batch in self.held:
                self._session.send(batch, 0)
        numbers = self._session.send(events, 0)
        self.found += int(numbers[1])
        self.repeated += int(numbers[2])
        self._hold(events)
        rows = rows_of_spans(numbers, (self.first if self.counts else 0) - self.query.reach)
        if self.count is None:
            return rows
        self.count.add(rows)
        return None

    def finish(self) -> QueryRows | None:
        """Returns the count, if matches are counted; no match waits. Flink drops the key."""
        if self._session is not None and self.held:
            self._session.send(self.held[-1].slice(0, 0), EVERY_WINDOW)
        return None if self.count is None else self.count.row()

    def state(self) -> StateSize:
        """Partial matches and the events of a span, with the bytes that `java/Substream.java` counts."""
        return StateSize() if self._session is None else self._session.state_size()

    def details(self) -> Mapping[str, float]:
        """Numbers of reported and of repeated matches, Flink's start time and memory."""
        counts = {"matches_reported": float(self.found), "duplicates": float(self.repeated)}
        return counts | ({} if self._session is None else self._session.details())

    def _hold(self, events: EventBatch) -> None:
        """Keeps the batches that are within reach of a later event."""
        self.seen += len(events)
        self.held.append(events.slice(0, len(events)))
        if self.counts:
            size = sum(map(len, self.held))
            while size - len(self.held[0]) >= self.query.reach and len(self.held) > 1:
                size -= len(self.held.pop(0))
            return
        while self.held[0].time[-1] < events.time[-1] - self.query.reach:
            self.held.pop(0)
