"""Measures one cell as a Spark job (docs/measurement.md): fresh workers, a kill at the time limit, a memory limit.

The limit counts from the moment a worker starts its clock until it stops it, for each worker on its own; preparation
(reading the query, compilation) has a generous limit besides. The memory limit is the session's
`spark.executor.pyspark.memory`, which the operating system enforces on every Python worker.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from types import TracebackType

import numpy as np
import psutil
from py4j.protocol import Py4JError, Py4JNetworkError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.base import NotEnoughMemory, UnsupportedQuery
from cepbench.events.errors import CepbenchError
from cepbench.metrics.details import merged
from cepbench.metrics.latency import pooled
from cepbench.metrics.record import Realised, Samples, Status, Summary
from cepbench.metrics.throughput import Bracket, Replay, sustainable, throughput
from cepbench.pipeline.beacon import Beacon, Running
from cepbench.pipeline.measured_task import MeasuredRun, MeasuredTask, OpenArrival, Ready, Report, buckets, ready
from cepbench.pipeline.realised import realised
from cepbench.pipeline.session import session
from cepbench.pipeline.store import Stream
from cepbench.pipeline.tasks import failure

__all__ = [
    "MeasuredRun",
    "OpenArrival",
    "Outcome",
    "Session",
    "SparkGone",
    "configuration_of",
    "measure",
    "measuring_session",
]

Session = SparkSession
"""What sweeps hand through; only the pipeline knows more of it."""

PREPARATION_SECONDS = 600.0
LOOK_SECONDS = 0.05
DEATH_SECONDS = 15.0
"""Spark kills a cancelled Python worker after two seconds; after this many it is done here."""


@dataclass(frozen=True)
class Outcome:
    """How a cell ended and what it measured."""

    status: Status
    reason: str = ""
    digest: str | None = None
    overflow: bool = False
    samples: Samples = field(default_factory=Samples)
    summary: Summary = field(default_factory=Summary)
    realised: Realised | None = None


class SparkGone(CepbenchError):
    """The Spark session ended below a running cell, which therefore has no outcome."""


def measuring_session(master: str | None, memory: int) -> Session:
    """The session for measured cells: fresh Python workers, each with at most `memory` bytes of address space."""
    return session(master, reuse_workers=False, python_memory=f"{memory // 2**20}m")


def configuration_of(spark: Session) -> dict[str, str]:
    """The Spark configuration that matters for a measurement."""
    names = (
        "spark.master",
        "spark.python.worker.reuse",
        "spark.executor.pyspark.memory",
        "spark.executor.memory",
        "spark.executor.cores",
        "spark.driver.memory",
        "spark.default.parallelism",
    )
    given = spark.sparkContext.getConf()
    found = {name: given.get(name) for name in names}
    parallelism = {"defaultParallelism": str(spark.sparkContext.defaultParallelism), "version": spark.version}
    return {**{name: value for name, value in found.items() if value is not None}, **parallelism}


def measure(spark: SparkSession, job: MeasuredRun, seconds: float) -> Outcome:
    """Runs the cell; `seconds` is the limit of each worker's measured part.

    The session must give every task a fresh worker. Raises `CepbenchError` for a workload or stream that cannot be used
    at all.
    """
    try:
        made = ready(job)
    except UnsupportedQuery as error:
        return Outcome(Status.UNSUPPORTED, str(error))
    except (NotEnoughMemory, MemoryError) as error:
        return Outcome(Status.OUT_OF_MEMORY, str(error) or "the optimiser needs more memory than there is")
    items = buckets(made.stream, made.prepared.workload)
    reports = _run(spark, MeasuredTask(made), items, seconds)
    if isinstance(reports, Outcome):
        return reports
    return _outcome(made, reports)


def _run(spark: SparkSession, task: MeasuredTask, items: Sequence[int], seconds: float) -> list[Report] | Outcome:
    """Reports of all workers, or how the job ended without them."""
    context = spark.sparkContext
    group = f"cepbench-{uuid.uuid4().hex}"
    host = context.getConf().get("spark.driver.bindAddress") or context.getConf().get("spark.driver.host") or ""
    with Beacon(host) as beacon, _Watch(beacon, lambda: context.cancelJobGroup(group), seconds) as watch:
        context.setJobGroup(group, "measured cell", interruptOnCancel=True)
        try:
            jobs = context.parallelize(list(items), len(items))
            reports = jobs.map(replace(task, beacon=beacon.address)).collect()
        except Py4JNetworkError:
            raise SparkGone("Spark ended while a cell was running; start the sweep again to go on") from None
        except (Py4JError, PySparkException) as error:
            watch.stop()
            return _cut_off(watch, failure(error), seconds)
        finally:
            context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
    for report in reports:
        if report.status is not Status.OK:
            return Outcome(report.status, report.reason)
    return list(reports)


class _Watch:
    """Cancels the job when a worker exceeds its limit, and sees to it that cancelled workers are gone."""

    def __init__(self, beacon: Beacon, cancel: Callable[[], None], seconds: float) -> None:
        self.timed_out = False
        self.unprepared = False
        self.resident: dict[int, int] = {}  # largest resident set size that was seen, by process
        self._beacon, self._cancel, self._seconds = beacon, cancel, seconds
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> _Watch:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self._cancel()
        self.stop()
        if kind is not None or self.timed_out:
            self._bury()

    def stop(self) -> None:
        """Ends the watch."""
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        begun = time.monotonic()
        while not self._ended.wait(LOOK_SECONDS):
            self.timed_out = self._beacon.longest() > self._seconds
            self.unprepared = not self._beacon.started and time.monotonic() - begun > PREPARATION_SECONDS
            for worker in self._here():
                self._weigh(worker)
            if self.timed_out or self.unprepared:
                self._cancel()
                return

    def _here(self) -> list[Running]:
        return [worker for worker in self._beacon.workers() if worker.host == socket.gethostname()]

    def _weigh(self, worker: Running) -> None:
        try:
            size = psutil.Process(worker.process).memory_info().rss
        except psutil.Error:
            return
        self.resident[worker.process] = max(self.resident.get(worker.process, 0), size)

    def _bury(self) -> None:
        """Waits until the workers on this machine are dead, so that they take nothing from the next cell."""
        patience = time.monotonic() + DEATH_SECONDS
        for worker in self._here():
            while psutil.pid_exists(worker.process) and time.monotonic() < patience:
                time.sleep(LOOK_SECONDS)
            if psutil.pid_exists(worker.process):
                os.kill(worker.process, signal.SIGKILL)


def _cut_off(watch: _Watch, reason: str, seconds: float) -> Outcome:
    if watch.timed_out:
        return Outcome(Status.TIMEOUT, f"killed after {seconds:g} s of measured time")
    if watch.unprepared:
        return Outcome(Status.ERROR, f"no worker was ready to measure after {PREPARATION_SECONDS:g} s")
    if "MemoryError" in reason:
        return Outcome(Status.OUT_OF_MEMORY, reason)
    if "crashed" in reason or "EOFException" in reason or "exited unexpectedly" in reason:
        most = max(watch.resident.values(), default=0)
        if most > psutil.virtual_memory().total // 2:
            return Outcome(Status.OUT_OF_MEMORY, f"the worker died at {most / 1e9:.1f} GB")
        return Outcome(Status.ERROR, "the Python worker died")
    return Outcome(Status.ERROR, reason)


# --- results ----------------------------------------------------------------------------------------------------------


def _outcome(made: Ready, reports: Sequence[Report]) -> Outcome:
    job, stream, workload = made.job, made.stream, made.prepared.workload
    answer = AnswerBuilder(workload)
    for report in reports:
        assert report.answer is not None
        answer.merge(report.answer)
    measured = [report.measured for report in reports]
    service = list(chain.from_iterable(m.service for m in measured))
    latency = list(chain.from_iterable(m.latency for m in measured))
    summary = Summary(
        plan_seconds=made.prepared.plan_seconds,
        compile_seconds=max(report.compile_seconds for report in reports),
        details=merged([made.prepared.details, *(report.details for report in reports)]),
    )
    if job.memory:
        kinds: dict[str, int] = {}
        for m in measured:
            for kind, count in m.peak.kinds.items():
                kinds[kind] = kinds.get(kind, 0) + count
        summary = summary.model_copy(
            update={
                "state_peak": sum(m.peak.bytes for m in measured),
                "state_kinds": kinds,
                "process_peak": sum(report.process_peak or 0 for report in reports),
            }
        )
        samples = Samples(state_bytes=list(chain.from_iterable(m.state_bytes for m in measured)))
    else:
        found = pooled([latency])
        bracket = _bracket(job, stream, reports)
        summary = summary.model_copy(
            update={
                **(
                    {}
                    if found is None
                    else {f"latency_{name}": getattr(found, name) for name in ("p50", "p95", "p99", "max", "mean")}
                ),
                "service_total": sum(service),
                "throughput": throughput(stream.events, sum(service)),
                "sustainable_low": None if bracket is None else bracket.low,
                "sustainable_high": None if bracket is None else bracket.high,
            }
        )
        samples = Samples(latency=latency, service=service)
    return Outcome(
        Status.OK,
        digest=answer.digest(),
        overflow=answer.overflow,
        samples=samples,
        summary=summary,
        realised=realised(stream, workload, answer, measured),
    )


def _bracket(job: MeasuredRun, stream: Stream, reports: Sequence[Report]) -> Bracket | None:
    """Sustainable throughput; only micro-batches can tell."""
    if job.arrival is None:
        return None
    replays = [Replay(np.array(r.measured.last, np.int64), np.array(r.measured.service)) for r in reports]
    return sustainable(replays, stream.events)
