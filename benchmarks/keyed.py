"""NOT, AND and windows of events on many keys, relative to the same work without them.

    python benchmarks/keyed.py [ALGORITHM ...]

`NOT`: seconds with a negated event over those without. `AND`: over the sum of both sides as queries. `events`: windows
of events over those on one key with as many events; `batches`: that stream in 12 batches.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from cepbench.algorithms.registry import make
from cepbench.events.batch import EventBatch
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.events.statistics import Statistics
from cepbench.pipeline.jobs import plan
from cepbench.pipeline.loop import Loop
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query

SCHEMA = Schema(("T", "R", "A"), (Attribute("k", Kind.INT),))
EVENTS = 200_000
REPETITIONS = 3
IN_TIME = "GROUP-BY k WITHIN 120 s SLIDE 60 s"
IN_EVENTS = "GROUP-BY k WITHIN 10 EVENTS SLIDE 5 EVENTS"


def stream(keys: int) -> EventBatch:
    """An hour of events, of which three of five are T."""
    random = np.random.default_rng(1)
    times = np.sort(random.integers(0, 3600, EVENTS))
    kinds = random.choice([0, 0, 0, 1, 2], EVENTS).astype(np.int32)
    return EventBatch(SCHEMA, times, kinds, {"k": random.integers(0, keys, EVENTS)}, np.arange(EVENTS))


def seconds(specification: str, pattern: str, window: str, queries: int, events: EventBatch, batches: int = 1) -> float:
    """The least seconds that an operator takes for so many equal queries."""
    text = f"RETURN k, COUNT(*) PATTERN {pattern} {window}"
    workload = compile_workload([parse_query(f"q{n}: {text}") for n in range(queries)], SCHEMA)
    algorithm, step, times = make(specification), -(-EVENTS // batches), []
    for _ in range(REPETITIONS):
        spent = 0.0
        for job in plan(workload, algorithm, Statistics()).jobs:
            loop = Loop(job, algorithm.operator(job.plan))
            for start in range(0, EVENTS, step):
                stop = min(EVENTS, start + step)
                until = int(events.time[stop]) if stop < EVENTS else None
                for call in loop.calls(events.slice(start, stop, until), last=stop == EVENTS):
                    began = time.perf_counter()
                    loop.operator.process(call)
                    spent += time.perf_counter() - began
            began = time.perf_counter()
            loop.operator.finish()
            spent += time.perf_counter() - began
        times.append(spent)
    return min(times)


if __name__ == "__main__":
    print("algorithm    keys queries    plain   NOT   AND events batches")
    for name in sys.argv[1:] or ("cogra", "greta"):
        single = stream(1)
        for keys in (20, 10_000):
            events = stream(keys)
            for queries in (1, 20):
                plain = seconds(name, "SEQ(T, A)", IN_TIME, queries, events)
                negated = seconds(name, "SEQ(T, NOT R, A)", IN_TIME, queries, events)
                other_side = seconds(name, "SEQ(R, A)", IN_TIME, queries, events)
                both = seconds(name, "SEQ(T, A) AND SEQ(R, A)", IN_TIME, queries, events)
                counted, alone = (seconds(name, "SEQ(T, A)", IN_EVENTS, queries, given) for given in (events, single))
                cut, alone_cut = (
                    seconds(name, "SEQ(T, A)", IN_EVENTS, queries, given, 12) for given in (events, single)
                )
                ratios = (negated / plain, both / (plain + other_side), counted / alone, cut / alone_cut)
                shown = "".join(f"{ratio:>{width}.2f}" for ratio, width in zip(ratios, (6, 6, 7, 8), strict=True))
                print(f"{name:<10} {keys:>6} {queries:>7} {plain:>8.3f}{shown}", flush=True)
