"""The outcome of a cell, from the reports of its workers."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.base import StateSize
from cepbench.metrics.details import DETAILS, by_name, detailed, merged
from cepbench.metrics.latency import at_rate, of_rows, pooled
from cepbench.metrics.load import worst
from cepbench.metrics.record import Load, Realised, Samples, Summary
from cepbench.metrics.statistics import estimate, median
from cepbench.metrics.status import Status
from cepbench.metrics.throughput import Bracket, Replay, Span, slot_times, sustainable, throughput
from cepbench.pipeline.measured_task import Ready, Report
from cepbench.pipeline.realised import realised
from cepbench.pipeline.replay import Measured
from cepbench.pipeline.slicing import join_slices

ANOTHER_ANSWER = "the run that measured memory gave another answer"
SHARE = 0.8
"""The share of the sustainable rate at which the latency under load is reported."""


@dataclass(frozen=True)
class Outcome:
    """The status and the measurements of a cell.

    `lost` has the reasons why earlier attempts failed; `plan_limit_seconds` is the limit that planning exceeded;
    `unanswered` says that the algorithm only planned, and `cut_off` that matches were left out: such answers have no
    digest. `memory_status` is None if memory was not measured; if times were not, it is their status.
    """

    status: Status
    reason: str = ""
    memory_status: Status | None = None
    memory_reason: str = ""
    lost: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    digest: str | None = None
    overflow: bool = False
    samples: Samples = field(default_factory=Samples)
    runs: dict[str, list[float]] = field(default_factory=dict)
    summary: Summary = field(default_factory=Summary)
    realised: Realised | None = None
    load: Load | None = None
    plan_limit_seconds: float | None = None
    unanswered: bool = False
    cut_off: bool = False


def outcome_of(planned: Ready, reports: Sequence[Report], slots: int) -> Outcome:
    """The measurements of all workers, of which `slots` run concurrently; the first failure decides.

    Raises `DamagedStore` if a worker found changed files.
    """
    times = _outcome(planned, reports, slots, memory=False)
    if not planned.job.memory:
        return times
    if times.status is not Status.OK:
        return replace(times, memory_status=times.status, memory_reason=times.reason)
    memory = _outcome(planned, [report.memory for report in reports if report.memory is not None], slots, memory=True)
    if memory.status is not Status.OK:
        return replace(times, memory_status=memory.status, memory_reason=memory.reason)
    if memory.digest != times.digest:
        return replace(times, status=Status.WRONG, reason=ANOTHER_ANSWER, digest=None)  # which agrees with no other
    sizes = {name: getattr(memory.summary, name) for name in ("state_peak", "state_kinds", "process_peak")}
    return replace(
        times,
        memory_status=Status.OK,
        samples=times.samples.model_copy(update={"state_bytes": memory.samples.state_bytes}),
        runs={**times.runs, **memory.runs},
        summary=times.summary.model_copy(update=sizes),
    )


def _outcome(planned: Ready, reports: Sequence[Report], slots: int, memory: bool) -> Outcome:
    """The times of all workers, or their memory."""
    for report in sorted(reports, key=lambda report: report.damage is None):
        if report.damage is not None:
            raise report.damage
        if report.status is not Status.OK:
            return Outcome(report.status, report.reason)
    stream, workload = planned.stream, planned.prepared.workload
    answer = AnswerBuilder(workload)
    for report in reports:
        assert report.rows is not None
        answer.merge(report.rows)
    join, substreams = _joined(planned, reports, answer)
    first = [report.measured for report in reports]
    stream.check_read(sum(worker.events for worker in first))
    digest = None if planned.prepared.cut_off else answer.digest()
    if memory:
        fields, samples, runs = _memory(reports)
        return Outcome(
            Status.OK, digest=digest, samples=samples, runs=runs, summary=Summary().model_copy(update=fields)
        )
    work = realised(stream, workload, answer, first)
    if substreams:
        work = work.model_copy(update={"substreams": substreams})
    fields, samples, runs = _times(planned, reports, slots, work.windows, join)
    summary = Summary(
        compile_seconds=max(report.compile_seconds for report in reports),
        worker_limit_bytes=min((report.limit_bytes for report in reports if report.limit_bytes), default=None),
        worker_base_bytes=max((report.base_bytes for report in reports if report.base_bytes), default=None),
    )
    return Outcome(
        Status.OK,
        hosts=tuple(sorted({report.host for report in reports})),
        digest=digest,
        overflow=answer.overflow,
        samples=samples,
        runs=runs,
        summary=summary.model_copy(update=fields),
        realised=work,
        unanswered=planned.prepared.unanswered,
        cut_off=planned.prepared.cut_off,
        load=worst([report.load for report in reports if report.load is not None]),
    )


def _joined(planned: Ready, reports: Sequence[Report], answer: AnswerBuilder) -> tuple[float, int]:
    """Adds the rows of windows that are not inside one time slice.

    Returns the seconds that it took, after kernels were loaded, and the number of keys; 0 and 0 without slices.
    """
    slices = [(number, report.bucket, edge) for report in reports for number, edge in enumerate(report.crossings)]
    for into in (AnswerBuilder(planned.prepared.workload), answer):
        began = time.perf_counter()
        substreams = join_slices(planned.prepared, slices, into)
        seconds = time.perf_counter() - began
    return (seconds, substreams) if substreams else (0.0, 0)


Fields = tuple[dict[str, object], Samples, dict[str, list[float]]]
"""Fields of the summary, samples, and the numbers of repeated runs."""


def _memory(reports: Sequence[Report]) -> Fields:
    """The results of runs that measured memory: as many as every worker has."""
    runs = _runs(reports)
    peaks = [sum((worker.peak for worker in workers), StateSize()) for workers in runs]
    states = [peak.bytes for peak in peaks]
    processes = [sum(report.process_peaks[number] for report in reports) for number in range(len(runs))]
    middle = _middle(states)
    fields = {
        "state_peak": states[middle],
        "state_kinds": dict(peaks[middle].kinds),
        "process_peak": processes[_middle(processes)],
    }
    samples = Samples(state_bytes=list(chain.from_iterable(worker.state_bytes for worker in runs[middle])))
    if len(runs) == 1:
        return fields, samples, {}
    return fields, samples, {"state_peak": [*map(float, states)], "process_peak": [*map(float, processes)]}


def _runs(reports: Sequence[Report]) -> list[list[Measured]]:
    """The measurements of each worker, by run."""
    count = min(len(report.runs) for report in reports)
    return [[report.runs[number] for report in reports] for number in range(count)]


def _middle(values: Sequence[float]) -> int:
    """Where the median is, or the lower one of two."""
    return sorted(range(len(values)), key=values.__getitem__)[(len(values) - 1) // 2]


def _times(planned: Ready, reports: Sequence[Report], slots: int, windows: int, join: float) -> Fields:
    """The results of timed runs: as many as every worker has; `join` is the driver's part of each."""
    runs = _runs(reports)
    numbers = by_name([_numbers(planned, reports, workers, slots, windows, join) for workers in runs])
    joining = {"join_seconds": join} if join else {}
    details = by_name([merged([*(worker.details for worker in workers), joining]) for workers in runs])
    totals = numbers["service_total"]
    middle = runs[_middle(totals)]
    floors = [report.floor for report in reports if report.floor is not None]
    floor = sum(floors) if floors else None
    batches = sum(len(worker.service) for worker in middle)
    total, bracket = estimate(totals), _bracket(planned, middle)
    several = bool(planned.plans)  # of several plans all details differ, not only times
    timed = {name: values for name, values in details.items() if several or name.endswith("_seconds")}
    of_plans = by_name(planned.plan_details).items()
    plans = {DETAILS + name: values for name, values in of_plans if several or name.endswith("_seconds")}
    varying = {"plan_seconds": list(planned.plan_seconds), **plans, **numbers, **detailed(timed)}
    fields = {
        **{name: median(values) for name, values in numbers.items()},
        **_planned(planned, {name: median(values) for name, values in details.items()}),
        "runs": len(runs),
        "service_low": total.low,
        "service_high": total.high,
        "floor_total": floor,
        "floor_batch": floor / batches if batches and floor is not None else None,
        "slots": len(slot_times(_spans(reports, middle), slots)),
        "latency_p99_at_80": None if bracket is None else _loaded(planned, middle, SHARE * bracket.low),
        "sustainable_low": None if bracket is None else bracket.low,
        "sustainable_high": None if bracket is None else bracket.high,
    }
    service = list(chain.from_iterable(worker.service for worker in middle))
    seconds = [sum(worker.service) for worker in middle]
    samples = Samples(latency=_latency(planned, middle), service=service)
    if len(seconds) > 1:
        starts = [report.start for report in reports]
        samples = samples.model_copy(update={"workers": seconds, "starts": starts})
    return fields, samples, {name: values for name, values in varying.items() if len(values) > 1}


def _planned(planned: Ready, details: Mapping[str, float]) -> dict[str, object]:
    """The planning time, and the details of plans and executors together."""
    plans = {name: median(values) for name, values in by_name(planned.plan_details).items()}
    return {"plan_seconds": median(planned.plan_seconds), "details": merged([plans, details])}


def _numbers(
    planned: Ready, reports: Sequence[Report], workers: Sequence[Measured], slots: int, windows: int, join: float
) -> dict[str, float]:
    """One run of all workers, and the driver after them, as numbers by field of the summary."""
    events = planned.stream.events
    seconds = slot_times(_spans(reports, workers), slots)
    longest, total = max(seconds), join + sum(chain.from_iterable(worker.service for worker in workers))
    makespan = longest + join
    starts = [report.start for report in reports]
    started = max(slot_times(_spans(reports, workers, starts), slots))
    latency = pooled([_latency(planned, workers)])
    numbers = {
        "service_total": total,
        "service_per_window": total / windows if windows else None,
        "makespan": makespan,
        "elapsed": median(planned.plan_seconds) + started + join,
        "skew": longest * len(seconds) / sum(seconds) if longest > 0 else None,
        "throughput": throughput(events, makespan),
        "throughput_per_core": throughput(events, total),
        "throughput_per_slot": throughput(events, makespan * len(seconds)),
        **({} if latency is None else {f"latency_{name}": number for name, number in vars(latency).items()}),
    }
    return {name: number for name, number in numbers.items() if number is not None}


def _spans(reports: Sequence[Report], workers: Sequence[Measured], starts: Sequence[float] = ()) -> list[Span]:
    """When each worker ran, and its service time, with that of its start if there are `starts`."""
    return [
        Span(report.host, report.began, report.ended, start + sum(worker.service))
        for report, worker, start in zip(reports, workers, starts or [0.0] * len(workers), strict=True)
    ]


def _latency(planned: Ready, workers: Sequence[Measured]) -> list[float]:
    """The latency of each row in one run of all workers."""
    return _whole(planned, workers, [worker.latency for worker in workers])


def _whole(planned: Ready, workers: Sequence[Measured], parts: Sequence[Sequence[float]]) -> list[float]:
    """The latency of whole rows, from that of each worker's part of them."""
    latency: list[float] = list(chain.from_iterable(parts))
    if not planned.prepared.splits_groups or len(workers) == 1:
        return latency
    rows = np.array(list(chain.from_iterable(worker.rows for worker in workers)), np.uint64)
    whole: list[float] = of_rows(np.array(latency, np.float64), rows).tolist()
    return whole


def _loaded(planned: Ready, workers: Sequence[Measured], rate: float) -> float | None:
    """The 99th percentile of the latency of rows, for arrivals at this rate."""
    assert planned.job.arrival is not None
    slower = planned.job.arrival.rate / rate
    parts = [
        at_rate(
            np.array(w.last, np.int64),
            np.array(w.service),
            np.array(w.answers, np.int64),
            np.array(w.due),
            slower,
            rate,
        ).tolist()
        for w in workers
        if w.service
    ]
    latency = pooled([_whole(planned, workers, parts)])
    return None if latency is None else latency.p99


def _bracket(planned: Ready, workers: Sequence[Measured]) -> Bracket | None:
    """Sustainable throughput; only micro-batches define it."""
    if planned.job.arrival is None:
        return None
    replays = [Replay(np.array(worker.last, np.int64), np.array(worker.service)) for worker in workers]
    return sustainable(replays, planned.stream.events)
