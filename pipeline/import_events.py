"""Your files, and DataFrames, as event stores."""

import tempfile
import uuid
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from cepbench.events.columns import ARROW
from cepbench.events.files import InputEvents, file_blocks, read_events, source_layout, spelled_twice
from cepbench.events.reading import EXPECTED, Reading, reading_of
from cepbench.events.sources import Source, find
from cepbench.pipeline.creation import shared_parent, storing, write_store
from cepbench.pipeline.staging import ROW, ROW_BITS, STAGE_ROWS, Staged, store_staged
from cepbench.pipeline.store import Stream
from cepbench.pipeline.tasks import default_buckets, run_tasks
from cepbench.pipeline.writing import BucketWriter

PART_BLOCKS = 8
"""Blocks of a file in one staged part."""


def import_events(
    events: str | Path | pd.DataFrame,
    path: str | Path,
    *,
    spark: SparkSession | None,
    reading: Reading | str = "s",
    key: Sequence[str] = (),
    buckets: int | None = None,
    replace: bool = False,
) -> tuple[Stream, tuple[str, ...]]:
    """A CSV or Parquet file, a folder of such files, or a DataFrame as a store at `path`, with notices to its owner.

    A task reads each file, or this process all of them without Spark, in blocks of bounded size.
    """
    reading = reading_of(reading)
    if isinstance(events, pd.DataFrame):
        source = read_events(events, reading)
        origin = _origin([Path(name).name for name, _ in source.files], reading)
        buckets = buckets or default_buckets(None, key)
        stream = write_store(
            path, source.schema, key, buckets, _write_all, [source], origin, spark=None, replace=replace
        )
        notices = source.notices
    else:
        stream, notices = _import_files(spark, find(events), Path(path), reading, key, buckets, replace)
    return stream, (*notices, *spelled_twice(events, stream.schema, reading, key))


def _import_files(
    spark: SparkSession | None,
    source: Source,
    path: Path,
    reading: Reading,
    key: Sequence[str],
    buckets: int | None,
    replace: bool,
) -> tuple[Stream, tuple[str, ...]]:
    """Files as a store: one task each, or one after the other in this process."""
    layout = source_layout(source, reading, partial(run_tasks, spark))
    staged = Staged(layout, tuple(str(file) for file in source.files))
    with tempfile.TemporaryDirectory(prefix=".cepbench-stage-", dir=shared_parent(path)) as scratch:
        stage = Path(scratch).resolve() / "stage"
        stage.mkdir()
        task = partial(_stage_file, path, staged, [file.resolve() for file in source.files], source.is_csv, stage)
        run_tasks(spark, task, range(len(source.files)))
        origin = _origin([file.name for file in source.files], reading)
        return store_staged(spark, staged, stage, path, reading.unit, key, buckets, replace, origin)


def _write_all(writer: BucketWriter, source: InputEvents) -> None:
    for start in range(0, len(source.batch), STAGE_ROWS):
        holes = {name: mask[start : start + STAGE_ROWS] for name, mask in source.missing.items()}
        origin = partial(lambda first, event: source.place(first + event), start)
        writer.write(source.batch.slice(start, start + STAGE_ROWS), holes, origin)


def _origin(files: Sequence[str], reading: Reading) -> dict[str, Any]:
    """The part of the origin of events that a store keeps."""
    fields = {"type": reading.type, "constant": reading.constant, "where": reading.where}
    return {"files": list(files), **{name: fields[name] for name in fields if fields[name] != getattr(EXPECTED, name)}}


def _stage_file(path: Path, staged: Staged, files: Sequence[Path], is_csv: bool, stage: Path, number: int) -> None:
    """Copies one file to the stage, checked and typed, in parts that later tasks read side by side."""
    kinds = staged.layout.kinds
    fields = [("time", pa.int64()), ("type", pa.string()), *((staged.columns[n], ARROW[k]) for n, k in kinds.items())]
    schema = pa.schema([*fields, (ROW, pa.int64())])
    texts = [field.name for field in schema if field.type == pa.string()]
    blocks = enumerate(file_blocks(files[number], is_csv, staged.layout, staged.files[number]))
    for part, members in groupby(blocks, lambda numbered: numbered[0] // PART_BLOCKS):
        # Speculation is off, but Spark may retry a task while its first attempt still runs.
        temporary = stage / f".{number}.{part}.{uuid.uuid4().hex[:8]}"
        with storing(path), pq.ParquetWriter(temporary, schema, compression="lz4", use_dictionary=texts) as writer:
            for _, block in members:
                rows = pa.array((number << ROW_BITS) + block.row)
                arrays = [pa.array(block.time), block.type, *(block.columns[column] for column in kinds), rows]
                writer.write_table(pa.Table.from_arrays(arrays, names=schema.names).cast(schema))
        temporary.rename(stage / f"part-{number:06d}-{part:06d}.parquet")
