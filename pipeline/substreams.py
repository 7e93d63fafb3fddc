"""Splitting a batch into the sub-streams of its partition attributes."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from cepbench.events.batch import EventBatch
from cepbench.events.schema import Schema

Key = tuple[int | float | str, ...]
RawKey = tuple[int | float, ...]


def split(events: EventBatch, attributes: Sequence[str]) -> list[tuple[RawKey, EventBatch]]:
    """The sub-streams of a batch with their stored keys, each in the order of the stream.

    Time is O(n) for n events, and O(1) per sub-stream. Without attributes the batch is handed through; so is a batch of
    one sub-stream.
    """
    if len(events) == 0:
        return []
    if not attributes:
        return [((), events)]
    codes, groups = _codes(events, attributes)
    if groups == 1:
        return [(_key(events, attributes, 0), events)]
    # Small integers are sorted by radix, in linear time.
    order = np.argsort(codes.astype(np.uint16) if groups < 2**16 else codes, kind="stable")
    ordered = events.take(order)
    stops = np.cumsum(np.bincount(codes, minlength=groups)).tolist()
    pieces = []
    for start, stop in zip([0, *stops[:-1]], stops, strict=True):
        pieces.append((_key(ordered, attributes, start), ordered.slice(start, stop, events.until)))
    return pieces


def decode(schema: Schema, attributes: Sequence[str], key: RawKey) -> Key:
    """A stored key as a user knows it."""
    return tuple(schema.decode(name, [value])[0] for name, value in zip(attributes, key, strict=True))


def _codes(events: EventBatch, attributes: Sequence[str]) -> tuple[NDArray[np.int64], int]:
    """Codes 0..groups-1 of the sub-streams, in the order in which they appear."""
    codes, groups = np.zeros(len(events), np.int64), 1
    for name in attributes:
        more, values = pd.factorize(events.columns[name])
        codes, found = pd.factorize(codes * len(values) + more) if groups > 1 else (more, values)
        groups = len(found)
    return codes, groups


def _key(events: EventBatch, attributes: Sequence[str], row: int) -> RawKey:
    return tuple(events.columns[name][row].item() for name in attributes)
