"""Where a live stream comes from: a folder into which files of events are moved, each whole.

A file is read once it is there; files count in the order of their times of modification, then of their names. Files
whose names begin with a dot or an underscore are not looked at, so that a file may be written under such a name.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cepbench.events import sources
from cepbench.events.batch import DTYPES, EventBatch
from cepbench.events.columns import ARROW, missing
from cepbench.events.errors import InputError
from cepbench.events.files import (
    FileLayout,
    InputEvents,
    check_needed,
    csv_headers,
    dictionary,
    file_blocks,
    numbers,
    source_layout,
)
from cepbench.events.reading import Reading
from cepbench.events.schema import Kind, Schema
from cepbench.queries.compile import Workload
from cepbench.queries.model import Local, Query, occurrences

SUFFIXES = sources.CSV_SUFFIXES + sources.PARQUET_SUFFIXES
OTHER = "another type"
"""Stands for all types that no query names; it is no name of a query language."""


def folder_of(source: str) -> Path:
    """The folder of `folder:PATH`. Raises `InputError`."""
    kind, colon, path = source.partition(":")
    if kind != "folder" or not colon or not path:
        raise InputError(f"unknown source {source!r}; choose folder:PATH")
    folder = Path(path)
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder, which is to be the source of a stream")
    return folder.resolve()


def first_file(folder: Path) -> Path | None:
    """The file that came first of those that are there, if there are any."""
    named = (file for file in folder.iterdir() if file.name.endswith(SUFFIXES) and file.name[0] not in "._")
    files = [file for file in named if file.is_file()]
    return min(files, key=lambda file: (file.stat().st_mtime_ns, file.name), default=None)


def layout_of(file: Path, reading: Reading) -> FileLayout:
    """The attributes of a file, which are those of the stream."""
    return source_layout(_alone(file), reading)


def layout_from(description: Mapping[str, Any], reading: Reading) -> FileLayout:
    """A layout that a checkpoint keeps."""
    kinds = {name: Kind(kind) for name, kind in description["attributes"].items()}
    return FileLayout(kinds, (), description["whole times"], reading)


def schema_of(queries: Sequence[Query], layout: FileLayout) -> Schema:
    """The schema of a stream of which no event is known: types and strings are those that queries name."""
    types = dict.fromkeys(event.type for query in queries for event in occurrences(query.pattern))
    locals_ = [one for query in queries for one in query.predicates if isinstance(one, Local)]
    strings = dict.fromkeys(["", *(one.constant for one in locals_ if isinstance(one.constant, str))])
    return Schema((*sorted(types), OTHER), layout.attributes, layout.reading.unit, tuple(strings))


def no_events(workload: Workload) -> EventBatch:
    """The events of a stream before the first one, with the attributes that queries need."""
    kinds = workload.schema.kinds
    columns = {name: np.zeros(0, DTYPES[kinds[name]]) for name in needed(workload)}
    nothing = np.zeros(0, np.int64)
    return EventBatch(workload.schema, nothing, nothing.astype(np.int32), columns, nothing)


def needed(workload: Workload) -> list[str]:
    """The attributes that queries need, of any events."""
    return sorted(frozenset[str]().union(*workload.needs.values()))


def read(files: Sequence[Path], layout: FileLayout, workload: Workload, schema: Schema) -> list[EventBatch]:
    """The events of each file in the order of its rows, in a schema whose strings are those of `schema` and more.

    Raises `InputError`, also where an attribute is null that a query needs.
    """
    names = needed(workload)
    narrow = replace(layout, kinds={name: kind for name, kind in layout.kinds.items() if name in names})
    batches = []
    for file in files:
        events = _events(file, narrow, schema)
        check_needed(events, workload.needs)
        schema = events.schema
        batches.append(events.batch)
    return [replace(batch, schema=schema) for batch in batches]


def _events(file: Path, layout: FileLayout, schema: Schema) -> InputEvents:
    source = _alone(file)
    if source.is_csv:
        csv_headers(source, layout.reading)
    else:
        own = source_layout(source, layout.reading).kinds
        other = next((name for name, kind in layout.kinds.items() if own.get(name, kind) is not kind), None)
        if other is not None:
            was = layout.kinds[other].value
            raise InputError(
                f"{file}: column {other!r} is {own[other].value}, and {was} in the first file of the stream"
            )
    try:
        blocks = list(file_blocks(file, source.is_csv, layout))
    except pa.ArrowException as error:
        first = str(error).splitlines()[0]
        raise InputError(f"{file}: not as the first file of the stream: {first}") from None
    time = np.concatenate([block.time for block in blocks])
    names = pa.chunked_array([block.type for block in blocks], pa.string())
    columns = {n: pa.chunked_array([b.columns[n] for b in blocks], ARROW[k]) for n, k in layout.kinds.items()}
    schema = _with_strings(schema, dictionary(layout, columns))
    types = pc.fill_null(pc.index_in(names, value_set=pa.array(schema.types, pa.string())), len(schema.types) - 1)
    coded = {name: numbers(column, schema, name) for name, column in columns.items()}
    holes = {name: mask for name, column in columns.items() if (mask := missing(column)) is not None}
    rows = np.arange(len(time), dtype=np.int64)
    batch = EventBatch(schema, time, types.to_numpy(), coded, rows)
    return InputEvents(schema, batch, holes, rows, ((str(file), len(time)),))


def _with_strings(schema: Schema, strings: Sequence[str]) -> Schema:
    """The schema with more strings after those that it has, whose codes stay."""
    more = [text for text in strings if schema.string_code(text) < 0]
    return replace(schema, strings=(*schema.strings, *more)) if more else schema


def _alone(file: Path) -> sources.Source:
    return sources.Source(file, (file,), file.name.endswith(sources.CSV_SUFFIXES))
