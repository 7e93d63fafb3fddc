"""Joins consecutive parts of a bucket, so that a store written by many tasks has few files."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial, reduce
from itertools import accumulate
from operator import add
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from cepbench.events.schema import Schema
from cepbench.pipeline.parts import PartWriter, StoreFile, by_folder, opened
from cepbench.pipeline.tasks import run_tasks
from cepbench.pipeline.writing import GROUP_ROWS, Written, arrow_schema, options

MOST_PARTS = 8
"""The maximum number of parts of a bucket."""


def joined(spark: SparkSession | None, folder: Path, schema: Schema, written: Sequence[Written]) -> Written:
    """The counts of all writers of a store in `folder`, with at most `MOST_PARTS` files in every bucket.

    Each file is written by a task, which reads its parts a row group at a time.
    """
    total = reduce(add, written)
    folders = by_folder(sorted(total.parts, key=lambda part: part.name))
    joins = [join for name, parts in folders.items() if len(parts) > MOST_PARTS for join in _joins(name, parts)]
    made = run_tasks(spark, partial(_join, folder.resolve(), schema), joins)
    gone = {part.name for _, parts in joins for part in parts}
    for name in gone:
        (folder / name).unlink()
    return replace(total, parts=(*(part for part in total.parts if part.name not in gone), *made))


def _joins(folder: str, parts: Sequence[StoreFile]) -> list[tuple[str, list[StoreFile]]]:
    """Stretches of nearly equal numbers of events, each with the name of the file that it becomes."""
    total = sum(part.events for part in parts)
    groups: list[list[StoreFile]] = [[] for _ in range(MOST_PARTS)]
    for part, end in zip(parts, accumulate(part.events for part in parts), strict=True):
        groups[min(MOST_PARTS - 1, (end - 1) * MOST_PARTS // total)].append(part)
    return [(f"{folder}/joined-{i:05d}.parquet", group) for i, group in enumerate(filter(None, groups))]


def _join(folder: Path, schema: Schema, join: tuple[str, list[StoreFile]]) -> StoreFile:
    name, parts = join
    arrow = arrow_schema(schema)
    file = PartWriter(folder, name, arrow, **options(schema))
    try:
        pending: list[pa.RecordBatch] = []
        for part in parts:
            with opened(folder, part) as parquet:
                for batch in parquet.iter_batches(GROUP_ROWS, use_threads=False):
                    pending.append(batch)
                    if sum(batch.num_rows for batch in pending) >= GROUP_ROWS:
                        file.write(pa.Table.from_batches(pending, arrow).combine_chunks(), GROUP_ROWS)
                        pending = []
        if pending:
            file.write(pa.Table.from_batches(pending, arrow).combine_chunks(), GROUP_ROWS)
    except BaseException:
        file.discard()
        raise
    return file.close()
