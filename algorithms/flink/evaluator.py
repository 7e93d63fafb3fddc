"""One query of one sub-stream on Flink."""

from __future__ import annotations

import time
import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.flink.engine import Engine, current, little
from cepbench.algorithms.rows import AggregateRows, MatchRows, QueryRows
from cepbench.algorithms.running.batches import kernel_events
from cepbench.algorithms.running.evaluator import Evaluator
from cepbench.algorithms.sequences.longest_trend import LongestTrend
from cepbench.events.batch import EventBatch
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery
from cepbench.queries.model import Aggregates

Ints = NDArray[np.int64]

EVERY_WINDOW = 2**63 - 1


class FlinkEvaluator(Evaluator):
    """Sends batches to the job of its query and takes the rows of the windows that they closed.

    - `specifications`: of the query while no two events of the sub-stream were simultaneous, and from then on. Where
      they differ, the events of the open windows are sent again to the job of the latter.
    - `held`: the events of the open windows, for that and for an evaluator that is unpickled; they are no state of
      Flink's.
    - `flows`: how many patterns the query has; none where a flattened one has only longer matches than asked for.
    - `guard` looks for matches that are longer than a flattened pattern.
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
        self._session: _Session | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_session": None}

    def process(self, events: EventBatch) -> QueryRows | None:
        """Rows of closed windows. Raises `FlinkFailed`, `FlinkMissing`, `NotEnoughMemory` and `LongerMatch`."""
        if self.guard is not None:
            self.guard.process(events)
        if not self.flows:
            return None
        low = self.low
        if len(events):
            low = max(low, self.window.first_at(int(events.time[-1])))
        if events.until is not None:
            low = max(low, self.window.first_at(events.until))
        if not len(events) and low == self.low:
            return None
        return self._advance(events, low)

    def finish(self) -> QueryRows | None:
        """Rows of open windows; raises as `process` does."""
        if self.guard is not None:
            self.guard.finish()
        if not self.held:
            return None
        return self._advance(self.held[-1].slice(0, 0), EVERY_WINDOW)

    def state(self) -> StateSize:
        """Partial matches and events in Flink's state, in bytes as `java/Substream.java` reckons them."""
        if self._session is None:
            return StateSize()
        size, partial, events = self._session.state()
        return StateSize(int(size), {"partial matches": int(partial), "events": int(events)})

    def details(self) -> Mapping[str, float]:
        """Matches that Flink reported and those among them that it repeated, its start and its memory."""
        told = {"matches_reported": float(self.found), "duplicates": float(self.repeated)}
        if self._session is not None:
            told |= self._session.details()
        return told

    def _advance(self, events: EventBatch, low: int) -> QueryRows | None:
        if len(events):
            self.tied = self.tied or bool(events.time[0] == self.latest or np.any(events.time[1:] == events.time[:-1]))
            self.latest = int(events.time[-1])
        specification = self.specifications[self.tied]
        if self._session is None or self._session.specification != specification:
            self._session = _Session(self, specification)
            for batch in self.held:
                self._send(batch, self.low)
        numbers = self._send(events, low)
        rows = self._rows(numbers)
        self._hold(events, low)
        return rows

    def _send(self, events: EventBatch, low: int) -> Ints:
        assert self._session is not None
        batch = kernel_events(self.query.columns, events)
        columns = [events.position, batch.kind.astype(np.int64), *batch.ints, *batch.reals]
        numbers = self._session.process(low, self.low, batch.time, [little(column) for column in columns])
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

    def _rows(self, numbers: Ints) -> QueryRows | None:
        size, body = int(numbers[0]), numbers[3:]
        if not size:
            return None
        return _aggregates(self.query, size, body) if not _returns_matches(self.query) else _matches(size, body)


class _Session:
    """A sub-stream of the engine, which forgets it when this is gone."""

    def __init__(self, owner: FlinkEvaluator, specification: str) -> None:
        self.engine: Engine = current()
        self.specification = specification
        started = time.perf_counter()
        self.job = self.engine.job(specification)
        self.submit_seconds = time.perf_counter() - started
        self.name = self.engine.open(self.job)
        self.memory: tuple[int, int] | None = None
        weakref.finalize(self, self.engine.close, self.job, self.name)

    def process(self, low: int, first: int, times: Ints, columns: list[bytes]) -> Ints:
        return self.engine.process(self.job, self.name, low, first, times, columns)

    def state(self) -> Ints:
        return self.engine.state(self.job, self.name)

    def details(self) -> dict[str, float]:
        """Of the whole process, whoever asks."""
        heap, resident = self.engine.memory()
        return {
            "jvm_start_seconds_peak": self.engine.start_seconds,
            "jvm_heap_bytes_peak": float(heap),
            "jvm_resident_bytes_peak": float(resident),
            "empty_call_seconds_peak": self.engine.empty_seconds(self.job, self.name),
        }


def _returns_matches(query: CompiledQuery) -> bool:
    return not isinstance(query.query.returns, Aggregates)


def _aggregates(query: CompiledQuery, size: int, body: Ints) -> AggregateRows:
    ring, real, least = (len(some) for some in (query.layout.ring, query.layout.real, query.layout.least))
    table = body.reshape(size, 2 + ring + real + least)
    counts, sums = table[:, 2 : 2 + ring].copy(), table[:, 2 + ring : 2 + ring + real].copy()
    return AggregateRows(
        table[:, 0].copy(),
        counts.view(np.uint64 if query.arithmetic == "modular" else np.float64),
        table[:, 1].copy().view(np.uint64),
        sums.view(np.float64),
        table[:, 2 + ring + real :].copy(),
    )


def _matches(size: int, body: Ints) -> MatchRows:
    window, offsets = np.empty(size, np.int64), np.zeros(size + 1, np.int64)
    kept = np.ones(len(body), np.bool_)
    at = 0
    for i in range(size):
        window[i], length = body[at], body[at + 1]
        kept[at : at + 2] = False
        offsets[i + 1] = offsets[i] + length
        at += 2 + int(length)
    return MatchRows(window, offsets, body[kept])
