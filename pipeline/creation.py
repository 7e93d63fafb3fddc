"""Creating an event store: it appears whole, or not at all."""

import dataclasses
import os
import shutil
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from pyspark.sql import SparkSession

from cepbench.events.errors import CepbenchError
from cepbench.events.paths import local_path
from cepbench.events.schema import Schema
from cepbench.pipeline.joining import joined
from cepbench.pipeline.store import Stream, is_store, read_stream, write_description
from cepbench.pipeline.tasks import run_tasks
from cepbench.pipeline.writing import BucketWriter, Written, check_key, describe

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
        made = describe(folder, schema, key, [joined(spark, folder, schema, written)], source)
        if copied is not None:  # only the import knows nulls: they are stored as values
            write_description(dataclasses.replace(made, holes=copied.holes, fingerprint=copied.fingerprint), folder)
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
