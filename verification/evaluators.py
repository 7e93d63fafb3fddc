"""Running an algorithm on a case, batch by batch, as the differential test and the contract tests do."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.base import Algorithm, Executor, KeyedBatch, Operator, StateSize, UnsupportedQuery
from cepbench.algorithms.rows import Rows
from cepbench.events.batch import EventBatch
from cepbench.events.errors import CepbenchError
from cepbench.events.schema import Schema
from cepbench.events.statistics import Statistics
from cepbench.pipeline.jobs import prepare
from cepbench.pipeline.loop import Loop, into
from cepbench.queries.model import Query
from cepbench.verification.random_cases import Case, batch_of, split


class OnlyPlans(CepbenchError):
    """The algorithm answers no query."""


@dataclass(frozen=True)
class Subject:
    """The subject of a verification: its reason to refuse a query (or None), and its answer to a case.

    `answer` raises `UnsupportedQuery`, `LongerMatch`, or `QueryError` (invalid query). A subject that `enumerates`
    constructs every match, and gets no cases with too many of them; one that `flattens` gets none with long matches;
    one that `detects` gets only detection queries.
    """

    name: str
    unsupported: Callable[[Query], str | None]
    answer: Callable[[Case], pd.DataFrame]
    enumerates: bool = False
    flattens: bool = False
    detects: bool = False


def subject_of(algorithm: Algorithm, arithmetic: str = "modular", name: str | None = None) -> Subject:
    """An algorithm as a subject."""

    def answer(case: Case) -> pd.DataFrame:
        batches = split(batch_of(case.events), case.cuts)
        how = {"promise": case.promise, "pickled": case.pickled, "whole": True}
        return answer_of(algorithm, case.queries, batches, arithmetic, **how).frame()

    facts = algorithm.enumerates, algorithm.flattens, algorithm.detects
    return Subject(name or algorithm.name, algorithm.refusal, answer, *facts)


def run(
    algorithm: Algorithm,
    queries: Query | Sequence[Query],
    batches: Sequence[EventBatch],
    arithmetic: str = "modular",
    *,
    promise: bool = False,
    pickled: bool = False,
) -> pd.DataFrame:
    """The answer of queries over the batches of a stream (at least one), with one executor per key.

    With `promise` each batch has a watermark, the time of the next event. With `pickled` executors are pickled after
    each.
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
    whole: bool = False,
) -> AnswerBuilder:
    """As `run`, before it becomes a table; with `summarised`, matches are only counted and digested.

    With `whole` an answer that would be cut off on purpose raises `UnsupportedQuery`, and one that is empty since the
    algorithm only plans raises `OnlyPlans`.
    """
    asked = (queries,) if isinstance(queries, Query) else tuple(queries)
    for query in asked:
        reason = algorithm.refusal(query)
        if reason is not None:
            raise UnsupportedQuery(reason)
    prepared = prepare(asked, algorithm, batches[0].schema, arithmetic, Statistics(), summarised=summarised)
    if whole and prepared.cut_off:
        raise UnsupportedQuery("answers are cut off on purpose, and compared with none")
    if whole and prepared.unanswered:
        raise OnlyPlans(f"{algorithm.name} only plans: its answers are empty, and compared with none")
    answer = AnswerBuilder(prepared.workload)
    parts = [_promising(batch, batches[n:]) for n, batch in enumerate(batches, start=1)] if promise else batches
    for job in prepared.jobs:
        Loop(job, algorithm.operator(job.plan)).run(parts, into(answer), pickled=pickled)
    return answer


class OneKey(Executor):
    """An operator on a stream of one key, whose rows have no key."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator

    def process(self, events: EventBatch) -> Rows:
        return _without_key(self.operator.process(KeyedBatch.of_one_key(events)))

    def finish(self) -> Rows:
        return _without_key(self.operator.finish())

    def state(self) -> StateSize:
        return self.operator.state()

    def details(self) -> Mapping[str, float]:
        return self.operator.details()

    def load(self) -> None:
        self.operator.load()


def _without_key(rows: Rows) -> Rows:
    return {query: part.of_only_key() for query, part in rows.items()}


class Evaluation:
    """Queries on one key, a call at a time; `process` and `finish` return how many rows were reported."""

    def __init__(self, algorithm: Algorithm, queries: Query | Sequence[Query], schema: Schema) -> None:
        asked = (queries,) if isinstance(queries, Query) else tuple(queries)
        prepared = prepare(asked, algorithm, schema, "modular", Statistics())
        self._executors: list[Executor] = [OneKey(algorithm.operator(job.plan)) for job in prepared.jobs]
        self._answer = AnswerBuilder(prepared.workload)

    def process(self, events: EventBatch) -> int:
        """Processes the next batch. Raises `OutOfOrder`."""
        return sum(self._add(executor.process(events)) for executor in self._executors)

    def finish(self) -> int:
        """Ends the stream."""
        return sum(self._add(executor.finish()) for executor in self._executors)

    def state(self) -> StateSize:
        """The largest state since the last call."""
        return sum((executor.state() for executor in self._executors), StateSize())

    def copy(self) -> Evaluation:
        """A copy that continues independently, as in another process."""
        copied: Evaluation = pickle.loads(pickle.dumps(self))
        return copied

    def frame(self) -> pd.DataFrame:
        """The answer so far."""
        return self._answer.frame()

    def _add(self, rows: Rows) -> int:
        for query, aggregates in rows.items():
            if len(aggregates):
                self._answer.add(query, (), aggregates)
        return sum(map(len, rows.values()))


def _promising(batch: EventBatch, later: Sequence[EventBatch]) -> EventBatch:
    """A batch whose watermark is the time of the first later event."""
    return batch.slice(0, len(batch), next((int(after.time[0]) for after in later if len(after)), None))
