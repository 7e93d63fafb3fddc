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
    """The events in parts of about `rows` that contain their keys whole, each in the order of the stream."""
    parts = -(-len(events) // rows)
    if parts < 2 or not attributes:
        yield events
        return
    codes, _ = key_codes(events, attributes)
    for part in range(parts):
        yield events.take(np.flatnonzero(codes % parts == part))


def ordered(events: EventBatch, attributes: Sequence[str]) -> tuple[EventBatch, NDArray[np.int64]]:
    """The events by key, each in the order of the stream, and int64[S + 1]: where each begins, and the end."""
    if len(events) == 0:
        return events, np.zeros(1, np.int64)
    codes, groups = key_codes(events, attributes) if attributes else (np.zeros(0, np.int64), 1)
    if groups == 1:
        return events, np.array([0, len(events)])
    return _by_code(events, codes, groups)


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


def _by_code(events: EventBatch, codes: NDArray[np.int64], groups: int) -> tuple[EventBatch, NDArray[np.int64]]:
    """The events in the order of their codes, and where each code begins."""
    order = np.argsort(codes.astype(np.uint16), kind="stable")  # small integers are sorted by radix, in linear time
    if groups > 2**16:
        order = order[np.argsort((codes >> 16).astype(np.uint16)[order], kind="stable")]
    return events.take(order), np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(codes, minlength=groups))])


def key_codes(events: EventBatch, attributes: Sequence[str]) -> tuple[NDArray[np.int64], int]:
    """int64[n], codes of the keys in the order in which they appear, and their number."""
    codes, groups = np.zeros(len(events), np.int64), 1
    for name in attributes:
        more, values = pd.factorize(events.columns[name])
        codes, found = pd.factorize(codes * len(values) + more) if groups > 1 else (more, values)
        groups = len(found)
    return codes, groups
