"""From staged Parquet files of checked rows to an event store.

A survey of the staged parts gives the dictionaries. Parts that are not in time order are sorted in themselves, then
joined by ranges of time, each of which fits into memory. Then a task for each part writes it to the buckets.
"""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pyarrow.dataset import dataset

from cepbench.events.batch import EventBatch
from cepbench.events.columns import missing
from cepbench.events.files import FIRST_EVENTS, FileLayout, codes, numbers, remarks, repeated
from cepbench.events.schema import Kind, Schema
from cepbench.events.windows import FOREVER
from cepbench.pipeline.creation import storing, write_store
from cepbench.pipeline.store import Stream
from cepbench.pipeline.tasks import default_buckets, run_tasks
from cepbench.pipeline.writing import BucketWriter

if TYPE_CHECKING:  # only data sets and clusters need it
    from pyspark.sql import SparkSession

ROW = "_row"
ROW_BITS = 40  # of a row within its file; the rest is the file's number
STAGE_ROWS = 1 << 18
SORTED_ROWS = 1 << 14
"""Rows of a group in a sorted part: a range of time reads few others."""
RANGE_ROWS = 1 << 21
"""Rows of a range of time, about; rows of equal time are in one range."""
SAMPLE_ROWS = 1 << 10
"""One in so many rows of each part determines the ranges."""


@dataclass(frozen=True)
class Staged:
    """The folder of staged parts, their columns c0, c1, ..., and the files to which `_row` refers."""

    layout: FileLayout
    files: tuple[str, ...] = ()

    @property
    def columns(self) -> dict[str, str]:
        """The staged name of each attribute; attributes may have any name, staged columns not."""
        return {name: f"c{i}" for i, name in enumerate(self.layout.kinds)}

    def place(self, row: int) -> str:
        """The file and row of a `_row`."""
        return f"{self.files[row >> ROW_BITS]}, row {(row & (2**ROW_BITS - 1)) + 1}"


@dataclass(frozen=True)
class Survey:
    """Facts about one staged part: `late` is the first `_row` that is earlier than the row before it."""

    rows: int
    first: int | None
    last: int | None
    first_row: int
    late: int | None
    types: frozenset[str]
    strings: frozenset[str]


def store_staged(
    spark: "SparkSession | None",
    staged: Staged,
    stage: Path,
    path: Path,
    time_unit: str,
    key: Sequence[str],
    buckets: int | None,
    replace: bool,
    origin: Mapping[str, Any],
) -> tuple[Stream, tuple[str, ...]]:
    """Writes the Parquet files in `stage` to a new store at `path`; `origin` becomes its source.

    Without Spark, tasks run in this process.
    """
    parts = sorted(stage.glob("*.parquet"))
    surveys = run_tasks(spark, partial(_survey, staged), parts)
    notices, reading = staged.layout.notices, staged.layout.reading
    late = _late(surveys)
    if late is not None:
        place = f"{staged.place(late)}, column {reading.time!r}" if staged.files else "the data set"
        notices += (f"{place}: earlier than the row before; the events were sorted by time",)
    types = sorted(frozenset[str]().union(*(survey.types for survey in surveys)))
    strings = sorted(frozenset[str]().union(*(survey.strings for survey in surveys)))
    schema = Schema(tuple(types), staged.layout.attributes, time_unit, tuple(strings), staged.layout.zone)
    rows = [survey.rows for survey in surveys]
    if late is not None or reading.distinct:
        parts, rows = _sorted(spark, staged, schema, parts, path)
    if staged.files:
        first = _first(parts)
        place_of = partial(lambda rows, event: staged.place(int(rows[event])), first[ROW].to_numpy())
        holes = _holes(staged, first)
        notices += remarks(_events(staged, schema, first, 0), schema, reading, staged.files[0], place_of, holes)
    buckets = buckets or default_buckets(spark, key)
    fill = partial(_write_parts, staged, schema)
    begins = list(zip(parts, accumulate(rows, initial=0), strict=False))
    items = [begins] if spark is None else [[begin] for begin in begins]  # one writer in this process
    return write_store(path, schema, key, buckets, fill, items, origin, spark=spark, replace=replace), notices


def _survey(staged: Staged, part: Path) -> Survey:
    rows, first, last, first_row, late = 0, None, None, 0, None
    types: set[str] = set()
    strings: set[str] = set()
    texts = [staged.columns[name] for name, kind in staged.layout.kinds.items() if kind is Kind.STRING]
    for batch in _batches(part, ["time", "type", *texts, ROW]):
        if batch.num_rows == 0:
            continue
        time, row = batch["time"].to_numpy(), batch[ROW].to_numpy()
        if first is None:
            first, first_row = int(time[0]), int(row[0])
        falls = np.flatnonzero(np.diff(time, prepend=time[0] if last is None else last) < 0)
        late = int(row[falls[0]]) if late is None and len(falls) else late
        last = int(time[-1])
        rows += batch.num_rows
        types.update(pc.unique(batch["type"]).to_pylist())
        for name in texts:
            strings.update("" if text is None else text for text in pc.unique(batch[name]).to_pylist())
    return Survey(rows, first, last, first_row, late, frozenset(types), frozenset(strings))


def _late(surveys: Sequence[Survey]) -> int | None:
    """The first row, over all parts, that is earlier than the one before it."""
    last: int | None = None
    for survey in surveys:
        if last is not None and survey.first is not None and survey.first < last:
            return survey.first_row
        if survey.late is not None:
            return survey.late
        last = survey.last if survey.last is not None else last
    return None


def _sorted(
    spark: "SparkSession | None", staged: Staged, schema: Schema, parts: Sequence[Path], path: Path
) -> tuple[list[Path], list[int]]:
    """The staged rows by time, then by row, in new parts that are consecutive ranges of time, and their numbers.

    Parts are in the order of rows, which stable sorts keep. Equal rows may count once.
    """
    samples = run_tasks(spark, partial(_sort_part, path), parts)
    cuts = np.unique(np.sort(np.concatenate(samples))[:: RANGE_ROWS // SAMPLE_ROWS][1:])
    ranges = [
        (parts[0].with_name(f"range-{number:06d}"), *bounds)
        for number, bounds in enumerate(pairwise([0, *cuts.tolist(), FOREVER]))
    ]
    rows = run_tasks(spark, partial(_sort_range, staged, schema, parts, path), ranges)
    return [part for part, _, _ in ranges], rows


def _sort_part(path: Path, part: Path) -> NDArray[np.int64]:
    """Sorts one part by itself, and returns some of its times."""
    rows = _by_time(pq.read_table(part))
    _replace(path, part, rows, SORTED_ROWS)
    times: NDArray[np.int64] = rows["time"].to_numpy()[::SAMPLE_ROWS]
    return times.copy()  # a view would keep the column of every part


def _sort_range(staged: Staged, schema: Schema, parts: Sequence[Path], path: Path, item: tuple[Path, int, int]) -> int:
    """Writes the rows with times in a range to a new part, and returns their number."""
    part, begin, end = item
    rows = _by_time(dataset(parts).to_table(filter=(pc.field("time") >= begin) & (pc.field("time") < end)))
    if staged.layout.reading.distinct:
        again = repeated(_events(staged, schema, rows, 0), _holes(staged, rows))
        rows = rows.filter(pa.array(~again))
    _replace(path, part, rows, STAGE_ROWS)
    return len(rows)


def _by_time(rows: pa.Table) -> pa.Table:
    return rows.take(np.argsort(rows["time"].to_numpy(), kind="stable"))


def _replace(path: Path, part: Path, rows: pa.Table, group: int) -> None:
    """Writes a whole part of the store at `path`; Spark may retry a task while its first attempt still runs."""
    temporary = part.with_name(f".{part.name}.{uuid.uuid4().hex[:8]}")
    texts = [field.name for field in rows.schema if field.type == pa.string()]
    with storing(path):
        pq.write_table(rows, temporary, row_group_size=group, compression="lz4", use_dictionary=texts)
        temporary.replace(part)


def _write_parts(staged: Staged, schema: Schema, writer: BucketWriter, begins: Sequence[tuple[Path, int]]) -> None:
    """Writes consecutive parts, each with the position of its first event."""
    for part, position in begins:
        for batch in _batches(part):
            events = _events(staged, schema, batch, position)
            origin = partial(lambda rows, event: staged.place(int(rows[event])), batch[ROW].to_numpy())
            writer.write(events, _holes(staged, batch), origin if staged.files else None)
            position += batch.num_rows


def _first(parts: Sequence[Path]) -> pa.Table:
    """The first rows of all parts. Arrow's `head` of many files would read gigabytes ahead."""
    batches, rows = [], 0
    for batch in chain.from_iterable(map(_batches, parts)):
        batches.append(batch)
        rows += len(batch)
        if rows >= FIRST_EVENTS:
            break
    return pa.Table.from_batches(batches, pq.read_schema(parts[0])).slice(0, FIRST_EVENTS)


def _batches(part: Path, columns: Sequence[str] | None = None) -> Iterator[pa.RecordBatch]:
    with pq.ParquetFile(part) as parquet:
        yield from parquet.iter_batches(STAGE_ROWS, columns=columns)


def _holes(staged: Staged, rows: pa.RecordBatch | pa.Table) -> dict[str, NDArray[np.bool_]]:
    """Where attributes are null or NaN (only attributes with such rows)."""
    masks = {name: missing(rows[column]) for name, column in staged.columns.items()}
    return {name: mask for name, mask in masks.items() if mask is not None}


def _events(staged: Staged, schema: Schema, rows: pa.RecordBatch | pa.Table, position: int) -> EventBatch:
    return EventBatch(
        schema,
        rows["time"].to_numpy(),
        codes(rows["type"], schema.types),
        {name: numbers(rows[column], schema, name) for name, column in staged.columns.items()},
        np.arange(position, position + rows.num_rows, dtype=np.int64),
    )
