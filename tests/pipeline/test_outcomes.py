"""Outcomes of the reports of a cell's workers: summaries, statuses and limits, without Spark."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from cepbench.algorithms.base import NotEnoughMemory, Plan, PlanningTooLong, StateSize, UnsupportedQuery
from cepbench.events.statistics import Statistics
from cepbench.generators.registry import from_spec
from cepbench.metrics.record import Load
from cepbench.metrics.status import Status
from cepbench.pipeline.arrivals import OpenRate
from cepbench.pipeline.generation import generate
from cepbench.pipeline.measured import measure_cell
from cepbench.pipeline.measured_task import MeasuredRun, MeasuredTask, Report, ready
from cepbench.pipeline.outcome import Outcome, outcome_of
from cepbench.pipeline.slicing import Portion
from cepbench.pipeline.store import Stream
from cepbench.queries.compile import Workload
from tests.pipeline.doubles import Counting
from tests.pipeline.test_measured_task import Here

EVENTS = 240
QUERY = "RETURN key, COUNT(*) PATTERN A+ GROUP-BY key WITHIN 100 s"


@pytest.fixture
def store(tmp_path: Path) -> Stream:
    generator = from_spec("uniform", {"events": EVENTS, "types": 1, "groups": 4, "rate": 1})
    stream = generate(generator, tmp_path / "uniform", spark=None, key=("key",), buckets=2)
    assert all(stream.bucket_events)
    return stream


@pytest.fixture
def reports(store: Stream) -> list[Report]:
    """The reports of the two workers; tests put the measured numbers in by hand."""
    return measured(MeasuredRun(store.path, QUERY, Counting()))


def measured(job: MeasuredRun) -> list[Report]:
    task = MeasuredTask(ready(job), 60)
    reports = [task.reported(Portion(bucket), False, Here()) for bucket in range(2)]
    assert [report.reason for report in reports] == ["", ""]
    return reports


def run(reports: Sequence[Report], job: MeasuredRun) -> Outcome:
    return outcome_of(ready(job), reports, 2)


def test_times_of_all_workers(store: Stream, reports: list[Report]) -> None:
    first, second = reports
    first.measured.service, second.measured.service = [1.0, 2.0, 3.0], [4.0, 1.0]
    first.measured.latency, second.measured.latency = [5.0, 1.0], [2.0, 4.0]
    (first.began, first.ended), (second.began, second.ended) = (0.0, 10.0), (1.0, 9.0)
    first.start, second.start = 1.0, 3.0
    first.compile_seconds, second.compile_seconds = 2.0, 3.0
    first.measured.details, second.measured.details = {"edges": 1.0, "pool_peak": 4.0}, {"edges": 2.0, "pool_peak": 3.0}
    outcome = run(reports, MeasuredRun(store.path, QUERY, Counting()))
    assert (outcome.status, outcome.reason) == (Status.OK, "")
    assert outcome.samples.service == [1.0, 2.0, 3.0, 4.0, 1.0]
    assert outcome.samples.latency == [5.0, 1.0, 2.0, 4.0]
    summary = outcome.summary
    # Both ran at the same time, so the first one, which took 6 s, is what the cell takes.
    assert (summary.makespan, summary.slots, summary.skew) == (6.0, 2, pytest.approx(6 / 5.5))
    # With its start, the second one takes 8 s.
    assert summary.elapsed == pytest.approx(8 + (summary.plan_seconds or 0))
    assert (outcome.samples.workers, outcome.samples.starts) == ([6.0, 5.0], [1.0, 3.0])
    assert summary.throughput == pytest.approx(EVENTS / 6)
    assert summary.throughput_per_slot == pytest.approx(EVENTS / 12)
    assert summary.throughput_per_core == pytest.approx(EVENTS / 11)
    assert summary.service_total == 11.0
    assert (summary.latency_max, summary.latency_mean, summary.latency_p50) == (5.0, 3.0, 3.0)
    assert summary.compile_seconds == 3.0
    assert summary.details == {"edges": 3.0, "pool_peak": 4.0}
    assert (summary.sustainable_low, summary.state_peak, summary.process_peak) == (None, None, None)
    assert outcome.realised is not None
    # Four groups in three windows; every event is a match of the double.
    assert (outcome.realised.rows, outcome.realised.matches_per_window, outcome.realised.batches) == (12, 80.0, 3)


def test_repeated_runs_are_summarised_by_their_median(store: Stream, reports: list[Report]) -> None:
    first, second = reports
    services = ([[2.0, 1.0]] * 3, [[4.0], [1.0], [5.0], [9.0]])  # sums of both: 7, 4, 8; the fourth is of one worker
    for report, service in zip(reports, services, strict=True):
        report.runs = [replace(report.measured, service=took, latency=[took[0]], details={}) for took in service]
    for seconds, measured in zip((0.5, 0.1, 0.3), first.runs, strict=True):
        measured.details = {"edges": 4.0, "search_seconds": seconds}
    first.floor, second.floor = 0.25, 0.5
    first.load, second.load = Load(average=3.0, waited=0.25), Load(average=2.0, waited=0.5)
    outcome = run(reports, MeasuredRun(store.path, QUERY, Counting()))
    summary = outcome.summary
    assert (summary.runs, summary.service_total, summary.makespan) == (3, 7.0, 4.0)
    assert (summary.latency_max, summary.latency_mean) == (4.0, 3.0)  # per run: 4, 2, 5 and 3, 1.5, 3.5
    assert summary.service_per_window == pytest.approx(7 / 3)
    assert summary.floor_total == 0.75
    assert summary.details == {"edges": 4.0, "search_seconds": 0.3}
    assert (summary.service_low, summary.service_high) == (None, None)  # three runs have no interval
    runs = outcome.runs
    assert runs["service_total"] == [7.0, 4.0, 8.0]
    assert runs["throughput"] == [EVENTS / 4.0, EVENTS / 3.0, EVENTS / 5.0]
    assert runs["details.search_seconds"] == [0.5, 0.1, 0.3]
    assert not {"details.edges", "plan_seconds"} & runs.keys()
    assert (outcome.samples.service, outcome.samples.latency) == ([2.0, 1.0, 4.0], [2.0, 4.0])  # of the median run
    assert outcome.load == Load(average=3.0, waited=0.5)


def test_six_runs_have_an_interval(store: Stream, reports: list[Report]) -> None:
    for report, total in zip(reports, (0.0, 1.0), strict=True):
        report.runs = [replace(report.measured, service=[total * took]) for took in (3.0, 1.0, 2.0, 6.0, 5.0, 4.0)]
    outcome = run(reports, MeasuredRun(store.path, QUERY, Counting()))
    assert (outcome.summary.runs, outcome.summary.service_total) == (6, 3.5)
    assert (outcome.summary.service_low, outcome.summary.service_high) == (1.0, 6.0)


class Planning(Counting):
    """Takes half a second to find five candidates."""

    def __init__(self, clock: list[float]) -> None:
        super().__init__()
        self.clock, self.planned = clock, list[int]()

    def plan(self, workload: Workload, statistics: Statistics) -> Plan:
        self.clock[0] += 0.5
        self.planned.append(len(workload))
        return Plan(workload, details={"candidates": 5.0})


def test_a_workload_is_planned_once_whatever_its_buckets_and_groups(
    store: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = [0.0]
    monkeypatch.setattr("cepbench.pipeline.jobs.time", SimpleNamespace(perf_counter=lambda: clock[0]))
    planning = Planning(clock)
    summed = "RETURN COUNT(*) PATTERN A+ WHERE [key] WITHIN 100 s"
    # The double warms up with plans of its own, so only plans from before the warm-up count.
    prepared_run = ready(MeasuredRun(store.path, f"{QUERY}\n\n{summed}", planning))
    assert (planning.planned, prepared_run.prepared.plan_seconds) == ([2], 0.5)
    outcome = measure_cell(MeasuredRun(store.path, f"{QUERY}\n\n{summed}", planning), 60)
    assert (outcome.status, outcome.reason) == (Status.OK, "")
    assert outcome.summary.details == {"candidates": 5.0}
    assert outcome.summary.plan_seconds == 0.5


def test_quick_planning_is_repeated(store: Stream, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("cepbench.pipeline.jobs.time", SimpleNamespace(perf_counter=lambda: clock[0]))
    planning = Planning(clock)
    prepared_run = ready(MeasuredRun(store.path, QUERY, planning, repeat=1.0))
    assert len(planning.planned) == 7  # six that count
    assert prepared_run.plan_seconds == (0.5,) * 6
    assert prepared_run.plan_details == ({"candidates": 5.0},) * 6


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (UnsupportedQuery("no"), Status.UNSUPPORTED),
        (NotEnoughMemory("a lot"), Status.OUT_OF_MEMORY),
        (MemoryError(), Status.OUT_OF_MEMORY),
        (PlanningTooLong("more than 7 s", 7.0), Status.TIMEOUT),
    ],
)
def test_what_an_optimiser_cannot_do_is_reported(store: Stream, error: Exception, status: Status) -> None:
    class Lost(Counting):
        def plan(self, workload: Workload, statistics: Statistics) -> Plan:
            raise error

    outcome = measure_cell(MeasuredRun(store.path, QUERY, Lost()), 60)
    assert outcome.status is status
    assert outcome.reason in ("no", "a lot", "the optimizer needs more memory than there is", "more than 7 s")
    assert outcome.plan_limit_seconds == (7.0 if status is Status.TIMEOUT else None)


@pytest.mark.parametrize("unanswered", [True, False])
def test_who_only_plans_is_known(store: Stream, reports: list[Report], unanswered: bool) -> None:
    class Planned(Counting):
        def plan(self, workload: Workload, statistics: Statistics) -> Plan:
            return Plan(workload, unanswered=unanswered)

    outcome = run(reports, MeasuredRun(store.path, QUERY, Planned()))
    assert (outcome.status, outcome.unanswered) == (Status.OK, unanswered)


@pytest.mark.parametrize("cut_off", [True, False])
def test_an_answer_that_is_cut_off_is_compared_with_none(store: Stream, reports: list[Report], cut_off: bool) -> None:
    class Some(Counting):
        def plan(self, workload: Workload, statistics: Statistics) -> Plan:
            return Plan(workload, cut_off=cut_off)

    outcome = run(reports, MeasuredRun(store.path, QUERY, Some()))
    assert (outcome.status, outcome.cut_off, outcome.digest is None) == (Status.OK, cut_off, cut_off)


def memory_of(reports: Sequence[Report]) -> list[Report]:
    """Reports of memory, beside those of times."""
    for report in reports:
        report.memory = deepcopy(report)
    return [report.memory for report in reports if report.memory is not None]


def test_memory_of_all_workers(store: Stream, reports: list[Report]) -> None:
    first, second = memory_of(reports)
    first.measured.peak, second.measured.peak = StateSize(100, {"events": 3, "edges": 5}), StateSize(30, {"events": 2})
    first.measured.state_bytes, second.measured.state_bytes = [100, 8], [30]
    first.process_peaks, second.process_peaks = [7], [4]
    outcome = run(reports, MeasuredRun(store.path, QUERY, Counting(), memory=True))
    assert (outcome.summary.state_peak, outcome.summary.process_peak) == (130, 11)
    assert outcome.summary.state_kinds == {"events": 5, "edges": 5}
    assert outcome.samples.state_bytes == [100, 8, 30]
    assert (outcome.status, outcome.memory_status) == (Status.OK, Status.OK)
    assert outcome.summary.service_total is not None


def test_memory_is_the_median_of_the_runs_that_looked_at_it(store: Stream, reports: list[Report]) -> None:
    first, second = memory_of(reports)
    first.runs = [
        replace(first.measured, peak=StateSize(size, {"events": size}), state_bytes=[size]) for size in (5, 9, 7)
    ]
    second.runs = [
        replace(second.measured, peak=StateSize(size, {"events": 1}), state_bytes=[size]) for size in (1, 1, 1, 9)
    ]
    first.process_peaks, second.process_peaks = [30, 10, 20], [1, 2, 3, 99]
    outcome = run(reports, MeasuredRun(store.path, QUERY, Counting(), memory=True))
    assert (outcome.summary.state_peak, outcome.summary.process_peak, outcome.summary.runs) == (8, 23, 1)
    assert outcome.runs == {"state_peak": [6.0, 10.0, 8.0], "process_peak": [31.0, 12.0, 23.0]}
    assert (outcome.summary.state_kinds, outcome.samples.state_bytes) == ({"events": 8}, [7, 1])


def test_memory_that_failed_leaves_the_times(store: Stream, reports: list[Report]) -> None:
    job = MeasuredRun(store.path, QUERY, Counting(), memory=True)
    for report in reports:
        report.memory = Report(report.bucket, Status.TIMEOUT, "killed")
    outcome = run(reports, job)
    assert (outcome.status, outcome.memory_status, outcome.memory_reason) == (Status.OK, Status.TIMEOUT, "killed")
    reports[0] = Report(0, Status.OUT_OF_MEMORY, "too large")
    outcome = run(reports, job)
    assert (outcome.status, outcome.memory_status) == (Status.OUT_OF_MEMORY, Status.OUT_OF_MEMORY)


def test_memory_of_another_answer_is_wrong(store: Stream, reports: list[Report]) -> None:
    task = MeasuredTask(ready(MeasuredRun(store.path, QUERY, Counting(1))), 60)
    for report in reports:
        report.memory = task.reported(Portion(report.bucket), True, Here())
    outcome = run(reports, MeasuredRun(store.path, QUERY, Counting(), memory=True))
    assert (outcome.status, outcome.reason) == (Status.WRONG, "the run that measured memory gave another answer")


def test_the_slowest_worker_bounds_the_rate(store: Stream, reports: list[Report]) -> None:
    # 24 batches of ten events. At 100 events/s they come every 0.1 s, which is what the second worker takes for one.
    for report, seconds in zip(reports, (0.05, 0.1), strict=True):
        report.measured.last = list(range(9, EVENTS, 10))
        report.measured.service = [seconds] * 24
        report.measured.answers, report.measured.due = [0] * 23 + [1], [EVENTS / 100]
    outcome = run(reports, MeasuredRun(store.path, QUERY, Counting(), arrival=OpenRate(100, 10)))
    low, high = outcome.summary.sustainable_low, outcome.summary.sustainable_high
    assert low is not None
    assert high is not None
    # In eight batches, a third of the run, a queue may grow by one batch: up to 8 / 7 of the rate.
    assert 100 <= low <= 8 / 7 * 100 <= high <= 1.05 * low
    # At 80% of it no batch waits, and the last row is there as soon as its batch has taken its time.
    assert outcome.summary.latency_p99_at_80 == pytest.approx(0.1, rel=0.01)


def test_one_worker_that_failed_is_the_end_of_its_cell(store: Stream, reports: list[Report]) -> None:
    reports[1] = Report(1, Status.OUT_OF_MEMORY, "too large")
    outcome = run(reports, MeasuredRun(store.path, QUERY, Counting()))
    assert (outcome.status, outcome.reason, outcome.digest) == (Status.OUT_OF_MEMORY, "too large", None)


def test_a_row_of_several_workers_is_as_late_as_its_last_part(store: Stream) -> None:
    summed = "RETURN COUNT(*) PATTERN A+ WHERE [key] WITHIN 100 s"
    reports = measured(MeasuredRun(store.path, summed, Counting()))
    assert [len(report.measured.rows) for report in reports] == [3, 3]
    assert reports[0].measured.rows == reports[1].measured.rows
    reports[0].measured.latency, reports[1].measured.latency = [1.0, 5.0, 2.0], [4.0, 3.0, 2.5]
    outcome = run(reports, MeasuredRun(store.path, summed, Counting()))
    assert sorted(outcome.samples.latency) == [2.5, 4.0, 5.0]
    job = MeasuredRun(store.path, QUERY, Counting())
    keyed = run(measured(job), job)
    assert len(keyed.samples.latency) == 12  # no two workers have parts of one group
