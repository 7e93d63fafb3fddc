"""Creating an event store: it appears whole, or not at all."""

import dataclasses
import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial, reduce
from itertools import accumulate
from operator import add
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
from pyspark.sql import SparkSession

from cepbench.events.errors import CepbenchError
from cepbench.events.paths import local_path
from cepbench.events.schema import Schema
from cepbench.pipeline.parts import PartWriter, StoreFile, by_folder, opened
from cepbench.pipeline.store import Stream, is_store, read_stream, write_description
from cepbench.pipeline.tasks import run_tasks
from cepbench.pipeline.writing import GROUP_ROWS, BucketWriter, Written, arrow_schema, check_key, describe, options

MOST_PARTS = 8
"""The maximum number of parts of a bucket: consecutive ones are joined, since many tasks write many."""
Item = TypeVar("Item")


def write_store(
    path: str | Path,
    schema: Schema,
    key: Sequence[str],
    buckets: int,
    fill: Callable[[BucketWriter, Item], None],
    items: Sequence[Item],
    source: Mapping[str, Any],
    *,
    spark: SparkSession | None,
    replace: bool = False,
    copied: Stream | None = None,
) -> Stream:
    """Writes a new store at `path`. A task for each item writes its events with `fill`; items are in the order of time.

    `copied` is the stream whose events these are, in other buckets.
    """
    check_key(schema, key, buckets)
    with creating(path, replace) as folder:
        begun = partial(BucketWriter, folder.resolve(), schema, key, buckets)
        written = run_tasks(spark, partial(_write, path, begun, fill), list(enumerate(items)))
        stream = describe(folder, schema, key, [_joined(spark, folder, schema, written)], source)
        if copied is not None:  # only the import knows nulls: they are stored as values
            write_description(dataclasses.replace(stream, holes=copied.holes, fingerprint=copied.fingerprint), folder)
    return read_stream(path)


def _write(
    path: str | Path,
    begun: Callable[[int], BucketWriter],
    fill: Callable[[BucketWriter, Any], None],
    item: tuple[int, Any],
) -> Written:
    number, content = item
    with storing(path), begun(number) as writer:
        fill(writer, content)
    return writer.written


def _joined(spark: SparkSession | None, folder: Path, schema: Schema, written: Sequence[Written]) -> Written:
    """The counts of all writers of a store in `folder`, with at most `MOST_PARTS` files in every bucket.

    Each file is written by a task, which reads its parts a row group at a time.
    """
    total = reduce(add, written)
    folders = by_folder(sorted(total.parts, key=lambda part: part.name))
    joins = [join for name, parts in folders.items() if len(parts) > MOST_PARTS for join in _joins(name, parts)]
    joined = run_tasks(spark, partial(_join, folder.resolve(), schema), joins)
    gone = {part.name for _, parts in joins for part in parts}
    for name in gone:
        (folder / name).unlink()
    return dataclasses.replace(total, parts=(*(part for part in total.parts if part.name not in gone), *joined))


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


@contextmanager
def storing(path: str | Path) -> Iterator[None]:
    """Names the store at `path` where the system refuses to write and names no file, as on a full disk."""
    try:
        yield
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        raise CepbenchError(f"{path}: cannot be written: {os.strerror(error.errno).lower()}") from None


@contextmanager
def creating(path: str | Path, replace: bool = False) -> Iterator[Path]:
    """A sibling folder to fill, which becomes `path` at the end, or is removed on an error.

    An existing store is refused, or exchanged with `replace`; anything else at `path` is refused always.
    """
    path = local_path(path)
    if path.exists() and not (replace and is_store(path)) and not _is_empty(path):
        advice = (
            "choose another path or overwrite it" if is_store(path) else "it is not an event store; choose another path"
        )
        raise CepbenchError(f"{path} exists already; {advice}")
    temporary = path.parent / f".{path.name}.{uuid.uuid4().hex[:12]}.tmp"
    try:
        temporary.mkdir(parents=True)
    except OSError as error:
        raise CepbenchError(f"{path}: cannot create an event store there: {error.strerror}") from None
    try:
        yield temporary
        _exchange(temporary, path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def shared_parent(path: str | Path) -> Path:
    """The folder of a store to be created: workers that have access to the store have access to this folder."""
    parent = local_path(path).absolute().parent
    parent.mkdir(parents=True, exist_ok=True)
    return parent


def _exchange(new: Path, path: Path) -> None:
    if not path.exists():
        new.rename(path)
        return
    old = new.with_suffix(".old")
    path.rename(old)
    new.rename(path)
    shutil.rmtree(old, ignore_errors=True)


def _is_empty(path: Path) -> bool:
    return path.is_dir() and not any(path.iterdir())
