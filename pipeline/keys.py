"""The events of a batch by their keys, the values of its partition attributes."""

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cepbench.algorithms.rows import Group
from cepbench.events.batch import EventBatch
from cepbench.events.schema import Schema

RawKey = tuple[int | float, ...]


def whole_parts(events: EventBatch, attributes: Sequence[str], rows: int) -> Iterator[EventBatch]:
    """The events in parts that contain their keys whole; of several keys, at most `rows`, one key after another."""
    if len(events) <= rows or not attributes:
        yield events
        return
    order, bounds = _by_code(*key_codes(events, attributes))
    first = 0
    while first < len(bounds) - 1:
        last = max(first + 1, int(np.searchsorted(bounds, bounds[first] + rows, side="right")) - 1)
        yield events.take(order[bounds[first] : bounds[last]])
        first = last


def ordered(events: EventBatch, attributes: Sequence[str]) -> tuple[EventBatch, NDArray[np.int64]]:
    """The events by key, each in the order of the stream, and int64[S + 1]: where each begins, and the end."""
    if len(events) == 0:
        return events, np.zeros(1, np.int64)
    columns = [events.columns[name] for name in attributes]
    changes = [column[1:] != column[:-1] for column in columns]
    bounds = np.concatenate([[0], np.flatnonzero(np.logical_or.reduce(changes)) + 1, [len(events)]])
    codes, groups = key_codes(events, attributes, bounds[:-1])
    if groups == len(codes):
        return events, bounds  # already one key after another
    order, bounds = _by_code(np.repeat(codes, np.diff(bounds)), groups)
    return events.take(order), bounds


def stored_keys(events: EventBatch, attributes: Sequence[str], rows: NDArray[np.int64]) -> list[RawKey]:
    """The stored keys of the events at `rows`."""
    if not attributes:
        return [()] * len(rows)
    return list(zip(*(events.columns[name][rows].tolist() for name in attributes), strict=True))


def decoded(schema: Schema, attributes: Sequence[str], keys: Sequence[RawKey]) -> list[Group]:
    """Stored keys as answers show them. A decoded -0.0 is 0.0, since both are one group."""
    columns = [
        [value + 0.0 if isinstance(value, float) else value for value in schema.decode(name, column)]
        for name, column in zip(attributes, zip(*keys, strict=True), strict=True)
    ]
    return list(zip(*columns, strict=True)) if columns else [()] * len(keys)


def _by_code(codes: NDArray[np.int64], groups: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The order of the events by their codes, and where each code begins, and the end."""
    order = np.argsort(codes.astype(np.uint16), kind="stable")  # small integers are sorted by radix, in linear time
    if groups > 2**16:
        order = order[np.argsort((codes >> 16).astype(np.uint16)[order], kind="stable")]
    return order, np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(codes, minlength=groups))])


def key_codes(
    events: EventBatch, attributes: Sequence[str], rows: NDArray[np.int64] | slice = slice(None)
) -> tuple[NDArray[np.int64], int]:
    """int64[n], codes of the keys of the events at `rows`, in the order in which they appear, and their number."""
    codes, groups = np.zeros(len(events.time[rows]), np.int64), 1
    for name in attributes:
        column, values = pd.factorize(events.columns[name][rows])
        codes, keys = pd.factorize(codes * len(values) + column) if groups > 1 else (column, values)
        groups = len(keys)
    return codes, groups
