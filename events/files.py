"""CSV files, plain Parquet files and pandas DataFrames with the columns `time`, `type`, ... as events.

Every refusal is one line that names the file, the row (data rows count from 1) and the column (docs/semantics.md,
Events). Attributes may be null where no query needs them: `check_needed` checks that.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cepbench.events import csv_files, sources
from cepbench.events.batch import EventBatch
from cepbench.events.columns import (
    ARROW,
    are_times,
    attribute,
    check_notations,
    missing,
    notations,
    times,
    type_names,
    zone,
)
from cepbench.events.conditions import chosen, written
from cepbench.events.csv_spans import WHOLE, ByteRange
from cepbench.events.errors import InputError
from cepbench.events.place import Place
from cepbench.events.reading import AUTO, EPOCHS, EXPECTED, Reading, reading_of
from cepbench.events.schema import RESERVED, Attribute, Kind, Schema, check_attributes
from cepbench.events.time_formats import by_pattern

FRAME = "the DataFrame"
FIRST_ROWS = 1000
"""The notation of times that are texts is inferred from this many rows."""


@dataclass(frozen=True, eq=False)
class InputEvents:
    """Events of a file or DataFrame in time order, and their origin.

    - `missing`: bool[n] by attribute, where it was null or NaN (only attributes with such events).
    - `row`: int64[n], each event's row in the input (from 0, counted over all files).
    - `files`: names of the files with their numbers of rows, in order.
    - `notices`: what was done to the input that its owner should know, one line each.
    """

    schema: Schema
    batch: EventBatch
    missing: Mapping[str, NDArray[np.bool_]]
    row: NDArray[np.int64]
    files: tuple[tuple[str, int], ...]
    notices: tuple[str, ...] = ()

    def place(self, event: int) -> str:
        """File and row of an event, for messages."""
        row = int(self.row[event])
        for name, rows in self.files:
            if row < rows:
                return f"{name}, row {row + 1}"
            row -= rows
        raise IndexError(event)


@dataclass(frozen=True)
class FileLayout:
    """Attributes of a source by name, and the columns that are not attributes (left out, listed in `notices`).

    `whole_times`: all times of a CSV source are written as whole numbers; `reading`: the meaning of the columns;
    `zone`: the zone of the times (`Schema.zone`).
    """

    kinds: Mapping[str, Kind]
    notices: tuple[str, ...]
    whole_times: bool = False
    reading: Reading = EXPECTED
    zone: str | None = None

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The attributes in column order."""
        return tuple(Attribute(name, kind) for name, kind in self.kinds.items())


@dataclass(frozen=True, eq=False)
class Block:
    """Checked rows in input order: int64 times, and Arrow columns (strings not yet coded, nulls kept).

    `row`: int64[n], from 0 in the file; `read`: the number of rows before the condition was applied.
    """

    time: NDArray[np.int64]
    type: pa.Array
    columns: Mapping[str, pa.Array]
    row: NDArray[np.int64]
    read: int


def read_events(events: str | Path | pd.DataFrame, reading: Reading | str = "s") -> InputEvents:
    """All events of a CSV or Parquet file, a folder of such files, or a DataFrame. Raises `InputError`.

    `reading` defines the columns of time and type, and how times are written. A unit alone means columns of these
    names, whose times are numbers of it, or timestamps, which become such numbers since 1970 (UTC).
    """
    reading = reading_of(reading)
    if isinstance(events, pd.DataFrame):
        batches = _frame_batches(events, reading)
        layout = batches_layout(batches, FRAME, reading)
        parts, before = [], 0
        for batch in batches:
            parts.append(checked(batch, layout, Place(FRAME, before, reading.called)))
            before += batch.num_rows
        return _assemble(layout, [(parts, (FRAME, len(events)))])
    source = sources.find(events)
    layout = source_layout(source, reading)
    found = []
    for file in source.files:
        blocks = list(file_blocks(file, source.is_csv, layout))
        found.append((blocks, (str(file), sum(block.read for block in blocks))))
    return _assemble(layout, found)


def source_layout(source: sources.Source, reading: Reading) -> FileLayout:
    """The attributes of all files of a source, which must agree on them."""
    if source.is_csv:
        headers = csv_headers(source, reading)
        guess = csv_files.sample(source.files[0], headers[0], reading.time)
        columns = zip(source.files, headers, strict=True)
        found = [csv_files.facts(file, names, guess, time=reading.time) for file, names in columns]
        return csv_layout(source, found, reading)
    merged: dict[str, pa.DataType] = {}
    for file in source.files:
        schema = next(sources.parquet_blocks(file)).schema
        reading.check(schema.names, str(file))
        for found_field in schema:
            name, kind = found_field.name, found_field.type
            merged[name] = kind if name == reading.time else _merge(merged.get(name), kind, name, file)
    fields = list(merged.items())
    layout = _layout({name: sources.arrow_kind(kind) for name, kind in fields}, fields, str(source.path), reading)
    return replace(layout, zone=_zone(sources.parquet_blocks(source.files[0]), reading))


def batches_layout(batches: Sequence[pa.RecordBatch], place: str, reading: Reading) -> FileLayout:
    """The attributes of record batches, at least one, which all have the columns of the first."""
    fields = [(field.name, field.type) for field in batches[0].schema]
    layout = _layout({name: sources.arrow_kind(kind) for name, kind in fields}, fields, place, reading)
    return replace(layout, zone=_zone(batches, reading))


def csv_headers(source: sources.Source, reading: Reading) -> list[list[str]]:
    """The columns of each file of a CSV source."""
    headers = [csv_files.header(file) for file in source.files]
    for file, names in zip(source.files, headers, strict=True):
        reading.check(names, str(file))
    return headers


def csv_layout(source: sources.Source, facts: Sequence[csv_files.Facts], reading: Reading) -> FileLayout:
    """The attributes of all files of a CSV source, from the facts about each file."""
    for file, known in zip(source.files, facts, strict=True):
        if known.problem is not None:
            raise csv_files.unreadable(file, known.problem)
    together = sum(facts, csv_files.Facts())
    kinds = together.kinds
    layout = _layout(kinds, [(name, pa.string()) for name in kinds], str(source.path), reading)
    whole = kinds[reading.time] is Kind.INT and (reading.format == AUTO or reading.format in EPOCHS)
    layout = replace(layout, whole_times=whole)
    found = [known.notations for known in facts]
    if reading.format == AUTO:
        if reading.where is not None and any(len(one) > 1 or not are_times(one) for one in found):
            found = [_kept_notations(file, layout) for file in source.files]
        for file, one in zip(source.files, found, strict=True):
            check_notations(one, Place(str(file), called=reading.called))
    return replace(layout, zone=zone(pa.string(), frozenset[str]().union(*found), reading.format))


def _kept_notations(file: Path, layout: FileLayout) -> dict[str, tuple[int, str]]:
    """The notations (`events.columns.notations`) of times in rows that satisfy the condition; others need no time."""
    found: dict[str, tuple[int, str]] = {}
    place, before = Place(str(file)), 0
    for batch in _csv_batches(file, layout, WHOLE):
        rows = _chosen(batch, layout, place)
        for name, (row, text) in notations(batch.column(layout.reading.time).take(pa.array(rows))).items():
            found.setdefault(name, (before + int(rows[row]), text))
        before += batch.num_rows
    return found


def file_blocks(
    file: Path,
    is_csv: bool,
    layout: FileLayout,
    span: ByteRange = WHOLE,
    before: int = 0,
    name: str | None = None,
) -> Iterator[Block]:
    """Checked rows of one file in order, in blocks of bounded size.

    For a CSV file, those of a span, which `before` rows precede. Messages name the file `name`.
    """
    called = str(file) if name is None else name
    for batch in _csv_batches(file, layout, span) if is_csv else sources.parquet_blocks(file):
        yield checked(batch, layout, Place(called, before, layout.reading.called))
        before += batch.num_rows


def _csv_batches(file: Path, layout: FileLayout, span: ByteRange) -> Iterator[pa.RecordBatch]:
    names = csv_files.header(file)
    kinds = {**layout.kinds, layout.reading.time: Kind.INT} if layout.whole_times else layout.kinds
    try:
        yield pa.RecordBatch.from_pydict({name: pa.array([], pa.string()) for name in names})
        yield from csv_files.csv_blocks(file, names, kinds, span)
    except (pa.ArrowException, OSError) as error:
        raise csv_files.unreadable(file, error) from None


def checked(batch: pa.RecordBatch, layout: FileLayout, place: Place) -> Block:
    """Rows that satisfy the condition, with valid times and types, and attributes of the layout's kinds."""
    reading, read, row = layout.reading, batch.num_rows, np.arange(batch.num_rows, dtype=np.int64)
    if reading.where is not None:
        row = _chosen(batch, layout, place)
        batch, place = batch.take(pa.array(row)), replace(place, rows=row)
    raw = reading.columns(batch)
    columns = {
        name: attribute(raw[name], name, kind, place) if name in raw else pa.nulls(batch.num_rows, ARROW[kind])
        for name, kind in layout.kinds.items()
    }
    time = times(raw["time"], reading.unit, place, reading.format)
    return Block(time, type_names(raw["type"], place), columns, place.before + row, read)


def _chosen(batch: pa.RecordBatch, layout: FileLayout, place: Place) -> NDArray[np.int64]:
    """The rows that satisfy the condition. Attributes and numbers are compared with their types in all rows."""
    assert layout.reading.where is not None, "otherwise all rows count"
    found = dict(zip(batch.schema.names, batch.columns, strict=True))
    kinds = {**layout.kinds, **({layout.reading.time: Kind.INT} if layout.whole_times else {})}
    for name, kind in kinds.items():
        found[name] = attribute(found[name], name, kind, place) if name in found else pa.nulls(len(batch), ARROW[kind])
    reading, time = layout.reading, found[layout.reading.time]
    patterned = "%" in reading.format and sources.arrow_kind(time.type) is Kind.STRING
    times = {reading.time: by_pattern(_plain(time), reading.format)} if patterned else {}
    return chosen(layout.reading.where, found, place.file, times)


def check_needed(events: InputEvents, needs: Mapping[str, Collection[str]]) -> None:
    """`InputError` if an attribute that a query needs is absent, or null or NaN on an event of the type ('*': any)."""
    check_attributes(events.schema, needs, events.files[0][0])
    for name, attributes in needs.items():
        for needed in sorted(attributes):
            if needed not in events.missing:
                continue
            holes = events.missing[needed]
            if name != "*":
                holes = holes & (events.batch.type == events.schema.type_code(name))
            if holes.any():
                # The first in the file, which need not be the first in time.
                found = np.flatnonzero(holes)
                event = int(found[np.argmin(events.row[found])])
                kind = events.schema.types[int(events.batch.type[event])]
                raise InputError(
                    f"{events.place(event)}, column {needed!r}: null or NaN in an event of type {kind!r}, "
                    f"but a query needs it; leave such rows out by where='{written(needed)} IS NOT NULL', or fill them"
                )


def _frame_batches(frame: pd.DataFrame, reading: Reading) -> list[pa.RecordBatch]:
    try:
        table = pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise InputError(f"{FRAME}: {str(error).splitlines()[0]}") from None
    reading.check(table.schema.names, FRAME)
    batches: list[pa.RecordBatch] = table.combine_chunks().to_batches()
    return batches or [pa.RecordBatch.from_arrays([pa.array([], f.type) for f in table.schema], schema=table.schema)]


def _merge(known: pa.DataType | None, kind: pa.DataType, name: str, file: Path) -> pa.DataType:
    if known is None or pa.types.is_null(known):
        return kind
    if pa.types.is_null(kind) or name in RESERVED:
        return known
    kinds = {sources.arrow_kind(known), sources.arrow_kind(kind)}
    if len(kinds) == 1:
        return known
    if kinds == {Kind.INT, Kind.FLOAT}:
        return pa.float64()
    raise InputError(f"{file}: column {name!r} has type {kind}, but {known} in an earlier file of the folder")


def _layout(
    kinds: Mapping[str, Kind | None], fields: list[tuple[str, pa.DataType]], place: str, reading: Reading
) -> FileLayout:
    attributes: dict[str, Kind] = {}
    names = [name for name, _ in fields]
    notices = [
        f"{place}: column {name!r} is left out; another is named in its place" for name in reading.shadowed(names)
    ]
    candidates = reading.attributes(names)
    for name, arrow in fields:
        kind = kinds[name]
        if name not in candidates:
            continue
        if name == "_position" or (kind is None and not _empty(arrow, kinds, name)):
            notices.append(f"{place}: column {name!r} ({arrow}) is left out; attributes are numbers or strings")
        else:
            attributes[name] = kind or Kind.FLOAT
    if reading.format in EPOCHS:
        scale = f"numbers of {EPOCHS[reading.format]!r} since 1970, read as whole numbers of {reading.unit!r}"
        notices.append(f"{place}, column {reading.time!r}: {scale}")
    return FileLayout(attributes, tuple(notices), reading=reading)


def _empty(arrow: pa.DataType, kinds: Mapping[str, Kind | None], name: str) -> bool:
    """Whether a column without a kind has no value (otherwise it has a type that attributes cannot have)."""
    return kinds[name] is None and (pa.types.is_null(arrow) or pa.types.is_string(arrow))


def _zone(batches: Iterable[pa.RecordBatch], reading: Reading) -> str | None:
    """The zone of times, from the first of them where they are texts."""
    for batch in batches:
        column = batch.column(reading.time)
        is_text = sources.arrow_kind(column.type) is Kind.STRING
        if is_text and column.null_count == len(column):
            continue
        texts = notations(_plain(column.drop_null().slice(0, FIRST_ROWS))) if is_text else ()
        return zone(column.type, texts, reading.format)
    return None


def _plain(column: pa.Array) -> pa.Array:
    return pc.cast(column.dictionary_decode() if pa.types.is_dictionary(column.type) else column, pa.string())


def _assemble(layout: FileLayout, read: Sequence[tuple[list[Block], tuple[str, int]]]) -> InputEvents:
    """Codes strings and sorts by time (stable) the rows of all files, whose names and numbers of rows follow."""
    blocks = [block for found, _ in read for block in found]
    files = tuple(file for _, file in read)
    before = np.cumsum([0, *(rows for _, rows in files)])
    row = np.concatenate(
        [block.row + start for (found, _), start in zip(read, before, strict=False) for block in found]
    )
    time = np.concatenate([block.time for block in blocks])
    names = pa.chunked_array([block.type for block in blocks], pa.string())
    arrow = {n: pa.chunked_array([b.columns[n] for b in blocks], ARROW[k]) for n, k in layout.kinds.items()}
    types = sorted(pc.unique(names).to_pylist())
    schema = Schema(tuple(types), layout.attributes, layout.reading.unit, dictionary(layout, arrow), layout.zone)
    columns = {name: numbers(column, schema, name) for name, column in arrow.items()}
    holes = {name: mask for name, column in arrow.items() if (mask := missing(column)) is not None}
    batch = EventBatch(schema, time, codes(names, schema.types), columns, np.arange(len(time), dtype=np.int64))
    notices = layout.notices
    if len(row) == 0 and before[-1] > 0:
        notices = (*notices, f"where: none of the {before[-1]} rows satisfies {layout.reading.where!r}")
    events = InputEvents(schema, batch, holes, row, files, notices)
    falls = np.flatnonzero(time[1:] < time[:-1])
    return events if len(falls) == 0 else _sorted(events, int(falls[0]) + 1, layout.reading.time)


def _sorted(events: InputEvents, first: int, column: str) -> InputEvents:
    """The events by time, read from `column`; `first` is the first that is earlier than its predecessor."""
    order = np.argsort(events.batch.time, kind="stable")
    batch = replace(events.batch.take(order), position=events.batch.position)
    holes = {name: mask[order] for name, mask in events.missing.items()}
    notice = f"{events.place(first)}, column {column!r}: earlier than the row before; the events were sorted by time"
    return InputEvents(events.schema, batch, holes, events.row[order], events.files, (*events.notices, notice))


def dictionary(layout: FileLayout, columns: Mapping[str, pa.ChunkedArray]) -> tuple[str, ...]:
    """All strings of all string attributes, sorted; with '' (which represents null) if there are nulls."""
    strings: set[str] = set()
    for name, kind in layout.kinds.items():
        if kind is Kind.STRING:
            strings.update("" if text is None else text for text in pc.unique(columns[name]).to_pylist())
    return tuple(sorted(strings))


def codes(column: pa.ChunkedArray | pa.Array, words: tuple[str, ...]) -> NDArray[np.int32]:
    """int32 codes into `words`, which contain every string of the column."""
    return _flat(pc.index_in(column, value_set=pa.array(words, pa.string())))


def numbers(column: pa.ChunkedArray | pa.Array, schema: Schema, name: str) -> NDArray[np.generic]:
    """An attribute in the representation of `EventBatch`; null is 0, NaN or the code of ''."""
    kind = schema.kinds[name]
    if kind is Kind.STRING:
        return codes(pc.fill_null(column, ""), schema.strings)
    return _flat(pc.fill_null(column, 0 if kind is Kind.INT else float("nan")))


def _flat(column: pa.ChunkedArray | pa.Array) -> NDArray[Any]:
    chunked = isinstance(column, pa.ChunkedArray)
    array: NDArray[Any] = column.to_numpy() if chunked else column.to_numpy(zero_copy_only=False)
    return array
