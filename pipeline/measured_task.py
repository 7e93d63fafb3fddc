"""What one worker does for a measured cell: prepares, warms up, replays its bucket under the clock, and reports."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from algorithms.answer import AnswerBuilder
from algorithms.base import Algorithm, Executor, NotEnoughMemory, StateSize
from algorithms.kernels.compilation import loaded
from algorithms.rows import Rows
from events.batch import EventBatch
from events.errors import CepbenchError
from metrics.details import merged
from metrics.memory import PeakMemory
from metrics.record import Status
from pipeline.arrivals import ArrivalModel, Burst, OpenRate
from pipeline.beacon import Address, Signal
from pipeline.in_process import holds_whole
from pipeline.replay import Family, Measured, replay
from pipeline.store import Stream, bucket_batches, read_stream, stream_batches
from pipeline.substreams import RawKey, decode, split
from pipeline.warmup import warm_up
from queries.compile import CompiledQuery, Workload, compile_workload
from queries.workloads import parse_workload

TRIES = 3
"""Runs of a bucket at most, until one finds all its kernels loaded."""
WHOLE_STREAM = -1
"""Instead of a bucket: all buckets merged, for workloads that no bucketing fits."""


@dataclass(frozen=True)
class Open:
    """The open arrival model: events per second, and events per micro-batch."""

    rate: float
    batch: int = 1000


@dataclass(frozen=True)
class Job:
    """What a cell runs. `arrival` None is burst; `memory` asks for states and process memory instead of times."""

    store: Path
    workload: str
    algorithm: Algorithm
    arithmetic: str = "modular"
    arrival: Open | None = None
    memory: bool = False


@dataclass
class Report:
    """What a worker hands back.

    `answer` is None if the run did not end. `process_peak`: bytes (PSS) above those of executors that do nothing.
    """

    bucket: int
    status: Status
    reason: str = ""
    measured: Measured = field(default_factory=Measured)
    answer: AnswerBuilder | None = None
    process_peak: int | None = None
    plan_seconds: float = 0.0
    compile_seconds: float = 0.0
    details: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class MeasuredTask:
    """The task of one bucket.

    A memory run replays the bucket twice: first with executors that do nothing, in the same worker after the same
    warm-up, so that the difference of the two peaks is what the algorithm holds. A run that had to load a kernel, which
    the warm-up did not need, is done again: no time that counts includes compilation.
    """

    job: Job
    beacon: Address | None = None

    def __call__(self, bucket: int) -> Report:
        """Never raises: what goes wrong is the report's status and reason."""
        try:
            return self._run(bucket)
        except MemoryError as error:
            return Report(bucket, Status.OUT_OF_MEMORY, _line(error) or "the worker's memory limit")
        except NotEnoughMemory as error:
            return Report(bucket, Status.OUT_OF_MEMORY, _line(error))
        except CepbenchError as error:
            return Report(bucket, Status.ERROR, _line(error))
        except Exception as error:  # an algorithm's own failure ends its cell, not the sweep
            return Report(bucket, Status.ERROR, f"{type(error).__name__}: {_line(error)}".rstrip(": "))

    def _run(self, bucket: int) -> Report:
        job = self.job
        stream = read_stream(job.store)
        workload = compile_workload(parse_workload(job.workload), stream.schema, job.arithmetic, summarised=True)
        parts = families(workload)
        started = time.perf_counter()
        plans = [job.algorithm.plan(part, stream.statistics) for _, part in parts]
        planned = time.perf_counter()
        for plan in plans:
            warm_up(job.algorithm, plan)
        report = Report(bucket, Status.OK)
        report.plan_seconds, report.compile_seconds = planned - started, time.perf_counter() - planned

        def emit(number: int, key: RawKey, rows: Rows) -> None:
            numbers, part = parts[number]
            decoded = decode(part.schema, part.queries[0].partition, key)
            for query, found in rows.items():
                assert report.answer is not None
                report.answer.add(numbers[query], decoded, found)

        runs = [
            _family(part, partial(job.algorithm.executor, plan)) for (_, part), plan in zip(parts, plans, strict=True)
        ]
        nothing = [_family(part, Idle) for _, part in parts]
        arrival = _arrival(job.arrival, workload)
        floor = 0
        if job.memory:
            with PeakMemory() as memory:
                replay(_batches(stream, bucket, workload), arrival, nothing, emit, states=True)
            floor = memory.peak
        gc.collect()
        gc.freeze()
        gc.disable()
        for _ in range(TRIES):
            report.answer, before = AnswerBuilder(workload), loaded()
            with ExitStack() as measuring:
                sampler = measuring.enter_context(PeakMemory()) if job.memory else None
                measuring.enter_context(Signal(self.beacon, os.getpid()))
                report.measured = replay(_batches(stream, bucket, workload), arrival, runs, emit, states=job.memory)
            if loaded() == before:
                break
        gc.enable()
        report.details = merged([*(plan.details for plan in plans), report.measured.details])
        report.process_peak = None if sampler is None else max(0, sampler.peak - floor)
        return report


class Idle(Executor):
    """Does nothing: what a worker costs without an algorithm."""

    def process(self, events: EventBatch) -> Rows:
        """No rows."""
        return {}

    def finish(self) -> Rows:
        """No rows."""
        return {}

    def state(self) -> StateSize:
        """Nothing."""
        return StateSize()


def families(workload: Workload) -> list[tuple[tuple[int, ...], Workload]]:
    """The queries that split the stream alike as workloads of their own, with their places in the whole workload."""
    alike: dict[tuple[tuple[str, ...], int], list[CompiledQuery]] = {}
    for query in workload:
        alike.setdefault((query.partition, len(query.query.group_by)), []).append(query)
    return [
        (
            tuple(query.index for query in queries),
            compile_workload(
                [query.query for query in queries],
                workload.schema,
                workload.arithmetic,
                summarised=workload.summarised,
            ),
        )
        for queries in alike.values()
    ]


def buckets(stream: Stream, workload: Workload) -> list[int]:
    """The buckets to run, one worker each: a sub-stream must lie in one bucket whole, for every query."""
    if all(holds_whole(stream, query.partition) for query in workload):
        return [bucket for bucket, events in enumerate(stream.bucket_events) if events]
    return [WHOLE_STREAM]


def _family(part: Workload, executor: Callable[[], Executor]) -> Family:
    query = part.queries[0]
    return Family(
        split=partial(split, attributes=query.partition),
        executor=executor,
        windows={query.index: query.window for query in part},
        group=len(query.query.group_by),
    )


def _batches(stream: Stream, bucket: int, workload: Workload) -> Iterator[EventBatch]:
    needed = frozenset[str]().union(*workload.needs.values())
    if bucket == WHOLE_STREAM:
        return stream_batches(stream, attributes=needed)
    return bucket_batches(stream, bucket, attributes=needed)


def _arrival(given: Open | None, workload: Workload) -> ArrivalModel:
    if given is None:
        return Burst([query.window for query in workload], workload.schema.time_unit)
    return OpenRate(given.rate, given.batch)


def _line(error: BaseException) -> str:
    """The first line of a message."""
    lines: Iterable[str] = str(error).strip().splitlines()
    return next(iter(lines), "")
