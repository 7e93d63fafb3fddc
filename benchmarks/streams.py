"""Streams and timing for the benchmarks."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from cepbench.algorithms.base import Executor
from cepbench.algorithms.registry import make
from cepbench.algorithms.rows import Rows
from cepbench.events.batch import EventBatch
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey

BATCH = 1 << 20
REPETITIONS = 5


def random_stream(events: int, types: int = 2, simultaneous: int = 1, seed: int = 0) -> EventBatch:
    """Events of random types with a uniform attribute x, `simultaneous` of them at each time stamp."""
    random = np.random.default_rng(seed)
    schema = Schema(tuple("ABCDEFGH"[:types]), (Attribute("x", Kind.FLOAT),))
    return EventBatch(
        schema,
        np.arange(events, dtype=np.int64) // simultaneous,
        random.integers(0, types, events).astype(np.int32),
        {"x": random.random(events)},
        np.arange(events, dtype=np.int64),
    )


def best_of(run: Callable[[], object], repetitions: int = REPETITIONS) -> float:
    """The least CPU time of a run in seconds, after one run that compiles."""
    run()
    times = []
    for _ in range(repetitions):
        begin = time.process_time()
        run()
        times.append(time.process_time() - begin)
    return min(times)


def evaluate(specification: str, query: str, events: EventBatch) -> tuple[Executor, list[Rows]]:
    """All rows of a query over a stream in one sub-stream, fed in batches, and the spent executor."""
    return evaluate_planned(planned(specification, query, events), events)


def planned(specification: str, query: str, events: EventBatch) -> Callable[[], Executor]:
    """Creates executors of a query over such a stream, which is parsed, compiled and planned once."""
    workload = compile_workload([parse_query(query)], events.schema)
    algorithm = make(specification)
    plan = algorithm.plan(workload, Statistics())
    return lambda: OneKey(algorithm.operator(plan))


def evaluate_planned(executors: Callable[[], Executor], events: EventBatch) -> tuple[Executor, list[Rows]]:
    """As `evaluate`, once the query is planned."""
    executor = executors()
    parts = [executor.process(events.slice(i, min(i + BATCH, len(events)))) for i in range(0, len(events), BATCH)]
    return executor, [*parts, executor.finish()]
