"""Measures one cell as a Spark job (docs/measurement.md): fresh workers, a time limit that kills, a memory limit.

The limit applies to each worker, from the start of its clock to its stop; preparation (reading the query, compilation)
has a separate, generous limit. Every worker limits its own memory, which the operating system enforces. A worker that
is lost, with its machine or alone, voids the measurement: the cell is measured again.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial

import psutil
from py4j.protocol import Py4JError, Py4JNetworkError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from cepbench.algorithms.base import NotEnoughMemory, PlanningTooLong, UnsupportedQuery
from cepbench.events.errors import CepbenchError
from cepbench.metrics.details import DETAILS
from cepbench.metrics.record import Status
from cepbench.metrics.values import MEMORY_METRICS, is_memory
from cepbench.pipeline.beacon import Beacon
from cepbench.pipeline.cluster import BEACON_PORT, SparkCluster, number
from cepbench.pipeline.cluster import LOST_SECONDS as LOST_SETTING
from cepbench.pipeline.measured_task import (
    DIED,
    MeasuredRun,
    MeasuredTask,
    Ready,
    Report,
    killed_after,
    portions_of,
    ready,
)
from cepbench.pipeline.outcome import Outcome, outcome_of
from cepbench.pipeline.session import conf_of, executor_count, is_stopped, session, slot_count
from cepbench.pipeline.slicing import Portion
from cepbench.pipeline.tasks import failure

Session = SparkSession
"""The handle that sweeps pass through; only the pipeline uses its contents."""

PREPARATION_SECONDS = 600.0
LOOK_SECONDS = 0.05
DEATH_SECONDS = 15.0
"""Seconds to wait for the end of killed workers. Spark would kill them, too, but two to four seconds later."""
LOST_SECONDS = 60.0
"""Seconds without a report after which a worker is lost, and seconds without any executor after which a job is;
`spark.cepbench.lostSeconds` overrides it."""
FRESH_SECONDS = 5.0
"""A worker can be too slow only if its last report is at most this many seconds old: otherwise it may be lost."""
ATTEMPTS = 3


class SparkGone(CepbenchError):
    """Spark ended during a cell, which therefore has no outcome."""


class ContextStopped(SparkGone):
    """Only the session ended: a new one may be started."""


class _Lost(Exception):
    """A worker or its machine is lost, and with it the measurement."""


def measuring_session(cluster: SparkCluster | str | None, memory: int, slots: int | None = None) -> Session:
    """The session for measured cells: fresh Python workers, containers (if any) for `memory` bytes each.

    With `slots`, so many of them run concurrently. Raises `TooFewExecutors` if there are fewer.
    """
    cluster = cluster if isinstance(cluster, SparkCluster) else SparkCluster(cluster)
    return session(cluster.with_slots(slots), reuse_workers=False, worker_memory=memory)


def configuration_of(spark: Session) -> dict[str, str]:
    """The Spark configuration that affects a measurement."""
    names = (
        "spark.master",
        "spark.python.worker.reuse",
        "spark.executor.pyspark.memory",
        "spark.executor.memory",
        "spark.executor.cores",
        "spark.driver.memory",
        "spark.default.parallelism",
    )
    given = conf_of(spark.sparkContext)
    found = {name: value for name in names if (value := given.get(name)) is not None}
    return {**found, "defaultParallelism": str(slot_count(spark)), "version": spark.version}


def measure(
    spark: SparkSession, job: MeasuredRun, seconds: float, notify: Callable[[str], None] = lambda line: None
) -> Outcome:
    """Runs the cell; `seconds` is the limit of each worker's measured part. `notify` gets a line per lost worker.

    The session must give every task a fresh worker. Raises `CepbenchError` for a workload or stream that cannot be
    used, `DamagedStore` if a worker found changed files.
    """
    return measure_both(spark, job, seconds, memory=False, notify=notify)[0]


def measure_both(
    spark: SparkSession,
    job: MeasuredRun,
    seconds: float,
    memory: bool = True,
    notify: Callable[[str], None] = lambda line: None,
) -> tuple[Outcome, Outcome | None]:
    """Measures times as `measure` does, and then memory in forks of the same workers.

    The second outcome is None if memory needs its own job: a timed run was killed, and the forks with it, or not all
    workers can run at once and wait for each other, since no clock may run while memory is measured.
    """
    made = ready_or_not(job, spark)
    if isinstance(made, Outcome):
        return made, made
    items = portions_of(made)
    lost: list[str] = []
    while len(lost) < ATTEMPTS:
        most = slot_count(spark)  # fewer after a loss
        together = len(items) <= most and (memory or job.memory)
        task = MeasuredTask(made, memory_seconds=seconds if memory and together else None, together=together)
        try:
            reports = _run(spark, task, items, seconds)
        except _Lost as loss:
            lost.append(str(loss))
            if len(lost) < ATTEMPTS:
                notify(f"measuring again ({len(lost) + 1} of {ATTEMPTS}): {loss}")
            continue
        if isinstance(reports, Outcome):
            return replace(reports, lost=tuple(lost)), None
        outcome = replace(outcome_of(made, reports, most), lost=tuple(lost))
        found = [report.memory for report in reports if report.memory is not None]
        if len(found) < len(reports):
            return outcome, None
        beside = replace(made, job=replace(job, memory=True))
        return outcome, replace(outcome_of(beside, found, most), lost=tuple(lost))
    return Outcome(Status.ERROR, f"workers were lost {ATTEMPTS} times; at last: {lost[-1]}", tuple(lost)), None


def ready_or_not(job: MeasuredRun, spark: SparkSession | None = None) -> Ready | Outcome:
    """As `ready`, or the outcome of a job that could not be planned."""
    try:
        return ready(job, spark)
    except UnsupportedQuery as error:
        return Outcome(Status.UNSUPPORTED, str(error))
    except (NotEnoughMemory, MemoryError) as error:
        return Outcome(Status.OUT_OF_MEMORY, str(error) or "the optimizer needs more memory than there is")
    except PlanningTooLong as error:
        return Outcome(Status.TIMEOUT, str(error), plan_limit_seconds=error.seconds)


def _run(spark: SparkSession, task: MeasuredTask, items: Sequence[Portion], seconds: float) -> list[Report] | Outcome:
    """Reports of all workers, or the outcome without them. Raises `_Lost`."""
    context = spark.sparkContext
    group = f"cepbench-{uuid.uuid4().hex}"
    cancel, executors = partial(context.cancelJobGroup, group), partial(executor_count, spark)
    patience = number(LOST_SETTING, conf_of(context).get(LOST_SETTING), LOST_SECONDS)
    with _beacon(spark, len(items)) as beacon, _Watch(beacon, cancel, executors, seconds, patience) as watch:
        context.setJobGroup(group, "measured cell", interruptOnCancel=True)
        try:
            jobs = context.parallelize(list(items), len(items))
            reports = jobs.map(replace(task, beacon=beacon.address)).collect()
        except Py4JNetworkError:
            raise SparkGone("Spark ended while a cell was running; start the sweep again to continue") from None
        except (Py4JError, PySparkException) as error:
            watch.stop()
            if is_stopped(context):
                raise ContextStopped(f"Spark stopped its session: {failure(error)}") from None
            return _cut_off(watch, failure(error), seconds)
        finally:
            context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
    again = [report for report in reports if report.attempt > 0]
    if again and all(report.status is Status.OK for report in reports):
        raise _Lost(f"a worker was lost, and its part ran again on {again[0].host}")
    return list(reports)


def _beacon(spark: SparkSession, workers: int) -> Beacon:
    """The address on which Spark's driver listens, too; the port is `spark.cepbench.beacon.port`, if set."""
    given = conf_of(spark.sparkContext)
    host = given.get("spark.driver.host") or ""
    port = int(number(BEACON_PORT, given.get(BEACON_PORT), 0))
    return Beacon(given.get("spark.driver.bindAddress") or host, host, port, workers)


@dataclass
class _Watch:
    """Cancels the job when a worker exceeds its limit or is lost, and ensures that canceled workers have ended."""

    beacon: Beacon
    cancel: Callable[[], None]
    executors: Callable[[], int]
    seconds: float
    patience: float
    timed_out: bool = False
    unprepared: bool = False
    lost: str = ""

    def __enter__(self) -> _Watch:
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self.cancel()
        self.stop()
        if kind is not None or self.timed_out:
            self._kill_workers()

    def stop(self) -> None:
        """Ends the watch."""
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        begun = lively = time.monotonic()
        while not self._ended.wait(LOOK_SECONDS):
            now = time.monotonic()
            self.timed_out = self.beacon.longest(FRESH_SECONDS) > self.seconds
            prepared = any(worker.started for worker in self.beacon.workers())
            self.unprepared = not prepared and now - begun > PREPARATION_SECONDS
            if self.beacon.living():
                lively = now
            if now - lively > self.patience and not self.executors():
                self.lost = f"no executor was left for {self.patience:g} s"
            if silent := self.beacon.silent(self.patience):
                self.lost = f"the worker on {silent.host} did not report for {self.patience:g} s"
            if self.timed_out or self.unprepared or self.lost:
                self.cancel()
                return

    def _kill_workers(self) -> None:
        """Kills the workers of a canceled job on this machine, so that they do not slow the next cell."""
        here = socket.gethostname()
        workers = [worker.process for worker in self.beacon.workers() if worker.started and worker.host == here]
        for process in workers:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        patience = time.monotonic() + DEATH_SECONDS
        while any(map(psutil.pid_exists, workers)) and time.monotonic() < patience:
            time.sleep(LOOK_SECONDS)


def _cut_off(watch: _Watch, reason: str, seconds: float) -> Outcome:
    if watch.lost:
        raise _Lost(watch.lost)
    if watch.timed_out:
        return Outcome(Status.TIMEOUT, killed_after(seconds))
    if watch.unprepared:
        return Outcome(Status.ERROR, f"no worker was ready to measure after {PREPARATION_SECONDS:g} s")
    if "MemoryError" in reason:
        return Outcome(Status.OUT_OF_MEMORY, reason)
    if "crashed" in reason or "EOFException" in reason or "exited unexpectedly" in reason:
        workers = watch.beacon.workers()
        most = max(workers, key=lambda worker: worker.resident / max(1, worker.machine), default=None)
        if most is not None and most.resident > most.machine // 2:
            return Outcome(Status.OUT_OF_MEMORY, f"the worker on {most.host} died at {most.resident / 1e9:.1f} GB")
        return Outcome(Status.ERROR, DIED)
    if "ExecutorLostFailure" in reason or "Executor heartbeat timed out" in reason:
        raise _Lost(reason)
    return Outcome(Status.ERROR, reason)


def measure_cell(
    job: MeasuredRun,
    seconds: float,
    spark: SparkSession | None = None,
    notify: Callable[[str], None] = lambda line: None,
) -> Outcome:
    """Measures times and, with `job.memory`, memory afterwards, each with the limit of `seconds`.

    Without Spark, it runs in processes of this machine. Memory is not measured where the timed run did not end ok, and
    then has its status and reason. Raises as `measure` does.
    """
    from cepbench.pipeline.local import measure_both_here, measure_here

    timed = replace(job, memory=False)
    if not job.memory:
        return measure_here(timed, seconds) if spark is None else measure(spark, timed, seconds, notify)
    if spark is None:
        times, memory = measure_both_here(timed, seconds)
    else:
        times, memory = measure_both(spark, timed, seconds, notify=notify)
        if memory is None and times.status is Status.OK:
            memory = measure(spark, job, seconds, notify)
    if times.status is not Status.OK or memory is None:
        return replace(times, memory_status=times.status, memory_reason=times.reason)
    return _merged(times, memory)


def _merged(times: Outcome, memory: Outcome) -> Outcome:
    """The outcome of both runs; an answer that differs between them is wrong, and has no digest to compare."""
    whole = replace(times, memory_status=memory.status, memory_reason=memory.reason, lost=(*times.lost, *memory.lost))
    if memory.status is not Status.OK:
        return whole
    if memory.digest != times.digest:
        reason = "the memory run gave another answer than the timed one"
        return replace(whole, status=Status.WRONG, reason=reason, digest=None)
    details = {name: value for name, value in memory.summary.details.items() if is_memory(DETAILS + name)}
    fields = {name: getattr(memory.summary, name) for name in (*MEMORY_METRICS, "state_kinds")}
    fields["details"] = {**times.summary.details, **details}
    return replace(
        whole,
        summary=times.summary.model_copy(update=fields),
        samples=times.samples.model_copy(update={"state_bytes": memory.samples.state_bytes}),
        runs={**times.runs, **{name: runs for name, runs in memory.runs.items() if is_memory(name)}},
    )
