"""Your files, and DataFrames, as event stores."""

import tempfile
import uuid
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from cepbench.events.columns import ARROW
from cepbench.events.files import InputEvents, file_blocks, read_events
from cepbench.events.reading import Reading, reading_of
from cepbench.events.sources import Source, find
from cepbench.pipeline.creation import shared_parent, write_store
from cepbench.pipeline.pieces import Piece, pieces
from cepbench.pipeline.staging import ROW, ROW_BITS, STAGE_ROWS, Staged, store_staged
from cepbench.pipeline.store import Stream
from cepbench.pipeline.tasks import default_buckets, run_tasks
from cepbench.pipeline.writing import BucketWriter


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

    Without Spark, or from a DataFrame, all events must fit into memory.
    """
    reading = reading_of(reading)
    if spark is None or isinstance(events, pd.DataFrame):
        found = read_events(events, reading)
        origin = _origin([Path(name).name for name, _ in found.files], reading)
        buckets = buckets or default_buckets(spark, key)
        made = write_store(path, found.schema, key, buckets, _write_all, [found], origin, spark=None, replace=replace)
        return made, found.notices
    return import_source(spark, find(events), Path(path), reading, key, buckets, replace)


def import_source(
    spark: SparkSession | None,
    source: Source,
    path: Path,
    reading: Reading | str,
    key: Sequence[str],
    buckets: int | None,
    replace: bool,
    piece_bytes: int | None = None,
) -> tuple[Stream, tuple[str, ...]]:
    """Files as a store, in pieces of about `piece_bytes`: one task each, or one after the other in this process."""
    reading = reading_of(reading)
    layout, parts = pieces(spark, source, piece_bytes, reading)
    staged = Staged(layout, tuple(str(file) for file in source.files))
    with tempfile.TemporaryDirectory(prefix=".cepbench-stage-", dir=shared_parent(path)) as scratch:
        stage = Path(scratch).resolve() / "stage"
        stage.mkdir()
        task = partial(_stage_piece, staged, [file.resolve() for file in source.files], source.is_csv, stage)
        run_tasks(spark, task, list(enumerate(parts)))
        origin = _origin([file.name for file in source.files], reading)
        return store_staged(spark, staged, stage, path, reading.unit, key, buckets, replace, origin)


def _write_all(writer: BucketWriter, found: InputEvents) -> None:
    for start in range(0, len(found.batch), STAGE_ROWS):
        holes = {name: mask[start : start + STAGE_ROWS] for name, mask in found.missing.items()}
        origin = partial(lambda first, event: found.place(first + event), start)
        writer.write(found.batch.slice(start, start + STAGE_ROWS), holes, origin)


def _origin(files: Sequence[str], reading: Reading) -> dict[str, Any]:
    """What the store keeps of where its events come from."""
    return {"files": list(files), **({} if reading.where is None else {"where": reading.where})}


def _stage_piece(staged: Staged, files: Sequence[Path], is_csv: bool, stage: Path, item: tuple[int, Piece]) -> None:
    """Copies one piece of a file to the stage, checked and typed."""
    number, piece = item
    kinds = staged.layout.kinds
    fields = [("time", pa.int64()), ("type", pa.string()), *((staged.columns[n], ARROW[k]) for n, k in kinds.items())]
    schema = pa.schema([*fields, (ROW, pa.int64())])
    file, name = files[piece.file], staged.files[piece.file]
    # Speculation is off, but Spark may retry a task while its first attempt still runs.
    temporary = stage / f".{number}.{uuid.uuid4().hex[:8]}"
    texts = [field.name for field in schema if field.type == pa.string()]
    with pq.ParquetWriter(temporary, schema, compression="lz4", use_dictionary=texts) as writer:
        for block in file_blocks(file, is_csv, staged.layout, piece.span, piece.before, name):
            rows = pa.array((piece.file << ROW_BITS) + block.row)
            arrays = [pa.array(block.time), block.type, *(block.columns[column] for column in kinds), rows]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
    temporary.rename(stage / f"part-{number:06d}.parquet")
