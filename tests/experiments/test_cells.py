"""The cells of a sweep without Spark: streams are made in this process, and ends are given."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from cepbench.algorithms.plugins import use
from cepbench.events.errors import CepbenchError
from cepbench.experiments import sweep
from cepbench.experiments.planning import listing, plan
from cepbench.experiments.streams import prepare_stream
from cepbench.experiments.sweep import Swept, run_planned
from cepbench.metrics.record import Load, Record
from cepbench.metrics.results import read
from cepbench.metrics.status import Status
from cepbench.pipeline.arrivals import OpenRate
from cepbench.pipeline.cluster import TooFewExecutors
from cepbench.pipeline.measured import ATTEMPTS, ContextStopped, SparkGone
from cepbench.pipeline.measured_task import MeasuredRun
from cepbench.pipeline.outcome import Outcome
from cepbench.pipeline.store import Stream, read_stream
from tests.experiments.files import SMALL, write
from tests.pipeline.doubles import Counting, make

TIMEOUT = Outcome(Status.TIMEOUT, "killed")
Cells = dict[tuple[str, int], Record]


class Measuring:
    """Ends cells as `ends` and `in_turn` say, and all further cells well; keeps jobs and limits."""

    def __init__(self) -> None:
        self.ends: dict[tuple[str, int], Outcome | CepbenchError] = {}
        self.in_turn: dict[tuple[str, int], list[Outcome]] = {}  # of the first runs of a cell
        self.jobs: list[MeasuredRun] = []
        self.limits: list[float] = []
        self.ran: list[tuple[str, int]] = []
        self.sessions: list[int | None] = []
        self.memory: dict[tuple[str, int], Status] = {}  # ends of memory runs
        self.stopped = 0  # how often Spark stops its session

    def __call__(self, job: MeasuredRun, seconds: float, spark: None, notify: object = None) -> Outcome:
        events, algorithm = read_stream(job.store).events, job.algorithm
        more = algorithm.more if isinstance(algorithm, Counting) else 0
        name = algorithm.name + (str(more) if more else "")
        if self.stopped:
            self.stopped -= 1
            raise ContextStopped("Spark stopped its session")
        self.jobs.append(job)
        self.limits.append(seconds)
        self.ran.append((name, events))
        end = self.ends.get((name, events), Outcome(Status.OK, digest=f"{events} and {more} more"))
        if in_turn := self.in_turn.get((name, events)):
            end = in_turn.pop(0)
        if isinstance(end, CepbenchError):
            raise end
        if not job.memory:
            return end
        memory = self.memory.get((name, events), end.status)
        return replace(end, memory_status=memory, memory_reason="" if memory is Status.OK else "killed")


@pytest.fixture
def measuring(monkeypatch: pytest.MonkeyPatch) -> Measuring:
    fake = Measuring()
    monkeypatch.setattr(sweep, "measuring_session", lambda cluster, memory, slots: fake.sessions.append(slots))
    monkeypatch.setattr(sweep, "slot_count", lambda spark: 2)
    monkeypatch.setattr(sweep, "check_workers", lambda spark, folders, inputs: [])
    monkeypatch.setattr(sweep, "configuration_of", lambda spark: {})
    monkeypatch.setattr(sweep, "measure_cell", fake)
    return fake


def swept(tmp_path: Path, messages: list[str] | None = None, **changes: Any) -> tuple[Swept, Cells]:
    planned = plan([str(write(tmp_path, **changes))], make_algorithm=make)
    lines = [] if messages is None else messages
    outcome = run_planned(planned, tmp_path / "results", None, make_algorithm=make, notify=lines.append)
    return outcome, {(r.algorithm, r.point["events"]): r for r in read(outcome.folders[0]).records}


def test_a_cell_is_given_what_the_experiment_says(tmp_path: Path, measuring: Measuring) -> None:
    changes = {"axes": {"events": [100]}, "algorithms": ["counting"], "claims": None, "arithmetic": "float"}
    swept(tmp_path, **changes, measurements=["memory", "time"], workers=2, arrival={"rate": 50, "batch": 10})
    assert [(job.memory, job.round) for job in measuring.jobs] == [(True, 1), (False, 2)]
    assert {job.arrival for job in measuring.jobs} == {OpenRate(50, 10)}
    assert {job.arithmetic for job in measuring.jobs} == {"float"}
    assert {job.workload for job in measuring.jobs} == {"RETURN key, COUNT(*) PATTERN A+ GROUP-BY key WITHIN 50 s"}
    assert measuring.limits == [30.0, 30.0]
    swept(tmp_path, **changes)
    assert (measuring.jobs[-1].arrival, measuring.jobs[-1].memory) == (None, False)


def test_harder_points_of_who_was_cut_off_are_not_run(tmp_path: Path, measuring: Measuring) -> None:
    changes = {"axes": {"events": [200, 100, 150]}, "monotone": True}
    measuring.ends["slow", 150] = TIMEOUT
    outcome, cells = swept(tmp_path, **changes)
    assert {events for name, events in measuring.ran if name == "slow"} == {100, 150}
    assert (cells["slow", 200].status, cells["slow", 200].reason) == (
        Status.TIMEOUT,
        "not run: timed out at events 150",
    )
    assert (outcome.run, outcome.statuses) == (6, {Status.OK: 4, Status.TIMEOUT: 2})
    # Nor are they by a sweep that goes on later.
    for name in ("slow", "counting"):
        (outcome.folders[0] / "cells" / f"{cells[name, 200].cell}.json").unlink()
    measuring.ran.clear()
    assert swept(tmp_path, **changes)[0].run == 2
    assert measuring.ran == [("counting", 200)]


BOTH = {"measurements": ["time", "memory"], "claims": None}


def test_a_cell_has_one_record_of_its_times_and_its_memory(tmp_path: Path, measuring: Measuring) -> None:
    outcome, cells = swept(tmp_path, **BOTH)
    assert [job.memory for job in measuring.jobs] == [True] * 4
    assert (outcome.run, outcome.statuses) == (4, {Status.OK: 4})
    assert {(record.status, record.memory_status) for record in cells.values()} == {(Status.OK, Status.OK)}
    assert all(record.seconds > 0 for record in cells.values())
    assert swept(tmp_path, **BOTH)[0].run == 0


def test_the_stream_of_a_group_is_prepared_once(
    tmp_path: Path, measuring: Measuring, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared: list[int] = []

    def prepare(configuration: dict[str, Any], folder: Path, spark: None) -> Stream:
        prepared.append(configuration["stream"]["parameters"]["events"])
        return prepare_stream(configuration, folder, spark)

    monkeypatch.setattr(sweep, "prepare_stream", prepare)
    swept(tmp_path, workers=2, claims=None)
    assert (len(measuring.jobs), sorted(prepared)) == (8, [100, 200])


def test_memory_is_not_measured_unless_the_experiment_says_so(tmp_path: Path, measuring: Measuring) -> None:
    _, cells = swept(tmp_path)
    assert {record.memory_status for record in cells.values()} == {None}
    assert {record.configuration["memory"] for record in cells.values()} == {False}
    assert swept(tmp_path, **BOTH)[0].run == 4  # other cells


def test_a_cell_that_is_cut_off_has_no_memory(tmp_path: Path, measuring: Measuring) -> None:
    measuring.ends["slow", 100], measuring.ends["slow", 200] = TIMEOUT, CepbenchError("the disk is full")
    _, cells = swept(tmp_path, **BOTH)
    ended = {events: cells["slow", events] for events in (100, 200)}
    assert [(r.memory_status, r.status) for r in ended.values()] == [(Status.TIMEOUT,) * 2, (Status.ERROR,) * 2]
    assert ended[200].memory_reason == ended[200].reason == "the disk is full"


def test_who_is_cut_off_while_memory_is_measured_is_still_timed(tmp_path: Path, measuring: Measuring) -> None:
    measuring.memory["slow", 100] = Status.TIMEOUT
    outcome, cells = swept(tmp_path, **BOTH, monotone=True)
    assert [cells["slow", events].status for events in (100, 200)] == [Status.OK, Status.OK]
    assert {cells["slow", events].cell_status for events in (100, 200)} == {Status.TIMEOUT}
    assert cells["slow", 100].cell_reason == "memory: killed"
    assert cells["slow", 200].cell_reason == "memory: not run: timed out at events 100"
    assert [job.memory for job in measuring.jobs if job.algorithm.name == "slow"] == [True, False]
    assert outcome.statuses == {Status.OK: 2, Status.TIMEOUT: 2}


def test_an_error_of_memory_is_run_again(tmp_path: Path, measuring: Measuring) -> None:
    measuring.memory["slow", 100] = Status.ERROR
    assert swept(tmp_path, **BOTH)[0].statuses == {Status.OK: 3, Status.ERROR: 1}
    measuring.memory.clear()
    outcome, _ = swept(tmp_path, **BOTH)
    assert (outcome.run, outcome.statuses) == (1, {Status.OK: 4})


@pytest.mark.parametrize(("status", "words"), [(Status.TIMEOUT, "timed out"), (Status.UNSUPPORTED, "unsupported")])
def test_later_rounds_leave_out_what_failed_in_the_first(
    tmp_path: Path, measuring: Measuring, status: Status, words: str
) -> None:
    measuring.ends["slow", 200] = Outcome(status, "so it is")
    outcome, _ = swept(tmp_path, **BOTH, workers=3)
    slow = [r for r in read(outcome.folders[0]).records if (r.algorithm, r.point["events"]) == ("slow", 200)]
    assert [r.reason for r in slow] == ["so it is", *[f"not run: {words} in round 1"] * 2]
    assert [(r.status, r.memory_status) for r in slow] == [(status, status), (status, None), (status, None)]
    assert [job.round for job in measuring.jobs] == [1] * 4 + [2] * 3 + [3] * 3


def test_a_wrong_answer_is_told_of_its_cell(tmp_path: Path, measuring: Measuring) -> None:
    messages: list[str] = []
    outcome, cells = swept(tmp_path, messages, algorithms=["counting", "counting2", "slow"], claims=None)
    statuses = {
        name: {cells[name, events].status for events in (100, 200)} for name in ("counting", "counting2", "slow")
    }
    assert statuses == {"counting": {Status.OK}, "counting2": {Status.WRONG}, "slow": {Status.OK}}
    assert cells["counting2", 100].reason == "the answer differs from that of counting, slow"
    assert outcome.statuses == {Status.OK: 4, Status.WRONG: 2}
    assert messages[0].startswith("small-1.1: 6 cells: 4 ok, 2 wrong (6 run in ")


def test_an_error_ends_its_cell_and_is_run_again(tmp_path: Path, measuring: Measuring) -> None:
    measuring.ends["slow", 100] = CepbenchError("the disk\nis full")
    outcome, cells = swept(tmp_path)
    assert (cells["slow", 100].status, cells["slow", 100].reason) == (Status.ERROR, "the disk is full")
    assert outcome.statuses == {Status.OK: 3, Status.ERROR: 1}
    measuring.ends.clear()
    measuring.ran.clear()
    outcome, cells = swept(tmp_path)
    assert measuring.ran == [("slow", 100)]
    assert (outcome.run, outcome.statuses) == (1, {Status.OK: 4})


def test_what_is_finished_when_spark_goes_stays_finished(tmp_path: Path, measuring: Measuring) -> None:
    measuring.ends["slow", 200] = SparkGone("it is gone")
    with pytest.raises(SparkGone, match="it is gone"):
        swept(tmp_path, algorithms=["slow"], claims=None)
    finished = read(tmp_path / "results" / "small-1.1" / "quick")
    assert [(record.point["events"], record.status) for record in finished.records] == [(100, Status.OK)]
    measuring.ends.clear()
    measuring.ran.clear()
    assert swept(tmp_path, algorithms=["slow"], claims=None)[0].statuses == {Status.OK: 2}
    assert measuring.ran == [("slow", 200)]


def paced(slowed: float, digest: str = "100 and 0 more") -> Outcome:
    return Outcome(Status.OK, digest=digest, load=Load(pace=slowed * 2e-5))


POINT = {"axes": {"events": [100]}}


def test_a_slow_phase_is_reported_and_not_acted_on(tmp_path: Path, measuring: Measuring) -> None:
    measuring.in_turn["counting", 100] = [paced(1.0)]
    measuring.in_turn["slow", 100] = [paced(2.0)]
    messages: list[str] = []
    _, cells = swept(tmp_path, messages, **POINT)
    assert len(measuring.ran) == 2
    assert cells["counting", 100].load == Load(pace=2e-5, slowed=1.0)
    assert cells["slow", 100].load == Load(pace=4e-5, slowed=2.0)
    assert cells["slow", 100].notices == ("noisy: the machine was 2.0 times slower than at its best",)
    assert "1 of 2 noisy" in messages[0]


def test_a_slow_phase_is_known_from_an_earlier_sweep(tmp_path: Path, measuring: Measuring) -> None:
    measuring.in_turn["counting", 100] = [paced(1.0)]
    measuring.ends["slow", 100] = SparkGone("it is gone")
    with pytest.raises(SparkGone):
        swept(tmp_path, **POINT, algorithms=["counting", "slow"])
    measuring.ends.clear()
    measuring.in_turn["slow", 100] = [paced(1.5)]
    _, cells = swept(tmp_path, **POINT, algorithms=["counting", "slow"])
    assert cells["slow", 100].notices == ("noisy: the machine was 1.5 times slower than at its best",)


def test_a_dry_run_says_what_a_run_would_put_aside(tmp_path: Path, measuring: Measuring) -> None:
    swept(tmp_path, **POINT)
    [unchanged] = plan([str(write(tmp_path, **POINT))], make_algorithm=make)
    [changed] = plan([str(write(tmp_path, **POINT))], overrides=["limits.seconds=29"], make_algorithm=make)
    results = tmp_path / "results"
    assert not any("another configuration" in line for line in listing([unchanged], results))
    assert "on a run, 2 cells of another configuration are kept in" in listing([changed], results)[-2]
    assert len(listing([unchanged], results)) == 3  # nothing was moved


def test_noisy_cells_are_measured_again_for_who_asks(tmp_path: Path, measuring: Measuring) -> None:
    measuring.in_turn.update({("counting", 100): [paced(1.0)], ("slow", 100): [paced(1.5)]})
    swept(tmp_path, **POINT)
    [planned] = plan([str(write(tmp_path, **POINT))], make_algorithm=make)
    results = tmp_path / "results"
    assert listing([planned], results)[-1].startswith("0 of 2 cells to run")
    assert listing([planned], results, again_noisy=True)[-1].startswith("1 of 2 cells to run")
    measuring.ran.clear()
    measuring.in_turn["slow", 100] = [paced(1.0)]
    outcome = run_planned([planned], results, make_algorithm=make, again_noisy=True)
    assert (outcome.run, measuring.ran) == (1, [("slow", 100)])
    again = {record.algorithm: record for record in read(outcome.folders[0]).records}
    assert {name: record.notices for name, record in again.items()} == {"counting": (), "slow": ()}
    assert again["slow"].load == Load(pace=2e-5, slowed=1.0)


ONE = {"axes": {"events": [100]}, "algorithms": ["counting"], "claims": None, "measurements": ["time"]}


def test_a_session_that_spark_stopped_is_replaced(tmp_path: Path, measuring: Measuring) -> None:
    measuring.stopped = ATTEMPTS - 1
    _, cells = swept(tmp_path, **ONE)
    [record] = cells.values()
    assert (record.status, record.lost) == (Status.OK, ("Spark stopped its session",) * (ATTEMPTS - 1))
    assert len(measuring.sessions) == ATTEMPTS


def test_a_session_that_spark_stops_again_and_again_is_an_error_that_runs_again(
    tmp_path: Path, measuring: Measuring
) -> None:
    measuring.stopped = ATTEMPTS
    _, cells = swept(tmp_path, **ONE)
    assert [record.status for record in cells.values()] == [Status.ERROR]
    outcome, cells = swept(tmp_path, **ONE)
    assert (outcome.run, [record.status for record in cells.values()]) == (1, [Status.OK])


def test_slots_are_an_axis(tmp_path: Path, measuring: Measuring, monkeypatch: pytest.MonkeyPatch) -> None:
    def session(cluster: object, memory: int, slots: int) -> None:
        if slots > 2:
            raise TooFewExecutors(f"{slots} are too many")
        measuring.sessions.append(slots)

    monkeypatch.setattr(sweep, "measuring_session", session)
    plot = {**SMALL["plot"], "series": {"name": "slots", "label": "Slots"}}
    changes = {**ONE, "axes": {"events": [100], "slots": [1, 2, 3]}, "slots": "${slots}", "buckets": 3, "plot": plot}
    outcome, _ = swept(tmp_path, **changes)
    records = {record.point["slots"]: record for record in read(outcome.folders[0]).records}
    assert sorted(slot for slot in measuring.sessions if slot) == [1, 2]
    assert [records[n].status for n in (1, 2, 3)] == [Status.OK, Status.OK, Status.UNSUPPORTED]
    assert records[3].reason == "3 are too many"
    assert {read_stream(job.store).buckets for job in measuring.jobs} == {3}
    for wrong in (0, "many"):
        with pytest.raises(CepbenchError, match=f"slots: expected a whole number above 0, not {wrong!r}"):
            swept(tmp_path, **{**changes, "axes": {"events": [100], "slots": [wrong]}})
    monkeypatch.setattr(sweep, "measuring_session", lambda cluster, memory, slots: session(cluster, memory, 3))
    with pytest.raises(TooFewExecutors):  # nobody asked for so many: no cell could run
        swept(tmp_path, **ONE, title="other")


def test_rates_are_an_axis(tmp_path: Path, measuring: Measuring) -> None:
    plot = {**SMALL["plot"], "series": {"name": "rate", "label": "Rate"}}
    changes = {**ONE, "axes": {"events": [100], "rate": [10, 20.5]}, "plot": plot}
    swept(tmp_path, **changes, arrival={"rate": "${rate}", "batch": 10})
    assert {job.arrival for job in measuring.jobs} == {OpenRate(10.0, 10), OpenRate(20.5, 10)}
    with pytest.raises(CepbenchError, match=r"arrival\.rate: expected a number above 0, not 0"):
        swept(tmp_path, **{**changes, "axes": {"events": [100], "rate": [0]}}, arrival={"rate": "${rate}"})


NAIVE = """
from cepbench.algorithms.trends.cogra.algorithm import Cogra


class Naive(Cogra):
    name = "naive"
"""


def test_cells_of_a_changed_plugin_are_run_again(
    tmp_path: Path, measuring: Measuring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CEPBENCH_PLUGINS", "")
    plugin, results = tmp_path / "naive.py", tmp_path / "results"
    plugin.write_text(NAIVE)
    use([plugin])
    changes = {"axes": {"events": [100, 200]}, "algorithms": ["naive", "cogra"], "claims": None}

    def ran() -> tuple[list[tuple[str, int]], list[str]]:
        messages: list[str] = []
        measuring.ran.clear()
        run_planned(planned, results, None, notify=messages.append)
        return measuring.ran, messages

    planned = plan([str(write(tmp_path, **changes))])
    assert len(ran()[0]) == 4
    assert ran()[0] == []
    plugin.write_text(f"{NAIVE}\n# a change\n")
    notice = "small-1.1: naive.py changed since 2 cells were measured, to be run again"
    assert notice in listing(planned, results)
    assert listing(planned, results)[-1].startswith("2 of 4 cells to run")
    cells, messages = ran()
    assert cells == [("naive", 100), ("naive", 200)]
    assert messages[0] == notice
    assert ran()[0] == []
    monkeypatch.setenv("CEPBENCH_PLUGINS", str(plugin.rename(tmp_path / "renamed.py")))
    assert ran()[0] == []
