"""A-Seq: counter updates per second on one core; and Sharon beside it in the same run, under a plan that shares.

Run by hand: python benchmarks/aseq.py [events]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence

import numpy as np

from cepbench.algorithms.engine.flattening import sequences_of
from cepbench.algorithms.rows import AggregateRows
from cepbench.algorithms.sequences.executor import sequence_operator
from cepbench.algorithms.sequences.plan import Candidate, SharingPlan
from cepbench.events.batch import EventBatch
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey
from streams import REPETITIONS

TYPES = 20
LENGTH = 10
QUERIES = (5, 20, 60)
SHARED = {"prefix": slice(0, LENGTH - 1), "middle": slice(1, LENGTH - 1), "suffix": slice(1, LENGTH)}
WINDOWS = ("", "WITHIN 2000 s SLIDE 2000 s", "WITHIN 2000 s SLIDE 1000 s", "WITHIN 2000 s SLIDE 200 s")


def main() -> None:
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    print(f"A-Seq, 50 queries of {LENGTH} events over {TYPES} types, {events} events")
    print(f"{'window':<28} {'returns':<12} {'at once':>7} {'M updates':>10} {'M updates/s':>12} {'events/s':>10}")
    for simultaneous in (1, 5):
        stream = random_stream(events, simultaneous)
        for window in WINDOWS:
            for returns in ("COUNT(*)", "SUM({}.x)"):
                plan = planned(random_patterns(50), window, stream, returns)
                seconds, updates, _ = measured(plan, stream)
                print(
                    f"{window or 'one':<28} {returns:<12} {simultaneous:>7} {updates / 1e6:>10.1f} "
                    f"{updates / seconds / 1e6:>12.1f} {events / seconds:>10.0f}",
                    flush=True,
                )
    print(f"\nSharon under a plan that shares {LENGTH - 2} of {LENGTH} places among all queries, and A-Seq")
    print(
        f"{'window':<28} {'queries':>7} {'A-Seq s':>9} {'Sharon s':>9} {'ratio':>6} {'updates':>8} {'combinations':>13}"
    )
    stream = random_stream(events, 1)
    for window in WINDOWS:
        for name, places in SHARED.items():
            for queries in QUERIES:
                compare(queries, window, stream, name, places)


def compare(queries: int, window: str, stream: EventBatch, name: str, places: slice) -> None:
    """Times of both, whose answers must agree; `updates` is the ratio of counter updates."""
    alone = planned(overlapping_patterns(queries, places), window, stream, "COUNT(*)")
    plan = shared(alone, places)
    seconds, updates, expected = measured(alone, stream)
    sharing, fewer, answered = measured(plan, stream)
    assert list(map(str, answered)) == list(map(str, expected))
    combinations = executed(plan, stream).details()["combinations"]
    print(
        f"{window or 'one':<28} {name:<7} {queries:>7} {seconds:>9.3f} {sharing:>9.3f} {seconds / sharing:>6.1f} "
        f"{updates / fewer:>8.1f} {combinations / 1e6:>12.1f}M",
        flush=True,
    )


def random_stream(events: int, simultaneous: int) -> EventBatch:
    """Events of random types with an integer attribute x, `simultaneous` of them at each time stamp."""
    random = np.random.default_rng(0)
    schema = Schema(tuple(f"T{i}" for i in range(TYPES)), (Attribute("x", Kind.INT),))
    return EventBatch(
        schema,
        np.arange(events, dtype=np.int64) // simultaneous,
        random.integers(0, TYPES, events).astype(np.int32),
        {"x": random.integers(0, 100, events)},
        np.arange(events, dtype=np.int64),
    )


def random_patterns(queries: int) -> list[list[int]]:
    """Distinct types in random order."""
    random = np.random.default_rng(1)
    return [random.permutation(TYPES)[:LENGTH].tolist() for _ in range(queries)]


def overlapping_patterns(queries: int, places: slice) -> list[list[int]]:
    """The same types at `places`, random ones elsewhere."""
    random = np.random.default_rng(2)
    common = range(TYPES)[places]
    others = [t for t in range(TYPES) if t not in common]
    patterns = []
    for _ in range(queries):
        drawn = iter(random.permutation(others).tolist())
        patterns.append([place if place in common else next(drawn) for place in range(LENGTH)])
    return patterns


def planned(patterns: Sequence[Sequence[int]], window: str, stream: EventBatch, returns: str) -> SharingPlan:
    """Nothing is shared."""
    texts = [
        f"RETURN {returns.format(f'T{types[4]}')} PATTERN SEQ({', '.join(f'T{t}' for t in types)}) {window}"
        for types in patterns
    ]
    workload = compile_workload([parse_query(text) for text in texts], stream.schema)
    return SharingPlan(workload, tuple(s for query in workload for s in sequences_of(query, None)), ())


def shared(plan: SharingPlan, places: slice) -> SharingPlan:
    """All queries share `places`."""
    pattern = plan.sequences[0].symbols[places]
    occurrences = tuple((index, places.start) for index in range(len(plan.sequences)))
    return SharingPlan(plan.workload, plan.sequences, (Candidate(pattern, occurrences),))


def executed(plan: SharingPlan, stream: EventBatch) -> OneKey:
    executor = OneKey(sequence_operator(plan))
    executor.process(stream)
    executor.finish()
    return executor


def measured(plan: SharingPlan, stream: EventBatch) -> tuple[float, float, list[tuple[int, list[object]]]]:
    """The least CPU time after a run that compiles, counter updates, and the rows of each query."""
    times = []
    for _ in range(REPETITIONS + 1):
        executor = OneKey(sequence_operator(plan))
        begin = time.process_time()
        parts = [executor.process(stream), executor.finish()]
        times.append(time.process_time() - begin)
    rows = [
        (query, [part[query].window.tolist(), part[query].ring.tolist(), part[query].overflow.tolist()])
        for part in parts
        for query in sorted(part)
        if isinstance(part[query], AggregateRows)
    ]
    return min(times[1:]), executor.details()["updates"], rows


if __name__ == "__main__":
    main()
