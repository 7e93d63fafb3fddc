"""CSV files, plain Parquet files and pandas DataFrames with the columns `time`, `type`, ... as events.

Every refusal is one line that names the file, the row (counted from 1, with the heading of a CSV file) and the column
(docs/semantics.md, Events). Attributes may be null where no query needs them: `check_needed` checks that.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
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
    attribute,
    coded,
    missing,
    times,
    type_names,
    zone,
)
from cepbench.events.conditions import chosen, named
from cepbench.events.errors import InputError, listed
from cepbench.events.place import Place
from cepbench.events.reading import AUTO, EPOCHS, EXPECTED, Reading, reading_of
from cepbench.events.schema import RESERVED, Attribute, Kind, Schema, check_attributes
from cepbench.events.time_formats import by_pattern, misread

FRAME = "the DataFrame"
FIRST_ROWS = 1000
"""The notation of times that are texts is inferred from this many rows."""
FIRST_EVENTS = 1 << 18
"""Remarks on a stream are made on this many events."""


@dataclass(frozen=True, eq=False)
class InputEvents:
    """Events of a file or DataFrame in time order, and their origin.

    - `missing`: bool[n] by attribute, where it was null or NaN (only attributes with such events).
    - `row`: int64[n], each event's row in the input (from 0, counted over all files with their headings).
    - `files`: names of the files with their numbers of rows, in order.
    - `reading`: how they were read, None for a live stream.
    - `doubts`: why columns that have numbers are text.
    - `notices`: what was done to the input that its owner should know, one line each.
    """

    schema: Schema
    batch: EventBatch
    missing: Mapping[str, NDArray[np.bool_]]
    row: NDArray[np.int64]
    files: tuple[tuple[str, int], ...]
    notices: tuple[str, ...] = ()
    reading: Reading | None = None
    doubts: Mapping[str, str] = field(default_factory=dict)

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

    `shadowed`: those in whose place another one is named. `whole_times`: all times of a CSV source are written as whole
    numbers; `reading`: the meaning of the columns; `zone`: the zone of the times (`Schema.zone`).
    `doubts`: why columns that have numbers are text.
    """

    kinds: Mapping[str, Kind]
    notices: tuple[str, ...]
    whole_times: bool = False
    reading: Reading = EXPECTED
    zone: str | None = None
    shadowed: tuple[str, ...] = ()
    doubts: Mapping[str, str] = field(default_factory=dict)

    @property
    def attributes(self) -> tuple[Attribute, ...]:
        """The attributes in column order."""
        return tuple(Attribute(name, kind) for name, kind in self.kinds.items())

    def narrow(self, attributes: Collection[str] | None) -> "FileLayout":
        """Only these attributes and those in the condition; all if none are given, and if rows are compared.

        Raises `InputError` if they include `time` and another column has that name.
        """
        if attributes is not None and "time" in attributes and "time" in self.shadowed:
            raise InputError(
                f"a query compares E.time, the time of events, which is in column {self.reading.time!r}; rename the "
                "other column 'time'"
            )
        if attributes is None or self.reading.distinct or self.columns is None:
            return self
        read = {*attributes, self.reading.type, *self._conditioned}
        kinds = {name: kind for name, kind in self.kinds.items() if name in read}
        return self if len(kinds) == len(self.kinds) else replace(self, kinds=kinds)

    @property
    def columns(self) -> set[str] | None:
        """The columns to read; None for all, of which the condition names some that are no attributes."""
        names = {*self.kinds, self.reading.time, self.reading.type}
        return names if self._conditioned <= names else None

    @property
    def _conditioned(self) -> frozenset[str]:
        """The columns in the condition."""
        return frozenset() if self.reading.where is None else named(self.reading.where)


@dataclass(frozen=True, eq=False)
class Block:
    """Checked rows in input order: int64 times, and Arrow columns (strings coded in each block, nulls kept).

    `kept`: int64[k], the rows that satisfy the condition, from 0 in the `read` rows that `before` rows of the file
    precede, with its heading; None without a condition.
    """

    time: NDArray[np.int64]
    type: pa.DictionaryArray
    columns: Mapping[str, pa.Array]
    kept: NDArray[np.int64] | None
    before: int
    read: int

    @property
    def row(self) -> NDArray[np.int64]:
        """int64[n], each row's number in the file, from 0."""
        return self.before + (np.arange(self.read) if self.kept is None else self.kept)


def read_events(
    events: str | Path | pd.DataFrame, reading: Reading | str = "s", attributes: Collection[str] | None = None
) -> InputEvents:
    """All events of a CSV or Parquet file, a folder of such files, or a DataFrame. Raises `InputError`.

    `reading` defines the columns of time and type, and how times are written. A unit alone means columns of these
    names, whose times are numbers of it, or timestamps, which become such numbers since 1970 (UTC). If `attributes` are
    given, no others need be read.
    """
    reading = reading_of(reading)
    if isinstance(events, pd.DataFrame):
        batches = _frame_batches(events, reading)
        layout = batches_layout(batches, FRAME, reading)
        narrow, parts, before = layout.narrow(attributes), [], 0
        for batch in batches:
            parts.append(checked(batch, narrow, Place(FRAME, before, reading.called)))
            before += batch.num_rows
        return _assemble(layout, [(parts, (FRAME, len(events)))])
    source = sources.find(events)
    layout = source_layout(source, reading)
    narrow, files_read = layout.narrow(attributes), []
    for file in source.files:
        blocks = list(file_blocks(file, source.is_csv, narrow, whole=True))
        heading = reading.heading if source.is_csv else 0
        files_read.append((blocks, (str(file), heading + sum(block.read for block in blocks))))
    assembled = _assemble(layout, files_read)
    notices = () if narrow is layout else _equal_rows(source, layout)
    return replace(assembled, notices=(*assembled.notices, *notices))


def source_layout(
    source: sources.Source, reading: Reading, each: Callable[..., Iterable[dict[str, csv_files.Column]]] = map
) -> FileLayout:
    """The attributes of all files of a source, which must agree on them; `each` maps a function over files."""
    if source.is_csv:
        files = [(file.resolve(), str(file)) for file in source.files]
        layout = _csv_layout(source, each(partial(_csv_columns, reading), files), reading)
        blocks = ((str(file), csv_files.csv_blocks(file, reading)) for file in source.files)
        return replace(layout, zone=_zone(blocks, layout))
    merged: dict[str, pa.DataType] = {}
    for file in source.files:
        schema = sources.parquet_schema(file)
        reading.check(schema.names, str(file))
        for found_field in schema:
            name, kind = found_field.name, found_field.type
            merged[name] = kind if name == reading.time else _merge(merged.get(name), kind, name, file)
    fields = list(merged.items())
    layout = _layout({name: sources.arrow_kind(kind) for name, kind in fields}, fields, str(source.path), reading)
    times = ((str(file), sources.parquet_blocks(file, (reading.time,))) for file in source.files)
    return replace(layout, zone=_zone(times, layout))


def batches_layout(batches: Sequence[pa.RecordBatch], place: str, reading: Reading) -> FileLayout:
    """The attributes of record batches, at least one, which all have the columns of the first."""
    fields = [(field.name, field.type) for field in batches[0].schema]
    layout = _layout({name: sources.arrow_kind(kind) for name, kind in fields}, fields, place, reading)
    return replace(layout, zone=_zone([(place, batches)], layout))


def _csv_columns(reading: Reading, item: tuple[Path, str]) -> dict[str, csv_files.Column]:
    return csv_files.columns_of(item[0], reading, item[1])


def _csv_layout(source: sources.Source, files: Iterable[dict[str, csv_files.Column]], reading: Reading) -> FileLayout:
    """The attributes of all files of a CSV source, from the columns of each."""
    columns: dict[str, csv_files.Column] = {}
    for file in files:
        columns |= {name: columns.get(name, csv_files.Column()) + column for name, column in file.items()}
    time = columns[reading.time]
    whole = time.kind is Kind.INT and not time.texts and (reading.format == AUTO or reading.format in EPOCHS)
    kinds = {name: column.read_as for name, column in columns.items()}
    layout = _layout(kinds, [(name, pa.string()) for name in kinds], str(source.path), reading)
    read = [name for name in layout.kinds if name not in (*reading.text, reading.type)]
    notices = [notice for name in read if (notice := columns[name].notice(name)) is not None]
    doubts = {name: why for name in read if (why := columns[name].notice(name, needed=True)) is not None}
    return replace(layout, whole_times=whole, notices=(*layout.notices, *notices), doubts=doubts)


def file_blocks(
    file: Path, is_csv: bool, layout: FileLayout, called: str | None = None, *, whole: bool = False
) -> Iterator[Block]:
    """Checked rows of one file in order, in blocks of bounded size; with `whole`, a Parquet file may be one block.

    Messages call the file `called`.
    """
    called, reading = called or str(file), layout.reading
    before = reading.heading if is_csv else 0
    csv = partial(csv_files.csv_blocks, file, reading, called, layout.columns)
    for batch in csv() if is_csv else sources.parquet_blocks(file, layout.columns, whole=whole):
        yield checked(batch, layout, Place(called, before, reading.called))
        before += batch.num_rows


def checked(batch: pa.RecordBatch, layout: FileLayout, place: Place) -> Block:
    """Rows that satisfy the condition, with valid times and types, and attributes of the layout's kinds."""
    reading, read = layout.reading, batch.num_rows
    if reading.where is not None:
        kept = _chosen(batch, layout, place)
        batch, place = batch.take(pa.array(kept)), replace(place, rows=kept)
    raw = reading.columns(batch)
    columns = {
        name: attribute(raw[name] if name in raw else pa.nulls(batch.num_rows, ARROW[kind]), name, kind, place)
        for name, kind in layout.kinds.items()
    }
    time = times(raw["time"], reading.unit, place, reading.format, layout.zone)
    return Block(time, type_names(raw["type"], place), columns, place.rows, place.before, read)


def _chosen(batch: pa.RecordBatch, layout: FileLayout, place: Place) -> NDArray[np.int64]:
    """The rows that satisfy the condition. Attributes and numbers are compared with their types in all rows."""
    assert layout.reading.where is not None, "otherwise all rows count"
    columns = dict(zip(batch.schema.names, batch.columns, strict=True))
    kinds = {**layout.kinds, **({layout.reading.time: Kind.INT} if layout.whole_times else {})}
    for name, kind in kinds.items():
        columns[name] = attribute(columns.get(name, pa.nulls(len(batch))), name, kind, place)
    reading, time = layout.reading, columns[layout.reading.time]
    patterned = "%" in reading.format and sources.arrow_kind(time.type) is Kind.STRING
    times = {reading.time: by_pattern(_plain(time), reading.format)} if patterned else {}
    try:
        return chosen(layout.reading.where, columns, place.file, times)
    except InputError as error:
        reasons = [why for name, why in layout.doubts.items() if name in named(layout.reading.where)]
        raise InputError("; ".join((str(error), *reasons))) from None


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
                rows = np.flatnonzero(holes)
                event = int(rows[np.argmin(events.row[rows])])
                kind = events.schema.types[int(events.batch.type[event])]
                problem = f"null or NaN in an event of type {kind!r}, but a query needs it"
                if events.reading is not None:
                    condition = events.reading.without_nulls(needed, None if name == "*" else kind)
                    problem += f"; leave such rows out by where='{condition}', or fill them"
                raise InputError(f"{events.place(event)}, column {needed!r}: {problem}")


def spelled_twice(
    events: str | Path | pd.DataFrame, schema: Schema, reading: Reading, keys: Iterable[str]
) -> Iterator[str]:
    """Notices on keys of CSV files that are numbers of which one is written in several ways, as 5379.1 and 5379.10."""
    numeric = [name for name in dict.fromkeys(keys) if schema.kinds.get(name) is Kind.FLOAT]
    if not numeric or isinstance(events, pd.DataFrame) or not (source := sources.find(events)).is_csv:
        return
    for name in numeric:
        blocks = (block for file in source.files for block in csv_files.csv_blocks(file, reading, only=(name,)))
        texts = pc.utf8_trim_whitespace(pc.unique(pa.chunked_array([pc.unique(block[name]) for block in blocks])))
        first: dict[float, str] = {}
        for number, text in zip(pc.cast(texts, pa.float64()).to_pylist(), texts.to_pylist(), strict=True):
            if number is not None and first.setdefault(number, text) != text:
                yield (
                    f"{source.path}, column {name!r}: {first[number]!r} and {text!r} are one number, so one key; "
                    f"Reading(text={name!r}) keeps them apart"
                )
                break


def _frame_batches(frame: pd.DataFrame, reading: Reading) -> list[pa.RecordBatch]:
    try:
        table = pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowException, ValueError, TypeError) as error:
        raise InputError(f"{FRAME}: {str(error).splitlines()[0]}") from None
    reading.check(table.schema.names, FRAME)
    batches: list[pa.RecordBatch] = table.combine_chunks().to_batches()
    return batches or [pa.RecordBatch.from_arrays([pa.array([], f.type) for f in table.schema], schema=table.schema)]


def _merge(earlier: pa.DataType | None, kind: pa.DataType, name: str, file: Path) -> pa.DataType:
    if earlier is None or pa.types.is_null(earlier):
        return kind
    if pa.types.is_null(kind) or name in RESERVED:
        return earlier
    kinds = {sources.arrow_kind(earlier), sources.arrow_kind(kind)}
    if len(kinds) == 1:
        return earlier
    if kinds == {Kind.INT, Kind.FLOAT}:
        return pa.float64()
    raise InputError(f"{file}: column {name!r} has type {kind}, but {earlier} in an earlier file of the folder")


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
        if name in reading.text and kind is not None:
            kind = Kind.STRING
        if name == "_position" or (kind is None and not _empty(arrow, kinds, name)):
            notices.append(f"{place}: column {name!r} ({arrow}) is left out; attributes are numbers or strings")
        else:
            attributes[name] = kind or Kind.FLOAT
    if reading.format in EPOCHS:
        scale = f"numbers of {EPOCHS[reading.format]!r} since 1970, read as whole numbers of {reading.unit!r}"
        notices.append(f"{place}, column {reading.time!r}: {scale}")
    return FileLayout(attributes, tuple(notices), reading=reading, shadowed=tuple(reading.shadowed(names)))


def _empty(arrow: pa.DataType, kinds: Mapping[str, Kind | None], name: str) -> bool:
    """Whether a column without a kind has no value (otherwise it has a type that attributes cannot have)."""
    return kinds[name] is None and (pa.types.is_null(arrow) or pa.types.is_string(arrow))


def _zone(files: Iterable[tuple[str, Iterable[pa.RecordBatch]]], layout: FileLayout) -> str | None:
    """The zone of times, from the first of them that count where they are texts."""
    for file, batch in ((file, batch) for file, batches in files for batch in batches):
        column = batch.column(layout.reading.time)
        is_text = sources.arrow_kind(column.type) is Kind.STRING
        if is_text and layout.reading.where is not None:
            column = column.take(pa.array(_chosen(batch, layout, Place(file))))
        column = column.drop_null().slice(0, FIRST_ROWS)
        if len(column) or not is_text:
            return zone(_plain(column) if is_text else column, layout.reading.format)
    return None


def _plain(column: pa.Array) -> pa.Array:
    return pc.cast(column.dictionary_decode() if pa.types.is_dictionary(column.type) else column, pa.string())


def _assemble(layout: FileLayout, read: Sequence[tuple[list[Block], tuple[str, int]]]) -> InputEvents:
    """Codes strings and sorts by time (stable) the rows of all files, whose names and numbers of rows follow."""
    blocks = [block for file_blocks, _ in read for block in file_blocks]
    blocks = [block for block in blocks if block.read] or blocks[:1]
    files = tuple(file for _, file in read)
    before = np.cumsum([0, *(rows for _, rows in files)])
    time = _flat(column_of([pa.array(block.time) for block in blocks]))
    position = row = np.arange(len(time))
    if before[-1] > len(time):  # a condition leaves rows out, or headings count
        row = np.concatenate(
            [block.row + start for (part, _), start in zip(read, before, strict=False) for block in part]
        )
    names = column_of([block.type for block in blocks])
    arrow = {name: column_of([block.columns[name] for block in blocks]) for name in blocks[0].columns}
    types = sorted(pc.unique(names).to_pylist())
    schema = Schema(tuple(types), layout.attributes, layout.reading.unit, dictionary(layout, arrow), layout.zone)
    columns = {name: numbers(column, schema, name) for name, column in arrow.items()}
    holes = {name: mask for name, column in arrow.items() if (mask := missing(column)) is not None}
    batch = EventBatch(schema, time, codes(names, schema.types), columns, position)
    events = InputEvents(schema, batch, holes, row, files, layout.notices, layout.reading, layout.doubts)
    falls = np.flatnonzero(time[1:] < time[:-1])
    if len(falls):
        events = _sorted(events, int(falls[0]) + 1, layout.reading.time)
    if layout.reading.distinct:
        events = _distinct(events)
    first = events.batch.slice(0, FIRST_EVENTS)
    place = events.place if files[0][0] != FRAME else None
    notices = remarks(first, schema, layout.reading, files[0][0], place, events.missing)
    return replace(events, notices=(*events.notices, *notices))


def _sorted(events: InputEvents, first: int, column: str) -> InputEvents:
    """The events by time, read from `column`; `first` is the first that is earlier than its predecessor."""
    order = np.argsort(events.batch.time, kind="stable")
    batch = replace(events.batch.take(order), position=events.batch.position)
    holes = {name: mask[order] for name, mask in events.missing.items()}
    notice = f"{events.place(first)}, column {column!r}: earlier than the row before; the events were sorted by time"
    return replace(events, batch=batch, missing=holes, row=events.row[order], notices=(*events.notices, notice))


def _distinct(events: InputEvents) -> InputEvents:
    kept = np.flatnonzero(~repeated(events.batch, events.missing))
    batch = replace(events.batch.take(kept), position=np.arange(len(kept), dtype=np.int64))
    holes = {name: mask[kept] for name, mask in events.missing.items()}
    return replace(events, batch=batch, missing=holes, row=events.row[kept])


def repeated(events: EventBatch, holes: Mapping[str, NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """bool[n], which events are equal in all columns to an earlier one; `holes`: where attributes are null."""
    columns = (events.time, events.type, *events.columns.values(), *(mask[: len(events)] for mask in holes.values()))
    return pd.DataFrame(dict(enumerate(columns))).duplicated().to_numpy()


def remarks(
    events: EventBatch,
    schema: Schema,
    reading: Reading,
    file: str,
    place: Callable[[int], str] | None,
    holes: Mapping[str, NDArray[np.bool_]],
) -> tuple[str, ...]:
    """Notices on the first events of a stream from `file`; `place` names the row of an event, None in a DataFrame.

    `holes`: where attributes are null or NaN.
    """
    if len(events) == 0:
        return (
            ()
            if place is None and reading.where is None
            else (f"{file}: there are no rows" + (f" for which {reading.where!r} is true" if reading.where else ""),)
        )
    notices = []
    blanks = [name for name in schema.types if name != name.strip()]
    if blanks:
        notices.append(f"{file}, column {reading.type!r}: types with blanks around them: {listed(blanks)}")
    if schema.zone is None and reading.format == AUTO and (why := misread(events.time, reading.unit)):
        notices.append(f"{file}, column {reading.time!r}: {why}")
    if place is not None and len(events.columns) == len(schema.attributes):
        again = np.flatnonzero(repeated(events, holes)).tolist()
        notices += [_equal(place(again[0]), len(again), len(events))] if again else []
    return tuple(notices)


def _equal_rows(source: sources.Source, layout: FileLayout) -> tuple[str, ...]:
    """A notice on equal rows among the first of a source of which only some columns are read."""
    file, reading = source.files[0], layout.reading
    names = [reading.time, *layout.kinds, *((reading.type,) if reading.constant is None else ())]
    blocks = csv_files.csv_blocks(file, reading) if source.is_csv else sources.parquet_blocks(file, names)
    first = next((block for block in blocks if block.num_rows), None)
    if first is None:
        return ()
    read = [name for name in dict.fromkeys(names) if name in first.schema.names]
    again = np.flatnonzero(first.select(read).to_pandas().duplicated()).tolist()
    row = again[0] + 1 + (reading.heading if source.is_csv else 0) if again else 0
    return (_equal(f"{file}, row {row}", len(again), first.num_rows),) if again else ()


def _equal(place: str, count: int, events: int) -> str:
    numbers = f"as are {count} of the first {events} events"
    return f"{place}: equal in all columns to an earlier row, {numbers}; Reading(distinct=True) counts such rows once"


def column_of(arrays: Sequence[pa.Array]) -> pa.ChunkedArray:
    """The column of consecutive blocks; if its strings are coded, by one dictionary."""
    return pa.chunked_array(arrays).unify_dictionaries()


def dictionary(layout: FileLayout, columns: Mapping[str, pa.ChunkedArray]) -> tuple[str, ...]:
    """All strings of all string attributes, sorted; with '' (which represents null) if there are nulls."""
    strings: set[str] = set()
    for name, column in columns.items():
        if layout.kinds[name] is Kind.STRING:
            strings.update("" if text is None else text for text in pc.unique(column).to_pylist())
    return tuple(sorted(strings))


def codes(column: pa.ChunkedArray | pa.Array, words: tuple[str, ...]) -> NDArray[np.int32]:
    """int32 codes into `words`, which contain every string of the column, and '' if it has nulls."""
    column = coded(column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column)
    places = pc.index_in(column.dictionary, value_set=pa.array(words, pa.string()))
    indices = pc.take(places, column.indices)
    return _flat(pc.fill_null(indices, words.index("")) if indices.null_count else indices)


def numbers(column: pa.ChunkedArray | pa.Array, schema: Schema, name: str) -> NDArray[np.generic]:
    """An attribute in the representation of `EventBatch`; null is 0, NaN or the code of ''."""
    kind = schema.kinds[name]
    if kind is Kind.STRING:
        return codes(column, schema.strings)
    return _flat(pc.fill_null(column, 0 if kind is Kind.INT else float("nan")) if column.null_count else column)


def _flat(column: pa.ChunkedArray | pa.Array) -> NDArray[Any]:
    chunked = isinstance(column, pa.ChunkedArray)
    array: NDArray[Any] = column.to_numpy() if chunked else column.to_numpy(zero_copy_only=False)
    return array
