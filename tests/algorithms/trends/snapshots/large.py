"""Workloads of many queries on streams that are too long for the oracle: long bursts, long windows, several groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from cepbench.events.batch import EventBatch
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.queries.model import Query
from cepbench.queries.parser import parse_query

TYPES = "ABCDZ"
SUMMED = ("{}+", "SEQ({0}+, {1})", "SEQ({1}, {0}+)", "SEQ({1}, {0}+, {2})", "SEQ({1}, {2}, {0}+)", "SEQ({1}+, {0}+)",
          "(SEQ({1}, {0}+))+", "(SEQ({0}+, {1}))+", "(SEQ({1}, ({0}+), {2}))+", "SEQ({1}, NOT {2}, {0}+)",
          "SEQ({0}+, NOT {1})", "SEQ(NOT {1}, {0}+)", "SEQ({1}?, {0}+)")  # fmt: skip
"""Patterns without an event that is visited: an event costs no more in a longer window."""
VISITED = (*SUMMED, "SEQ({0}+, {1}, {0}+)")
ITEMS = ("COUNT({})", "MIN({}.x)", "MAX({}.y)", "SUM({}.x)", "AVG({}.x)", "SUM({}.y)")
BURSTS = ((20, 20), (20, 120), (100, 1000))


@dataclass(frozen=True)
class LargeCase:
    """Queries on one stream, which is cut into batches before `cuts`."""

    queries: tuple[Query, ...]
    events: EventBatch
    cuts: tuple[int, ...]


def large_workload(seed: int, size: int, visited: bool, patterns: Sequence[str] = ()) -> LargeCase:
    """10 to 30 queries, of `patterns` if there are any.

    Windows hold an eighth to a half of `size` events, or if events are `visited` up to 400.

    Many events are simultaneous, or only some queries match them, so that counts of many windows do not overflow.
    """
    random = Random(seed)
    groups, ties = random.choice((1, 1, 3)), random.choice((1, 25, 200))
    most = min(400, size // 2) if visited else size // 2
    windows = _windows(random, max(4, most // ties))
    aggregates = random.sample(ITEMS, 2)
    queries = tuple(
        parse_query(_query(random, n, visited, patterns, random.choice(windows), aggregates, groups > 1))
        for n in range(random.randint(10, 30))
    )
    cuts = sorted(random.sample(range(1, size), random.choice((0, 3, 12))))
    return LargeCase(queries, _stream(seed, size, groups, ties, random.choice(BURSTS)), tuple(cuts))


def _windows(random: Random, most: int) -> list[str]:
    """Of different lengths, that slide or tumble."""
    windows = []
    for part in random.sample((1, 2, 4), 2):
        within = max(2, most // part)
        slide = max(1, within // random.choice((1, 2, 5)))
        windows.append(f"WITHIN {within} s SLIDE {slide} s")
    return windows


def _query(
    random: Random,
    number: int,
    visited: bool,
    patterns: Sequence[str],
    window: str,
    aggregates: list[str],
    grouped: bool,
) -> str:
    names = ["A", *random.sample("BCD", 3)]
    pattern = random.choice(patterns or (VISITED if visited else SUMMED)).format(*names)
    conditions = []
    if random.random() < 0.6:
        conditions.append(f"A.x {random.choice(('<', '>='))} {random.choice((20, 100, 500, 900, 980))}")
    if random.random() < 0.3:
        conditions.append(f"{names[1]}.x < {random.choice((50, 500))}")
    if visited and random.random() < 0.4:
        conditions.append(f"A.x {random.choice(('< 0.2 *', '!=', '>='))} NEXT(A).x")
    items = ["COUNT(*)"] + [item.format("A") for item in aggregates if random.random() < 0.6]
    conditions = [condition for condition in conditions if f"{condition[0]}" in pattern]
    where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
    return f"q{number}: RETURN {', '.join(items)} PATTERN {pattern} {where} {'GROUP-BY g' if grouped else ''} {window}"


def _stream(seed: int, size: int, groups: int, ties: int, burst: tuple[int, int]) -> EventBatch:
    """Bursts of one type, more than half of them of A; `ties` events per second."""
    random = np.random.default_rng(seed)
    lengths = random.integers(burst[0], burst[1] + 1, size)
    kinds = random.choice(len(TYPES), size, p=(0.55, 0.15, 0.15, 0.1, 0.05)).astype(np.int32)
    lengths = np.where(kinds == 0, lengths, random.integers(1, 5, size))
    schema = Schema(tuple(TYPES), (Attribute("x", Kind.INT), Attribute("y", Kind.FLOAT), Attribute("g", Kind.INT)))
    columns = {
        "x": random.integers(0, 1000, size),
        "y": random.integers(-8, 9, size) / 4,
        "g": np.repeat(random.integers(1, groups + 1, size), random.choice((1, 50)))[:size],
    }
    numbers = np.arange(size, dtype=np.int64)
    return EventBatch(schema, numbers // ties, np.repeat(kinds, lengths)[:size], columns, numbers)
