"""Measured cells without Spark: like `pipeline.measured`, in forks of this process."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from cepbench.events.errors import CepbenchError
from cepbench.metrics.record import Status
from cepbench.pipeline.fork import Clock, Fork, ForkDied, ForkTooLong, address_space
from cepbench.pipeline.measured import ready_or_not
from cepbench.pipeline.measured_task import MeasuredRun, MeasuredTask, killed_after, portions_of
from cepbench.pipeline.outcome import Outcome, outcome_of


def measure_here(job: MeasuredRun, seconds: float) -> Outcome:
    """The outcome of a cell in its own process, which is killed when planning or a run takes more than `seconds`.

    The buckets of the store run one after the other. `limit_bytes` is the memory of the process beyond its initial
    size. Raises `CepbenchError` for a workload or stream that cannot be used.
    """
    limit = None if job.limit_bytes is None else job.limit_bytes + address_space()
    with Fork(partial(_outcome, replace(job, limit_bytes=limit))) as fork:
        try:
            found: Outcome | CepbenchError = fork.result(seconds)
        except ForkTooLong:
            return Outcome(Status.TIMEOUT, killed_after(seconds))
        except ForkDied as error:
            return Outcome(*error.outcome(job.limit_bytes))
    if isinstance(found, CepbenchError):
        raise found
    return found


def measure_both_here(job: MeasuredRun, seconds: float) -> tuple[Outcome, Outcome | None]:
    """Measures times, and memory if these succeeded."""
    times = measure_here(job, seconds)
    return times, measure_here(replace(job, memory=True), seconds) if times.status is Status.OK else None


def _outcome(job: MeasuredRun, clock: Clock) -> Outcome | CepbenchError:
    """The result of the fork."""
    try:
        with clock:
            made = ready_or_not(job)
        if isinstance(made, Outcome):
            return made
        return outcome_of(made, [MeasuredTask(made).reported(portion, clock) for portion in portions_of(made)], 1)
    except CepbenchError as error:
        return error
