"""Executors of queries that share nothing: an evaluator for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from cepbench.algorithms.base import Executor, OutOfOrder, WrongRows
from cepbench.algorithms.engine.conjunction import Conjunction
from cepbench.algorithms.engine.count_windows import CountWindows
from cepbench.algorithms.engine.evaluator import WHOLE_STREAM, Evaluator, MakeEvaluator, Together
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.rows import QueryRows, Rows
from cepbench.events.batch import EventBatch
from cepbench.events.windows import Window
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
        return present({index: _rows(evaluator.process, events) for index, evaluator in self.evaluators.items()})

    def finish(self) -> Rows:
        return present({index: _rows(evaluator.finish) for index, evaluator in self.evaluators.items()})

    def load(self) -> None:
        if self._load is not None:
            self._load()


def _rows(call: Callable[..., QueryRows | None], *events: EventBatch) -> QueryRows | None:
    """The rows that a call of an evaluator returns. Raises `WrongRows`."""
    rows = call(*events)
    if rows is not None and not isinstance(rows, QueryRows):
        raise WrongRows(call, rows, "AggregateRows, MatchRows, MatchDigests or None")
    return rows


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


def query_evaluator(query: CompiledQuery, make: MakeEvaluator) -> Evaluator:
    """The evaluator of a whole query, from those of its parts over windows of time."""
    if query.window is not None and query.window.counts_events:
        return CountWindows(query.window, partial(_over_time, query, make, WHOLE_STREAM))
    return _over_time(query, make, query.window or WHOLE_STREAM)


def _over_time(query: CompiledQuery, make: MakeEvaluator, window: Window) -> Evaluator:
    if query.analysis.conjunction:
        return Conjunction([make(query, part, window) for part in query.parts], query.arithmetic)
    return make(query, query.parts[0], window)
