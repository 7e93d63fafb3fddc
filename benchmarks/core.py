"""CORE's update phase by itself: events per second of the kernel over arrays, and the time and steps of an event.

    python -m cepbench.benchmarks.core [--events 2000000]

- No last event: SEQ of three types and one that never comes, windows of 100 to 1,000,000 events. Nothing is output.
- Places: SEQ of 3 to 24 places of one type, each event of which leads every state on.
- COUNT(*) by products of counts (ours), in windows of 100 to 100,000 events.
- Enumeration: matches per second, and the delay between two, in steps and in seconds.

Times are those of the process, without compilation.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from cepbench.algorithms.detection.core.automaton import SubsetAutomaton
from cepbench.algorithms.detection.core.counting import CountExecutor
from cepbench.algorithms.detection.core.kernels.automaton import Lack
from cepbench.algorithms.detection.core.kernels.enumeration import delay_of
from cepbench.algorithms.detection.core.runs import Runs
from cepbench.algorithms.engine.batches import kernel_events
from cepbench.events.batch import EventBatch
from cepbench.events.schema import Schema
from cepbench.queries.compile import CompiledQuery, compile_workload
from cepbench.queries.parser import parse_query

BATCH = 65_536
TYPES = tuple("ABCDEFGHIJKL")


def stream(size: int, types: int, seed: int = 1) -> EventBatch:
    """Uniform types, an event per unit of time."""
    random = np.random.default_rng(seed)
    schema = Schema(TYPES, (), "s", ())
    kinds = random.integers(0, types, size).astype(np.int32)
    return EventBatch(schema, np.arange(size), kinds, {}, np.arange(size))


def compiled(text: str) -> CompiledQuery:
    """A query over the types."""
    return compile_workload([parse_query(text)], Schema(TYPES, (), "s", ())).queries[0]


def runs_of(query: CompiledQuery) -> Runs:
    """Runs that digest matches."""
    assert query.window is not None
    return Runs(
        query.parts[0], SubsetAutomaton.of(query.parts[0]), query.reach, query.window.counts_events, digests=True
    )


def read(text: str, events: EventBatch) -> tuple[Runs, float]:
    """The runs after all events, and the seconds of the process per event, without the first fifth of them."""
    query = compiled(text)
    runs, spent, measured = runs_of(query), 0.0, 0
    for start in range(0, len(events), BATCH):
        piece = events.slice(start, min(start + BATCH, len(events)))
        batch = kernel_events(query.columns, piece)
        started = time.process_time()
        runs.read(batch, piece.position)
        if 5 * (start + len(piece)) > len(events):
            spent, measured = spent + time.process_time() - started, measured + len(piece)
    return runs, spent / measured


def no_last_event(size: int) -> None:
    """Windows of all sizes, of events and of time."""
    events = stream(size, 9)
    print("no last event: SEQ(A, B, C, L), 3 of 9 types")
    for unit in ("events", "s"):
        for window in (100, 1_000, 10_000, 100_000, 1_000_000):
            runs, seconds = read(f"PATTERN SEQ(A, B, C, L) WITHIN {window} {unit} PER MATCH", events)
            count = runs.counters
            print(
                f"  {window:>9,} {unit:<6} {1e-6 / seconds:6.1f} M events/s, {seconds * 1e9:6.1f} ns and "
                f"{count['steps'] / len(events):.3f} steps per event, {count['next_node'] / len(events):.3f} nodes, "
                f"{runs.live_nodes:,} live, room for {runs.set.room(Lack.NODES):,}"
            )


def places(size: int) -> None:
    """Every event leads every state on."""
    events = stream(size, 1)
    print("places of one type, the last one never comes")
    for number in (3, 6, 12, 24):
        pattern = ", ".join(["A"] * number + ["L"])
        runs, seconds = read(f"PATTERN SEQ({pattern}) WITHIN 10000 events PER MATCH", events)
        states = len(runs.automaton.states) - 1
        print(f"  {number:>2} places: {seconds * 1e9:7.1f} ns per event, {seconds * 1e9 / states:5.1f} ns per state")


def counting(size: int) -> None:
    """COUNT(*) without a search."""
    events = stream(size, 9)
    print("COUNT(*) by products")
    for text in ("SEQ(A, B, C)", "SEQ(A, B+, C)"):
        for window in (100, 1_000, 10_000, 100_000):
            query = compiled(f"RETURN COUNT(*) PATTERN {text} WITHIN {window} events PER MATCH")
            evaluator, started = CountExecutor(query, SubsetAutomaton.of(query.parts[0])), time.process_time()
            for start in range(0, size, BATCH):
                evaluator.process(events.slice(start, min(start + BATCH, size)))
            spent, details = time.process_time() - started, evaluator.details()
            print(
                f"  {text:<14} {window:>7,} events: {1e-6 * size / spent:5.1f} M events/s, "
                f"{details['update_steps'] / size:5.2f} steps per event, state of {evaluator.state().bytes:,} bytes"
            )


def enumeration(size: int) -> None:
    """Matches, and what lies between them."""
    print("enumeration, digested")
    for text, types in (("SEQ(A, B, C)", 9), ("SEQ(A, B+, C)", 9), ("SEQ(A, B, C, D, E, F)", 9)):
        window = 100 if "+" not in text else 60
        runs, _ = read(f"PATTERN {text} WITHIN {window} events PER MATCH", stream(size, types))
        delays, mark = runs.search.arrays.delays, runs.search.arrays.counters[0]
        matches = int(delays.sum())
        tick = runs.enumeration_seconds / max(int(mark["all_ticks"]), 1)
        worst = delay_of(int(np.searchsorted(np.cumsum(delays), 0.999 * matches)))
        print(
            f"  {text:<22} {matches:>12,} matches, mean {runs.enumeration_seconds / matches * 1e9:6.1f} ns, "
            f"p99.9 {worst * tick * 1e9:7.1f} ns, max {mark['slowest'] * tick * 1e6:8.1f} us, "
            f"at most {mark['max_steps']} steps, {mark['max_ratio'] / 1000:.2f} per event of the match"
        )
        assert mark["digest_rows"] == mark["matches"] == 0


def main() -> None:
    """All of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=4_000_000)
    size = parser.parse_args().events
    read("PATTERN SEQ(A, B+, C) WITHIN 20 events PER MATCH", stream(2_000, 4))  # compiles
    no_last_event(size)
    places(size // 8)
    counting(size // 4)
    enumeration(size // 100)


if __name__ == "__main__":
    main()
