"""Random small cases for the differential test against the oracle: a query, a stream, and where batches are cut."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np

from algorithms.oracle import check_query
from events.batch import DTYPES, EventBatch
from events.schema import Attribute, Kind, Schema
from experiments.random_queries import ATTRIBUTES, STRINGS, TYPES, random_query
from queries.errors import QueryError
from queries.model import Query, occurrences
from queries.parser import parse_query
from queries.printing import to_text

IRRELEVANT = "Z"
"""A type that no pattern names; contiguous semantics sees it."""

SHORT = (0, 2, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15)
LONG = (25, 40, 60, 90)
"""Numbers of events. Long streams need short windows, or the oracle would not end."""

BIG = 2**62
"""Two of these overflow a sum of integers."""


@dataclass(frozen=True)
class Case:
    """One query on one stream of the schema of `random_queries`, events in time order.

    Batches end before the indices `cuts`. With `promise` a batch tells in `until` when the next event comes; with
    `pickled` executors are pickled after every batch.
    """

    seed: int
    query: Query
    events: tuple[Mapping[str, Any], ...]
    cuts: tuple[int, ...] = ()
    promise: bool = False
    pickled: bool = False


def random_case(seed: int) -> Case:
    """The case of a seed. Its query has a meaning; an algorithm may still not support it."""
    random = Random(seed)
    query = _meaningful_query(random)
    events = _random_events(random, query)
    cuts = random_cuts(random, len(events))
    return Case(seed, query, events, cuts, promise=random.random() < 0.5, pickled=random.random() < 0.3)


def random_cuts(random: Random, size: int) -> tuple[int, ...]:
    """Some of the places between `size` events, drawn with one of several densities."""
    density = random.choice((0.1, 0.3, 0.6))
    return tuple(index for index in range(1, size) if random.random() < density)


def every_event(case: Case) -> tuple[int, ...]:
    """Cuts that leave one event per batch."""
    return tuple(range(1, len(case.events)))


def inside_time_stamps(case: Case) -> tuple[int, ...]:
    """Cuts between simultaneous events only."""
    times = [event["time"] for event in case.events]
    return tuple(index for index, (one, other) in enumerate(pairwise(times), start=1) if one == other)


def batch_of(events: Sequence[Mapping[str, Any]], time_unit: str = "s") -> EventBatch:
    """Events of the random schema as one batch, read-only as batches from Arrow are."""
    attributes = tuple(Attribute(name, kind) for name, kind in ATTRIBUTES.items())
    schema = Schema((*TYPES, IRRELEVANT), attributes, time_unit, STRINGS)
    columns: dict[str, Any] = {}
    for name, kind in ATTRIBUTES.items():
        values = [schema.string_code(event[name]) if kind is Kind.STRING else event[name] for event in events]
        columns[name] = np.array(values, DTYPES[kind])
    time = np.array([event["time"] for event in events], np.int64)
    type_codes = np.array([schema.type_code(event["type"]) for event in events], np.int32)
    position = np.arange(len(events), dtype=np.int64)
    for array in (time, type_codes, position, *columns.values()):
        array.flags.writeable = False
    return EventBatch(schema, time, type_codes, columns, position)


def split(batch: EventBatch, cuts: Sequence[int]) -> list[EventBatch]:
    """A batch in pieces that end before the given indices; without events, one empty piece."""
    return [batch.slice(start, stop) for start, stop in pairwise((0, *cuts, len(batch)))]


def _meaningful_query(random: Random) -> Query:
    while True:
        try:
            query = parse_query(to_text(random_query(random)))
            check_query(query)
        except QueryError:
            continue
        return query


def _short_windows(query: Query) -> bool:
    return query.window is not None and query.window.within.amount <= 6


def _random_events(random: Random, query: Query) -> tuple[Mapping[str, Any], ...]:
    relevant = [event.type for event in occurrences(query.pattern)]
    size = random.choice(LONG if _short_windows(query) and random.random() < 0.4 else SHORT)
    groups, drivers = random.choice((1, 1, 2, 3)), random.choice((1, 1, 2))
    big = random.random() < 0.05
    ties = random.choice((0.0, 0.2, 0.4, 0.6))
    time = random.choice((0, 0, 1, 7, 30, 10**12))
    events = []
    for _ in range(size):
        x = random.choice((-BIG, BIG)) if big and random.random() < 0.5 else random.randint(-3, 6)
        events.append(
            {
                "time": time,
                "type": IRRELEVANT if random.random() < 0.08 else random.choice(relevant),
                "g": random.randint(1, groups),
                "h": random.randint(1, drivers),
                "x": x,
                "y": random.randint(-8, 16) / 4,  # quarters, so that sums of floats are exact in any order
                "s": random.choice(STRINGS),
            }
        )
        time += 0 if random.random() < ties else random.choice((1, 1, 1, 2, 3))
    return tuple(events)
