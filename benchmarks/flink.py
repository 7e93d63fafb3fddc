"""SEQ(A, B, C) under skip-till-any-match on Flink and on SASE: seconds for the events of one window, and the ratio.

Run by hand, where Flink is installed (docs/engines.md): python benchmarks/flink.py [events ...]
"""

from __future__ import annotations

import sys
import time

import numpy as np

from cepbench.algorithms.registry import make
from cepbench.events.batch import EventBatch
from cepbench.events.schema import Schema
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey

QUERY = "RETURN COUNT(*) PATTERN SEQ(A, B, C)"
TRIES = 5
"""Of SASE, whose median counts."""


def in_turn(events: int) -> EventBatch:
    """Events of the three types in turn."""
    every = np.arange(events, dtype=np.int64)
    return EventBatch(Schema(("A", "B", "C"), (), "s", ()), every, (every % 3).astype(np.int32), {}, every)


def seconds(name: str, events: EventBatch) -> tuple[float, int]:
    """The time of an executor that was warmed up on few events, and its count of matches."""
    algorithm = make(name)
    plan = algorithm.plan(compile_workload([parse_query(QUERY)], events.schema), Statistics())
    times = []
    for batch in (in_turn(9), *[events] * (TRIES if name == "sase" else 1)):
        executor = OneKey(algorithm.operator(plan))
        executor.load()
        started = time.perf_counter()
        executor.process(batch)
        [rows] = executor.finish().values()
        times.append(time.perf_counter() - started)
    return float(np.median(times[1:])), int(rows.ring[0, 0])


def main() -> None:
    for size in map(int, sys.argv[1:] or ("100", "200", "400")):
        (slow, count), (fast, expected) = (seconds(name, in_turn(size)) for name in ("flink", "sase"))
        assert count == expected
        print(f"{size} events, {count} matches: Flink {slow:.1f} s, SASE {1e3 * fast:.2f} ms, {slow / fast:,.0f} times")


if __name__ == "__main__":
    main()
