"""A workload made ready for a stream: queries that split the stream alike form a job; jobs run on batches of events."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from algorithms.answer import AnswerBuilder
from algorithms.base import Algorithm, Executor, Plan, Statistics, UnsupportedQuery
from algorithms.registry import make
from algorithms.rows import Rows
from events.batch import EventBatch
from events.schema import Schema
from pipeline.substreams import RawKey, decode, split
from queries.compile import Workload, compile_workload
from queries.model import Query
from queries.workloads import parse_workload


@dataclass(frozen=True)
class Job:
    """Queries with the same partition attributes, compiled and planned. `numbers` are their places in the workload."""

    partition: tuple[str, ...]
    workload: Workload
    plan: Plan
    numbers: tuple[int, ...]

    @property
    def attributes(self) -> frozenset[str]:
        """The attributes of events that the job reads."""
        return frozenset(self.partition).union(*self.workload.needs.values())


@dataclass(frozen=True)
class Prepared:
    """A workload on an algorithm: picklable, runs anywhere."""

    algorithm: Algorithm
    workload: Workload
    jobs: tuple[Job, ...]

    @property
    def notices(self) -> tuple[str, ...]:
        """What users should know of the plans."""
        return tuple(dict.fromkeys(notice for job in self.jobs for notice in job.plan.notices))


@dataclass(frozen=True)
class Counts:
    """What a run met: events handed to executors, and sub-streams, summed over jobs."""

    events: int = 0
    substreams: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(self.events + other.events, self.substreams + other.substreams)


def parse_supported(workload_text: str, algorithm: str) -> tuple[tuple[Query, ...], Algorithm]:
    """The queries and the algorithm. Raises `QueryError`, `UnknownAlgorithm` or `UnsupportedQuery` with the reason."""
    queries = parse_workload(workload_text)
    made = make(algorithm)
    for query in queries:
        reason = made.unsupported(query)
        if reason is not None:
            raise UnsupportedQuery(f"{algorithm} cannot evaluate query {query.name}: {reason}")
    return queries, made


def prepare(
    queries: Sequence[Query], algorithm: Algorithm, schema: Schema, arithmetic: str, statistics: Statistics
) -> Prepared:
    """Compiles and plans supported queries for a stream."""
    workload = compile_workload(queries, schema, arithmetic)
    jobs = []
    for partition in dict.fromkeys(query.partition for query in queries):
        numbers = tuple(n for n, query in enumerate(queries) if query.partition == partition)
        part = compile_workload([queries[n] for n in numbers], schema, arithmetic)
        jobs.append(Job(partition, part, algorithm.plan(part, statistics), numbers))
    return Prepared(algorithm, workload, tuple(jobs))


def run_job(prepared: Prepared, job: Job, batches: Iterable[EventBatch], answer: AnswerBuilder) -> Counts:
    """Runs a job on all events of its sub-streams in time order, one executor per sub-stream; rows go to `answer`."""
    run = _Run(prepared, job, answer)
    for batch in batches:
        run.process(batch)
    return run.finish()


class _Run:
    def __init__(self, prepared: Prepared, job: Job, answer: AnswerBuilder) -> None:
        self._prepared, self._job, self._answer = prepared, job, answer
        self._executors: dict[RawKey, Executor] = {}
        self._events = 0

    def process(self, batch: EventBatch) -> None:
        self._events += len(batch)
        pieces = split(batch, self._job.partition)
        for key, piece in pieces:
            if key not in self._executors:
                self._executors[key] = self._prepared.algorithm.executor(self._job.plan)
            self._take(key, self._executors[key].process(piece))
        if batch.until is not None:
            nothing = batch.slice(len(batch), len(batch), batch.until)
            for key in self._executors.keys() - {key for key, _ in pieces}:
                self._take(key, self._executors[key].process(nothing))

    def finish(self) -> Counts:
        counts = Counts(self._events, len(self._executors))
        while self._executors:
            key, executor = self._executors.popitem()
            self._take(key, executor.finish())
        return counts

    def _take(self, key: RawKey, rows: Rows) -> None:
        for number, found in rows.items():
            if len(found):
                decoded = decode(self._prepared.workload.schema, self._job.partition, key)
                self._answer.add(self._job.numbers[number], decoded, found)
