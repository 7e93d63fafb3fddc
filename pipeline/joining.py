"""Joins consecutive parts of a bucket, so that a store written by many tasks has few files."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate
from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from cepbench.events.schema import Schema
from cepbench.pipeline.parts import PartWriter, StoreFile, opened
from cepbench.pipeline.tasks import run_tasks
from cepbench.pipeline.writing import GROUP_ROWS, Written, arrow_schema, options

MOST_PARTS = 8
"""The maximum number of parts of a bucket."""


@dataclass(frozen=True)
class _Join:
    """Parts that become the file `name`, in their order."""

    name: str
    parts: tuple[StoreFile, ...]


def joined(spark: SparkSession | None, folder: Path, schema: Schema, written: Sequence[Written]) -> list[Written]:
    """What the writers of a store in `folder` wrote, with at most `MOST_PARTS` files in every bucket.

    Each file is written by a task, which reads its parts a row group at a time.
    """
    by_bucket: dict[str, list[StoreFile]] = {}
    for part in sorted((part for one in written for part in one.parts), key=lambda part: part.name):
        by_bucket.setdefault(part.name.partition("/")[0], []).append(part)
    joins = [join for parts in by_bucket.values() if len(parts) > MOST_PARTS for join in _joins(parts)]
    if not joins:
        return list(written)
    made = run_tasks(spark, partial(_join, folder.resolve(), schema), joins)
    gone = {part.name for join in joins for part in join.parts}
    for name in gone:
        (folder / name).unlink()
    kept = [replace(one, parts=tuple(part for part in one.parts if part.name not in gone)) for one in written]
    return [replace(kept[0], parts=kept[0].parts + tuple(made)), *kept[1:]]


def _joins(parts: Sequence[StoreFile]) -> list[_Join]:
    """Stretches of nearly equal numbers of events."""
    folder = parts[0].name.partition("/")[0]
    total = sum(part.events for part in parts)
    groups: list[list[StoreFile]] = [[] for _ in range(MOST_PARTS)]
    for part, end in zip(parts, accumulate(part.events for part in parts), strict=True):
        groups[min(MOST_PARTS - 1, (end - 1) * MOST_PARTS // total)].append(part)
    return [_Join(f"{folder}/joined-{i:05d}.parquet", tuple(group)) for i, group in enumerate(filter(None, groups))]


def _join(folder: Path, schema: Schema, join: _Join) -> StoreFile:
    arrow = arrow_schema(schema)
    file = PartWriter(folder, join.name, arrow, **options(schema))
    try:
        pending: list[pa.RecordBatch] = []
        for part in join.parts:
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
