"""What one worker does for a measured cell: warms up, replays its bucket under the clock, and reports.

The driver has read, compiled and planned the workload before (`ready`), so that all workers run the same plan.
"""

from __future__ import annotations

import gc
import os
import resource
import socket
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import psutil
from pyspark import TaskContext

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.base import Algorithm, Executor, NotEnoughMemory, StateSize
from cepbench.algorithms.kernels.compilation import loaded
from cepbench.algorithms.rows import Rows
from cepbench.events.batch import EventBatch
from cepbench.events.errors import CepbenchError
from cepbench.metrics.memory import PeakMemory
from cepbench.metrics.record import Status
from cepbench.pipeline.arrivals import ArrivalModel, Burst, OpenRate
from cepbench.pipeline.beacon import Address, Pulse, Signal
from cepbench.pipeline.jobs import Prepared, check_supported, prepare
from cepbench.pipeline.loop import family_of
from cepbench.pipeline.parts import DamagedStore
from cepbench.pipeline.replay import Measured, replay
from cepbench.pipeline.store import Stream, bucket_batches, read_stream, stream_batches
from cepbench.pipeline.substreams import RawKey, decode
from cepbench.pipeline.warmup import warm_up
from cepbench.queries.compile import Workload
from cepbench.queries.workloads import parse_workload

TRIES = 3
"""Runs of a bucket at most, until one finds all its kernels loaded."""
WHOLE_STREAM = -1
"""Instead of a bucket: all buckets merged, for workloads that no bucketing fits."""


@dataclass(frozen=True)
class OpenArrival:
    """The open arrival model: events per second, and events per micro-batch."""

    rate: float
    batch: int = 1000


@dataclass(frozen=True)
class MeasuredRun:
    """What a cell runs.

    `arrival` None is burst; `memory` asks for states and process memory instead of times. `limit_bytes` is the address
    space of each worker, its own process: it cannot be raised again.
    """

    store: Path
    workload: str
    algorithm: Algorithm
    arithmetic: str = "modular"
    arrival: OpenArrival | None = None
    memory: bool = False
    limit_bytes: int | None = None


@dataclass(frozen=True)
class Ready:
    """A job with its stream and its workload, planned."""

    job: MeasuredRun
    stream: Stream
    prepared: Prepared


def ready(job: MeasuredRun) -> Ready:
    """Makes a job ready for its workers.

    Raises `UnsupportedQuery` with the reason, `NotEnoughMemory` of the optimiser, and `CepbenchError` for a workload or
    stream that cannot be used at all.
    """
    stream = read_stream(job.store)
    queries = parse_workload(job.workload)
    check_supported(queries, job.algorithm)
    prepared = prepare(queries, job.algorithm, stream.schema, job.arithmetic, stream.statistics, summarised=True)
    stream.check_needed(prepared.workload.needs)
    return Ready(job, stream, prepared)


@dataclass
class Report:
    """What a worker hands back.

    - `answer`: None if the run did not end.
    - `host`, `began`, `ended`: where it ran and when, in seconds of that host's clock; `attempt`: Spark's, from 0.
    - `limit_bytes`: the address space that the system grants the worker; `base_bytes`: what of it was taken before the
      first event.
    - `process_peak`: bytes (PSS) above those of executors that do nothing.
    - `details`: those of the executors. `damage`: what was wrong with the store.
    """

    bucket: int
    status: Status
    reason: str = ""
    measured: Measured = field(default_factory=Measured)
    answer: AnswerBuilder | None = None
    process_peak: int | None = None
    compile_seconds: float = 0.0
    details: dict[str, float] = field(default_factory=dict)
    damage: DamagedStore | None = None
    host: str = ""
    attempt: int = 0
    limit_bytes: int | None = None
    base_bytes: int | None = None
    began: float = 0.0
    ended: float = 0.0


@dataclass(frozen=True)
class MeasuredTask:
    """The task of one bucket.

    A memory run replays the bucket twice: first with executors that do nothing, in the same worker after the same
    warm-up, so that the difference of the two peaks is what the algorithm holds. A run that had to load a kernel, which
    the warm-up did not need, is done again: no time that counts includes compilation.
    """

    ready: Ready
    beacon: Address | None = None

    def __call__(self, bucket: int) -> Report:
        """Never raises: what goes wrong is the report's status and reason."""
        try:
            began = time.time()
            with Pulse(self.beacon):
                report = self._run(bucket)
            report.began, report.ended = began, time.time()
            return report
        except MemoryError as error:
            return Report(bucket, Status.OUT_OF_MEMORY, _line(error) or "the worker's memory limit")
        except NotEnoughMemory as error:
            return Report(bucket, Status.OUT_OF_MEMORY, _line(error))
        except DamagedStore as error:
            return Report(bucket, Status.ERROR, _line(error), damage=error)
        except CepbenchError as error:
            return Report(bucket, Status.ERROR, _line(error))
        except Exception as error:  # an algorithm's own failure ends its cell, not the sweep
            return Report(bucket, Status.ERROR, f"{type(error).__name__}: {_line(error)}".rstrip(": "))

    def _run(self, bucket: int) -> Report:
        job, stream, prepared = self.ready.job, self.ready.stream, self.ready.prepared
        workload = prepared.workload
        if job.limit_bytes is not None:
            resource.setrlimit(resource.RLIMIT_AS, (job.limit_bytes, job.limit_bytes))
        started = time.perf_counter()
        for part in prepared.jobs:
            warm_up(job.algorithm, part.plan)
        report = Report(
            bucket,
            Status.OK,
            compile_seconds=time.perf_counter() - started,
            host=socket.gethostname(),
            attempt=_attempt(),
            limit_bytes=_limit(),
            base_bytes=psutil.Process().memory_info().vms,
        )

        def emit(number: int, key: RawKey, rows: Rows) -> None:
            part = prepared.jobs[number]
            decoded = decode(workload.schema, part.partition, key)
            for query, found in rows.items():
                assert report.answer is not None
                report.answer.add(query, decoded, found)

        runs = [family_of(part, partial(job.algorithm.executor, part.plan)) for part in prepared.jobs]
        nothing = [family_of(part, Idle) for part in prepared.jobs]
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
                report.measured = replay(
                    _batches(stream, bucket, workload), arrival, runs, emit, job.memory, prepared.splits_groups
                )
            if loaded() == before:
                break
        gc.enable()
        report.details = report.measured.details
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


def buckets(stream: Stream, workload: Workload) -> list[int]:
    """The buckets to run, one worker each: a sub-stream must lie in one bucket whole, for every query.

    The largest first, so that none is left alone at the end.
    """
    if all(stream.holds_whole(query.partition) for query in workload):
        filled = [bucket for bucket, events in enumerate(stream.bucket_events) if events]
        return sorted(filled, key=lambda bucket: -stream.bucket_events[bucket])
    return [WHOLE_STREAM]


def _batches(stream: Stream, bucket: int, workload: Workload) -> Iterator[EventBatch]:
    needed = frozenset[str]().union(*workload.needs.values())
    if bucket == WHOLE_STREAM:
        return stream_batches(stream, attributes=needed)
    return bucket_batches(stream, bucket, attributes=needed)


def _arrival(given: OpenArrival | None, workload: Workload) -> ArrivalModel:
    if given is None:
        return Burst([query.window for query in workload], workload.schema.time_unit)
    return OpenRate(given.rate, given.batch)


def _attempt() -> int:
    context = TaskContext.get()
    return 0 if context is None else context.attemptNumber()


def _limit() -> int | None:
    """What the system says, whoever set it."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit


def _line(error: BaseException) -> str:
    """The first line of a message."""
    lines: Iterable[str] = str(error).strip().splitlines()
    return next(iter(lines), "")
