"""Running an algorithm on a case, batch by batch, as the differential test and the contract tests do."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from algorithms.answer import AnswerBuilder
from algorithms.base import Algorithm, Executor, Plan, Statistics, UnsupportedQuery
from algorithms.rows import Group, Rows
from events.batch import EventBatch
from experiments.random_cases import Case, batch_of, split
from queries.compile import Workload, compile_workload
from queries.model import Query

Evaluator = Callable[[Case], pd.DataFrame]
"""The answer to a case. Raises `UnsupportedQuery` with the reason, or `QueryError` if the query does not compile."""


def evaluator_of(algorithm: Algorithm, arithmetic: str = "modular") -> Evaluator:
    """Runs an algorithm on cases."""

    def evaluate(case: Case) -> pd.DataFrame:
        batches = split(batch_of(case.events), case.cuts)
        return run(algorithm, case.query, batches, arithmetic, promise=case.promise, pickled=case.pickled)

    return evaluate


def run(
    algorithm: Algorithm,
    query: Query,
    batches: Sequence[EventBatch],
    arithmetic: str = "modular",
    *,
    promise: bool = False,
    pickled: bool = False,
) -> pd.DataFrame:
    """The answer of one query over the batches of a stream (at least one), with an executor per sub-stream.

    With `promise` a batch tells the time of the next event in `until`; with `pickled` executors are pickled after each.
    """
    return answer_of(algorithm, query, batches, arithmetic, promise=promise, pickled=pickled).frame()


def answer_of(
    algorithm: Algorithm,
    query: Query,
    batches: Sequence[EventBatch],
    arithmetic: str = "modular",
    *,
    promise: bool = False,
    pickled: bool = False,
    summarised: bool = False,
) -> AnswerBuilder:
    """As `run`, before it becomes a table; with `summarised`, matches are counted and digested only."""
    workload = compile_workload([query], batches[0].schema, arithmetic, summarised=summarised)
    reason = algorithm.unsupported(query)
    if reason is not None:
        raise UnsupportedQuery(reason)
    plan = algorithm.plan(workload, Statistics())
    substreams = _Substreams(algorithm, plan)
    answer = AnswerBuilder(workload)
    for number, batch in enumerate(batches):
        until = _next_time(batches[number + 1 :]) if promise else None
        for key, events in substreams.split(batch, until):
            _add(answer, key, substreams.executors[key].process(events))
            if pickled:
                substreams.executors[key] = pickle.loads(pickle.dumps(substreams.executors[key]))
    for key, executor in substreams.executors.items():
        _add(answer, key, executor.finish())
    return answer


class _Substreams:
    """Executors by the values of the partition attributes; without such attributes there is one from the start."""

    def __init__(self, algorithm: Algorithm, plan: Plan):
        self._algorithm = algorithm
        self._plan = plan
        self._attributes = _partition(plan.workload)
        self.executors: dict[Group, Executor] = {} if self._attributes else {(): algorithm.executor(plan)}

    def split(self, batch: EventBatch, until: int | None) -> list[tuple[Group, EventBatch]]:
        """The part of a batch for every sub-stream seen so far; those without events hear of `until` only."""
        if not self._attributes:
            return [((), batch.slice(0, len(batch), until))]
        columns = [batch.schema.decode(name, batch.columns[name].tolist()) for name in self._attributes]
        rows: dict[Group, list[int]] = {key: [] for key in self.executors}
        for row in range(len(batch)):
            rows.setdefault(tuple(column[row] for column in columns), []).append(row)
        for key in rows.keys() - self.executors.keys():
            self.executors[key] = self._algorithm.executor(self._plan)
        parts = {key: batch.take(_indices(indices)) for key, indices in rows.items()}
        return [(key, part.slice(0, len(part), until)) for key, part in parts.items() if len(part) or until is not None]


def _partition(workload: Workload) -> tuple[str, ...]:
    [query] = workload.queries
    return query.partition


def _indices(rows: Sequence[int]) -> NDArray[np.int64]:
    return np.array(rows, np.int64)


def _next_time(batches: Sequence[EventBatch]) -> int | None:
    """The time of the first event in these batches, or None."""
    return next((int(batch.time[0]) for batch in batches if len(batch)), None)


def _add(answer: AnswerBuilder, key: Group, rows: Rows) -> None:
    for query, found in rows.items():
        answer.add(query, key, found)
