"""Executors of queries that share nothing: an evaluator for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial, reduce

import numpy as np

from cepbench.algorithms.base import Executor, OutOfOrder, StateSize
from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.rows import QueryRows, Rows, concatenate
from cepbench.algorithms.running.conjunction import Conjunction
from cepbench.algorithms.running.evaluator import WHOLE_STREAM, Evaluator, MakeEvaluator, Together
from cepbench.algorithms.running.peak import Peak
from cepbench.events.batch import EventBatch
from cepbench.events.windows import Window
from cepbench.metrics.details import merged
from cepbench.queries.compile import CompiledQuery, Workload

ONE_KEY = np.zeros(1, np.int64)


class IndependentQueries(Together, Executor):
    """Runs an evaluator per query, without sharing. Raises `OutOfOrder`.

    `detect` makes the evaluators of detection queries; `load` is called before a run under the clock.
    """

    def __init__(
        self,
        workload: Workload,
        make: MakeEvaluator,
        detect: Callable[[CompiledQuery], Evaluator] | None = None,
        load: Callable[[], object] | None = None,
    ) -> None:
        self.evaluators = {
            query.index: detect(query) if detect is not None and query.detects else query_evaluator(query, make)
            for query in workload
        }
        self.parts = list(self.evaluators.values())
        self.now = 0
        self._load = load

    def process(self, events: EventBatch) -> Rows:
        self.now = check_order(events, self.now)
        return present({index: evaluator.process(events) for index, evaluator in self.evaluators.items()})

    def finish(self) -> Rows:
        return present({index: evaluator.finish() for index, evaluator in self.evaluators.items()})

    def load(self) -> None:
        if self._load is not None:
            self._load()


def check_order(events: EventBatch, now: int, begins: Ints = ONE_KEY) -> int:
    """The latest time after a batch, which came at time `now` and in which the events of keys begin at places `begins`.

    Raises `OutOfOrder` if an event is older than one of its key, or than the latest event or watermark before.
    """
    time = events.time
    if len(time):
        back = np.flatnonzero(time[1:] < time[:-1]) + 1
        if time[begins].min() < now or (len(back) and not np.isin(back, begins).all()):
            raise OutOfOrder(f"an event at time {time.min()} came after a later one of its key")
        now = max(now, int(time.max()))
    return max(now, events.watermark or 0)


def present(rows: Mapping[int, QueryRows | None]) -> Rows:
    """The rows of queries that have any."""
    return {index: found for index, found in rows.items() if found is not None and len(found)}


class CountWindows(Evaluator):
    """Windows of n consecutive events. A `fresh` evaluator processes each of them as a whole stream.

    When a window closes, the state is recorded only if this window is the largest closed one since the last call of
    `state` (`closed_bytes`), since computing the state of all open windows takes time.
    """

    def __init__(self, window: Window, fresh: Callable[[], Evaluator]) -> None:
        self.window, self.fresh = window, fresh
        self.open: dict[int, Evaluator] = {}
        self.closed_details: dict[str, float] = {}
        self.peak = Peak()
        self.closed_bytes = 0
        self.seen = 0

    def process(self, events: EventBatch) -> QueryRows | None:
        parts: list[QueryRows] = []
        stop = self.seen + len(events)
        last = self.window.last_at(stop - 1) if len(events) else -1
        for k in range(self.window.first_at(self.seen), last + 1):
            start, end = max(self.window.start(k), self.seen), min(self.window.end(k), stop)
            if start >= end:
                continue
            if k not in self.open:
                self.open[k] = self.fresh()
            self.open[k].process(events.slice(start - self.seen, end - self.seen))
            if end == self.window.end(k):
                parts.extend(self._close(k))
        self.seen = stop
        return concatenate(parts) if parts else None

    def finish(self) -> QueryRows | None:
        parts = [rows for k in sorted(self.open) for rows in self._close(k)]
        return concatenate(parts) if parts else None

    def state(self) -> StateSize:
        self.closed_bytes = 0
        return self.peak.report(self._open_state())

    def details(self) -> Mapping[str, float]:
        return merged([self.closed_details, *(evaluator.details() for evaluator in self.open.values())])

    def _close(self, k: int) -> list[QueryRows]:
        evaluator = self.open.pop(k)
        rows = evaluator.finish()
        closing = evaluator.state()
        if closing.bytes > self.closed_bytes:
            self.closed_bytes = closing.bytes
            self.peak.note(closing + self._open_state())
        self.closed_details = merged([self.closed_details, evaluator.details()])
        return [] if rows is None else [rows.renumbered(k)]

    def _open_state(self) -> StateSize:
        return reduce(StateSize.__add__, (evaluator.state() for evaluator in self.open.values()), StateSize())


def query_evaluator(query: CompiledQuery, make: MakeEvaluator) -> Evaluator:
    """The evaluator of a whole query, from those of its parts over windows of time."""
    if query.window is not None and query.window.counts_events:
        return CountWindows(query.window, partial(_over_time, query, make, WHOLE_STREAM))
    return _over_time(query, make, query.window or WHOLE_STREAM)


def _over_time(query: CompiledQuery, make: MakeEvaluator, window: Window) -> Evaluator:
    if query.analysis.conjunction:
        return Conjunction([make(query, part, window) for part in query.parts], query.arithmetic)
    return make(query, query.parts[0], window)
