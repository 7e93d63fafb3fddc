"""Random small cases for the differential test against the oracle: queries, a stream, and cuts of batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np

from cepbench.events.batch import DTYPES, EventBatch
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.queries.model import Query, occurrences
from cepbench.queries.parser import parse_query
from cepbench.queries.printing import to_text
from cepbench.verification.draw import Draw
from cepbench.verification.features import Feature, Pair, pairs, query_features, row_features
from cepbench.verification.random_patterns import TYPES
from cepbench.verification.random_predicates import ATTRIBUTES, STRINGS
from cepbench.verification.random_queries import random_query, variation
from cepbench.verification.random_streams import IRRELEVANT, random_events

TRIES = 15
RICHNESS = (0.0, 0.4, 1.0, 1.0)
NULL: Mapping[Kind, int | float | str] = {Kind.INT: 0, Kind.FLOAT: float("nan"), Kind.STRING: ""}
"""The representation of null in columns (`events.files.numbers`)."""

CASE_FEATURES = frozenset(
    {
        Feature.GROUPS, Feature.TIES, Feature.NULLS, Feature.COUNT_OVERFLOW, Feature.SUM_OVERFLOW, Feature.WORKLOAD,
        Feature.BATCHES, Feature.PICKLED, Feature.PROMISES,
    }
)  # fmt: skip
"""Features that a query alone does not have."""

Rows = list[dict[str, Any]]


@dataclass(frozen=True)
class Case:
    """Queries on one stream of the schema of `random_queries`, events in time order; None is a null.

    Batches end before the indices `cuts`. With `promise` the `watermark` of a batch is the time of the next event; with
    `pickled` executors are pickled after every batch.
    """

    seed: int
    queries: tuple[Query, ...]
    events: tuple[Mapping[str, Any], ...]
    cuts: tuple[int, ...] = ()
    promise: bool = False
    pickled: bool = False

    @property
    def query(self) -> Query:
        """The only query, or the first."""
        return self.queries[0]


def random_case(
    seed: int,
    wanted: frozenset[Feature] = frozenset(),
    banned: frozenset[Feature] = frozenset(),
    check: Callable[[Sequence[Query]], None] = lambda _: None,
) -> Case:
    """The case of a seed, which probably has the requested features. `check` may raise before the stream is drawn.

    Without requests it has one query with random features, and its stream is short enough for the oracle.
    """
    random = Random(seed)
    few = Feature.COUNT_OVERFLOW in wanted  # since predicates and negations keep counts small
    draw = Draw.of(random, wanted, banned, random.choice(RICHNESS[:2] if few else RICHNESS) if wanted else 1.0)
    queries = [random_query(draw, wanted=wanted - CASE_FEATURES, tries=TRIES)]
    if wanted and draw.has(Feature.WORKLOAD, 0.2):
        for number in range(2, random.choice((3, 3, 4, 5))):
            name = f"q{number}"
            queries.append(variation(draw, queries[0], name) if random.random() < 0.8 else random_query(draw, name))
    check(queries)
    return _on_a_stream(seed, tuple(parse_query(to_text(query)) for query in queries), draw)


def _on_a_stream(seed: int, queries: tuple[Query, ...], draw: Draw) -> Case:
    random = draw.random
    events = random_events(draw, queries)
    cuts = random_cuts(random, len(events)) if draw.has(Feature.BATCHES, 0.9) else ()
    promise, pickled = draw.has(Feature.PROMISES, 0.5), draw.has(Feature.PICKLED, 0.3)
    return Case(seed, queries, events, cuts, promise=promise, pickled=pickled)


def features(case: Case, rows: Sequence[Rows]) -> list[frozenset[Feature]]:
    """The features of each query of a case with its stream, given its rows (`agreement.expected_rows`)."""
    around: set[Feature] = set()
    if len(case.queries) > 1:
        around.add(Feature.WORKLOAD)
    if case.cuts:
        around.add(Feature.BATCHES)
    if case.pickled:
        around.add(Feature.PICKLED)
    if case.promise and case.cuts:
        around.add(Feature.PROMISES)
    if any(value is None for event in case.events for value in event.values()):
        around.add(Feature.NULLS)
    return [
        query_features(query) | row_features(query, answered) | _stream_features(case, query) | around
        for query, answered in zip(case.queries, rows, strict=True)
    ]


def pairs_of(case: Case, rows: Sequence[Rows]) -> set[Pair]:
    """The pairs of features that occur together in a case, in queries that have rows."""
    by_query = features(case, rows)
    return {pair for present, answered in zip(by_query, rows, strict=True) if answered for pair in pairs(present)}


def _stream_features(case: Case, query: Query) -> set[Feature]:
    types = {event.type for event in occurrences(query.pattern)}
    keys = [tuple(event[name] for name in query.partition) for event in case.events]
    moments = [(event["time"], key) for event, key in zip(case.events, keys, strict=True) if event["type"] in types]
    ties = {Feature.TIES} if len(set(moments)) < len(moments) else set()
    return ties | ({Feature.GROUPS} if len(set(keys)) > 1 else set())


def random_cuts(random: Random, size: int) -> tuple[int, ...]:
    """Some of the places between `size` events, drawn with one of several densities."""
    density = random.choice((0.1, 0.3, 0.6, 1.0))
    return tuple(index for index in range(1, size) if random.random() < density)


def every_event(case: Case) -> tuple[int, ...]:
    """Cuts that leave one event per batch."""
    return tuple(range(1, len(case.events)))


def inside_time_stamps(case: Case) -> tuple[int, ...]:
    """Cuts between simultaneous events only."""
    times = [event["time"] for event in case.events]
    return tuple(index for index, (time, later) in enumerate(pairwise(times), start=1) if time == later)


def batch_of(events: Sequence[Mapping[str, Any]]) -> EventBatch:
    """Events of the random schema as one batch, read-only as batches from Arrow are."""
    attributes = tuple(Attribute(name, kind) for name, kind in ATTRIBUTES.items())
    schema = Schema((*TYPES, IRRELEVANT), attributes, "s", STRINGS)
    columns: dict[str, Any] = {}
    for name, kind in ATTRIBUTES.items():
        values = [NULL[kind] if event[name] is None else event[name] for event in events]
        codes = [schema.string_code(str(value)) for value in values] if kind is Kind.STRING else values
        columns[name] = np.array(codes, DTYPES[kind])
    time = np.array([event["time"] for event in events], np.int64)
    type_codes = np.array([schema.type_code(event["type"]) for event in events], np.int32)
    position = np.arange(len(events), dtype=np.int64)
    for array in (time, type_codes, position, *columns.values()):
        array.flags.writeable = False
    return EventBatch(schema, time, type_codes, columns, position)


def split(batch: EventBatch, cuts: Sequence[int]) -> list[EventBatch]:
    """A batch in pieces that end before the given indices; without events, one empty piece."""
    return [batch.slice(start, stop) for start, stop in pairwise((0, *cuts, len(batch)))]
