"""Keys in slices of time, for algorithms that evaluate slices concurrently (`algorithms.slices`).

A task has a bucket of an event store, or the events of a bucket in a slice of time; the driver joins the partial rows
of windows that cross the edges of slices.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.base import Algorithm, Operator, Plan
from cepbench.algorithms.slices import SliceOperator, Slicing, slicing_of
from cepbench.events.batch import EventBatch
from cepbench.events.windows import END, TimeSlice
from cepbench.pipeline.jobs import Job, Prepared
from cepbench.pipeline.keys import RawKey, decoded
from cepbench.pipeline.loop import Loop
from cepbench.pipeline.parts import opened
from cepbench.pipeline.store import READ_ROWS, Stream, bucket_batches

Crossings = dict[RawKey, Any]
"""Partial rows of windows that cross the edges of slices (`SliceExecutor.crossing`), by key."""


@dataclass(frozen=True)
class Portion:
    """The events of a task: a bucket, whole or in a slice of time."""

    bucket: int
    slice: TimeSlice | None = None


def portions(stream: Stream, bucket: int, slicing: Slicing | None) -> list[Portion]:
    """A bucket as portions with about the same number of events, or as one portion."""
    if slicing is None:
        return [Portion(bucket)]
    return [Portion(bucket, part) for part in time_slices(stream, bucket, slicing.slices)]


def time_slices(stream: Stream, bucket: int, count: int) -> list[TimeSlice]:
    """At most `count` slices of all time, with about equal shares of the bucket's events; equal times stay together.

    Reads the times of one row group per edge.
    """
    events = stream.bucket_events[bucket]
    places = [events * number // count for number in range(1, count)]
    edges: set[int] = set()
    before = 0
    for part in stream.parts_of(bucket):
        inside = [place - before for place in places if before <= place < before + part.events]
        before += part.events
        if inside:
            with opened(stream.path, part) as parquet:
                edges.update(_times_at(parquet, inside))
    first = stream.first or 0
    return [TimeSlice(*ends) for ends in pairwise([0, *sorted(edge for edge in edges if edge > first), END])]


def portion_batches(
    stream: Stream, portion: Portion, rows: int = READ_ROWS, attributes: Collection[str] | None = None
) -> Iterator[EventBatch]:
    """Events of a portion in time order, at most `rows` at a time. Reads whole row groups at the portion's edges."""
    part = portion.slice
    if part is None:
        yield from bucket_batches(stream, portion.bucket, rows, attributes)
        return
    for batch in bucket_batches(stream, portion.bucket, rows, attributes, begin=part.begin):
        stop = int(np.searchsorted(batch.time, part.end))
        if stop:
            yield batch.slice(0, stop)
        if stop < len(batch):
            return


def portion_operator(job: Job, algorithm: Algorithm, portion: Portion) -> Operator:
    """A fresh operator for the queries of a job on a portion."""
    slicing = slicing_of(algorithm)
    if slicing is None or portion.slice is None:
        return algorithm.operator(job.plan)
    return SliceOperator(slicing, job.plan, portion.slice)


def operators(algorithm: Algorithm, plan: Plan) -> list[Operator]:
    """Fresh operators of all kinds for the portions of a stream."""
    slicing = slicing_of(algorithm)
    sliced = [] if slicing is None else [SliceOperator(slicing, plan, TimeSlice(0, 1))]
    return [algorithm.operator(plan), *sliced]


def crossings_of(loop: Loop) -> Crossings:
    """The partial rows of a finished loop; empty for whole buckets."""
    operator = loop.operator
    crossings = operator.crossings() if isinstance(operator, SliceOperator) else {}
    return {loop.keys.stored[key]: crossing for key, crossing in crossings.items()}


def join_slices(prepared: Prepared, slices: Iterable[tuple[int, int, Crossings]], answer: AnswerBuilder) -> int:
    """Adds the rows of windows that cross slices, from the number of a job, a bucket, and the crossings of a slice.

    The slices of a bucket are in the order of time. Returns the number of keys; 0 if there are no slices.
    """
    parts_of: dict[tuple[int, int, RawKey], list[Any]] = {}
    for number, bucket, crossings in slices:
        for key, crossing in crossings.items():
            parts_of.setdefault((number, bucket, key), []).append(crossing)
    slicing = slicing_of(prepared.algorithm)
    for (number, _, key), parts in parts_of.items():
        assert slicing is not None
        job = prepared.jobs[number]
        [group] = decoded(prepared.workload.schema, job.partition, [key])
        for query, rows in slicing.join(job.plan, parts).items():
            answer.add(query, group, rows)
    return len(parts_of)


def _times_at(parquet: pq.ParquetFile, places: Sequence[int]) -> Iterator[int]:
    """Times of the rows at these places."""
    before = 0
    for group in range(parquet.metadata.num_row_groups):
        size = parquet.metadata.row_group(group).num_rows
        inside = [place - before for place in places if before <= place < before + size]
        before += size
        if inside:
            column = parquet.read_row_group(group, columns=["time"], use_threads=False).column("time")
            yield from column.to_numpy()[inside].tolist()
