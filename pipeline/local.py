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
from cepbench.pipeline.pulse import machine_bytes


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
            return Outcome(*how_it_died(error, job.limit_bytes))
    if isinstance(found, CepbenchError):
        raise found
    return found


def how_it_died(error: ForkDied, limit: int | None) -> tuple[Status, str]:
    """Out of memory if the process used half of its limit, or, without one, of the machine's memory."""
    if error.resident > (machine_bytes() if limit is None else limit) // 2:
        return Status.OUT_OF_MEMORY, f"the worker died at {error.resident / 1e9:.1f} GB"
    return Status.ERROR, str(error)


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
        reports = [MeasuredTask(made).reported(portion, clock) for portion in portions_of(made)]
        for report in reports:
            if report.damage is not None:
                return report.damage
            if report.status is not Status.OK:
                return Outcome(report.status, report.reason)
        return outcome_of(made, reports, 1)
    except CepbenchError as error:
        return error
