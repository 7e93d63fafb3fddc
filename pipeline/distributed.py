"""Evaluation on Spark: one task per bucket and job, which reads its bucket with pyarrow; the driver merges rows.

If an algorithm evaluates slices of time concurrently, there is one per slice of a bucket.
"""

import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
from pyspark.sql import SparkSession

from cepbench.algorithms.answers.builder import AnswerBuilder, Parts
from cepbench.algorithms.slices import slicing_of
from cepbench.events.reading import Reading
from cepbench.pipeline.cluster import SparkCluster, is_local
from cepbench.pipeline.import_events import import_events
from cepbench.pipeline.in_process import BATCH_ROWS, check_store_reading
from cepbench.pipeline.jobs import Job, Prepared, parse_supported, prepare
from cepbench.pipeline.loop import Loop, into
from cepbench.pipeline.parts import DamagedStore
from cepbench.pipeline.probe import check_workers
from cepbench.pipeline.rebucketing import discard, rebucket
from cepbench.pipeline.running import Counts, run
from cepbench.pipeline.sampling import stream_statistics
from cepbench.pipeline.session import session
from cepbench.pipeline.slicing import (
    Crossings,
    Portion,
    crossings_of,
    join_slices,
    portion_batches,
    portion_operator,
    portions,
)
from cepbench.pipeline.store import Stream, is_store, read_stream
from cepbench.pipeline.tasks import default_buckets, run_tasks


@dataclass(frozen=True)
class Buckets:
    """Runs one bucket of the store that contains the keys of a job (by its number) whole, or a slice of one.

    Dictionaries may be large: they are sent once, with the prepared workload, not with each task or its answer.
    """

    prepared: Prepared
    streams: tuple[Stream, ...]

    def __call__(self, task: tuple[int, Portion]) -> tuple[Parts, Counts, Crossings]:
        """Rows and counts of a job's portion, and partial rows of windows that cross the edges of time slices."""
        number, portion = task
        job = self.prepared.jobs[number]
        answer = AnswerBuilder(self.prepared.workload)
        batches = portion_batches(self.streams[number], portion, BATCH_ROWS, job.attributes)
        loop = Loop(job, portion_operator(job, self.prepared.algorithm, portion), into(answer))
        counts = run(loop, batches)
        return answer.parts, counts, crossings_of(loop)


def evaluate_on_spark(
    workload_text: str,
    events: str | Path | pd.DataFrame,
    algorithm: str,
    arithmetic: str = "modular",
    reading: Reading | str = "s",
    notify: Callable[[str], None] = warnings.warn,
    *,
    master: SparkCluster | str | None = None,
    folder: str | Path | None = None,
) -> pd.DataFrame:
    """As `pipeline.evaluate`, on Spark. On a cluster, the events must be where every worker can read them.

    Files and DataFrames are first imported into a store: in the temporary folder if all workers are on this machine,
    otherwise in `folder`, which all machines must share, too; by default the current one.
    """
    return answer_on_spark(
        workload_text, events, algorithm, arithmetic, reading, notify, master=master, folder=folder
    ).frame()


def answer_on_spark(
    workload_text: str,
    events: str | Path | pd.DataFrame,
    algorithm: str,
    arithmetic: str = "modular",
    reading: Reading | str = "s",
    notify: Callable[[str], None] = warnings.warn,
    *,
    master: SparkCluster | str | None = None,
    folder: str | Path | None = None,
) -> AnswerBuilder:
    """As `evaluate_on_spark`, before it becomes a table."""
    queries, made = parse_supported(workload_text, algorithm)
    spark = session(master)
    shared = None if is_local(str(spark.sparkContext.master)) else Path(folder or ".").resolve()
    with tempfile.TemporaryDirectory(prefix=".cepbench-", dir=shared) as scratch:
        inputs = [] if isinstance(events, pd.DataFrame) else [Path(events)]
        check_workers(spark, [] if is_store(inputs[0] if inputs else scratch) else [Path(scratch)], inputs)
        if not isinstance(events, pd.DataFrame) and is_store(events):
            check_store_reading(events, reading)
            stream = read_stream(events)
        else:
            stream, notices = import_events(events, Path(scratch) / "store", spark=spark, reading=reading)
            for notice in notices:
                notify(notice)
        prepared = prepare(queries, made, stream.schema, arithmetic, stream_statistics(stream, spark))
        stream.check_needed(prepared.workload.needs)
        for notice in prepared.notices:
            notify(notice)
        answer, _ = run_on_spark(prepared, stream, spark)
    return answer


def run_on_spark(prepared: Prepared, stream: Stream, spark: SparkSession) -> tuple[AnswerBuilder, Counts]:
    """The answer of a prepared workload on a store, and the counts of the tasks. A damaged copy of it is made again."""
    streams = tuple(bucketed_for(job, stream, spark) for job in prepared.jobs)
    try:
        return _run(prepared, stream, streams, spark)
    except DamagedStore:
        copies = [placed for placed in streams if placed.path != stream.path.resolve()]
        if not copies:
            raise
        for copy in copies:
            discard(copy)
        return _run(prepared, stream, tuple(bucketed_for(job, stream, spark) for job in prepared.jobs), spark)


def _run(
    prepared: Prepared, stream: Stream, streams: tuple[Stream, ...], spark: SparkSession
) -> tuple[AnswerBuilder, Counts]:
    sizes = {
        (number, bucket): events
        for number, placed in enumerate(streams)
        for bucket, events in enumerate(placed.bucket_events)
        if events
    }
    # The largest first, so that none runs alone at the end; slices of a bucket in the order of time.
    slicing = slicing_of(prepared.algorithm)
    tasks = [
        (number, portion)
        for number, bucket in sorted(sizes, key=lambda task: -sizes[task])
        for portion in portions(streams[number], bucket, slicing)
    ]
    answer = AnswerBuilder(prepared.workload)
    counts = [Counts() for _ in prepared.jobs]
    slices: dict[tuple[int, int], list[Crossings]] = {}
    for (number, portion), (parts, met, crossings) in zip(
        tasks, run_tasks(spark, Buckets(prepared, streams), tasks), strict=True
    ):
        answer.merge(parts)
        counts[number] += met if slicing is None else Counts(met.events)
        slices.setdefault((number, portion.bucket), []).append(crossings)
    if slicing is not None:
        for (number, _), found in slices.items():
            counts[number] += Counts(0, join_slices(prepared, prepared.jobs[number], found, answer))
    for met in counts:
        stream.check_read(met.events)
    return answer, sum(counts, Counts())


def bucketed_for(job: Job, stream: Stream, spark: SparkSession) -> Stream:
    """The stream in buckets that contain the job's keys whole, as many as there are cores if they can be split."""
    buckets = default_buckets(spark, job.partition)
    if stream.holds_whole(job.partition) and (stream.buckets > 1 or buckets == 1):
        found = stream
    else:
        found = rebucket(stream, job.partition, buckets, spark=spark)
    return replace(found, path=found.path.resolve())
