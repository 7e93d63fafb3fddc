import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from cepbench.events.errors import CepbenchError
from cepbench.experiments import sweep as sweep_module
from cepbench.experiments.planning import listing, plan
from cepbench.experiments.sweep import run_planned
from cepbench.metrics.results import read
from cepbench.metrics.status import Status
from tests.experiments.files import SMALL, write
from tests.pipeline.doubles import make

ROOT = Path(__file__).resolve().parents[2]
spark = pytest.mark.spark("measuring")


def sweep(path, results, *overrides):
    lines: list[str] = []
    planned = plan([str(path)], overrides=overrides, make_algorithm=make)
    swept = run_planned(planned, results, "local[2]", make_algorithm=make, notify=lines.append)
    return swept, lines


def by_cell(results):
    return {r.cell: r for r in read(results / "small-1.1/quick").records}


class TestSweeps:
    pytestmark = spark

    def test_a_sweep_and_the_next_ones(self, tmp_path):
        path, results = write(tmp_path, measurements=["time", "memory"]), tmp_path / "results"
        swept, lines = sweep(path, results)
        assert swept.run == 4
        assert swept.statuses == {Status.OK: 4}
        assert lines[0].startswith("small-1.1: 4 cells: 4 ok (4 run in ")
        stored = read(swept.folders[0])
        assert stored.figure.algorithms == ("counting", "slow")
        assert stored.figure.claims[0].measured is not None
        assert {r.summary.floor_total > 0 for r in stored.records if r.summary.floor_total is not None} == {True}
        assert stored.figure.workload.startswith("RETURN key, COUNT(*)")
        first = stored.records[0]
        assert first.realised is not None
        assert first.realised.events == first.point["events"]
        assert first.provenance["versions"]["pyspark"]
        assert first.provenance["cores"] > 0
        assert {"commit", "dirty", "cpu", "memory_bytes", "system"} <= first.provenance.keys()
        assert len({r.digest for r in stored.records if r.point["events"] == 100}) == 1
        assert len({r.digest for r in stored.records}) == 2
        assert len(list((results / "streams").iterdir())) == 2

        before = by_cell(results)
        assert sweep(path, results)[0].run == 0
        assert by_cell(results) == before
        # Another configuration has cells of its own; going back, the first ones are still there.
        changed = ("limits.seconds=29", "axes.events=[100]", "measurements=[time]")
        swept, lines = sweep(path, results, *changed)
        assert swept.run == 2
        folder = results / "small-1.1/quick"
        assert lines[0] == (
            f"small-1.1: 4 cells of another configuration are kept in {folder}/superseded, "
            f"which you may delete; to compare them: cepbench compare {folder}/superseded {folder}"
        )
        assert len(by_cell(results)) == 2
        assert {r.cell: r for r in read(folder / "superseded").records} == before
        assert len(sweep(path, results, *changed)[1]) == 1  # nothing more was put aside
        swept, lines = sweep(path, results)
        assert swept.run == 0
        assert lines[0].startswith("small-1.1: 2 cells of another configuration are kept in ")
        assert by_cell(results) == before

    def test_all_ends_in_one_sweep(self, tmp_path):
        path, results = (
            write(
                tmp_path,
                algorithms=["counting", "counting0", "counting2", "stuck", "hungry", "picky", "broken"],
                axes={"events": [100, 200]},
                limits={"seconds": 2, "memory": "3 GB"},
                monotone=True,
                claims=None,
            ),
            tmp_path / "results",
        )
        swept, _ = sweep(path, results)
        ends = {(r.algorithm, r.point["events"]): (r.status, r.reason) for r in read(swept.folders[0]).records}
        for events in (100, 200):
            assert ends["counting", events] == ends["counting0", events] == (Status.OK, "")
            assert ends["counting2", events] == (
                Status.WRONG,
                "the answer differs from that of counting, counting0",
            )
            assert ends["picky", events] == (Status.UNSUPPORTED, "picky cannot evaluate query q1: it is picky")
            assert ends["broken", events] == (Status.ERROR, "ZeroDivisionError: one by nothing")
        assert ends["stuck", 100] == (Status.TIMEOUT, "killed after 2 s of measured time")
        assert ends["stuck", 200] == (Status.TIMEOUT, "not run: timed out at events 100")
        assert ends["hungry", 100][0] is Status.OUT_OF_MEMORY
        assert ends["hungry", 200] == (Status.OUT_OF_MEMORY, "not run: ran out of memory at events 100")

    @pytest.mark.parametrize("asked", [False, True])
    def test_lost_slots_are_waited_for_once_and_said(self, tmp_path, monkeypatch, asked):
        counts = iter([2, 1, 1, 1])
        waited: list[int] = []
        monkeypatch.setattr(sweep_module, "slot_count", lambda spark: next(counts))
        monkeypatch.setattr(sweep_module, "wait_for_slots", lambda spark, slots: waited.append(slots) or 1)
        changes = {"slots": 2} if asked else {}
        path = write(tmp_path, axes={"events": [100, 200]}, algorithms=["counting"], claims=None, **changes)
        swept, lines = sweep(path, tmp_path / "results")
        assert "small-1.1 counting at events 200, within 50: a worker is gone: waiting for 2 of 2 slots, 1 now" in lines
        assert waited == [2]
        if asked:
            assert swept.statuses == {Status.OK: 1, Status.ERROR: 1}
            reasons = {record.reason for record in read(swept.folders[0]).records}
            assert reasons == {"", "1 of 2 slots are left, since a worker was lost"}
        else:
            assert swept.statuses == {Status.OK: 2}
            assert "small-1.1 counting at events 200, within 50: continuing with 1 of 2 slots" in lines

    def test_a_stream_that_cannot_be_read_is_an_error_of_its_cells(self, tmp_path):
        events = tmp_path / "events.csv"
        events.write_text("time,type,key\n1,A,1\n-5,A,2\n")
        workload = "RETURN COUNT(*) PATTERN A+ WITHIN ${events} s"
        changes = {"stream": {"path": str(events)}, "workload": workload, "axes": {"events": [1]}, "zip": None}
        path = write(tmp_path, **changes, algorithms=["counting"], claims=None)
        swept, _ = sweep(path, tmp_path / "results")
        record = read(swept.folders[0]).records[0]
        assert record.status is Status.ERROR
        assert "events.csv, row 3" in record.reason


@pytest.mark.apart
@pytest.mark.full
def test_a_sweep_killed_at_any_moment(tmp_path):
    axes = {"events": [100, 120, 140, 160, 180, 200]}
    path, results = write(tmp_path, axes=axes), tmp_path / "results"
    cells = results / "small-1.1/quick/cells"
    started: dict[str, str] = {}
    chance = random.Random(2)
    for _ in range(2):
        before = len(started)
        process = start(path, results)
        try:
            wait_for(lambda before=before: len(list(cells.glob("*.json"))) > before, process)
            time.sleep(chance.uniform(0, 1))  # in which only a few of the twelve cells end
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
            process.stdout.close()
        for file in cells.glob("*.json"):
            record = json.loads(file.read_text())  # every record is whole
            assert started.setdefault(record["cell"], record["started"]) == record["started"]
    assert 2 <= len(started) < 12
    write(tmp_path, axes=axes, claims=[])  # also a sweep that was killed has stored its claims beforehand
    process = start(path, results)
    out, _ = process.communicate(timeout=300)
    assert process.returncode == 0
    assert int(out) == 12 - len(started)
    finished = {r.cell: r.started for r in read(results / "small-1.1/quick").records}
    assert len(finished) == 12
    assert finished.items() >= started.items()
    figure = read(results / "small-1.1/quick").figure
    assert (len(figure.dropped), figure.added) == (len(SMALL["claims"]), ())
    assert not list(cells.glob(".*"))


def start(path, results):
    command = [sys.executable, "-m", "tests.experiments.sweeping", str(path), str(results)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env={**os.environ})


def wait_for(condition, process, seconds=240):
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, "the sweep ended early"
        assert time.monotonic() < end, "no new cell"
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"workload": "RETURN key COUNT(*)"}, "expected"),
        ({"stream": {"generator": "stocks"}}, "unknown generator 'stocks'"),
        ({"stream": {"generator": "stock", "parameters": {"speed": 1}}}, "no parameter 'speed'"),
        ({"stream": {"path": "/nowhere/events.csv"}}, "/nowhere/events.csv: no such file"),
        ({"stream": {"dataset": "nasdaq"}}, "give the path of its files"),
        ({"workload": "RETURN COUNT(*) PATTERN A+ WITHIN ${minutes} min"}, "workload: unknown axis"),
        ({"workload": {"generator": "squences"}}, "unknown workload generator 'squences'; choose one of sequences"),
        (
            {"workload": {"generator": "sequences", "parameters": {"length": "${l}"}}},
            "workload.parameters.length: unkn",
        ),
        (
            {"workload": {"generator": "sequences", "parameters": {"length": 99}}},
            "generator sequences: length = 99 exceeds the 50 types",
        ),
        ({"algorithms": ["slow[speed=${hours}]"], "claims": None}, "algorithms: unknown axis ${hours}; there are ev"),
    ],
)
def test_what_cannot_run_is_refused_before_anything_runs(tmp_path, changes, message):
    path = write(tmp_path, **changes)
    with pytest.raises(CepbenchError, match=re.escape(message)):
        plan([str(path)], make_algorithm=make)


def test_algorithms_are_made_with_the_values_of_the_axes(tmp_path):
    specifications: list[str] = []
    path = write(tmp_path, algorithms=["counting", "slow[pause=${events}]"])
    (planned,) = plan(
        [str(path)], make_algorithm=lambda specification: specifications.append(specification) or make("slow")
    )
    assert set(specifications) == {"counting", "slow[pause=100]", "slow[pause=200]"}
    assert {cell.algorithm for cell in planned.cells} == {"counting", "slow"}


def test_unknown_algorithms_are_refused(tmp_path):
    with pytest.raises(CepbenchError, match="unknown algorithm 'nobody'"):
        plan([str(write(tmp_path, algorithms=["nobody"], claims=None))])


def test_a_listing_gives_an_upper_bound(tmp_path):
    planned = plan([str(write(tmp_path, limits={"seconds": 52, "memory": "3 GB"}))], make_algorithm=make)
    lines = listing(planned, tmp_path / "results")
    assert len(lines) == 5
    assert "small-1.1 counting at events 100, within 50, round 1: at most 60 s" in lines
    assert lines[-1] == "4 of 4 cells to run, at most 4 min, plus the streams"
    assert not (tmp_path / "results").exists()
