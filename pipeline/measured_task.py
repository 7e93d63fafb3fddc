"""The work of one worker for a measured cell: it warms up, replays its bucket under the clock, and reports.

The driver has read, compiled and planned the workload (`ready`), so that all workers run the same plan.
"""

from __future__ import annotations

import gc
import pickle
import resource
import socket
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from pathlib import Path

from pyspark import TaskContext
from pyspark.sql import SparkSession

from cepbench.algorithms.answers.builder import AnswerBuilder, Parts
from cepbench.algorithms.base import Algorithm, NotEnoughMemory, Operator, PlanningTooLong
from cepbench.algorithms.engine.kernels.compilation import loaded
from cepbench.algorithms.plugins import described
from cepbench.algorithms.slices import slicing_of
from cepbench.events.batch import EventBatch
from cepbench.events.errors import CepbenchError
from cepbench.events.schema import Schema
from cepbench.events.statistics import Statistics
from cepbench.events.windows import Window
from cepbench.metrics.load import LoadWatch
from cepbench.metrics.record import Load
from cepbench.metrics.statistics import median
from cepbench.metrics.status import Status
from cepbench.pipeline.arrivals import Burst, OpenRate
from cepbench.pipeline.fork import Clock, Fork, ForkDied, ForkLost, ForkTooLong, address_space
from cepbench.pipeline.jobs import Prepared, check_supported, plan
from cepbench.pipeline.loop import into
from cepbench.pipeline.parts import DamagedStore
from cepbench.pipeline.repeated import keep_memory, release_memory, repeated, uncollected
from cepbench.pipeline.replay import Measured, replay
from cepbench.pipeline.sampling import stream_statistics
from cepbench.pipeline.slicing import Crossings, Portion, portion_batches, portion_operator, portions
from cepbench.pipeline.store import Stream, read_stream, stream_batches
from cepbench.pipeline.thinning import one_per_window
from cepbench.pipeline.warmup import warm_up
from cepbench.queries.compile import CompiledQuery, Workload, compile_workload
from cepbench.queries.model import Query
from cepbench.queries.workloads import parse_workload

TRIES = 3
"""Attempts at a run of a bucket, until one has to load no kernel."""
FLOOR_SECONDS = 0.03
"""Seconds for which runs on one event per window are repeated."""
SHARE = 0.25
"""The share of the seconds of timed runs for which planning is repeated, and for which runs measure memory."""
MEMORY_RUNS = 7
"""Maximum number of short runs that measure memory: the fewest with which a ratio of two cells has an interval."""
KEPT_EVENTS = 500_000
"""A timed worker reads streams with at most this many events once, and not in each of its runs."""
WHOLE_STREAM = -1
"""In place of a bucket: all buckets merged, for workloads that no bucketing fits."""


@dataclass(frozen=True)
class MeasuredRun:
    """The task of a cell.

    `arrival` None is burst; `memory` measures states and process memory, too, after times. `limit_bytes` is the memory
    of each worker, a process, beyond that at its start. Short runs are repeated for `repeat` seconds
    (docs/measurement.md, Repeated runs); 0 means once. Each `round` of a figure has fresh parents of its workers. With
    `plans`, the runs of the job are those of these algorithms, one each, which must give the same answer.
    """

    store: Path
    workload: str
    algorithm: Algorithm
    arithmetic: str = "modular"
    arrival: OpenRate | None = None
    memory: bool = False
    limit_bytes: int | None = None
    repeat: float = 0.0
    round: int = 1
    plans: tuple[Algorithm, ...] = ()


@dataclass(frozen=True)
class Ready:
    """A job with its stream and its workload, planned; `plan_seconds` and `plan_details` of each repetition.

    `plans` are those of the job's `plans`, which run in turn; `plan_seconds` and `plan_details` are of them then.
    """

    job: MeasuredRun
    stream: Stream
    prepared: Prepared
    plan_seconds: tuple[float, ...]
    plan_details: tuple[dict[str, float], ...]
    plans: tuple[Prepared, ...] = ()

    @property
    def everything(self) -> tuple[Prepared, ...]:
        """The plans that run: all `plans`, or the only one."""
        return self.plans or (self.prepared,)


def ready(job: MeasuredRun, spark: SparkSession | None = None) -> Ready:
    """Prepares a job for its workers; Spark, if given, draws the samples that an optimizer requests.

    Raises `UnsupportedQuery` with the reason, `NotEnoughMemory` and `PlanningTooLong` of the optimizer, and
    `CepbenchError` for a workload or stream that cannot be used.
    """
    stream = read_stream(job.store)
    queries = parse_workload(job.workload)
    check_supported(queries, job.algorithm)
    statistics = stream_statistics(stream, spark)
    workload = _compiled(queries, stream.schema, job.arithmetic)
    with uncollected():
        planned = repeated(
            partial(_planned, workload, job.algorithm, statistics),
            lambda prepared: prepared.plan_seconds,
            SHARE * job.repeat,
        )
    prepared = planned[-1]
    stream.check_needed(prepared.workload.needs)
    plans = tuple(_planned(workload, algorithm, statistics) for algorithm in job.plans)
    seconds, details = zip(*((prepared.plan_seconds, prepared.details) for prepared in plans or planned), strict=True)
    return Ready(job, stream, prepared, seconds, details, plans)


def _planned(workload: Workload, algorithm: Algorithm, statistics: Statistics) -> Prepared:
    """A plan, whose time includes no loading of kernels."""
    before = loaded()
    prepared = plan(workload, algorithm, statistics)
    return prepared if loaded() == before else plan(workload, algorithm, statistics)


@lru_cache(maxsize=4)
def _compiled(queries: tuple[Query, ...], schema: Schema, arithmetic: str) -> Workload:
    """Compiles once for all algorithms at a point: a hundred queries take 0.3 s, which is not part of planning."""
    return compile_workload(queries, schema, arithmetic, summarised=True)


@dataclass
class Report:
    """The report of a worker.

    - `runs`: those that count, in order; `rows`: those of the answer, None if there is none.
    - `crossings`: by job, partial rows of windows that cross the edges of a time slice.
    - `floor`: service time on one event per window, in seconds; None without such windows, and for engines that others
      wrote. `load`: other load of the machine.
    - `host`, `began`, `ended`: where it ran and when, in seconds of that host's clock; `attempt`: Spark's, from 0.
    - `start`: seconds from the request for the worker to its first event.
    - `limit_bytes`: the address space that the system grants the worker; `base_bytes`: its part in use before the first
      event.
    - `process_peaks`: for each run that measured memory, private bytes above those of operators that do nothing.
    - `damage`: the error of a damaged store.
    - `memory`: of the fork that measured memory afterwards; None if it was not measured.
    - `lost`: this measurement means nothing, since its machine was stopped. `loads`: whether it loaded kernels.
    """

    bucket: int
    status: Status
    reason: str = ""
    runs: list[Measured] = field(default_factory=list)
    rows: Parts | None = None
    crossings: list[Crossings] = field(default_factory=list)
    process_peaks: list[int] = field(default_factory=list)
    compile_seconds: float = 0.0
    floor: float | None = None
    load: Load | None = None
    damage: DamagedStore | None = None
    memory: Report | None = None
    lost: bool = False
    loads: bool = False
    host: str = ""
    attempt: int = 0
    limit_bytes: int | None = None
    base_bytes: int | None = None
    began: float = 0.0
    ended: float = 0.0
    start: float = 0.0

    @property
    def measured(self) -> Measured:
        """The first run that counts."""
        return self.runs[0]


class _AnotherAnswer(Exception):
    """A repeated run on the same events gave another answer."""


@dataclass(frozen=True)
class MeasuredTask:
    """The task of one bucket, or of a time slice of it: one fork measures times, and a second one memory.

    This process only waits for its forks, for at most `seconds` of each measured part, and returns what became of them.
    It may be used for many tasks: kernels that a fork had to load are loaded here afterwards, for the next fork.

    In a fork that measures times, fresh operators replay one event per window first. In one that measures memory,
    operators that do nothing replay the bucket first: the difference of the two peaks is the size of the algorithm. A
    run that had to load a kernel, which the warm-up did not need, is repeated: no time that counts includes
    compilation. Short runs are repeated, each on fresh operators, and must give the same answer.

    `times`, `memory`: whether to measure them; without times, memory alone.
    """

    ready: Ready
    seconds: float
    times: bool = True
    memory: bool = False

    def __call__(self, portion: Portion) -> Report:
        """Never raises: an error is the report's status and reason."""
        report = self._forked(portion, memory=not self.times)
        if self.times and self.memory and report.status is Status.OK:
            report.memory = self._forked(portion, memory=True)
        return report

    def _forked(self, portion: Portion, memory: bool) -> Report:
        """The report of a fork."""
        bucket, limit = portion.bucket, self.ready.job.limit_bytes
        requested = time.time()
        gc.collect()
        gc.freeze()  # the first collection of a fork would copy the pages of all objects
        with Fork(partial(self.reported, portion, memory), limit) as fork:
            try:
                report: Report = fork.result(self.seconds)
            except ForkTooLong:
                return Report(bucket, Status.TIMEOUT, killed_after(self.seconds))
            except ForkLost as error:
                return Report(bucket, Status.ERROR, str(error), lost=True)
            except ForkDied as error:
                return Report(bucket, *error.outcome(limit))
        report.start += report.began - requested
        if report.loads and not self.ready.job.algorithm.starts:
            self._warm_up()
        return report

    def reported(self, portion: Portion, memory: bool, clock: Clock) -> Report:
        """Measures times or memory in this process; `clock` marks the parts for which the time limit applies."""
        began = time.time()
        try:
            report = self._run(portion, memory, clock)
            report.began, report.ended = began, time.time()
            return report
        except Exception as error:
            damage = error if isinstance(error, DamagedStore) else None
            return Report(portion.bucket, *failed(error, "the worker's memory limit"), damage=damage)

    def _run(self, portion: Portion, memory: bool, clock: Clock) -> Report:
        job = self.ready.job
        limit, context = resource.getrlimit(resource.RLIMIT_AS)[0], TaskContext.get()
        if not memory:
            keep_memory()  # applies to the whole process, which ends with this report
        started, kernels = time.perf_counter(), loaded()
        self._warm_up()
        report = Report(
            portion.bucket,
            Status.OK,
            compile_seconds=time.perf_counter() - started,
            host=socket.gethostname(),
            attempt=0 if context is None else context.attemptNumber(),
            limit_bytes=None if limit == resource.RLIM_INFINITY else limit,
            base_bytes=address_space(),
        )

        replays = _Replays(self.ready, portion, memory, clock)
        gc.collect()
        gc.freeze()
        report.start = time.perf_counter() - started
        with uncollected():
            if memory:
                report.runs, report.process_peaks = replays.memory_runs()
            else:
                report.floor = replays.floor(min(FLOOR_SECONDS, job.repeat))
                with LoadWatch() as watch:
                    report.runs = replays.timed_runs(watch.look)
                report.load = watch.load
        report.rows = None if replays.answer is None else replays.answer.packed()
        report.crossings = replays.crossings
        report.loads = loaded() > kernels
        return report

    def _warm_up(self) -> None:
        for prepared in self.ready.everything:
            for part in prepared.jobs:
                warm_up(prepared.algorithm, part.plan)


class _Replays:
    """Replays one portion repeatedly; `answer` and `crossings` are those of all runs."""

    def __init__(self, ready: Ready, portion: Portion, memory: bool, clock: Clock) -> None:
        self._ready, self._portion, self._memory, self._clock = ready, portion, memory, clock
        self._arrival = ready.job.arrival or burst_of(ready.prepared.workload)
        self._digest: str | None = None
        self._kept: list[EventBatch] | None = None
        self.crossings: list[Crossings] = []
        self.answer: AnswerBuilder | None = None

    def floor(self, repeat: float) -> float | None:
        """The time on one event per window; short runs are repeated for so many seconds."""
        prepared = self._ready.prepared
        events = None if self._ready.job.algorithm.starts else one_per_window(self._batches(), prepared)
        if events is None:
            return None

        def run() -> Measured:
            with self._clock:
                return self._replay(self._operators(), AnswerBuilder(prepared.workload), False, batches=events)

        return median([_seconds(run) for run in repeated(run, _seconds, repeat)])

    def timed_runs(self, look: Callable[[], object]) -> list[Measured]:
        """Short runs repeated; of several plans, the median run of each. Raises `_AnotherAnswer`."""
        job, plans = self._ready.job, self._ready.plans
        if not plans:
            return repeated(self.run, _seconds, job.repeat, look)

        def turn() -> list[Measured]:  # of all plans, so that a drift of the machine affects all of them
            return [self.run(prepared=prepared) for prepared in plans]

        turns = repeated(turn, lambda runs: sum(map(_seconds, runs)), job.repeat, look)
        return [sorted(of_plan, key=_seconds)[len(of_plan) // 2] for of_plan in zip(*turns, strict=True)]

    def memory_runs(self) -> tuple[list[Measured], list[int]]:
        """Runs with their states, and for each the process memory above that of operators that do nothing.

        Short ones are repeated, up to `MEMORY_RUNS`. Raises `_AnotherAnswer`.
        """
        runs: list[Measured] = []
        peaks: list[int] = []
        self._clock.watch()
        nothing = [operator.idle() for operator in self._operators()]
        self._replay(nothing, AnswerBuilder(self._ready.prepared.workload), states=True)
        base = self._clock.peak()
        began = time.perf_counter()
        while True:
            runs.append(self.run(states=True))
            peaks.append(max(0, self._clock.peak() - base))
            elapsed = time.perf_counter() - began
            if len(runs) == MEMORY_RUNS or elapsed + elapsed / len(runs) > SHARE * self._ready.job.repeat:
                return runs, peaks

    def run(self, states: bool = False, prepared: Prepared | None = None) -> Measured:
        """One run of a plan, by default the only one, on fresh operators, under the time limit.

        With `states`, for memory. Raises `_AnotherAnswer`.
        """
        prepared = prepared or self._ready.prepared
        for _ in range(TRIES):
            gc.collect()  # frees the operators of the previous run
            answer, before = AnswerBuilder(prepared.workload), loaded()
            if states:
                release_memory()
                self._clock.watch()
            with self._clock:
                measured = self._replay(self._operators(prepared), answer, states, prepared.splits_groups, prepared)
            if loaded() == before:
                break
        self._compare(answer, measured)
        return measured

    def _compare(self, answer: AnswerBuilder, measured: Measured) -> None:
        crossings, measured.crossings = measured.crossings, []
        if self.answer is None:
            self.answer, self.crossings = answer, crossings
            return
        if pickle.dumps(crossings) != pickle.dumps(self.crossings):
            raise _AnotherAnswer("two runs on the same events gave different parts of windows")
        self._digest = self._digest or self.answer.digest()
        if answer.digest() != self._digest:
            raise _AnotherAnswer("two runs on the same events gave different answers")

    def _operators(self, prepared: Prepared | None = None) -> list[Operator]:
        """A fresh operator for each job of a plan."""
        prepared = prepared or self._ready.prepared
        return [portion_operator(part, prepared.algorithm, self._portion) for part in prepared.jobs]

    def _replay(
        self,
        operators: Sequence[Operator],
        answer: AnswerBuilder,
        states: bool,
        identify: bool = False,
        prepared: Prepared | None = None,
        batches: Iterable[EventBatch] | None = None,
    ) -> Measured:
        """Replays the events of the portion, or these `batches` of them."""
        prepared = prepared or self._ready.prepared
        jobs = list(zip(prepared.jobs, operators, strict=True))
        measured = replay(
            self._batches() if batches is None else batches, self._arrival, jobs, into(answer), states, identify
        )
        if self._portion.slice is not None:  # such cells have no latency (docs/measurement.md)
            measured.latency, measured.rows = [], []
        return measured

    def _batches(self) -> Iterable[EventBatch]:
        """The events of the portion."""
        if self._kept is not None:
            return self._kept
        stream, portion = self._ready.stream, self._portion
        needed = frozenset[str]().union(*self._ready.prepared.workload.needs.values())
        if portion.bucket == WHOLE_STREAM:
            batches = stream_batches(stream, attributes=needed)
        else:
            batches = portion_batches(stream, portion, attributes=needed)
        if self._memory or stream.events > KEPT_EVENTS:
            return batches
        self._kept = list(batches)
        return self._kept


def _seconds(run: Measured) -> float:
    return sum(run.service)


def killed_after(seconds: float) -> str:
    """The reason of a timeout."""
    return f"killed after {seconds:g} s of measured time"


def portions_of(planned: Ready) -> list[Portion]:
    """The portions of workers: `buckets`, or slices of them in the order of time."""
    numbers = buckets(planned.stream, planned.prepared.workload)
    slicing = None if numbers == [WHOLE_STREAM] else slicing_of(planned.prepared.algorithm)
    return [portion for bucket in numbers for portion in portions(planned.stream, bucket, slicing)]


def buckets(stream: Stream, workload: Workload) -> list[int]:
    """The buckets to run, one worker each: a key must be in one bucket, for every query.

    The largest first, so that none runs alone at the end.
    """
    if all(stream.holds_whole(query.partition) for query in workload):
        filled = [bucket for bucket, events in enumerate(stream.bucket_events) if events]
        return sorted(filled, key=lambda bucket: -stream.bucket_events[bucket])
    return [WHOLE_STREAM]


def burst_of(workload: Workload) -> Burst:
    """The arrival in bursts for the windows of all queries."""
    return Burst([burst_window(query) for query in workload], workload.schema.time_unit)


def burst_window(query: CompiledQuery) -> Window | None:
    """A detection query has no slide: bursts are as long as its span, and continue until the last match is decided."""
    if query.window is None or not query.detects:
        return query.window
    return replace(query.window, within=2 * query.window.within, slide=query.window.within)


def failed(error: Exception, limit: str) -> tuple[Status, str]:
    """The status and the reason of a failed run; `limit` is the reason of a `MemoryError` without a message.

    An algorithm's own failure ends its cell, not the sweep.
    """
    reason = first_line(error)
    match error:
        case MemoryError() | NotEnoughMemory():
            return Status.OUT_OF_MEMORY, reason or limit
        case PlanningTooLong():
            return Status.TIMEOUT, reason
        case _AnotherAnswer():
            return Status.WRONG, reason
        case CepbenchError():
            return Status.ERROR, reason
        case _:
            return Status.ERROR, described(error)


def first_line(error: BaseException) -> str:
    """The first line of a message."""
    lines: Iterable[str] = str(error).strip().splitlines()
    return next(iter(lines), "")
