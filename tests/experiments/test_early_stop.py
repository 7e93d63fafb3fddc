from dataclasses import replace

from cepbench.experiments.early_stop import EarlyStop
from cepbench.experiments.load import load
from cepbench.experiments.points import cells, identified
from cepbench.metrics.record import Record, Status
from tests.experiments.files import write


def cut(cell, status=Status.TIMEOUT, seconds=12.0):
    return Record(**identified(cell), status=status, seconds=seconds)


def found(tmp_path, **changes):
    experiment = load(write(tmp_path, axes={"events": [10, 20, 30], "g": ["x", "y"]}, **changes))
    return experiment, {(c.algorithm, c.point["events"], c.point["g"]): c for c in cells(experiment, "quick")}


def test_harder_points_are_not_run(tmp_path):
    experiment, known = found(tmp_path, monotone=True)
    stop = EarlyStop(experiment, [cut(known["slow", 20, "x"])])
    skipped = {key for key, cell in known.items() if stop.skipped(cell)}
    assert skipped == {("slow", 20, "x"), ("slow", 30, "x")}
    record = stop.skipped(known["slow", 30, "x"])
    assert record is not None
    assert (record.status, record.reason) == (Status.TIMEOUT, "not run: timed out at events 20")
    assert (record.seconds, record.cell) == (0, known["slow", 30, "x"].id)


def test_planning_that_did_not_end_does_not_end_at_harder_points(tmp_path):
    experiment, known = found(tmp_path, monotone=True)
    late = cut(known["slow", 20, "x"]).model_copy(update={"plan_limit_seconds": 7.0})
    record = EarlyStop(experiment, [late]).skipped(known["slow", 30, "x"])
    assert record is not None
    assert (record.status, record.plan_limit_seconds) == (Status.TIMEOUT, 7.0)


def test_decreasing(tmp_path):
    experiment, known = found(tmp_path, monotone="decreasing")
    stop = EarlyStop(experiment, [])
    stop.add(cut(known["slow", 20, "y"], Status.OUT_OF_MEMORY))
    record = stop.skipped(known["slow", 10, "y"])
    assert record is not None
    assert (record.status, record.reason) == (Status.OUT_OF_MEMORY, "not run: ran out of memory at events 20")
    assert stop.skipped(known["slow", 30, "y"]) is None


def test_only_if_the_experiment_says_so(tmp_path):
    experiment, known = found(tmp_path)
    stop = EarlyStop(experiment, [cut(known["slow", 10, "x"])])
    assert not any(stop.skipped(cell) for cell in known.values())


def test_other_ends_and_cells_that_did_not_run_prove_nothing(tmp_path):
    experiment, known = found(tmp_path, monotone=True)
    stop = EarlyStop(experiment, [cut(known["slow", 10, "x"], Status.ERROR), cut(known["slow", 10, "y"], seconds=0)])
    assert not any(stop.skipped(cell) for cell in known.values())


def test_repetitions_of_a_cut_point_are_not_run(tmp_path):
    experiment, known = found(tmp_path, monotone=True)
    cell = known["slow", 10, "x"]
    again = replace(cell, repetition=2, id="again")
    record = EarlyStop(experiment, [cut(cell)]).skipped(again)
    assert record is not None
    assert (record.cell, record.repetition) == ("again", 2)


def test_times_are_measured_where_only_memory_was_cut(tmp_path):
    experiment, _ = found(tmp_path, monotone=True, measurements=["time", "memory"])
    memory = [cell for cell in cells(experiment, "quick") if cell.measurement == "memory" and cell.algorithm == "slow"]
    times = [replace(cell, measurement="time") for cell in memory]
    stop = EarlyStop(experiment, [cut(memory[0])])
    assert stop.skipped(memory[0]) is not None
    assert not any(stop.skipped(cell) for cell in times)
    stop.add(cut(times[0]))
    assert stop.skipped(times[0]) is not None


def test_every_monotone_axis_counts(tmp_path):
    experiment = load(write(tmp_path, axes={"events": [10, 20], "g": [1, 2]}, monotone={"events": True, "g": True}))
    known = {(c.point["events"], c.point["g"]): c for c in cells(experiment, "quick") if c.algorithm == "slow"}
    stop = EarlyStop(experiment, [cut(known[10, 1])])
    assert {key for key, cell in known.items() if stop.skipped(cell)} == {(10, 1), (20, 1), (10, 2)}
    reasons = {cell.point["g"]: stop.skipped(cell).reason for cell in (known[20, 1], known[10, 2])}
    assert reasons == {1: "not run: timed out at events 10", 2: "not run: timed out at g 1"}
