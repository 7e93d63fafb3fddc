"""Runs of a pattern over streams without attributes."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.detection.core.automaton import SubsetAutomaton
from cepbench.algorithms.detection.core.runs import Runs
from cepbench.algorithms.engine.batches import kernel_events
from cepbench.algorithms.rows import MatchDigests
from cepbench.events.batch import EventBatch
from cepbench.events.schema import Schema
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query

SCHEMA = Schema(("A", "B", "C", "L"), (), "s", ())


def uniform(size: int, types: int = 3, seed: int = 1, ties: int = 1) -> EventBatch:
    """Types at random, `ties` events per unit of time."""
    kinds = np.random.default_rng(seed).integers(0, types, size).astype(np.int32)
    return EventBatch(SCHEMA, np.arange(size) // ties, kinds, {}, np.arange(size))


def runs_of(pattern: str, digests: bool = True) -> Runs:
    """Before the first event; the pattern has its span."""
    [query] = compile_workload([parse_query(f"PATTERN {pattern} PER MATCH")], SCHEMA)
    assert query.window is not None
    return Runs(query.parts[0], SubsetAutomaton.of(query.parts[0]), query.reach, query.window.counts_events, digests)


def feed(runs: Runs, events: EventBatch) -> int:
    """Reads a batch; returns the number of matches that it ended."""
    [query] = compile_workload([parse_query("PATTERN A WITHIN 1 s PER MATCH")], SCHEMA)
    parts = runs.read(kernel_events(query.columns, events), events.position)
    return sum(int(rows.matches.sum()) if isinstance(rows, MatchDigests) else len(rows) for rows in parts)


def steps(runs: Runs) -> int:
    """Counted operations of the update so far."""
    return int(runs.counters["steps"])
