"""Runs an algorithm on a few synthetic events, so that kernels are compiled and loaded before the clock starts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.base import Algorithm, KeyedBatch, Plan
from cepbench.algorithms.engine.kernels.compilation import loaded, mark_compiled
from cepbench.events.batch import DTYPES, EventBatch
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.events.statistics import Statistics
from cepbench.pipeline.jobs import prepare
from cepbench.pipeline.slicing import operators
from cepbench.queries.compile import CompiledQuery, Workload
from cepbench.queries.model import occurrences
from cepbench.queries.parser import parse_query

EVENTS = 16
"""Few enough for an algorithm that enumerates all their combinations."""

PER_WINDOW = 6
MOST_QUERIES = 20
"""Kernels do not depend on the query, so a few queries of a large workload show all of them."""

COMMON = (
    "RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 10 s SLIDE 5 s",
    "RETURN COUNT(*), SUM(A.x), MAX(A.x) PATTERN SEQ(A+, B) WHERE A.x < NEXT(A).x WITHIN 10 s",
    "RETURN COUNT(*) PATTERN SEQ(A+, B) WITHIN 10 s",
    "RETURN COUNT(*) PATTERN SEQ(A+, B) WHERE [x] WITHIN 10 s",
    "RETURN MIN(A.x), MAX(A.x) PATTERN SEQ(A+, B) WITHIN 10 s",
    "RETURN COUNT(*) PATTERN SEQ(A+, NOT C, B) WITHIN 10 s",
    "RETURN COUNT(*) PATTERN A+ SEMANTICS skip-till-next-match WHERE A.x < NEXT(A).x WITHIN 10 s",
    "RETURN COUNT(*) PATTERN SEQ(A+, B) SEMANTICS skip-till-next-match WITHIN 10 s",
    "RETURN COUNT(*) PATTERN SEQ(A+, B) SEMANTICS contiguous WITHIN 10 s",
    "RETURN COMPLETE MATCHES PATTERN A+ WHERE A.x < NEXT(A).x WITHIN 10 s",
    "RETURN MATCHES PATTERN SEQ(A, B) WHERE A.x < B.x WITHIN 10 s PER MATCH",
)
"""Queries whose kernels are those that most queries need."""


def warm_up_common(algorithm: Algorithm, arithmetic: str = "modular") -> None:
    """Warms up for the common queries that an algorithm supports, with counts of an arithmetic."""
    schema = Schema(("A", "B", "C"), (Attribute("x", Kind.INT),), "s", ())
    for query in map(parse_query, COMMON):
        if algorithm.refusal(query) is None:
            for job in prepare((query,), algorithm, schema, arithmetic, Statistics()).jobs:
                warm_up(algorithm, job.plan)


def warm_up(algorithm: Algorithm, plan: Plan) -> None:
    """Runs the whole workload once by its plan, which may have been expensive to find.

    If that had to load kernels, its queries may need more of them than a few events show together: then its first
    queries run one by one, too. Workers in which all kernels are loaded skip this, which took Gloria 0.5 s with 100
    queries.
    """
    workload, before = plan.workload, loaded()
    _run(algorithm, plan)
    if len(workload) > 1 and loaded() != before:
        for query in workload.queries[:MOST_QUERIES]:
            _run(algorithm, algorithm.plan(workload.part([query.index]), Statistics()))
    if loaded() != before:
        mark_compiled(algorithm.name, workload.arithmetic)


def _run(algorithm: Algorithm, plan: Plan) -> None:
    """Runs a plan on a few events."""
    events, step = made_up(plan.workload), _step(plan.workload)
    half, end = len(events) // 2, int(events.time[-1])
    for operator in operators(algorithm, plan):
        operator.load()
        operator.process(KeyedBatch.of_one_key(events.slice(0, half)))
        operator.process(KeyedBatch.of_one_key(events.slice(half, len(events), end)))
        operator.state()
        operator.process(KeyedBatch.of_one_key(events.slice(len(events), len(events), end + step)))
        operator.finish()


def made_up(workload: Workload) -> EventBatch:
    """`EVENTS` events whose types follow the patterns from left to right repeatedly, with random attributes.

    A time window contains about `PER_WINDOW` of them, so that some windows close.
    """
    schema = workload.schema
    codes = [schema.type_code(event.type) for query in workload for event in occurrences(query.query.pattern, False)]
    codes = [code for code in codes if code >= 0] or [0]
    random = np.random.default_rng(0)
    return EventBatch(
        schema,
        np.arange(EVENTS, dtype=np.int64) * _step(workload),
        np.resize(np.array(codes, np.int32), EVENTS),
        {attribute.name: _column(schema, attribute.kind, random) for attribute in schema.attributes},
        np.arange(EVENTS, dtype=np.int64),
    )


def _column(schema: Schema, kind: Kind, random: np.random.Generator) -> NDArray[np.generic]:
    if kind is Kind.FLOAT:
        return random.random(EVENTS)
    values = max(1, len(schema.strings)) if kind is Kind.STRING else 10
    return random.integers(values, size=EVENTS).astype(DTYPES[kind])


def _step(workload: Workload) -> int:
    return max(1, min((_within(query) for query in workload), default=1) // PER_WINDOW)


def _within(query: CompiledQuery) -> int:
    return 1 if query.window is None or query.window.counts_events else query.window.within
