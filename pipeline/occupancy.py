"""Occupancy: the number of events that a new event meets, with which the cost of evaluation grows.

For each event, it counts the events of its key before it in the oldest open window. Costs of an algorithm grow with
their sum over the stream, or with that of a power of it, also before windows are full, for any rate, and for any
distribution of events over keys.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cepbench.events.batch import EventBatch
from cepbench.pipeline.keys import key_codes
from cepbench.queries.compile import CompiledQuery
from cepbench.queries.model import occurrences


def relevant(events: EventBatch, query: CompiledQuery) -> NDArray[np.bool_]:
    """bool[n]: whether an event's type occurs in the query's pattern."""
    codes = [events.schema.type_code(event.type) for event in occurrences(query.query.pattern)]
    return np.isin(events.type, [code for code in codes if code >= 0])


def occupancy(events: EventBatch, query: CompiledQuery, by_key: bool = True) -> NDArray[np.float64]:
    """float64[n]: the relevant events before each, in its oldest open window; of its key, or of all.

    0 for events that are irrelevant for the query. O(n log n) time.
    """
    met = np.zeros(len(events))
    rows = np.flatnonzero(relevant(events, query))
    if len(rows) == 0:
        return met
    key = key_codes(events, query.partition)[0][rows] if by_key else np.zeros(len(rows), np.int64)
    order = np.argsort(key, kind="stable")
    rows, key = rows[order], key[order]
    first = np.searchsorted(key, key)  # where the events of a key begin
    place = np.arange(len(rows))
    window = query.window
    if window is None:
        begin = first
    elif window.counts_events:
        oldest = np.maximum(0, (place - first - window.within) // window.slide + 1)
        begin = first + oldest * window.slide
    else:
        time = events.time[rows]
        oldest = np.maximum(0, (time - window.within) // window.slide + 1) * window.slide
        moments, rank = np.unique(time, return_inverse=True)
        width = len(moments) + 1
        begin = np.searchsorted(key * width + rank, key * width + np.searchsorted(moments, oldest))
    met[rows] = np.maximum(0, place - begin)
    return met
