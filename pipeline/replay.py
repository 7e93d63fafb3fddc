"""Replays one bucket of a stream against executors, with only `process` and `finish` under the clock."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import isnan

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.base import Executor, ExecutorPool, Pieces, StateSize
from cepbench.algorithms.rows import PooledRows, Rows
from cepbench.events.batch import EventBatch
from cepbench.metrics.clock import completions
from cepbench.metrics.details import merged
from cepbench.metrics.latency import row_latency
from cepbench.pipeline.arrivals import ArrivalModel, Step
from cepbench.pipeline.hashing import word
from cepbench.pipeline.loop import Family, Loop, plainly
from cepbench.pipeline.pooled_loop import Numbering, PoolFamily, PoolLoop, called
from cepbench.pipeline.slicing import Crossings, crossings_of
from cepbench.pipeline.substreams import RawKey


@dataclass
class Measured:
    """What one worker measured.

    - `service`: seconds per arrival batch; `last`: position of the last event that had arrived with it.
    - `latency`: seconds per result row, that is, per window of a query and group with matches on this worker.
    - `rows`: identifies the row of each latency, if asked for.
    - `state_bytes`: after every step and at the end, if asked for; `peak` is the largest state.
    - `details`: what the executors tell of their work, together.
    - `crossings`: by family, what slices of time have of windows that reach over their edges.
    """

    service: list[float] = field(default_factory=list)
    last: list[int] = field(default_factory=list)
    latency: list[float] = field(default_factory=list)
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
    families: Sequence[Family],
    emit: Callable[[int, RawKey, Rows], None],
    states: bool = False,
    identify: bool = False,
    emit_many: Callable[[int, Numbering, PooledRows], None] | None = None,
) -> Measured:
    """Hands the events of a bucket to a fresh executor per family and sub-stream, on the schedule of `arrival`.

    A `PoolFamily` has a pool instead. `emit` takes the rows of a family (by index) and sub-stream, outside the clock;
    `emit_many` those of a pool. With `states`, executors are asked for their state after every step, before windows are
    closed: closing is then a call of its own. With `identify`, rows are told apart, since other workers may have parts
    of them. Raises what the executors raise.
    """
    worker = _Worker(arrival, families, emit, states, identify, emit_many)
    for step in arrival.steps(batches):
        worker.take(step)
    return worker.finish()


class _Worker:
    """Wraps a clock around the calls of the loops of all families."""

    def __init__(
        self,
        arrival: ArrivalModel,
        families: Sequence[Family],
        emit: Callable[[int, RawKey, Rows], None],
        states: bool,
        identify: bool,
        emit_many: Callable[[int, Numbering, PooledRows], None] | None,
    ) -> None:
        self._identify = identify
        self._arrival = arrival
        self._families = families
        self._emit, self._emit_many = emit, emit_many
        self._states = states
        self._loops = [self._loop(n, family) for n, family in enumerate(families)]
        self._sizes: list[dict[RawKey, StateSize]] = [{} for _ in families]
        self._nanoseconds = 0  # of the current arrival batch
        self._due: dict[tuple[int, RawKey, int], float] = {}  # rows of the current arrival batch
        self._arrivals: list[float] = []
        self._rows: list[tuple[int, list[float]]] = []  # arrival batch, and when its rows were due, in this order
        self._step: Step | None = None
        self._measured = Measured()

    def take(self, step: Step) -> None:
        """One step, and the end of its arrival batch if it is the last."""
        self._step = step
        self._measured.events += len(step.events)
        for loop in self._loops:
            loop.process(step.events)
        if step.arrival is not None:
            self._arrived(step.arrival, step.last)

    def finish(self) -> Measured:
        """Ends the stream; what that costs belongs to the last arrival batch."""
        if self._step is not None:
            for loop in self._loops:
                loop.finish()
            self._look()
            measured = self._measured
            measured.service[-1] += self._nanoseconds / 1e9
            self._rows.append((len(measured.service) - 1, self._take_due(self._arrivals[-1])))
            measured.substreams = sum(loop.substreams for loop in self._loops)
            measured.crossings = [
                crossings_of(loop.executors) if isinstance(loop, Loop) else {} for loop in self._loops
            ]
            measured.details = merged(loop.details() for loop in self._loops)
            done = completions(np.array(self._arrivals), np.array(measured.service))
            for batch, due in self._rows:
                measured.latency += row_latency(np.full(len(due), done[batch]), np.array(due)).tolist()
        return self._measured

    def _loop(self, number: int, family: Family) -> Loop | PoolLoop:
        look = self._look if self._states else None
        if isinstance(family, PoolFamily):
            return PoolLoop(family, partial(self._take_many, number), partial(self._timed_pool, number), look)
        return Loop(family, partial(self._take_rows, number), partial(self._timed, number), look)

    def _timed(self, number: int, key: RawKey, executor: Executor, events: EventBatch | None) -> Rows:
        started = time.perf_counter_ns()
        rows = plainly(key, executor, events)
        self._nanoseconds += time.perf_counter_ns() - started
        if self._states:
            self._sizes[number][key] = executor.state()
        return rows

    def _timed_pool(self, number: int, pool: ExecutorPool, events: EventBatch | None, pieces: Pieces) -> PooledRows:
        started = time.perf_counter_ns()
        rows = called(pool, events, pieces)
        self._nanoseconds += time.perf_counter_ns() - started
        if self._states:
            self._sizes[number][()] = pool.state()
        return rows

    def _take_rows(self, number: int, key: RawKey, rows: Rows) -> None:
        self._emit(number, key, rows)
        for query, found in rows.items():
            windows = np.unique(found.window)
            group = key[: self._families[number].groups[query]]
            for k, when in zip(windows.tolist(), self._due_of(number, query, windows), strict=True):
                self._due[query, group, k] = when

    def _take_many(self, number: int, numbering: Numbering, rows: PooledRows) -> None:
        assert self._emit_many is not None
        self._emit_many(number, numbering, rows)
        keys = numbering.keys
        for query, found in rows.items():
            windows, width = found.rows.window, self._families[number].groups[query]
            due = self._due_of(number, query, windows)
            for owner, k, when in zip(found.owner.tolist(), windows.tolist(), due, strict=True):
                self._due[query, keys[owner][:width], k] = when

    def _due_of(self, number: int, query: int, windows: NDArray[np.int64]) -> list[float]:
        """When the rows of these windows were due: NaN is when their arrival batch had arrived."""
        step, window = self._step, self._families[number].windows[query]
        assert step is not None
        if window is None or window.counts_events:
            return [float("nan")] * len(windows)
        ends: NDArray[np.int64] = windows * window.slide + window.within
        due: list[float] = self._arrival.due(step, ends).tolist()
        return due

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
        if self._identify:
            self._measured.rows += [word(repr(row)) for row in self._due]
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
