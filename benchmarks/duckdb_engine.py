"""Sequences, NOT, Kleene and detection on DuckDB beside other algorithms: processor time of one process, best of three.

Run by hand, where DuckDB is installed (docs/engines.md): python benchmarks/duckdb_engine.py [algorithm ...]
"""

from __future__ import annotations

import sys
import time

import numpy as np

from cepbench.algorithms.registry import make
from cepbench.algorithms.rows import AggregateRows
from cepbench.events.batch import EventBatch
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey

TRIES = 3
CASES = (
    ("PATTERN SEQ(A, B, C) WITHIN 100 s", 20_000, 3),
    ("PATTERN SEQ(A, B, C) WHERE A.x < B.x AND B.x < C.x WITHIN 100 s", 20_000, 3),
    ("PATTERN SEQ(A, B, C)", 400, 3),
    ("PATTERN SEQ(A, B, C, D, E, F) WITHIN 60 s", 6_000, 6),
    ("PATTERN SEQ(A, NOT C, B) WITHIN 100 s", 20_000, 3),
    ("PATTERN A+ WHERE A.x < NEXT(A).x WITHIN 40 s", 20_000, 3),
    ("PATTERN SEQ(A, B, C) WITHIN 30 s PER MATCH", 3_000, 3),
)
"""Patterns, whose matches are counted, and numbers of events and types."""


def at_random(events: int, types: int) -> EventBatch:
    """An event per second, with random types and an attribute from 0 to 99."""
    random, every = np.random.default_rng(1), np.arange(events, dtype=np.int64)
    schema = Schema(tuple("ABCDEF"[:types]), (Attribute("x", Kind.INT),), "s", ())
    kinds = random.integers(0, types, events).astype(np.int32)
    return EventBatch(schema, every, kinds, {"x": random.integers(0, 100, events)}, every)


def seconds(name: str, pattern: str, events: EventBatch) -> tuple[float, float] | None:
    """Processor time and the number of matches; None if the algorithm refuses the query."""
    algorithm, query = make(name), parse_query(f"RETURN COUNT(*) {pattern}")
    if algorithm.refusal(query) is not None:
        return None
    plan = algorithm.plan(compile_workload([query], events.schema), Statistics())
    times = []
    for batch in (events.slice(0, 20), *[events] * TRIES):
        executor = OneKey(algorithm.operator(plan))
        executor.load()
        started = time.process_time()
        answers = [executor.process(batch), executor.finish()]
        times.append(time.process_time() - started)
    rows = [part for answer in answers for part in answer.values() if isinstance(part, AggregateRows)]
    return min(times[1:]), sum(float(part.ring[:, 0].sum()) for part in rows)


def main() -> None:
    for pattern, size, types in CASES:
        events, reported = at_random(size, types), [f"{size:,} events"]
        counts = set()
        for name in sys.argv[1:] or ("duckdb", "duckdb[plan=recursive]", "sase", "core", "cogra"):
            result = seconds(name, pattern, events)
            reported.append(f"{name} {'-' if result is None else f'{1e3 * result[0]:.1f} ms'}")
            counts |= set() if result is None else {result[1]}
        [count] = counts
        print(f"{pattern}: {count:,.0f} matches; {', '.join(reported)}", flush=True)


if __name__ == "__main__":
    main()
