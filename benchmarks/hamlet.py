"""Hamlet: throughput of a shared workload beside GRETA and COGRA, costs by number of queries, and its decisions.

Run by hand: python benchmarks/hamlet.py [workload | queries | choice]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from itertools import product

import numpy as np

from cepbench.algorithms.base import Executor
from cepbench.algorithms.registry import make
from cepbench.events.batch import EventBatch
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query

QUERIES, WINDOW, BURST = 50, 10_000, 120
SPECIFICATIONS = ("hamlet", "hamlet[sharing=static]", "hamlet[sharing=never]", "cogra")


def bursts(events: int, burst: int, kinds: int = QUERIES, seed: int = 0) -> EventBatch:
    """Bursts of about `burst` events B, each after an event of one of the types X0, X1, ...; one event per second."""
    random = np.random.default_rng(seed)
    schema = Schema(("B", *(f"X{n}" for n in range(kinds))), (Attribute("x", Kind.INT),))
    first = random.random(events) < 1 / (burst + 1)
    kind = np.where(first, random.integers(1, kinds + 1, events), 0).astype(np.int32)
    numbers = np.arange(events, dtype=np.int64)
    return EventBatch(schema, numbers, kind, {"x": random.integers(0, 1000, events)}, numbers)


def run(specification: str, queries: Sequence[str], events: EventBatch) -> tuple[float, Executor]:
    """CPU seconds of `process` and `finish`, and the spent executor; batches are as large as in measured runs."""
    algorithm = make(specification)
    workload = compile_workload([parse_query(f"q{n}: {text}") for n, text in enumerate(queries)], events.schema)
    executor = algorithm.executor(algorithm.plan(workload, Statistics()))
    started = time.process_time()
    for first in range(0, len(events), 1 << 16):
        executor.process(events.slice(first, min(first + (1 << 16), len(events))))
    executor.finish()
    return time.process_time() - started, executor


def best(specification: str, queries: Sequence[str], events: EventBatch, repetitions: int = 3) -> float:
    """The least time of a few runs, after one that loads the kernels."""
    run(specification, queries, events.slice(0, 1000))
    return min(run(specification, queries, events)[0] for _ in range(repetitions))


def sharing(queries: int, where: Sequence[str] = ("",)) -> list[str]:
    """SEQ(X, B+) for a type X each."""
    return [f"RETURN COUNT(*) PATTERN SEQ(X{n}, B+) {where[n % len(where)]} WITHIN {WINDOW} s" for n in range(queries)]


def workload() -> None:
    print(f"{QUERIES} queries SEQ(X, B+), {WINDOW} events per window, bursts of {BURST}")
    rates = {}
    for name, size in (("greta", WINDOW), *((name, 50 * WINDOW) for name in SPECIFICATIONS)):
        events = bursts(size, BURST)
        rates[name] = size / best(name, sharing(QUERIES), events, 1 if name == "greta" else 3)
        print(
            f"{name:<24} {rates[name]:>14,.0f} events/s {rates[name] / rates['greta']:>10.1f} times greta", flush=True
        )


def queries() -> None:
    """Static sharing of k identical queries."""
    events = bursts(20 * WINDOW, BURST)
    one = 0.0
    for k in (1, 2, 5, 10, 20, 50):
        texts = [f"RETURN COUNT(*) PATTERN SEQ(X0, B+) WITHIN {WINDOW} s"] * k
        seconds = best("hamlet[sharing=static]", texts, events)
        one = one or seconds
        visits = run("hamlet[sharing=static]", texts, events)[1].details()["event_visits"]
        print(f"{k:>3} queries {seconds / one:>6.2f} times one {visits:>12,.0f} event visits", flush=True)


def choice() -> None:
    """Dynamic against the better of the others, by burst length and by how many events only some queries match."""
    print(f"{'burst':>5} {'mixed':>6} {'dynamic':>9} {'static':>9} {'never':>9} {'dynamic / better':>17} {'shared':>7}")
    for burst, mixed in product((2, 5, 20, 120), (0.0, 0.01, 0.1, 0.5)):
        events = bursts(4 * WINDOW, burst)
        texts = sharing(20, ("", f"WHERE B.x >= {int(1000 * mixed)}"))
        times = [best(name, texts, events) for name in SPECIFICATIONS[:3]]
        details = run("hamlet", texts, events)[1].details()
        rates = [len(events) / seconds / 1e6 for seconds in times]
        print(f"{burst:>5} {mixed:>6} {rates[0]:>7.2f} M {rates[1]:>7.2f} M {rates[2]:>7.2f} M "
              f"{times[0] / min(times[1:]):>17.2f} {details['shared_bursts'] / details['bursts']:>7.2f}",
              flush=True)  # fmt: skip


if __name__ == "__main__":
    parts = {"workload": workload, "queries": queries, "choice": choice}
    for name in sys.argv[1:] or parts:
        parts[name]()
