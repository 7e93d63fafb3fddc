"""A workload made ready for a stream: queries that split the stream alike form a job; jobs run on batches of events."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os.path import isfile
from pathlib import Path

from cepbench.algorithms.base import Algorithm, Plan, UnsupportedQuery
from cepbench.algorithms.registry import make
from cepbench.events.errors import listed
from cepbench.events.schema import Schema
from cepbench.events.statistics import Statistics
from cepbench.metrics.details import merged
from cepbench.queries.compile import Workload, compile_workload
from cepbench.queries.errors import QueryError
from cepbench.queries.model import Query, occurrences
from cepbench.queries.predicates import directions
from cepbench.queries.workloads import parse_workload

SHOWN_TYPES = 12
"""Types of a stream that a notice lists."""


@dataclass(frozen=True)
class Job:
    """Queries with the same partition attributes, compiled and planned; they keep their index in the workload."""

    partition: tuple[str, ...]
    workload: Workload
    plan: Plan

    @property
    def attributes(self) -> frozenset[str]:
        """The attributes of events that the job reads."""
        return frozenset(self.partition).union(*self.workload.needs.values())


@dataclass(frozen=True)
class Prepared:
    """A workload on an algorithm: picklable, runs anywhere.

    `plan_seconds` is the planning time of all jobs; `unseen` has the notices on event types that the stream lacks,
    on events in no window, and on comparisons of events that come in both orders.
    """

    algorithm: Algorithm
    workload: Workload
    jobs: tuple[Job, ...]
    plan_seconds: float = 0.0
    unseen: tuple[str, ...] = ()

    @property
    def splits_groups(self) -> bool:
        """Whether several keys may contribute to one row."""
        return any(len(query.query.group_by) < len(query.partition) for query in self.workload)

    @property
    def unanswered(self) -> bool:
        """Whether all jobs only plan."""
        return all(job.plan.unanswered for job in self.jobs)

    @property
    def cut_off(self) -> bool:
        """Whether a job leaves matches out on purpose."""
        return any(job.plan.cut_off for job in self.jobs)

    @property
    def details(self) -> dict[str, float]:
        """Statistics that the optimizer reports of its search, over all jobs."""
        return merged(job.plan.details for job in self.jobs)

    @property
    def notices(self) -> tuple[str, ...]:
        """Notices on the workload, this stream, and the plans."""
        plans = dict.fromkeys(notice for job in self.jobs for notice in job.plan.notices)
        return (*self.unseen, *plans)


def parse_supported(workload_text: str, algorithm: str) -> tuple[tuple[Query, ...], Algorithm]:
    """The queries and the algorithm. Raises `QueryError`, `UnknownAlgorithm` or `UnsupportedQuery` with the reason."""
    if _names_a_file(workload_text):
        raise QueryError(f"{str(workload_text)!r} looks like a file; read it first, and give its text")
    queries = parse_workload(workload_text)
    system = make(algorithm)
    check_supported(queries, system, algorithm)
    return queries, system


def _absent(workload: Workload, statistics: Statistics) -> Iterator[str]:
    """Notices on event types of the queries that do not occur in the stream."""
    types = [name for name in workload.schema.types if not statistics.events or statistics.rates.get(name)]
    shown = listed(types[:SHOWN_TYPES]) + (", ..." if len(types) > SHOWN_TYPES else "")
    for query in workload if types else ():
        named = dict.fromkeys(event.type for event in occurrences(query.query.pattern))
        if missing := [name for name in named if name not in types]:
            yield f"query {query.query.name}: the stream has no events of type {listed(missing)}; it has {shown}"


def _gaps(workload: Workload) -> Iterator[str]:
    """Notices on queries whose windows leave events out."""
    for query in workload:
        window = query.row_window
        if window is not None and window.slide > window.within:
            yield f"query {query.query.name}: SLIDE is longer than WITHIN, so that events between windows are in none"


def _directions(workload: Workload) -> Iterator[str]:
    """Notices on comparisons of events that come in both orders."""
    for query in workload:
        yield from (f"query {query.query.name}: {notice}" for notice in directions(query.query))


def _names_a_file(workload_text: str | Path) -> bool:
    """Whether it is a path and not a query: a query has more than one word."""
    text = str(workload_text).strip()
    return isinstance(workload_text, Path) or (len(text.split()) == 1 and (text.endswith(".sase") or isfile(text)))


def check_supported(queries: Sequence[Query], algorithm: Algorithm, name: str | None = None) -> None:
    """Raises `UnsupportedQuery` with the reason for the first query that the algorithm, named `name`, refuses."""
    for query in queries:
        reason = algorithm.refusal(query)
        if reason is not None:
            raise UnsupportedQuery(f"{name or algorithm.name} cannot evaluate query {query.name}: {reason}")


def prepare(
    queries: Sequence[Query],
    algorithm: Algorithm,
    schema: Schema,
    arithmetic: str,
    statistics: Statistics,
    *,
    summarised: bool = False,
) -> Prepared:
    """Compiles and plans supported queries for a stream, once for all callers.

    With `summarised`, matches are only counted and digested.
    """
    return plan(compile_workload(queries, schema, arithmetic, summarised=summarised), algorithm, statistics)


def plan(workload: Workload, algorithm: Algorithm, statistics: Statistics) -> Prepared:
    """Plans a compiled workload. Queries with equal partition attributes are one job, however they group."""
    jobs = []
    seconds = 0.0
    for partition in dict.fromkeys(query.partition for query in workload):
        part = workload.part([query.index for query in workload if query.partition == partition])
        started = time.perf_counter()
        planned = algorithm.plan(part, statistics)
        seconds += time.perf_counter() - started
        jobs.append(Job(partition, part, planned))
    return Prepared(
        algorithm,
        workload,
        tuple(jobs),
        seconds,
        (*_absent(workload, statistics), *_gaps(workload), *_directions(workload)),
    )
