"""One query of one key on Flink."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.flink.session import EVERY_WINDOW, Ints, JobSession, rows_of_windows
from cepbench.algorithms.rows import QueryRows
from cepbench.algorithms.running.evaluator import Evaluator
from cepbench.algorithms.sequences.longest_trend import LongestTrend
from cepbench.events.batch import EventBatch
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery


class FlinkEvaluator(Evaluator):
    """Sends batches to the job of its query and returns the rows of the windows that they closed.

    - `specifications`: of the query until two events of the key are simultaneous, and from then on. If they differ, the
      events of the open windows are sent to the job of the second one again.
    - `held`: the events of the open windows, for that purpose and for an evaluator that is unpickled; they are not part
      of Flink's state.
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
        self.query, self.window, self.guard = query, window, guard
        self.specifications = specifications
        self.flows = flows
        self.held: list[EventBatch] = []
        self.low = 0
        self.latest = -1
        self.tied = False
        self.found = self.repeated = 0
        self._session: JobSession | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_session": None}

    def process(self, events: EventBatch) -> QueryRows | None:
        """Rows of closed windows. Raises `FlinkFailed`, `FlinkMissing`, `NotEnoughMemory` or `LongerMatch`."""
        if self.guard is not None:
            self.guard.process(events)
        if not self.flows:
            return None
        low = self.low
        if len(events):
            low = max(low, self.window.first_at(int(events.time[-1])))
        if events.watermark is not None:
            low = max(low, self.window.first_at(events.watermark))
        if not len(events) and low == self.low:
            return None
        return self._advance(events, low)

    def finish(self) -> QueryRows | None:
        """Rows of open windows; raises the same errors as `process`."""
        if self.guard is not None:
            self.guard.finish()
        if not self.held:
            return None
        return self._advance(self.held[-1].slice(0, 0), EVERY_WINDOW)

    def state(self) -> StateSize:
        """Partial matches and events in Flink's state, with the bytes that `java/Substream.java` counts."""
        return StateSize() if self._session is None else self._session.state_size()

    def details(self) -> Mapping[str, float]:
        """Numbers of reported and of repeated matches, Flink's start time and memory."""
        counts = {"matches_reported": float(self.found), "duplicates": float(self.repeated)}
        if self._session is not None:
            counts |= self._session.details()
        return counts

    def _advance(self, events: EventBatch, low: int) -> QueryRows | None:
        if len(events):
            self.tied = self.tied or bool(events.time[0] == self.latest or np.any(events.time[1:] == events.time[:-1]))
            self.latest = int(events.time[-1])
        specification = self.specifications[self.tied]
        if self._session is None or self._session.specification != specification:
            self._session = JobSession(self.query, specification)
            for batch in self.held:
                self._send(batch, self.low)
        numbers = self._send(events, low)
        self._hold(events, low)
        return rows_of_windows(self.query, numbers)

    def _send(self, events: EventBatch, low: int) -> Ints:
        assert self._session is not None
        numbers = self._session.send(events, low, self.low)
        self.found += int(numbers[1])
        self.repeated += int(numbers[2])
        return numbers

    def _hold(self, events: EventBatch, low: int) -> None:
        """Keeps the events of the open windows."""
        self.low = low
        if low == EVERY_WINDOW:
            self.held = []
            return
        start = self.window.start(low)
        if len(events):
            self.held.append(events.slice(0, len(events)))
        while self.held and self.held[0].time[-1] < start:
            self.held.pop(0)
