"""Evaluation on Spark: one task per bucket and job, which reads its bucket with pyarrow; the driver merges rows.

If an algorithm evaluates slices of time concurrently, there is one per slice of a bucket.
"""

import tempfile
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd
from pyspark.sql import SparkSession

from cepbench.algorithms.answers.builder import AnswerBuilder, Parts
from cepbench.algorithms.slices import slicing_of
from cepbench.events.files import spelled_twice
from cepbench.events.reading import Reading, reading_of
from cepbench.pipeline.cluster import SparkCluster, is_local
from cepbench.pipeline.import_events import import_events
from cepbench.pipeline.in_process import BATCH_ROWS, check_store_reading
from cepbench.pipeline.jobs import Job, Prepared, parse_supported, prepare
from cepbench.pipeline.loop import Loop, into
from cepbench.pipeline.parts import DamagedStore
from cepbench.pipeline.probe import check_workers
from cepbench.pipeline.rebucketing import discard, rebucket
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
    queries, system = parse_supported(workload_text, algorithm)
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
            keys = [name for query in queries for name in query.partition]
            for notice in (*notices, *spelled_twice(events, stream.schema, reading_of(reading), keys)):
                notify(notice)
        prepared = prepare(queries, system, stream.schema, arithmetic, stream_statistics(stream, spark))
        stream.check_needed(prepared.workload.needs)
        for notice in prepared.notices:
            notify(notice)
        return run_on_spark(prepared, stream, spark)


def run_on_spark(prepared: Prepared, stream: Stream, spark: SparkSession) -> AnswerBuilder:
    """The answer of a prepared workload on a store. A damaged copy of it is made again."""
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


def _run(prepared: Prepared, stream: Stream, streams: tuple[Stream, ...], spark: SparkSession) -> AnswerBuilder:
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
    answer, read = AnswerBuilder(prepared.workload), [0] * len(streams)
    slices: list[tuple[int, int, Crossings]] = []
    portion_answers = run_tasks(spark, partial(evaluate_portion, prepared, streams), tasks)
    for (number, portion), (parts, events, crossings) in zip(tasks, portion_answers, strict=True):
        answer.merge(parts)
        read[number] += events
        slices.append((number, portion.bucket, crossings))
    join_slices(prepared, slices, answer)
    for events in read:
        stream.check_read(events)
    return answer


def evaluate_portion(
    prepared: Prepared, streams: tuple[Stream, ...], task: tuple[int, Portion]
) -> tuple[Parts, int, Crossings]:
    """Rows and number of events of a portion for a job, and partial rows of windows that cross the edges of slices.

    `streams` contain the keys of each job whole. Dictionaries may be large: they are sent once, with the prepared
    workload, not with each task or its answer.
    """
    number, portion = task
    job, answer = prepared.jobs[number], AnswerBuilder(prepared.workload)
    loop = Loop(job, portion_operator(job, prepared.algorithm, portion))
    events = loop.run(portion_batches(streams[number], portion, BATCH_ROWS, job.attributes), into(answer))
    return answer.parts, events, crossings_of(loop)


def bucketed_for(job: Job, stream: Stream, spark: SparkSession) -> Stream:
    """The stream in buckets that contain the job's keys whole, as many as there are cores if they can be split."""
    buckets = default_buckets(spark, job.partition)
    if stream.holds_whole(job.partition) and (stream.buckets > 1 or buckets == 1):
        store = stream
    else:
        store = rebucket(stream, job.partition, buckets, spark=spark)
    return replace(store, path=store.path.resolve())
