"""Generated streams as event stores: slices are generated and written by tasks, nothing passes through the driver."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from cepbench.generators.base import Generator
from cepbench.pipeline.creation import creating
from cepbench.pipeline.joining import joined
from cepbench.pipeline.store import Stream, read_stream
from cepbench.pipeline.tasks import run_tasks
from cepbench.pipeline.writing import BucketWriter, Written, check_key, describe


@dataclass(frozen=True)
class Stretch:
    """Items first..last-1 (slices, or positions) that one task writes as part number `part`."""

    part: int
    first: int
    last: int


@dataclass(frozen=True)
class _Generate:
    generator: Generator[Any]
    folder: Path
    key: tuple[str, ...]
    buckets: int
    progress: Callable[[int], None] | None = None

    def __call__(self, stretch: Stretch) -> Written:
        writer = BucketWriter(self.folder, self.generator.schema(), self.key, self.buckets, stretch.part)
        with writer:
            for index in range(stretch.first, stretch.last):
                writer.write(self.generator.slice(index))
                if self.progress is not None:
                    self.progress(1)
        return writer.written


def generate(
    generator: Generator[Any],
    path: str | Path,
    *,
    spark: SparkSession | None,
    key: Sequence[str] = (),
    buckets: int | None = None,
    partitions: int | None = None,
    replace: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Stream:
    """Writes the generator's stream to a new store at `path`, to which every worker must be able to write.

    The stream does not depend on `buckets` (default: as many as cores; 1 without a key), on `partitions` (tasks), or on
    whether tasks run on Spark or, if `spark` is None, in this process. There `progress` gets two numbers: all
    slices, and those written since its last call.
    """
    schema = generator.schema()
    buckets = buckets or default_buckets(spark, key)
    check_key(schema, key, buckets)
    source: Mapping[str, Any] = generator.source()
    with creating(path, replace) as folder:
        report = None if spark is not None or progress is None else partial(progress, generator.slices())
        task = _Generate(generator, folder.resolve(), tuple(key), buckets, report)
        written = run_tasks(spark, task, stretches(generator.slices(), partitions or default_partitions(spark)))
        describe(folder, schema, key, joined(spark, folder, schema, written), source)
    return read_stream(path)


def stretches(items: int, parts: int) -> list[Stretch]:
    """Items 0..items-1 in at most `parts` consecutive stretches of nearly equal length; a single empty one for none."""
    parts = max(1, min(items, parts))
    cuts = [items * part // parts for part in range(parts + 1)]
    return [Stretch(part, cuts[part], cuts[part + 1]) for part in range(parts)]


def default_buckets(spark: SparkSession | None, key: Sequence[str]) -> int:
    """A bucket for every core; one without a key."""
    return 1 if not key or spark is None else max(1, spark.sparkContext.defaultParallelism)


def default_partitions(spark: SparkSession | None) -> int:
    """Tasks for a stream: several for every core, to balance their load."""
    return 1 if spark is None else 4 * spark.sparkContext.defaultParallelism
