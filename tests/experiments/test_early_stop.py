from dataclasses import replace

from cepbench.experiments.early_stop import EarlyStop
from cepbench.experiments.load import load
from cepbench.experiments.points import cells, identified
from cepbench.metrics.record import Record
from cepbench.metrics.status import Status
from tests.experiments.files import write


def cut(cell, status=Status.TIMEOUT, memory=None):
    return Record(**identified(cell), status=status, memory_status=memory, seconds=12.0)


def planned_cells(tmp_path, **changes):
    experiment = load(write(tmp_path, axes={"events": [10, 20, 30], "g": ["x", "y"]}, **changes))
    return experiment, {(c.algorithm, c.point["events"], c.point["g"]): c for c in cells(experiment, "quick")}


def test_harder_points_are_not_run(tmp_path):
    experiment, by_point = planned_cells(tmp_path, monotone=True)
    stop = EarlyStop(experiment, [cut(by_point["slow", 20, "x"])])
    skipped = {key for key, cell in by_point.items() if stop.skipped(cell)}
    assert skipped == {("slow", 20, "x"), ("slow", 30, "x")}
    record = stop.skipped(by_point["slow", 30, "x"])
    assert record is not None
    assert (record.status, record.reason) == (Status.TIMEOUT, "not run: timed out at events 20")
    assert (record.seconds, record.cell) == (0, by_point["slow", 30, "x"].id)


def test_planning_that_did_not_end_does_not_end_at_harder_points(tmp_path):
    experiment, by_point = planned_cells(tmp_path, monotone=True)
    late = cut(by_point["slow", 20, "x"]).model_copy(update={"plan_limit_seconds": 7.0})
    record = EarlyStop(experiment, [late]).skipped(by_point["slow", 30, "x"])
    assert record is not None
    assert (record.status, record.plan_limit_seconds) == (Status.TIMEOUT, 7.0)


def test_decreasing(tmp_path):
    experiment, by_point = planned_cells(tmp_path, monotone="decreasing")
    stop = EarlyStop(experiment, [])
    stop.add(cut(by_point["slow", 20, "y"], Status.OUT_OF_MEMORY))
    record = stop.skipped(by_point["slow", 10, "y"])
    assert record is not None
    assert (record.status, record.reason) == (Status.OUT_OF_MEMORY, "not run: ran out of memory at events 20")
    assert stop.skipped(by_point["slow", 30, "y"]) is None


def test_only_if_the_experiment_says_so(tmp_path):
    experiment, by_point = planned_cells(tmp_path)
    stop = EarlyStop(experiment, [cut(by_point["slow", 10, "x"])])
    assert not any(stop.skipped(cell) for cell in by_point.values())


def test_other_ends_and_cells_that_did_not_run_prove_nothing(tmp_path):
    experiment, by_point = planned_cells(tmp_path, monotone=True)
    again = cut(by_point["slow", 10, "y"]).model_copy(update={"reason": "not run: timed out at events 5"})
    stop = EarlyStop(experiment, [cut(by_point["slow", 10, "x"], Status.ERROR), again])
    assert not any(stop.skipped(cell) for cell in by_point.values())


def test_later_rounds_of_a_cut_point_are_not_run(tmp_path):
    experiment, by_point = planned_cells(tmp_path)
    cell = by_point["slow", 10, "x"]
    again = replace(cell, round=2, id="again")
    record = EarlyStop(experiment, [cut(cell, Status.OUT_OF_MEMORY)]).skipped(again)
    assert record is not None
    assert (record.cell, record.round, record.reason) == ("again", 2, "not run: ran out of memory in round 1")
    assert EarlyStop(experiment, [cut(cell, Status.ERROR)]).skipped(again) is None
    assert EarlyStop(experiment, [cut(again)]).skipped(replace(cell, round=3)) is None


def test_a_limit_of_memory_alone_skips_only_memory(tmp_path):
    experiment, by_point = planned_cells(tmp_path, monotone=True, measurements=["time", "memory"])
    easy, hard = by_point["slow", 10, "x"], by_point["slow", 20, "x"]
    stop = EarlyStop(experiment, [cut(easy, Status.OK, Status.OUT_OF_MEMORY)])
    assert stop.skipped(hard) is None
    assert stop.memory_skipped(hard) == (Status.OUT_OF_MEMORY, "not run: ran out of memory at events 10")
    assert stop.memory_skipped(by_point["slow", 20, "y"]) is None
    stop.add(cut(easy, Status.TIMEOUT, Status.TIMEOUT))
    record = stop.skipped(hard)
    assert record is not None
    assert (record.memory_status, record.memory_reason) == (Status.TIMEOUT, record.reason)


def test_every_monotone_axis_counts(tmp_path):
    experiment = load(write(tmp_path, axes={"events": [10, 20], "g": [1, 2]}, monotone={"events": True, "g": True}))
    by_point = {(c.point["events"], c.point["g"]): c for c in cells(experiment, "quick") if c.algorithm == "slow"}
    stop = EarlyStop(experiment, [cut(by_point[10, 1])])
    assert {key for key, cell in by_point.items() if stop.skipped(cell)} == {(10, 1), (20, 1), (10, 2)}
    reasons = {cell.point["g"]: stop.skipped(cell).reason for cell in (by_point[20, 1], by_point[10, 2])}
    assert reasons == {1: "not run: timed out at events 10", 2: "not run: timed out at g 1"}
