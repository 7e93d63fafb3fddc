"""COGRA's granularities, GRETA and SASE on one stream: events per second, and the ratio to the coarsest.

`slots` is the type granularity of the trend machine, for which COGRA has its own loop (`online.kernels.sums`).

Run by hand: python benchmarks/granularities.py
"""

from __future__ import annotations

from functools import partial

import numpy as np

from cepbench.algorithms.trends.online.graph import GraphGrained
from cepbench.events.batch import EventBatch
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey
from streams import best_of, evaluate, random_stream

WITHIN = "WITHIN 1000 s"
CASES = [
    ("type-grained, COUNT(*)", "cogra", "RETURN COUNT(*) PATTERN (SEQ(A+, B))+"),
    ("type-grained, COUNT(*)", "slots", "RETURN COUNT(*) PATTERN (SEQ(A+, B))+"),
    ("type-grained, all aggregates", "cogra", "RETURN COUNT(A), SUM(A.x), MIN(A.x) PATTERN (SEQ(A+, B))+"),
    ("type-grained, all aggregates", "slots", "RETURN COUNT(A), SUM(A.x), MIN(A.x) PATTERN (SEQ(A+, B))+"),
    ("pattern-grained, next", "cogra", "RETURN COUNT(*) PATTERN (SEQ(A+, B))+ SEMANTICS next"),
    ("pattern-grained, next", "slots", "RETURN COUNT(*) PATTERN (SEQ(A+, B))+ SEMANTICS next"),
    ("pattern-grained, contiguous", "cogra", "RETURN COUNT(*) PATTERN (SEQ(A+, B))+ SEMANTICS cont"),
    ("pattern-grained, next, predicate", "cogra",
     "RETURN COUNT(*) PATTERN (SEQ(A+, B))+ SEMANTICS next WHERE A.x < NEXT(A).x"),
    ("mixed-grained, predicate", "cogra", "RETURN COUNT(*) PATTERN (SEQ(A+, B))+ WHERE A.x < NEXT(A).x"),
    ("event-grained", "greta", "RETURN COUNT(*) PATTERN (SEQ(A+, B))+"),
    ("two-step, contiguous", "sase", "RETURN COUNT(*) PATTERN (SEQ(A+, B))+ SEMANTICS cont"),
]  # fmt: skip


def main() -> None:
    stream = random_stream(1_000_000)
    coarsest = None
    print(f"{'granularity':<34} {'algorithm':<9} {'M events/s':>10} {'slower by':>9}")
    for name, algorithm, query in CASES:
        run = by_slots if algorithm == "slots" else partial(evaluate, algorithm)
        seconds = best_of(partial(run, f"{query} {WITHIN}", stream), 3)
        coarsest = coarsest or seconds
        print(f"{name:<34} {algorithm:<9} {len(stream) / seconds / 1e6:>10.2f} {seconds / coarsest:>9.1f}", flush=True)


def by_slots(text: str, stream: EventBatch) -> None:
    """Evaluates a query by slots of the trend machine."""
    query = compile_workload([parse_query(text)], stream.schema).queries[0]
    assert query.window is not None
    nothing = np.zeros(len(query.parts[0].tables.start), np.bool_)
    executor = OneKey(GraphGrained(query, query.parts[0], query.window, nothing))
    executor.process(stream)
    executor.finish()


if __name__ == "__main__":
    main()
