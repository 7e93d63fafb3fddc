"""Worked examples and other plain events as batches."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepbench.events.batch import DTYPES, EventBatch
from cepbench.events.schema import RESERVED, Attribute, Kind, Schema

KINDS = {int: Kind.INT, float: Kind.FLOAT, str: Kind.STRING}


def batch(events: Sequence[Mapping[str, Any]], time_unit: str = "s") -> EventBatch:
    """Events in time order that carry the same attributes."""
    values = {name: [event[name] for event in events] for name in (events[0] if events else ()) if name not in RESERVED}
    kinds = {name: KINDS[type(column[0])] for name, column in values.items()}
    types = tuple(sorted({event["type"] for event in events}))
    strings = tuple(sorted({value for column in values.values() for value in column if isinstance(value, str)}))
    schema = Schema(types, tuple(Attribute(name, kind) for name, kind in kinds.items()), time_unit, strings)
    columns: dict[str, NDArray[np.generic]] = {}
    for name, column in values.items():
        stored = [schema.string_code(value) if isinstance(value, str) else value for value in column]
        columns[name] = np.array(stored, DTYPES[kinds[name]])
    time = np.array([event["time"] for event in events], np.int64)
    codes = np.array([schema.type_code(event["type"]) for event in events], np.int32)
    return EventBatch(schema, time, codes, columns, np.arange(len(events), dtype=np.int64))


def with_attributes(events: Sequence[Mapping[str, Any]], **defaults: Any) -> list[dict[str, Any]]:
    """The same events, with attributes that some of them lack."""
    return [{**defaults, **event} for event in events]
