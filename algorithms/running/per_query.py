"""Executors of queries that share nothing: an evaluator for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from cepbench.algorithms.base import Executor, OutOfOrder, StateSize
from cepbench.algorithms.rows import QueryRows, Rows
from cepbench.algorithms.running.conjunction import Conjunction
from cepbench.algorithms.running.count_windows import CountWindows
from cepbench.algorithms.running.evaluator import WHOLE_STREAM, Evaluator, MakeEvaluator
from cepbench.events.batch import EventBatch
from cepbench.events.windows import Window
from cepbench.metrics.details import merged
from cepbench.queries.compile import CompiledQuery, Workload


class IndependentQueries(Executor):
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
        self.now = 0
        self._load = load

    def process(self, events: EventBatch) -> Rows:
        self.now = check_order(events, self.now)
        return present({index: evaluator.process(events) for index, evaluator in self.evaluators.items()})

    def finish(self) -> Rows:
        return present({index: evaluator.finish() for index, evaluator in self.evaluators.items()})

    def state(self) -> StateSize:
        return sum((evaluator.state() for evaluator in self.evaluators.values()), StateSize())

    def details(self) -> Mapping[str, float]:
        return merged(evaluator.details() for evaluator in self.evaluators.values())

    def load(self) -> None:
        if self._load is not None:
            self._load()


def check_order(events: EventBatch, now: int) -> int:
    """The time after a batch that came at time `now`. Raises `OutOfOrder`."""
    if len(events):
        if events.time[0] < now or (len(events) > 1 and np.any(events.time[1:] < events.time[:-1])):
            raise OutOfOrder(f"an event at time {events.time.min()} came after one at time {now}")
        now = int(events.time[-1])
    return max(now, events.watermark or 0)


def present(rows: Mapping[int, QueryRows | None]) -> Rows:
    """The rows of queries that have any."""
    return {index: found for index, found in rows.items() if found is not None and len(found)}


def query_evaluator(query: CompiledQuery, make: MakeEvaluator) -> Evaluator:
    """The evaluator of a whole query, from those of its parts over windows of time."""
    if query.window is not None and query.window.counts_events:
        return CountWindows(query.window, partial(_over_time, query, make, WHOLE_STREAM))
    return _over_time(query, make, query.window or WHOLE_STREAM)


def _over_time(query: CompiledQuery, make: MakeEvaluator, window: Window) -> Evaluator:
    if query.analysis.conjunction:
        return Conjunction([make(query, part, window) for part in query.parts], query.arithmetic)
    return make(query, query.parts[0], window)
