"""Generated streams as event stores: slices are generated and written by tasks, nothing passes through the driver."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from cepbench.generators.base import Generator
from cepbench.pipeline.creation import write_store
from cepbench.pipeline.store import Stream
from cepbench.pipeline.tasks import default_buckets, default_partitions, stretches
from cepbench.pipeline.writing import BucketWriter


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
    report = None if spark is not None or progress is None else partial(progress, generator.slices())
    return write_store(
        path,
        generator.schema(),
        key,
        buckets or default_buckets(spark, key),
        partial(_write_slices, generator, report),
        stretches(generator.slices(), partitions or default_partitions(spark)),
        generator.source(),
        spark=spark,
        replace=replace,
    )


def _write_slices(
    generator: Generator[Any], report: Callable[[int], None] | None, writer: BucketWriter, slices: range
) -> None:
    for index in slices:
        writer.write(generator.slice(index))
        if report is not None:
            report(1)
