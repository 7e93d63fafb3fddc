"""One query of one key on Flink."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cepbench.algorithms.answers.detected_count import match_counter
from cepbench.algorithms.base import Executor, StateSize
from cepbench.algorithms.engine.longest_trend import LongestTrend
from cepbench.algorithms.external.flink.engine import current
from cepbench.algorithms.external.flink.session import EVERY_WINDOW, Ints, JobSession, rows_of_spans, rows_of_windows
from cepbench.algorithms.external.flink.specification import detection_specification
from cepbench.algorithms.rows import Rows, rows_of
from cepbench.events.batch import EventBatch
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery


class _OnFlink(Executor):
    """Sends batches to the job of its query.

    - `held`: the events that a new job needs, for instance of an executor that is unpickled. They are sent again, and
      are not part of Flink's state.
    - `found`, `repeated`: numbers of reported and of repeated matches.
    """

    def __init__(self, query: CompiledQuery) -> None:
        self.query = query
        self.held: list[EventBatch] = []
        self.found = self.repeated = 0
        self._session: JobSession | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_session": None}

    def load(self) -> None:
        current()

    def state(self) -> StateSize:
        """Partial matches and events in Flink's state, with the bytes that `java/Substream.java` counts."""
        return StateSize() if self._session is None else self._session.state_size()

    def details(self) -> Mapping[str, float]:
        """Numbers of reported and of repeated matches, Flink's start time and memory."""
        counts = {"matches_reported": float(self.found), "duplicates": float(self.repeated)}
        return counts | ({} if self._session is None else self._session.details())

    def _send(self, session: JobSession, events: EventBatch, low: int, first: int = 0) -> Ints:
        numbers = session.send(events, low, first)
        self.found += int(numbers[1])
        self.repeated += int(numbers[2])
        return numbers

    def _hold(self, events: EventBatch, start: int) -> None:
        """Keeps the batches with events from time `start` on."""
        if len(events):
            self.held.append(events.slice(0, len(events)))
        while self.held and self.held[0].time[-1] < start:
            self.held.pop(0)


class FlinkExecutor(_OnFlink):
    """Returns the rows of the windows that batches closed; `held` are the events of the open windows.

    - `specifications`: of the query until two events of the key are simultaneous, and from then on. If they differ, the
      events of the open windows are sent to the job of the second one again.
    - `flows`: number of patterns of the query; 0 if a flattened one only has matches longer than its limit.
    - `guard`: looks for matches that are longer than a flattened pattern allows.
    """

    def __init__(
        self,
        query: CompiledQuery,
        window: Window,
        specifications: tuple[str, str],
        flows: int,
        guard: LongestTrend | None,
    ) -> None:
        super().__init__(query)
        self.window, self.specifications, self.flows, self.guard = window, specifications, flows, guard
        self.low = 0
        self.latest = -1
        self.tied = False

    def process(self, events: EventBatch) -> Rows:
        """Rows of closed windows. Raises `FlinkFailed`, `FlinkMissing`, `NotEnoughMemory` or `LongerMatch`."""
        if self.guard is not None:
            self.guard.process(events)
        if not self.flows:
            return {}
        low = self.low
        if len(events):
            low = max(low, self.window.first_at(int(events.time[-1])))
        if events.watermark is not None:
            low = max(low, self.window.first_at(events.watermark))
        if not len(events) and low == self.low:
            return {}
        rows = self._advance(events, low)
        self.low = low
        self._hold(events, self.window.start(low))
        return rows

    def finish(self) -> Rows:
        """Rows of open windows; raises the same errors as `process`."""
        if self.guard is not None:
            self.guard.finish()
        if not self.held:
            return {}
        rows = self._advance(self.held[-1].slice(0, 0), EVERY_WINDOW)
        self.held = []
        return rows

    def _advance(self, events: EventBatch, low: int) -> Rows:
        if len(events):
            self.tied = self.tied or bool(events.time[0] == self.latest or np.any(events.time[1:] == events.time[:-1]))
            self.latest = int(events.time[-1])
        specification = self.specifications[self.tied]
        if self._session is None or self._session.specification != specification:
            self._session = JobSession(self.query, specification)
            for batch in self.held:
                self._send(self._session, batch, self.low, self.low)
        rows = rows_of_windows(self.query, self._send(self._session, events, low, self.low))
        return rows_of(self.query.index, [rows])


class DetectionOnFlink(_OnFlink):
    """Returns the matches of a detection query, which has no windows but uses Flink's own bound on each match.

    - `held`: the events within reach of the span. Matches that a new job reports for them have been reported before.
    - `seen`: number of events of the key so far; `first`: the number of the first event that was sent to the job.
    """

    def __init__(self, query: CompiledQuery) -> None:
        super().__init__(query)
        self.count = match_counter(query)
        self.specification = detection_specification(query)
        self.counts = query.window is not None and query.window.counts_events
        self.seen = self.first = 0

    def process(self, events: EventBatch) -> Rows:
        """Returns the matches that these events end. Raises `FlinkFailed`, `FlinkMissing` and `NotEnoughMemory`."""
        if not len(events):
            return {}
        if self._session is None:
            self._session = JobSession(self.query, self.specification)
            self.first = self.seen - sum(map(len, self.held))
            for batch in self.held:
                self._session.send(batch, 0)
        numbers, reach = self._send(self._session, events, 0), self.query.reach
        self.seen += len(events)
        self._hold(events, 0 if self.counts else int(events.time[-1]) - reach)
        if self.counts:
            while sum(map(len, self.held[1:])) >= reach and len(self.held) > 1:
                self.held.pop(0)
        rows = rows_of_spans(numbers, (self.first if self.counts else 0) - reach)
        if self.count is None:
            return rows_of(self.query.index, [rows])
        self.count.add(rows)
        return {}

    def finish(self) -> Rows:
        """Returns the count, if matches are counted; no match waits. Flink drops the key."""
        if self._session is not None and self.held:
            self._session.send(self.held[-1].slice(0, 0), EVERY_WINDOW)
        return {} if self.count is None else rows_of(self.query.index, [self.count.row()])
