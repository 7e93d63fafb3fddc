"""Running an algorithm on a case, batch by batch, as the differential test and the contract tests do."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from algorithms.answer import AnswerBuilder
from algorithms.base import Algorithm, Executor, Plan, Statistics, UnsupportedQuery
from algorithms.rows import Group, Rows
from events.batch import EventBatch
from queries.compile import Workload, compile_workload
from queries.model import Query
from verification.random_cases import Case, batch_of, split


@dataclass(frozen=True)
class Subject:
    """What is verified: why it refuses a query (None: it does not), and its answer to a case.

    `answer` raises `UnsupportedQuery`, or `QueryError` if a query does not compile. Who `enumerates` constructs every
    match, and cannot be given cases with too many of them; who `flattens` none with long matches.
    """

    name: str
    unsupported: Callable[[Query], str | None]
    answer: Callable[[Case], pd.DataFrame]
    enumerates: bool = False
    flattens: bool = False


def subject_of(algorithm: Algorithm, arithmetic: str = "modular", name: str | None = None) -> Subject:
    """An algorithm as a subject."""

    def answer(case: Case) -> pd.DataFrame:
        batches = split(batch_of(case.events), case.cuts)
        return run(algorithm, case.queries, batches, arithmetic, promise=case.promise, pickled=case.pickled)

    return Subject(name or algorithm.name, algorithm.unsupported, answer, algorithm.enumerates, algorithm.flattens)


def run(
    algorithm: Algorithm,
    queries: Query | Sequence[Query],
    batches: Sequence[EventBatch],
    arithmetic: str = "modular",
    *,
    promise: bool = False,
    pickled: bool = False,
) -> pd.DataFrame:
    """The answer of queries over the batches of a stream (at least one), with an executor per sub-stream.

    With `promise` a batch tells the time of the next event in `until`; with `pickled` executors are pickled after each.
    """
    return answer_of(algorithm, queries, batches, arithmetic, promise=promise, pickled=pickled).frame()


def answer_of(
    algorithm: Algorithm,
    queries: Query | Sequence[Query],
    batches: Sequence[EventBatch],
    arithmetic: str = "modular",
    *,
    promise: bool = False,
    pickled: bool = False,
    summarised: bool = False,
) -> AnswerBuilder:
    """As `run`, before it becomes a table; with `summarised`, matches are counted and digested only."""
    asked = (queries,) if isinstance(queries, Query) else tuple(queries)
    workload = compile_workload(asked, batches[0].schema, arithmetic, summarised=summarised)
    for query in asked:
        reason = algorithm.unsupported(query)
        if reason is not None:
            raise UnsupportedQuery(reason)
    answer = AnswerBuilder(workload)
    for members in _by_partition(workload):
        chosen = compile_workload([asked[i] for i in members], batches[0].schema, arithmetic, summarised=summarised)
        substreams = _Substreams(algorithm, algorithm.plan(chosen, Statistics()))
        for number, batch in enumerate(batches):
            until = _next_time(batches[number + 1 :]) if promise else None
            for key, events in substreams.split(batch, until):
                _add(answer, members, key, substreams.executors[key].process(events))
                if pickled:
                    substreams.executors[key] = pickle.loads(pickle.dumps(substreams.executors[key]))
        for key, executor in substreams.executors.items():
            _add(answer, members, key, executor.finish())
    return answer


def _by_partition(workload: Workload) -> list[list[int]]:
    """Indices of the queries that split the stream alike."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for query in workload:
        groups.setdefault(query.partition, []).append(query.index)
    return list(groups.values())


class _Substreams:
    """Executors by the values of the partition attributes; without such attributes there is one from the start."""

    def __init__(self, algorithm: Algorithm, plan: Plan):
        self._algorithm = algorithm
        self._plan = plan
        self._attributes = plan.workload.queries[0].partition
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


def _indices(rows: Sequence[int]) -> NDArray[np.int64]:
    return np.array(rows, np.int64)


def _next_time(batches: Sequence[EventBatch]) -> int | None:
    """The time of the first event in these batches, or None."""
    return next((int(batch.time[0]) for batch in batches if len(batch)), None)


def _add(answer: AnswerBuilder, members: Sequence[int], key: Group, rows: Rows) -> None:
    for query, found in rows.items():
        answer.add(members[query], key, found)
