"""The measured workload of a cell: rate, events and matches per window, selectivity of adjacent predicates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.events.batch import EventBatch
from cepbench.events.units import seconds
from cepbench.metrics.record import Realised
from cepbench.pipeline.keys import ordered
from cepbench.pipeline.replay import Measured
from cepbench.pipeline.store import Stream, read_stream, stream_batches
from cepbench.queries.binding import bound_terms, column_of, related
from cepbench.queries.compile import CompiledQuery, Workload
from cepbench.queries.model import Comparison, Operand, Query, occurrences

SAMPLE_EVENTS = 20_000
SAMPLE_PAIRS = 100_000


def realised(stream: Stream, workload: Workload, answer: AnswerBuilder, measured: Sequence[Measured]) -> Realised:
    """The fields of a record on the input and the answer; `measured` by worker.

    Reads up to `SAMPLE_EVENTS` events of the stream.
    """
    rows, matches, windows = answer.rows, answer.matches, len(answer.windows)
    duration = stream.statistics.duration
    query = workload.queries[0] if len(workload) else None
    return Realised(
        events=stream.events,
        windows=windows,
        rows=rows,
        substreams=sum(worker.substreams for worker in measured),
        batches=max(len(worker.service) for worker in measured),
        rate=stream.events / seconds(duration, stream.schema.time_unit) if duration else None,
        events_per_window=None if query is None else _events_per_window(stream, query),
        matches_per_window=matches / windows if windows and np.isfinite(matches) else None,
        selectivity=None if query is None else _selectivity(stream.path, stream.fingerprint, query.query),
    )


def _events_per_window(stream: Stream, query: CompiledQuery) -> float:
    """Events of the whole stream (all groups) in a window of the query, on average."""
    window, duration = query.window, stream.statistics.duration
    if window is None or not duration:
        return float(stream.events)
    if window.counts_events:
        return float(min(window.within, stream.events))
    return stream.events * min(1.0, window.within / duration)


@lru_cache(maxsize=16)
def _selectivity(store: Path, fingerprint: str, query: Query) -> float | None:
    """Share of pairs of events of a key, one before the other, that pass the adjacent predicates; sampled.

    It is the same for all algorithms at a point, and is computed once for them.
    """
    predicates = [p for p in query.predicates if isinstance(p, Comparison)]
    if not predicates:
        return None
    passed = pairs = 0
    random = np.random.default_rng(0)
    for batch in stream_batches(read_stream(store), stop=SAMPLE_EVENTS, rows=SAMPLE_EVENTS):
        by_key, bounds = ordered(batch, query.partition)
        for start, stop in pairwise(bounds.tolist()):
            part = by_key.slice(start, stop)
            first, second = _pairs(part, query, predicates[0], max(100, SAMPLE_PAIRS // (len(bounds) - 1)), random)
            good = part.time[first] < part.time[second]
            pairs += int(good.sum())
            for predicate in predicates:
                good &= _compared(part, predicate, first, second)
            passed += int(good.sum())
    return passed / pairs if pairs else None


def _pairs(
    part: EventBatch, query: Query, predicate: Comparison, count: int, random: np.random.Generator
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """`count` random pairs of rows, of the types to which the sides of the predicate refer."""
    left, right = (_rows(part, query, side) for side in (predicate.left, predicate.right))
    if not len(left) or not len(right):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    return random.choice(left, count), random.choice(right, count)


def _rows(part: EventBatch, query: Query, side: Operand) -> NDArray[np.int64]:
    types = {e.type for e in occurrences(query.pattern, False) if side.name in (e.alias, e.type)}
    return np.flatnonzero(np.isin(part.type, [part.schema.type_code(name) for name in types])).astype(np.int64)


def _compared(
    part: EventBatch, predicate: Comparison, first: NDArray[np.int64], second: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether the predicate holds for pairs of rows."""
    left, right = bound_terms(*predicate.nameless, part.schema)
    x, y = column_of(left.attribute, part)[first], column_of(right.attribute, part)[second]
    return related(left, predicate.op, right, x, y, part.schema)
