"""Replays one bucket of a stream against operators, with only `process` and `finish` under the clock (`timed`)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import isnan

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.base import KeyedBatch, Operator, StateSize
from cepbench.algorithms.rows import MatchRows, Rows
from cepbench.events.batch import EventBatch
from cepbench.events.windows import Window
from cepbench.metrics.clock import completions
from cepbench.metrics.details import merged
from cepbench.metrics.latency import row_latency
from cepbench.pipeline.arrivals import ArrivalModel, Step
from cepbench.pipeline.hashing import word
from cepbench.pipeline.jobs import Job
from cepbench.pipeline.keys import RawKey
from cepbench.pipeline.loop import Emit, Keys, Loop
from cepbench.pipeline.slicing import Crossings, crossings_of
from cepbench.queries.compile import Workload


@dataclass
class Measured:
    """The measurements of one run of one worker.

    - `service`: seconds per arrival batch; `last`: position of the last event that arrived with it.
    - `latency`: seconds per result row, that is, per window of a query and group with matches on this worker.
    - `due`: the due time of each of these rows; `answers`: the number of rows of each arrival batch.
    - `rows`: identifies the row of each latency, on request.
    - `state_bytes`: after every call, on request; `peak` is the largest state.
    - `details`: the combined reports of the operators.
    - `crossings`: by job, partial rows of windows that cross the edges of a time slice.
    """

    service: list[float] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    latency: list[float] = field(default_factory=list)
    due: list[float] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    state_bytes: list[int] = field(default_factory=list)
    peak: StateSize = field(default_factory=StateSize)
    details: dict[str, float] = field(default_factory=dict)
    crossings: list[Crossings] = field(default_factory=list)
    events: int = 0
    substreams: int = 0


def replay(
    batches: Iterable[EventBatch],
    arrival: ArrivalModel,
    jobs: Sequence[tuple[Job, Operator]],
    emit: Emit,
    states: bool = False,
    identify: bool = False,
) -> Measured:
    """Passes the events of a bucket to the fresh operator of each job, on the schedule of `arrival`.

    `emit` takes the rows, outside the clock. With `states`, operators report their state after every call, and
    windows are closed in a separate one. With `identify`, rows are identified, since other workers may
    have parts of them. Raises the errors of the operators.
    """
    worker = _Worker(arrival, jobs, emit, states, identify)
    for step in arrival.steps(batches):
        worker.take(step)
    return worker.finish()


def timed(operator: Operator, batch: KeyedBatch | None) -> tuple[Rows, int]:
    """The measured call: its rows and nanoseconds. Without a batch, the stream ends."""
    began = time.perf_counter_ns()
    rows = operator.finish() if batch is None else operator.process(batch)
    return rows, time.perf_counter_ns() - began


@dataclass
class _Worker:
    """Adds up the times of the calls of all jobs by arrival batch; the fields are the parameters of `replay`."""

    arrival: ArrivalModel
    jobs: Sequence[tuple[Job, Operator]]
    emit: Emit
    states: bool
    identify: bool

    def __post_init__(self) -> None:
        self._loops = [Loop(job, operator) for job, operator in self.jobs]
        self._sizes = [StateSize()] * len(self.jobs)
        self._nanoseconds = 0  # of the current arrival batch
        self._due: dict[tuple[int, RawKey, int], float] = {}  # rows of the current arrival batch
        self._arrivals: list[float] = []
        self._measured = Measured()

    def take(self, step: Step) -> None:
        """Processes one step, and ends its arrival batch if it is the last one."""
        self._last_step = step
        self._measured.events += len(step.events)
        for number, loop in enumerate(self._loops):
            for batch in loop.calls(step.events, apart=self.states):
                self._call(number, batch, step)
        if step.arrival is not None:
            self._arrived(step.arrival, step.last)

    def finish(self) -> Measured:
        """Ends the stream; its cost belongs to the last arrival batch."""
        if self._arrivals:
            for number in range(len(self._loops)):
                self._call(number, None, self._last_step)
            measured = self._measured
            measured.service[-1] += self._nanoseconds / 1e9
            measured.answers[-1] += self._take_due(self._arrivals[-1])
            measured.substreams = sum(len(loop.keys) for loop in self._loops)
            measured.crossings = [crossings_of(loop) for loop in self._loops]
            measured.details = merged(loop.operator.details() for loop in self._loops)
            done = completions(np.array(self._arrivals), np.array(measured.service))
            measured.latency = row_latency(np.repeat(done, measured.answers), np.array(measured.due)).tolist()
        return self._measured

    def _call(self, number: int, batch: KeyedBatch | None, step: Step) -> None:
        """One call of a job, whose rows are due by the schedule of the step."""
        loop = self._loops[number]
        rows, nanoseconds = timed(loop.operator, batch)
        self._nanoseconds += nanoseconds
        if self.states:
            self._sizes[number] = loop.operator.state()
            self._note_state()
        if rows:
            self._take_rows(self.jobs[number][0].workload, loop.keys, rows, step)

    def _take_rows(self, workload: Workload, keys: Keys, rows: Rows, step: Step) -> None:
        self.emit(keys, rows)
        for query, part in rows.items():
            of_keys, windows = part.keys, part.window
            if isinstance(part, MatchRows):
                of_keys, windows = np.unique(np.stack([of_keys, windows]), axis=1)
            compiled = workload[query]
            due, width = self._due_of(compiled.row_window, windows, step), len(compiled.query.group_by)
            for key, k, when in zip(of_keys.tolist(), windows.tolist(), due, strict=True):
                self._due[query, keys.stored[key][:width], k] = when

    def _due_of(self, window: Window | None, windows: NDArray[np.int64], step: Step) -> list[float]:
        """The due times of the rows of these windows: NaN means the arrival of their batch."""
        if window is None or window.counts_events:
            return [float("nan")] * len(windows)
        ends: NDArray[np.int64] = windows * window.slide + window.within
        due: list[float] = self.arrival.due(step, ends).tolist()
        return due

    def _arrived(self, arrival: float, last: int) -> None:
        measured = self._measured
        measured.answers.append(self._take_due(arrival))
        self._arrivals.append(arrival)
        measured.service.append(self._nanoseconds / 1e9)
        measured.last.append(last)
        self._nanoseconds = 0

    def _take_due(self, arrival: float) -> int:
        """Takes the due times of the rows of the arrival batch; its arrival for rows without a time. Counts them."""
        rows, self._due = self._due, {}
        self._measured.due += [arrival if isnan(when) else when for when in rows.values()]
        if self.identify:
            self._measured.rows += [word(repr(row)) for row in rows]
        return len(rows)

    def _note_state(self) -> None:
        size = sum(self._sizes, StateSize())
        self._measured.state_bytes.append(size.bytes)
        if size.bytes >= self._measured.peak.bytes:
            self._measured.peak = StateSize(size.bytes, size.kinds)
