"""A short trial of an algorithm: runs on growing prefixes of a stream, in a process that is killed at its limit."""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

import psutil

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.base import Algorithm, StateSize
from cepbench.algorithms.engine.kernels.compilation import watched
from cepbench.algorithms.registry import make
from cepbench.events.batch import EventBatch
from cepbench.events.statistics import Statistics
from cepbench.metrics.statistics import median
from cepbench.metrics.status import Status
from cepbench.pipeline.fork import Clock, Fork, ForkDied, ForkLost, ForkTooLong
from cepbench.pipeline.jobs import Prepared, plan
from cepbench.pipeline.loop import into
from cepbench.pipeline.measured_task import burst_of, failed
from cepbench.pipeline.repeated import repeated, uncollected
from cepbench.pipeline.replay import Measured, replay
from cepbench.pipeline.thinning import one_per_window
from cepbench.pipeline.warmup import warm_up
from cepbench.queries.compile import Workload, compile_workload
from cepbench.queries.model import Aggregates, CountAll, Matches, Query

REPEAT_SECONDS = 0.1
"""Seconds for which the runs on one prefix are repeated."""
LEAST_SECONDS = 0.05
"""With less time left, no run starts."""
COUNTERS = ("cogra", "core")
"""Algorithms that count matches without constructing them, in order of preference."""
MANY_MATCHES = 10**7
"""Matches from which on a warning is given before they are listed."""
FEW_EVENTS = 23
"""So few events have fewer than `MANY_MATCHES` sets."""
FIRST_COUNTED = (1 << 10, 1 << 16)
"""Events of the prefixes on which matches are counted before they are listed, and then all of them."""
COUNT_SECONDS = 4.0
COUNT_MEMORY = 2**30
NOT_TRIED = "not tried, the budget is too small"
STATE_SHARE = 0.25
"""Memory is measured, in a separate run, while a run takes at most this share of the limit."""


@dataclass(frozen=True)
class Prefix:
    """A run on the first `events` of the stream.

    `seconds` is the median of timed runs, from `low` to `high`, `cpu` the processor time of the process in these runs.
    If a process used less processor time than elapsed, it has waited for the processor, and that time does not count.
    `floor`: the share of the time on one event per window in these seconds. `state` is the peak of live bytes, None if
    not measured; `matches` of all windows together, and `most` in one row; the `digest` of the answer.
    """

    events: int
    seconds: float
    low: float
    high: float
    cpu: float
    floor: float | None
    state: int | None
    matches: float
    most: float
    digest: str


@dataclass(frozen=True)
class Trial:
    """The results of a trial up to its end: ok if it ended by itself. `compiled`: whether kernels were compiled.

    Without a `status` the time ended before the first events, so that nothing is known of the algorithm.
    """

    status: Status | None
    reason: str
    prefixes: tuple[Prefix, ...]
    setup_seconds: float = 0.0
    plan_seconds: float = 0.0
    compiled: bool = False


class _NotCompiled(Exception):
    """A kernel is not on disk."""


def many_matches(queries: Sequence[Query], batch: EventBatch, statistics: Statistics, events: int) -> str | None:
    """A warning if queries list very many matches on the first events of a stream, `batch`, of `events` in all.

    Matches are counted for at most `COUNT_SECONDS`, by an algorithm that does not construct them, if its kernels are
    compiled. None also if no such algorithm supports the queries.
    """
    listed = [query for query in queries if isinstance(query.returns, Matches)]
    if not listed or len(batch) <= FEW_EVENTS:
        return None
    sizes = [*(size for size in FIRST_COUNTED if size < len(batch)), len(batch)]
    trial = counted(listed, batch, statistics, sizes, COUNT_SECONDS, COUNT_MEMORY, compiles=False)
    if trial is None or not trial.prefixes or trial.prefixes[-1].matches <= MANY_MATCHES:
        return None
    tried_on, matches = trial.prefixes[-1].events, trial.prefixes[-1].matches
    number = f"{matches:.3g}" if matches < 1e19 else "more than 10^19"
    among = "the" if tried_on == events else f"the first {tried_on} of"
    return f"{among} {events} events have {number} matches, and each is listed; RETURN COUNT(*) only counts them"


def counted(
    queries: Sequence[Query],
    batch: EventBatch,
    statistics: Statistics,
    sizes: Sequence[int],
    seconds: float,
    memory: int,
    compiles: bool = True,
) -> Trial | None:
    """The trial that counts the matches of the prefixes; None if no algorithm can count them."""
    counting = [replace(query, returns=Aggregates(query.group_by, (CountAll(),))) for query in queries]
    for name in COUNTERS:
        counter = make(name)
        if all(counter.refusal(query) is None for query in counting):
            workload = compile_workload(counting, batch.schema, "modular", summarised=True)
            return tried(workload, counter, statistics, batch, sizes, seconds, memory, compiles)
    return None


def tried(
    workload: Workload,
    algorithm: Algorithm,
    statistics: Statistics,
    batch: EventBatch,
    sizes: Sequence[int],
    seconds: float,
    memory: int,
    compiles: bool = True,
) -> Trial:
    """Runs the algorithm on the first events of `batch`, as many as each of `sizes`, for at most `seconds` in all.

    Its process may use `memory` bytes beyond its initial size. The next prefix begins only if it is expected to fit, by
    the growth of the time so far. Planning and loading kernels count, compiling them does not; unless the trial
    `compiles`, it ends at a kernel that is not on disk.
    """

    def work(clock: Clock) -> tuple[Status | None, str]:
        """Notes seconds of setup and planning and whether kernels were compiled, and then the prefixes."""
        try:
            began = time.perf_counter()
            compiled: list[str] = []

            def compiling(kernel: str) -> None:
                if not compiles:
                    raise _NotCompiled(kernel)
                if not compiled:
                    clock.stop()
                compiled.append(kernel)

            with clock:
                prepared = plan(workload, algorithm, statistics)
                planned = time.perf_counter() - began
                with watched(compiling):
                    for job in prepared.jobs:
                        warm_up(algorithm, job.plan)
                setup = time.perf_counter() - began - planned
                clock.note((setup, planned, bool(compiled)))
                gc.collect()
                gc.freeze()
            until = began + seconds + (setup if compiled else 0.0)
            if until - time.perf_counter() < LEAST_SECONDS:
                return None, NOT_TRIED
            with uncollected(), clock:
                last: Prefix | None = None
                growth = 4.0
                for size in sizes:
                    left = until - time.perf_counter()
                    if last is not None and max(last.seconds, last.cpu) * growth > left:
                        return Status.OK, f"the next prefix, of {size} events, would take too long"
                    prefix = _prefix(prepared, batch.slice(0, size), left, seconds)
                    clock.note(prefix)
                    if last is not None and last.seconds > 0:
                        growth = max(2.0, prefix.seconds / last.seconds)
                    last = prefix
        except Exception as error:
            return failed(error, "more than its memory limit")
        return Status.OK, ""

    status: Status | None
    with Fork(work, memory) as fork:
        try:
            status, reason = fork.result(seconds, together=True)
        except ForkTooLong:
            status, reason = Status.TIMEOUT, f"killed after {seconds:.3g} s"
        except ForkLost as error:
            status, reason = None, str(error)
        except ForkDied as error:
            status, reason = error.outcome(memory)
    if not fork.notes and status is Status.TIMEOUT:
        return Trial(None, NOT_TRIED, ())
    setup, *prefixes = fork.notes or [(0.0, 0.0, False)]
    return Trial(status, reason, tuple(prefixes), *setup)


def _prefix(prepared: Prepared, events: EventBatch, left: float, seconds: float) -> Prefix:
    """Timed runs, and one that measures the state if there is time for it."""
    alone = not psutil.Process().children()  # otherwise it waits for these

    def run(
        states: bool = False, batches: Sequence[EventBatch] = (events,)
    ) -> tuple[Measured, AnswerBuilder, float, float]:
        """One run: its measurements, answer, seconds (without waiting for the processor), and processor seconds."""
        gc.collect()
        answer, started = AnswerBuilder(prepared.workload), time.process_time()
        operators = [prepared.algorithm.operator(job.plan) for job in prepared.jobs]
        jobs = list(zip(prepared.jobs, operators, strict=True))
        measured = replay(batches, burst_of(prepared.workload), jobs, into(answer), states)
        cpu, seen = time.process_time() - started, sum(measured.service)
        return measured, answer, min(seen, cpu) if alone else seen, cpu

    runs = repeated(run, lambda one: one[2], min(REPEAT_SECONDS, left / 40))
    times = [one[2] for one in runs]
    spent = median([one[3] for one in runs])
    size: StateSize | None = None
    if spent <= STATE_SHARE * seconds and 2 * spent < left:
        size = run(states=True)[0].peak
    thinned = one_per_window([events], prepared)
    floor = None if thinned is None else run(batches=thinned)[2]
    answer = runs[-1][1]
    return Prefix(
        len(events),
        median(times),
        min(times),
        max(times),
        spent,
        None if floor is None or median(times) == 0 else floor / median(times),
        None if size is None else size.bytes,
        answer.matches,
        answer.most,
        answer.digest(),
    )
