"""Samples of a stream for optimizers: some events of each type, drawn from the store by Spark tasks.

For each type the events with the smallest hashes of their positions are drawn, up to the sample's size: a simple random
sample without replacement, which does not depend on buckets or processes. A task reads one bucket and returns the
events below a bound that almost surely suffices; the driver keeps the smallest.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cepbench.events.batch import EventBatch
from cepbench.events.files import InputEvents, check_needed
from cepbench.events.schema import Schema
from cepbench.events.statistics import EventSample, Needs, Statistics, statistics_of
from cepbench.generators.randomness import hashed_uniform
from cepbench.pipeline.store import Stream, bucket_batches, joined
from cepbench.pipeline.tasks import run_tasks

if TYPE_CHECKING:  # evaluation in this process starts faster without
    from pyspark.sql import SparkSession

PER_TYPE = 400
"""Events of a type in a sample: 160,000 pairs of two types."""
DEVIATIONS = 6.0
"""The expected number of events below the bound exceeds `PER_TYPE` by this many standard deviations."""
KEPT = 8
"""Number of samples that are cached."""

_drawn: OrderedDict[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], EventSample] = OrderedDict()


def stream_statistics(stream: Stream, spark: SparkSession | None = None) -> Statistics:
    """Statistics of a store, with a sampler that runs on Spark, or in this process without Spark."""
    return replace(stream.statistics, sampler=partial(sampled, stream, spark))


def input_statistics(source: InputEvents) -> Statistics:
    """Statistics of events in memory, with a sampler."""
    batch = source.batch
    if len(batch) == 0:
        return Statistics()
    counts = {name: int((batch.type == code).sum()) for code, name in enumerate(source.schema.types)}
    statistics = statistics_of(counts, int(batch.time[0]), int(batch.time[-1]))

    def sampler(needs: Needs) -> EventSample:
        began = time.perf_counter()
        check_needed(source, needs)
        bounds = _bounds(source.schema, counts, needs)
        return EventSample(_smallest(_below([batch], bounds), source.schema), time.perf_counter() - began)

    return replace(statistics, sampler=sampler)


def sampled(stream: Stream, spark: SparkSession | None, needs: Needs) -> EventSample:
    """At most `PER_TYPE` events of each of some types of a store, with the attributes that they need.

    Its seconds are the time of drawing; later calls in the same process get the same sample. Raises `InputError` for a
    missing attribute, and `DamagedStore`.
    """
    key = stream.fingerprint, tuple(sorted((name, tuple(sorted(attributes))) for name, attributes in needs.items()))
    if key not in _drawn:
        stream.check_needed(needs)
        began = time.perf_counter()
        counts = {name: summary.events for name, summary in stream.types.items()}
        bounds, attributes = _bounds(stream.schema, counts, needs), frozenset[str]().union(*needs.values())
        task = partial(_sample, replace(stream, path=stream.path.resolve()), bounds, attributes)
        buckets = [bucket for bucket, events in enumerate(stream.bucket_events) if events] if needs else []
        pieces = run_tasks(spark, task, buckets)
        _drawn[key] = EventSample(_smallest(pieces, stream.schema), time.perf_counter() - began)
        while len(_drawn) > KEPT:
            _drawn.popitem(last=False)
    _drawn.move_to_end(key)
    return _drawn[key]


def _sample(stream: Stream, bounds: NDArray[np.float64], attributes: frozenset[str], bucket: int) -> EventBatch:
    """The events of a bucket with hashes below `bounds`, float64[types] by type code, in their order."""
    return joined(_below(bucket_batches(stream, bucket, attributes=attributes), bounds), stream.schema)


def _bounds(schema: Schema, counts: Mapping[str, int], needs: Needs) -> NDArray[np.float64]:
    """By type code: a bound above the hashes of the sample and of few other events; 0 for types that are not drawn."""
    bounds = np.zeros(len(schema.types))
    for code, name in enumerate(schema.types):
        if (name in needs or "*" in needs) and counts.get(name):
            bounds[code] = (PER_TYPE + DEVIATIONS * (sqrt(PER_TYPE) + DEVIATIONS)) / counts[name]
    return bounds


def _below(batches: Iterable[EventBatch], bounds: NDArray[np.float64]) -> list[EventBatch]:
    return [batch.take(np.flatnonzero(_hashes(batch) < bounds[batch.type])) for batch in batches]


def _smallest(pieces: list[EventBatch], schema: Schema) -> EventBatch:
    """Of each type the `PER_TYPE` events with the smallest hashes, in the order of the stream."""
    events = joined(pieces, schema)
    order = np.lexsort((_hashes(events), events.type))
    kinds = events.type[order]
    rank = np.arange(len(events)) - np.searchsorted(kinds, kinds)
    kept = order[rank < PER_TYPE]
    return events.take(kept[np.argsort(events.position[kept])])


def _hashes(batch: EventBatch) -> NDArray[np.float64]:
    return hashed_uniform(0, "sample", batch.position)
