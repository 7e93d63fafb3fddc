"""The interface of sources of live streams, and the conversion of their input into events of one schema."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from cepbench.events.batch import DTYPES, EventBatch
from cepbench.events.columns import missing
from cepbench.events.errors import InputError
from cepbench.events.files import Block, FileLayout, InputEvents, check_needed, column_of, dictionary, numbers
from cepbench.events.reading import Reading
from cepbench.events.schema import Kind, Schema
from cepbench.queries.compile import Workload
from cepbench.queries.model import Local, Query, occurrences, texts

OTHER = "another type"
"""The type of all events whose type no query names; no query can contain this name, which has spaces."""


class Piece(ABC):
    """A part of the input of a batch: a file, or messages of a topic.

    - `since`: the arrival of its first event, in seconds since 1970, by the clock of the writer of the file or message.
    """

    since: float

    @abstractmethod
    def events(self, layout: FileLayout, schema: Schema) -> InputEvents:
        """The events in the order of arrival; their schema has the strings of `schema`, and new ones after them.

        Their positions are their rows in the piece, from 0, with the heading of a CSV file.
        Raises `InputError`.
        """

    @abstractmethod
    def place(self, row: int) -> tuple[str, int]:
        """The place of a row (from 0): a file and the row from 1, or `topic/partition` and the offset."""


class Source(ABC):
    """A place at which events arrive; Spark's log has the content of each batch.

    `str` of a source is its name in a checkpoint.
    """

    nothing: str
    """The message if no event arrives."""

    @abstractmethod
    def first_layout(self, reading: Reading) -> FileLayout | None:
        """The layout of the first input, which is that of the stream; None if nothing has arrived yet."""

    @abstractmethod
    def stream(self, spark: SparkSession) -> DataFrame:
        """The input as a streaming DataFrame."""

    @abstractmethod
    def pieces(self, frame: DataFrame, batch: int, log: Path) -> Sequence[Piece]:
        """A batch in the order of arrival; `log` is the folder of Spark's log. Raises `CepbenchError`."""


def layout_from(description: Mapping[str, Any], reading: Reading) -> FileLayout:
    """The layout in the description of a checkpoint."""
    kinds = {name: Kind(kind) for name, kind in description["attributes"].items()}
    return FileLayout(kinds, (), description["whole times"], reading, description["zone"])


def schema_of(queries: Sequence[Query], layout: FileLayout) -> Schema:
    """The schema of a stream before its first event: the types and strings that queries name, and `OTHER`."""
    types = dict.fromkeys(event.type for query in queries for event in occurrences(query.pattern))
    conditions = [p.condition for query in queries for p in query.predicates if isinstance(p, Local)]
    strings = dict.fromkeys(["", *(text for condition in conditions for text in texts(condition))])
    return Schema((*sorted(types), OTHER), layout.attributes, layout.reading.unit, tuple(strings), layout.zone)


def no_events(workload: Workload) -> EventBatch:
    """The events of a stream before the first one, with the attributes that queries need."""
    kinds = workload.schema.kinds
    columns = {name: np.zeros(0, DTYPES[kinds[name]]) for name in needed(workload)}
    nothing = np.zeros(0, np.int64)
    return EventBatch(workload.schema, nothing, nothing.astype(np.int32), columns, nothing)


def needed(workload: Workload) -> list[str]:
    """The attributes that queries need, of events of any type."""
    return sorted(frozenset[str]().union(*workload.needs.values()))


def read(pieces: Sequence[Piece], layout: FileLayout, workload: Workload, schema: Schema) -> list[EventBatch]:
    """The events of each piece in the order of arrival; their schema has the strings of `schema`, and new ones.

    Raises `InputError`, for example if an attribute that a query needs is null.
    """
    names = needed(workload)
    narrow = replace(layout, kinds={name: kind for name, kind in layout.kinds.items() if name in names})
    batches = []
    for piece in pieces:
        events = piece.events(narrow, schema)
        check_needed(events, workload.needs)
        schema = events.schema
        batches.append(events.batch)
    return [replace(batch, schema=schema) for batch in batches]


def coded(blocks: Sequence[Block], layout: FileLayout, schema: Schema, name: str) -> InputEvents:
    """Blocks of the piece `name` as events in the same order; types that no query names become `OTHER`."""
    time = np.concatenate([block.time for block in blocks])
    names = column_of([block.type for block in blocks])
    columns = {name: column_of([block.columns[name] for block in blocks]) for name in layout.kinds}
    schema = _with_strings(schema, dictionary(layout, columns))
    types = pc.fill_null(pc.index_in(names, value_set=pa.array(schema.types, pa.string())), len(schema.types) - 1)
    values = {name: numbers(column, schema, name) for name, column in columns.items()}
    holes = {name: mask for name, column in columns.items() if (mask := missing(column)) is not None}
    rows = np.concatenate([block.row for block in blocks])
    batch = EventBatch(schema, time, types.to_numpy(), values, rows)
    return InputEvents(schema, batch, holes, rows, ((name, int(rows.max(initial=0)) + 1),))


def check_times(zone: str | None, layout: FileLayout, place: str) -> None:
    """Raises `InputError` if times of `place` are timestamps and those of the stream numbers, or the reverse."""
    if (zone is None) is not (layout.zone is None):
        here, began = ("numbers" if place is None else "timestamps" for place in (zone, layout.zone))
        raise InputError(f"{place}: times are {here}, and {began} where the stream began")


def _with_strings(schema: Schema, strings: Sequence[str]) -> Schema:
    """The schema with new strings after its own, whose codes do not change."""
    new = [text for text in strings if schema.string_code(text) < 0]
    return replace(schema, strings=(*schema.strings, *new)) if new else schema
