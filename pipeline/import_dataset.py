"""Data sets as event stores: Spark reads their raw files as declared."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as sql

from cepbench.datasets.base import Dataset
from cepbench.events.errors import InputError
from cepbench.events.files import FileLayout
from cepbench.pipeline.creation import shared_parent
from cepbench.pipeline.raw_rows import REASON, bad_rows, files_of, judged, with_ranks
from cepbench.pipeline.staging import ROW, Staged, store_staged
from cepbench.pipeline.store import Stream
from cepbench.pipeline.tasks import default_partitions, failure


def import_dataset(
    dataset: Dataset,
    raw: str | Path,
    path: str | Path,
    *,
    spark: SparkSession,
    key: Sequence[str] | None = None,
    buckets: int | None = None,
    replace: bool = False,
) -> tuple[Stream, tuple[str, ...]]:
    """A data set, downloaded to the folder `raw`, as a store at `path`, bucketed by the declared key by default.

    Rows that the declaration marks as bad are left out; a notice counts them by reason and names the first ones, and
    the store's source records their number. Raises `InputError` if no row is an event.
    """
    raw = Path(raw)
    files = files_of(dataset, raw)
    staged = Staged(FileLayout({a.name: a.kind for a in dataset.attributes}, ()))
    with tempfile.TemporaryDirectory(prefix=".cepbench-stage-", dir=shared_parent(path)) as scratch:
        stage = Path(scratch).resolve() / "stage"
        try:
            rows = judged(spark, dataset, files)
            bad = bad_rows(spark, dataset, files, rows)
            good = rows.filter(f"{REASON} IS NULL")
            for ranked in dataset.ranked:
                good = with_ranks(spark, good, ranked, stage.parent)
            events = good.selectExpr(*dataset.select()).repartitionByRange(default_partitions(spark), "time")
            columns = [sql.col(f"`{name}`").alias(column) for name, column in staged.columns.items()]
            columns.append(sql.lit(0).cast("bigint").alias(ROW))
            # Ranges of time become parts, in the declared order.
            ordered = events.sortWithinPartitions(*dataset.order_by())
            ordered.select("time", "type", *columns).write.parquet(str(stage))
        except PySparkException as error:
            raise InputError(f"{raw}: data set {dataset.name} cannot be read: {failure(error)}") from None
        names = [file.name if file == raw else str(file.relative_to(raw)) for paths in files.values() for file in paths]
        origin: dict[str, Any] = {"dataset": dataset.name, "typed_by": dataset.typing, "files": names}
        if bad.count:
            origin["bad_rows"] = bad.reasons
        if bad.count and spark.read.parquet(str(stage)).isEmpty():
            raise InputError(f"{raw}: no row of data set {dataset.name} is an event: {bad.summary}")
        key = dataset.key if key is None else key
        stream, notices = store_staged(
            spark, staged, stage, Path(path), dataset.time_unit, key, buckets, replace, origin
        )
    if bad.count:
        notices = (*notices, f"{bad.count} bad rows were left out: {bad.summary}")
    return stream, notices
