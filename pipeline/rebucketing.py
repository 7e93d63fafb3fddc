"""The same stream in other buckets, for queries that split it differently."""

import re
import shutil
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

from cepbench.events.errors import CepbenchError, InputError
from cepbench.pipeline.cluster import is_local
from cepbench.pipeline.creation import write_store
from cepbench.pipeline.hashing import word
from cepbench.pipeline.packages import private_folder
from cepbench.pipeline.parts import check_part
from cepbench.pipeline.store import Stream, is_store, read_stream, stream_batches
from cepbench.pipeline.tasks import default_partitions, stretches
from cepbench.pipeline.writing import BucketWriter, check_key

FOLDER = "_rebucketed"  # readers of Parquet folders skip names that begin with an underscore


def rebucket(stream: Stream, key: Sequence[str], buckets: int, *, spark: SparkSession | None) -> Stream:
    """The stream in `buckets` buckets by `key`; made once and kept beside it while its fingerprint agrees.

    Each task merges the old buckets over a stretch of positions, so nothing is shuffled and memory stays bounded.
    """
    check_key(stream.schema, key, buckets)
    if stream.key == tuple(key) and stream.buckets == buckets:
        return stream
    places = _places(stream, key, buckets, spark)
    for path in places:
        if (kept := _kept(path, stream)) is not None:
            return kept
    error = CepbenchError(f"{stream.path}: no folder to rebucket into")
    for path in places:
        try:
            return _copy(stream, tuple(key), buckets, path, spark)
        except (CepbenchError, OSError) as problem:
            if (kept := _kept(path, stream)) is not None:
                return kept  # another process was faster
            error = CepbenchError(f"{path}: {problem}") if isinstance(problem, OSError) else problem
    raise error


def discard(copy: Stream) -> None:
    """Removes a copy whose pages turned out to be damaged."""
    shutil.rmtree(copy.path, ignore_errors=True)


def _kept(path: Path, stream: Stream) -> Stream | None:
    """The copy at `path`, if it is complete and of this stream. A damaged copy is made again."""
    try:
        store = read_stream(path) if is_store(path) else None
        if store is None or store.fingerprint != stream.fingerprint:
            return None
        for part in store.parts:
            check_part(path, part)
        return store
    except (InputError, OSError):
        return None


def _copy(stream: Stream, key: tuple[str, ...], buckets: int, path: Path, spark: SparkSession | None) -> Stream:
    if path.exists() and not is_store(path):
        shutil.rmtree(path, ignore_errors=True)  # a copy that has lost its description
    fill = partial(_write_events, replace(stream, path=stream.path.resolve()))
    items = stretches(stream.events, default_partitions(spark))
    return write_store(
        path, stream.schema, key, buckets, fill, items, stream.source, spark=spark, replace=True, copied=stream
    )


def _write_events(stream: Stream, writer: BucketWriter, positions: range) -> None:
    for batch in stream_batches(stream, positions.start, positions.stop):
        writer.write(batch)


def _places(stream: Stream, key: Sequence[str], buckets: int, spark: SparkSession | None) -> list[Path]:
    """Inside the store if possible; otherwise, if only this machine reads it, in a private folder."""
    label = re.sub(r"[^\w-]", "-", "-".join(key))[:80] or "whole"
    name = f"{label}-{buckets}-{word(repr(tuple(key))):016x}"
    places = [stream.path / FOLDER / name]
    private = private_folder()
    if private is not None and (spark is None or is_local(str(spark.sparkContext.master))):
        places.append(private / "rebucketed" / stream.fingerprint / name)
    return places
