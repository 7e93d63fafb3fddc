"""The stream as input of the oracle: plain values in time order, split into keys and windows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cepbench.events.batch import EventBatch
from cepbench.events.errors import InputError
from cepbench.events.schema import RESERVED
from cepbench.events.units import in_units
from cepbench.queries.model import TIME, Query, WindowClause

Value = int | float | str


@dataclass(frozen=True, eq=False)
class StreamEvent:
    """One event; `position`: its place in the time-ordered input; `ordinal`: its place in its key."""

    time: int
    type: str
    attributes: Mapping[str, Value]
    position: int
    ordinal: int = 0


def stream_of(events: Sequence[Mapping[str, Any]]) -> list[StreamEvent]:
    """Events in time order, equal times in the given order. An attribute with any float value is a float everywhere."""
    for number, event in enumerate(events):
        time = event.get("time")
        if not isinstance(time, int) or isinstance(time, bool) or time < 0:
            raise InputError(f"event {number}: time must be a whole number, at least 0, not {time!r}")
        if not isinstance(event.get("type"), str):
            raise InputError(f"event {number}: type must be a string, not {event.get('type')!r}")
    floats = {name for event in events for name, value in event.items() if isinstance(value, float)}
    return [
        StreamEvent(event["time"], event["type"], _attributes(event, floats), position)
        for position, event in enumerate(sorted(events, key=lambda event: int(event["time"])))
    ]


def plain_events(batch: EventBatch) -> list[dict[str, Any]]:
    """The events of a batch as plain values."""
    columns: dict[str, Sequence[Any]] = {
        "time": batch.time.tolist(),
        "type": [batch.schema.types[code] for code in batch.type],
    }
    for name, column in batch.columns.items():
        columns[name] = batch.schema.decode(name, column.tolist())
    return [{name: column[row] for name, column in columns.items()} for row in range(len(batch))]


def substreams(query: Query, stream: Sequence[StreamEvent]) -> dict[tuple[Value, ...], list[StreamEvent]]:
    """The events of each key, by the values of the partition attributes."""
    events_of: dict[tuple[Value, ...], list[StreamEvent]] = {}
    for event in stream:
        key = tuple(value_of(event, attribute) for attribute in query.partition)
        part = events_of.setdefault(key, [])
        part.append(StreamEvent(event.time, event.type, event.attributes, event.position, len(part)))
    return events_of


def windows(
    clause: WindowClause | None, substream: Sequence[StreamEvent], time_unit: str
) -> Iterator[tuple[int, int | None, list[StreamEvent]]]:
    """Start, end and events of every window of a key that contains an event."""
    if clause is None:
        if substream:
            yield 0, None, list(substream)
        return
    within, slide = window_lengths(clause, time_unit)
    counts = clause.within.unit == "events"
    contents: dict[int, list[StreamEvent]] = {}
    for event in substream:
        point = event.ordinal if counts else event.time
        k = point // slide
        while k >= 0 and point < k * slide + within:
            contents.setdefault(k, []).append(event)
            k -= 1
    for k in sorted(contents):
        yield k * slide, k * slide + within, contents[k]


def window_lengths(clause: WindowClause, time_unit: str) -> tuple[int, int]:
    """WITHIN and SLIDE in units of the stream, or in events."""
    if clause.within.unit == "events":
        return int(clause.within.amount), int(clause.slide.amount)
    return (
        in_units(clause.within.amount, clause.within.unit, time_unit, "WITHIN"),
        in_units(clause.slide.amount, clause.slide.unit, time_unit, "SLIDE"),
    )


def value_of(event: StreamEvent, attribute: str) -> Value:
    """The value of a needed attribute, or the time of the event. Raises `InputError` if it is missing."""
    if attribute == TIME:
        return event.time
    value = event.attributes.get(attribute)
    if value is None or value != value:
        raise InputError(f"event {event.position} ({event.type} at {event.time}): attribute {attribute!r} is missing")
    return value


def _attributes(event: Mapping[str, Any], floats: set[str]) -> dict[str, Value]:
    return {
        name: float(value) if name in floats and isinstance(value, int) else value
        for name, value in event.items()
        if name not in RESERVED
    }
