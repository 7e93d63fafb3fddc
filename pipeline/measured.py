"""Measures one cell (docs/measurement.md) in fresh processes, which the tasks of a Spark job, or this process, fork.

A fork is killed at its time limit, limits its own memory, and its end is a value that the task returns
(`MeasuredTask`). So a task that fails was lost, and Spark repeats it.
"""

from __future__ import annotations

import tempfile
import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from dataclasses import replace
from functools import partial
from multiprocessing import get_context

from py4j.protocol import Py4JError, Py4JNetworkError  # type: ignore[import-untyped]
from pyspark import RDD
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from cepbench.algorithms.base import NotEnoughMemory, PlanningTooLong, UnsupportedQuery
from cepbench.events.errors import CepbenchError
from cepbench.metrics.status import Status
from cepbench.pipeline.cluster import LOST_SECONDS as LOST_SETTING
from cepbench.pipeline.cluster import SparkCluster, number
from cepbench.pipeline.fork import Clock, Fork, ForkDied, ForkLost, ForkTooLong
from cepbench.pipeline.measured_task import (
    MeasuredRun,
    MeasuredTask,
    Ready,
    Report,
    first_line,
    killed_after,
    portions_of,
    ready,
)
from cepbench.pipeline.outcome import Outcome, outcome_of
from cepbench.pipeline.session import conf_of, executor_count, in_environment, is_stopped, session, slot_count
from cepbench.pipeline.slicing import Portion
from cepbench.pipeline.tasks import failure
from cepbench.pipeline.warmup import warm_up

Session = SparkSession
"""The handle that sweeps pass through; only the pipeline uses its contents."""

LOOK_SECONDS = 1.0
LOST_SECONDS = 60.0
"""Seconds without any executor after which a job is lost; `spark.cepbench.lostSeconds` overrides it."""
ATTEMPTS = 3
PYTHON_ERROR = "org.apache.spark.api.python.PythonException"
"""Spark's name of an exception that a task raised; the death of a worker has another one."""
DYNAMIC = "spark.dynamicAllocation.enabled"
ROUND = "CEPBENCH_ROUND"
"""A variable in the environment of workers: Spark starts new ones for another value."""


class SparkGone(CepbenchError):
    """Spark ended during a cell, which therefore has no outcome."""


class ContextStopped(SparkGone):
    """Only the session ended: a new one may be started."""


class _Failed(Exception):
    """A task raised an exception, as it would again: its worker could not read the algorithm, for instance."""


class _Lost(Exception):
    """A worker or its machine is lost, and with it the measurement."""


def measuring_session(cluster: SparkCluster | str | None, memory: int, slots: int | None = None) -> Session:
    """The session for measured cells, with containers (if any) for `memory` bytes of each worker.

    With `slots`, so many of them run concurrently. Raises `TooFewExecutors` if there are fewer, and
    `CepbenchError` for dynamic allocation, which would take slots away between cells.
    """
    cluster = cluster if isinstance(cluster, SparkCluster) else SparkCluster(cluster)
    if str(cluster.settings.get(DYNAMIC, "false")).lower() == "true":
        raise CepbenchError(f"{DYNAMIC}: measured cells need slots that stay; leave it out")
    return session(cluster.with_slots(slots), worker_memory=memory)


def configuration_of(spark: Session) -> dict[str, str]:
    """The Spark configuration that affects a measurement."""
    names = (
        "spark.master",
        "spark.executor.pyspark.memory",
        "spark.executor.memory",
        "spark.executor.cores",
        "spark.driver.memory",
        "spark.default.parallelism",
    )
    conf = conf_of(spark.sparkContext)
    settings = {name: value for name in names if (value := conf.get(name)) is not None}
    return {**settings, "defaultParallelism": str(slot_count(spark)), "version": spark.version}


def measure_cell(
    job: MeasuredRun,
    seconds: float,
    spark: SparkSession | None = None,
    notify: Callable[[str], None] = lambda line: None,
) -> Outcome:
    """Runs a cell on Spark, or in forks of this process; `seconds` is the limit of each measured part of a worker.

    Without Spark, planning has the limits of a worker, too. `notify` gets a line per lost worker. Raises
    `CepbenchError` for a workload or stream that cannot be used, and `DamagedStore` if a worker found changed files.
    """
    planned = _ready_here(job, seconds) if spark is None else ready_or_not(job, spark)
    if isinstance(planned, Outcome):
        return planned
    task, items = MeasuredTask(planned, seconds), portions_of(planned)
    lost: list[str] = []
    while len(lost) < ATTEMPTS:
        try:
            if spark is None:
                slots = 1
                reports = [replace(task, memory=job.memory)(portion) for portion in items]
            else:
                slots = slot_count(spark)  # fewer after a loss
                reports = _on_spark(spark, task, items, slots)
            for part in (part for report in reports for part in (report, report.memory)):
                if part is not None and part.lost:
                    raise _Lost(part.reason)
        except _Failed as error:
            return Outcome(Status.ERROR, str(error), lost=tuple(lost))
        except _Lost as loss:
            lost.append(str(loss))
            if len(lost) < ATTEMPTS:
                notify(f"measuring again ({len(lost) + 1} of {ATTEMPTS}): {loss}")
            continue
        lost += {f"a worker was lost, and its part ran again on {report.host}" for report in reports if report.attempt}
        return replace(outcome_of(planned, reports, slots), lost=tuple(lost))
    return Outcome(Status.ERROR, f"workers were lost {ATTEMPTS} times; at last: {lost[-1]}", lost=tuple(lost))


def _ready_here(job: MeasuredRun, seconds: float) -> Ready | Outcome:
    """As `ready_or_not`, in a fork that is killed when planning takes too long."""

    def work(clock: Clock) -> Ready | Outcome | CepbenchError:
        try:
            with clock:
                return ready_or_not(job)
        except CepbenchError as error:
            return error

    with Fork(work, job.limit_bytes) as fork:
        try:
            planned: Ready | Outcome | CepbenchError = fork.result(seconds)
        except ForkTooLong:
            return Outcome(Status.TIMEOUT, killed_after(seconds))
        except ForkLost as error:
            return Outcome(Status.ERROR, str(error))
        except ForkDied as error:
            return Outcome(*error.outcome(job.limit_bytes))
    if isinstance(planned, CepbenchError):
        raise planned
    return planned


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


def _on_spark(spark: SparkSession, task: MeasuredTask, items: Sequence[Portion], slots: int) -> list[Report]:
    """Reports of all workers.

    Workers that fit into the slots start together, in barrier mode. The memory of several ones is measured in a second
    job, since no clock may run meanwhile. Spark repeats the task of a lost worker; in barrier mode, all tasks. Raises
    `_Lost` if that is of no use.
    """
    spark.sparkContext.environment[ROUND] = str(task.ready.job.round)  # another one lets Spark start new parents
    portions = spark.sparkContext.parallelize(list(items), len(items))
    memory = task.ready.job.memory
    if len(items) == 1:
        return _collected(spark, portions.map(replace(task, memory=memory)))
    together = portions.barrier().mapPartitions(partial(map, task)) if len(items) <= slots else portions.map(task)
    reports = _collected(spark, together)
    if memory and all(report.status is Status.OK for report in reports):
        memory_reports = _collected(spark, portions.map(replace(task, times=False)))
        return [replace(report, memory=second) for report, second in zip(reports, memory_reports, strict=True)]
    return reports


def _collected(spark: SparkSession, reports: RDD[Report]) -> list[Report]:
    """The reports of one Spark job. Raises `_Lost` or `_Failed`."""
    context = spark.sparkContext
    group = f"cepbench-{uuid.uuid4().hex}"
    patience = number(LOST_SETTING, conf_of(context).get(LOST_SETTING), LOST_SECONDS)

    def collect() -> list[Report]:
        context.setJobGroup(group, "measured cell", interruptOnCancel=True)
        return reports.collect()

    pool = ThreadPoolExecutor(1)
    try:
        job = pool.submit(collect)
        lively = time.monotonic()
        while not wait([job], LOOK_SECONDS).done:
            if executor_count(spark):
                lively = time.monotonic()
            if time.monotonic() - lively > patience:
                raise _Lost(f"no executor was left for {patience:g} s")
        attempt = _stage_attempt(spark, group)
        return [replace(report, attempt=max(report.attempt, attempt)) for report in job.result()]
    except Py4JNetworkError:
        raise SparkGone("Spark ended while a cell was running; start the sweep again to continue") from None
    except (Py4JError, PySparkException) as error:
        if is_stopped(context):
            raise ContextStopped(f"Spark stopped its session: {failure(error)}") from None
        raise (_Failed if PYTHON_ERROR in str(error) else _Lost)(failure(error)) from None
    finally:
        with suppress(Py4JError):
            if not job.done():
                context.cancelJobGroup(group)
        pool.shutdown(wait=False)


def _stage_attempt(spark: SparkSession, group: str) -> int:
    """The number of times that Spark repeated the whole stage of a job."""
    tracker = spark.sparkContext.statusTracker()
    jobs = map(tracker.getJobInfo, tracker.getJobIdsForGroup(group))
    stages = [tracker.getStageInfo(stage) for job in jobs if job is not None for stage in job.stageIds]
    return max((int(stage.currentAttemptId) for stage in stages if stage is not None), default=0)


def compiled_anew(job: MeasuredRun) -> float:
    """Processor seconds of planning and warming up a job in a new process, with an empty folder for kernels.

    Raises `CepbenchError` if that process fails.
    """
    spawned = get_context("spawn")  # a fork would have the kernels that are loaded here
    with (
        tempfile.TemporaryDirectory(prefix="cepbench-kernels-") as folder,
        in_environment("NUMBA_CACHE_DIR", folder),
        ProcessPoolExecutor(1, spawned) as pool,
    ):
        try:
            seconds = pool.submit(_compile, job).result()
        except BrokenProcessPool:
            seconds = "the process ended"
    if isinstance(seconds, str):
        raise CepbenchError(f"kernels were not compiled: {seconds}")
    return seconds


def _compile(job: MeasuredRun) -> float | str:
    """Processor seconds, or the failure as text: not all exceptions can be pickled."""
    started = time.process_time()
    try:
        for part in ready(job).prepared.jobs:
            warm_up(job.algorithm, part.plan)
    except Exception as error:  # a user never sees a traceback
        return f"{type(error).__name__}: {first_line(error)}"
    return time.process_time() - started
