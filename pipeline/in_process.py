"""Evaluation in this process, without Spark or Java."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pandas as pd

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.events.batch import EventBatch
from cepbench.events.files import InputEvents, check_needed, read_events
from cepbench.events.schema import Schema
from cepbench.events.statistics import Statistics, statistics_of
from cepbench.pipeline.jobs import Job, parse_supported, prepare
from cepbench.pipeline.running import run_job
from cepbench.pipeline.store import Stream, bucket_batches, is_store, read_stream, stream_batches

BATCH_ROWS = 1 << 20


def evaluate(
    workload_text: str,
    events: str | Path | pd.DataFrame,
    algorithm: str,
    arithmetic: str = "modular",
    time_unit: str = "s",
    notify: Callable[[str], None] = warnings.warn,
) -> pd.DataFrame:
    """The answer of a workload on an event store, a CSV or Parquet file (or a folder of them) or a DataFrame.

    `algorithm` is a specification such as `cogra`. `time_unit` is that of the numbers in the column `time`; a store has
    its own. `notify` is told what was done to the input (rows sorted, columns left out) and what to know of the plan.
    The columns of the answer are in DESIGN section 5.7. Raises `CepbenchError` before anything runs if input or queries
    cannot be used.
    """
    return answer_of(workload_text, events, algorithm, arithmetic, time_unit, notify).frame()


def answer_of(
    workload_text: str,
    events: str | Path | pd.DataFrame,
    algorithm: str,
    arithmetic: str = "modular",
    time_unit: str = "s",
    notify: Callable[[str], None] = warnings.warn,
) -> AnswerBuilder:
    """As `evaluate`, before it becomes a table: with the digest."""
    queries, made = parse_supported(workload_text, algorithm)
    source = open_events(events, time_unit)
    if isinstance(source, InputEvents):
        for notice in source.notices:
            notify(notice)
    prepared = prepare(queries, made, source.schema, arithmetic, _statistics(source))
    if isinstance(source, InputEvents):
        check_needed(source, prepared.workload.needs)
    else:
        source.check_needed(prepared.workload.needs)
    for notice in prepared.notices:
        notify(notice)
    answer = AnswerBuilder(prepared.workload)
    for job in prepared.jobs:
        for batches in _parts(source, job):
            run_job(prepared, job, batches, answer)
    return answer


def evaluate_batches(
    workload_text: str, schema: Schema, batches: Iterable[EventBatch], algorithm: str, arithmetic: str = "modular"
) -> pd.DataFrame:
    """The answer on batches of a stream, cut anywhere."""
    queries, made = parse_supported(workload_text, algorithm)
    prepared = prepare(queries, made, schema, arithmetic, Statistics())
    answer = AnswerBuilder(prepared.workload)
    kept = list(batches)
    for job in prepared.jobs:
        run_job(prepared, job, kept, answer)
    return answer.frame()


def open_events(events: str | Path | pd.DataFrame, time_unit: str = "s") -> InputEvents | Stream:
    """The description of a store, or the events of anything else."""
    if not isinstance(events, pd.DataFrame) and is_store(events):
        return read_stream(events)
    return read_events(events, time_unit)


def _statistics(source: InputEvents | Stream) -> Statistics:
    if isinstance(source, Stream):
        return source.statistics
    batch = source.batch
    if len(batch) == 0:
        return Statistics()
    counts = {name: int((batch.type == code).sum()) for code, name in enumerate(source.schema.types)}
    return statistics_of(counts, int(batch.time[0]), int(batch.time[-1]))


def _parts(source: InputEvents | Stream, job: Job) -> Iterator[Iterable[EventBatch]]:
    """The events of a job as parts that hold their sub-streams whole, each in time order."""
    if isinstance(source, InputEvents):
        n = len(source.batch)
        yield (source.batch.slice(start, start + BATCH_ROWS) for start in range(0, n, BATCH_ROWS))
    elif source.holds_whole(job.partition):
        for bucket in range(source.buckets):
            yield bucket_batches(source, bucket, BATCH_ROWS, job.attributes)
    else:
        yield stream_batches(source, rows=BATCH_ROWS, attributes=job.attributes)
