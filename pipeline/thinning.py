"""A stream with one event per window, on which an algorithm does only its own work per window and per call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from cepbench.events.batch import EventBatch
from cepbench.pipeline.jobs import Prepared
from cepbench.pipeline.keys import RawKey, key_codes, stored_keys


def one_per_window(batches: Iterable[EventBatch], prepared: Prepared) -> list[EventBatch] | None:
    """The events of a stream that are the first of their key in an interval as long as the shortest window.

    None if a window counts events, or if a query has none: no stream has one event in each. The keys are those of the
    attributes that all jobs share.
    """
    windows = [query.window for query in prepared.workload]
    lengths = [window.within for window in windows if window is not None and not window.counts_events]
    if len(lengths) < len(windows):
        return None
    first, *others = prepared.jobs
    shared = [name for name in first.partition if all(name in job.partition for job in others)]
    return list(_thinned(batches, min(lengths), shared))


def _thinned(batches: Iterable[EventBatch], length: int, attributes: Sequence[str]) -> Iterator[EventBatch]:
    """The batches without events whose key had an event before in the same interval; O(n log n) for n events."""
    latest: dict[RawKey, int] = {}
    for batch in batches:
        intervals = batch.time // length
        codes, _ = key_codes(batch, attributes)
        numbers = np.cumsum(np.diff(intervals, prepend=intervals[:1]) > 0)  # of the intervals with events
        _, first = np.unique(codes * len(batch) + numbers, return_index=True)
        first.sort()
        rows = []
        for row, key in zip(first.tolist(), stored_keys(batch, attributes, first), strict=True):
            interval = int(intervals[row])
            if latest.get(key) != interval:
                latest[key] = interval
                rows.append(row)
        yield batch.take(np.array(rows, np.int64))
