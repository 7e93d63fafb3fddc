"""Replays one bucket of a stream against executors, with only `process` and `finish` under the clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan

import numpy as np
from numpy.typing import NDArray

from algorithms.base import Executor, StateSize
from algorithms.rows import Rows
from events.batch import EventBatch
from events.windows import Window
from metrics.clock import completions
from metrics.details import merged
from metrics.latency import row_latency
from pipeline.arrivals import ArrivalModel, Step
from pipeline.substreams import RawKey


@dataclass(frozen=True)
class Family:
    """Queries that split the stream alike.

    - `split`: a batch into sub-streams, with their keys.
    - `executor`: a fresh one for a sub-stream.
    - `windows`: of each query by its index, None for the whole stream.
    - `group`: how many leading values of a sub-stream's key are its group.
    """

    split: Callable[[EventBatch], Iterable[tuple[RawKey, EventBatch]]]
    executor: Callable[[], Executor]
    windows: Mapping[int, Window | None]
    group: int


@dataclass
class Measured:
    """What one worker measured.

    - `service`: seconds per arrival batch; `last`: position of the last event that had arrived with it.
    - `latency`: seconds per result row, that is, per window of a query and group with matches on this worker.
    - `state_bytes`: after every step and at the end, if asked for; `peak` is the largest state.
    - `details`: what the executors tell of their work, together.
    """

    service: list[float] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    latency: list[float] = field(default_factory=list)
    state_bytes: list[int] = field(default_factory=list)
    peak: StateSize = field(default_factory=StateSize)
    details: dict[str, float] = field(default_factory=dict)
    events: int = 0
    substreams: int = 0


def replay(
    batches: Iterable[EventBatch],
    arrival: ArrivalModel,
    families: Sequence[Family],
    emit: Callable[[int, RawKey, Rows], None],
    states: bool = False,
) -> Measured:
    """Hands the events of a bucket to a fresh executor per family and sub-stream, on the schedule of `arrival`.

    `emit` takes the rows of a family (by index) and sub-stream, outside the clock. With `states`, executors are asked
    for their state after every step, before windows are closed: closing is then a call of its own. Raises what the
    executors raise.
    """
    worker = _Worker(arrival, families, emit, states)
    for step in arrival.steps(batches):
        worker.take(step)
    return worker.finish()


class _Worker:
    def __init__(
        self,
        arrival: ArrivalModel,
        families: Sequence[Family],
        emit: Callable[[int, RawKey, Rows], None],
        states: bool,
    ) -> None:
        self._arrival = arrival
        self._families = families
        self._emit = emit
        self._states = states
        self._executors: list[dict[RawKey, Executor]] = [{} for _ in families]
        self._open: list[dict[RawKey, int]] = [{} for _ in families]  # sub-stream -> end of its last open window
        self._sizes: list[dict[RawKey, StateSize]] = [{} for _ in families]
        self._closed = 0  # windows that end by then are closed
        self._nanoseconds = 0  # of the current arrival batch
        self._due: dict[tuple[int, RawKey, int], float] = {}  # rows of the current arrival batch
        self._arrivals: list[float] = []
        self._rows: list[tuple[int, list[float]]] = []  # arrival batch, and when its rows were due
        self._step: Step | None = None
        self._measured = Measured()

    def take(self, step: Step) -> None:
        """One step, and the end of its arrival batch if it is the last."""
        self._step = step
        self._measured.events += len(step.events)
        for number, family in enumerate(self._families):
            self._substreams(number, family, step.events)
        if step.events.until is not None:
            self._closed = max(self._closed, step.events.until)
        if step.arrival is not None:
            self._arrived(step.arrival, step.last)

    def finish(self) -> Measured:
        """Ends the stream; what that costs belongs to the last arrival batch."""
        if self._step is not None:
            for number, executors in enumerate(self._executors):
                for key, executor in executors.items():
                    started = time.perf_counter_ns()
                    rows = executor.finish()
                    self._nanoseconds += time.perf_counter_ns() - started
                    self._take_rows(number, key, rows)
                    if self._states:
                        self._sizes[number][key] = executor.state()
            self._look()
            measured = self._measured
            measured.service[-1] += self._nanoseconds / 1e9
            self._rows.append((len(measured.service) - 1, self._take_due(self._arrivals[-1])))
            measured.substreams = sum(len(executors) for executors in self._executors)
            measured.details = merged(e.details() for executors in self._executors for e in executors.values())
            done = completions(np.array(self._arrivals), np.array(measured.service))
            for batch, due in self._rows:
                measured.latency += row_latency(np.full(len(due), done[batch]), np.array(due)).tolist()
        return self._measured

    def _substreams(self, number: int, family: Family, events: EventBatch) -> None:
        """Hands the events of each sub-stream to its executor, and the time to those whose windows it closes."""
        executors, until, started = self._executors[number], events.until, self._open[number]
        closing = until is not None and any(_ends_between(w, self._closed, until) for w in family.windows.values())
        apart = self._states and closing
        waiting = {key for key, end in started.items() if end > self._closed} if closing else set()
        for key, piece in family.split(events):
            executor = executors.get(key)
            if executor is None:
                executor = executors[key] = family.executor()
            started[key] = _last_end(family.windows, int(piece.time[-1]))
            self._process(number, key, executor, piece.slice(0, len(piece), None if apart else until))
            if apart:
                waiting.add(key)
            else:
                waiting.discard(key)
        self._look()
        nothing = events.slice(len(events), len(events), until)
        for key in waiting:
            self._process(number, key, executors[key], nothing)
        if waiting:
            self._look()

    def _process(self, number: int, key: RawKey, executor: Executor, events: EventBatch) -> None:
        started = time.perf_counter_ns()
        rows = executor.process(events)
        self._nanoseconds += time.perf_counter_ns() - started
        self._take_rows(number, key, rows)
        if self._states:
            self._sizes[number][key] = executor.state()

    def _take_rows(self, number: int, key: RawKey, rows: Rows) -> None:
        if not rows:
            return
        self._emit(number, key, rows)
        family, step = self._families[number], self._step
        assert step is not None
        for query, found in rows.items():
            windows, window = np.unique(found.window), family.windows[query]
            if window is None or window.counts_events:
                due = np.full(len(windows), np.nan)  # when its arrival batch had arrived
            else:
                ends: NDArray[np.int64] = windows * window.slide + window.within
                due = self._arrival.due(step, ends)
            for k, when in zip(windows.tolist(), due.tolist(), strict=True):
                self._due[query, key[: family.group], k] = when

    def _arrived(self, arrival: float, last: int) -> None:
        measured = self._measured
        self._rows.append((len(measured.service), self._take_due(arrival)))
        self._arrivals.append(arrival)
        measured.service.append(self._nanoseconds / 1e9)
        measured.last.append(last)
        self._nanoseconds = 0

    def _take_due(self, arrival: float) -> list[float]:
        """When the rows of the arrival batch were due, those without a time when the batch had arrived."""
        due = [arrival if isnan(when) else when for when in self._due.values()]
        self._due = {}
        return due

    def _look(self) -> None:
        if not self._states:
            return
        total, kinds = 0, dict[str, int]()
        for sizes in self._sizes:
            for size in sizes.values():
                total += size.bytes
                for kind, count in size.kinds.items():
                    kinds[kind] = kinds.get(kind, 0) + count
        self._measured.state_bytes.append(total)
        if total >= self._measured.peak.bytes:
            self._measured.peak = StateSize(total, kinds)


def _ends_between(window: Window | None, after: int, until: int) -> bool:
    """Whether some window ends in (after, until]."""
    if window is None or window.counts_events or until < window.within:
        return False
    return (until - window.within) // window.slide > (after - window.within) // window.slide


def _last_end(windows: Mapping[int, Window | None], time: int) -> int:
    """When the last time window ends that holds an event of this time."""
    ends = [w.end(w.last_at(time)) for w in windows.values() if w is not None and not w.counts_events]
    return max(ends, default=0)
