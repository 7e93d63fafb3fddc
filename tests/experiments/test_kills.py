"""Workers, all workers and the driver die or stop at random moments of a sweep: no cell is lost, doubled or wrong.

Three kills by default; `CEPBENCH_KILLS=40` for more.
"""

import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from cepbench.experiments.planning import plan
from cepbench.experiments.sweep import run_planned
from cepbench.metrics.record import Record
from cepbench.metrics.record_files import read_record
from cepbench.metrics.results import read
from cepbench.metrics.status import Status
from cepbench.pipeline.session import stop
from tests.standalone import Standalone, go_on

KILLS = int(os.environ.get("CEPBENCH_KILLS", "3"))
OVERRIDES = (
    "axes.keys=[5, 10, 15, 20]",
    "axes.skew=[0]",
    "zip.events=[4000]",
    "algorithms=[cogra]",
    "workers=2",
    "repeat=0",
    "limits.seconds=60",
)
PATIENT = 240
"""Seconds without a new cell, after which a sweep hangs."""


def records(results: Path) -> dict[str, Record]:
    """The records by cell; each has one file, whole."""
    cell_records = [read_record(file) for file in results.glob("beyond-keys/smoke/cells/*.json")]
    assert len({record.cell for record in cell_records}) == len(cell_records)
    return {record.cell: record for record in cell_records}


def sweep(results: Path, master: str, *more: str) -> subprocess.Popen[bytes]:
    command = (
        sys.executable,
        "-m",
        "cepbench.cli.main",
        "run",
        "beyond-keys",
        "--profile",
        "smoke",
        "--master",
        master,
    )
    settings = {
        "spark.cepbench.lostSeconds": "8",
        "spark.network.timeout": "15s",
        "spark.network.timeoutInterval": "5s",
        "spark.executor.heartbeatInterval": "3s",
    }
    conf = [word for name, value in settings.items() for word in ("--conf", f"{name}={value}")]
    overrides = [word for override in (*OVERRIDES, *more) for word in ("--set", override)]
    with (results.parent / "sweep.log").open("ab") as log:
        return subprocess.Popen([*command, *conf, *overrides, "--results", str(results)], stdout=log, stderr=log)


@pytest.fixture
def spark(tmp_path: Path) -> Iterator[Standalone]:
    stop()
    with Standalone(tmp_path / "spark") as cluster:
        for _ in range(2):
            cluster.add_worker()
        yield cluster


@pytest.mark.cluster
def test_whatever_dies_every_cell_is_measured_once(tmp_path: Path, spark: Standalone) -> None:
    chance = random.Random(int(os.environ.get("CEPBENCH_SEED", "1")))
    kinds = ["worker", "driver", "stop", "all workers"]
    planned = plan(["beyond-keys"], "smoke", OVERRIDES)
    done = Counter[str]()
    results = tmp_path / "results"
    results.mkdir()
    finish(sweep(results / "warm", spark.url, "axes.keys=[20]", "workers=1"), results / "warm")  # has kernels compiled
    rounds = 0
    while sum(done.values()) < KILLS:
        rounds += 1
        folder = results / str(rounds)
        folder.mkdir()
        running = sweep(folder, spark.url)
        while running.poll() is None and sum(done.values()) < KILLS:
            wait(running, folder, chance.uniform(3, 10))
            kind = kinds[(sum(done.values()) + rounds - 1) % len(kinds)]
            if running.poll() is not None:
                break
            done[kind] += 1
            if kind == "driver":
                running.kill()
                running.wait()
                running = sweep(folder, spark.url)
            elif kind == "stop":
                stopped = spark.stop(chance.choice(spark.workers))
                wait(running, folder, chance.uniform(5, 20))
                go_on(stopped)
            else:
                for worker in list(spark.workers) if kind == "all workers" else [chance.choice(spark.workers)]:
                    spark.kill(worker)
                    spark.add_worker()
        finish(running, folder)
        while any(r.status is Status.ERROR for r in records(folder).values()):  # what was given up is run again
            finish(sweep(folder, spark.url), folder)
        check(records(folder), {cell.id for cell in planned[0].cells})
    local = read(run_planned(planned, tmp_path / "here", "local[2]").folders[0]).records
    right = {record.cell: record.digest for record in local}
    for number in range(1, rounds + 1):
        assert {cell: record.digest for cell, record in records(results / str(number)).items()} == right
    print(f"{sum(done.values())} kills: {dict(done)}")


def check(measured: dict[str, Record], expected: set[str]) -> None:
    assert measured.keys() == expected
    assert Counter(record.status for record in measured.values()) == {Status.OK: len(expected)}


def wait(running: subprocess.Popen[bytes], folder: Path, seconds: float) -> None:
    end = time.monotonic() + seconds
    while running.poll() is None and time.monotonic() < end:
        time.sleep(0.1)


def finish(running: subprocess.Popen[bytes], folder: Path) -> None:
    """Waits for the end of a sweep that goes on."""
    ended, since = -1, time.monotonic()
    while running.poll() is None:
        if len(records(folder)) != ended:
            ended, since = len(records(folder)), time.monotonic()
        if time.monotonic() - since > PATIENT:
            running.kill()
            log = (folder.parent / "sweep.log").read_text()[-2000:]
            pytest.fail(f"the sweep hangs after {ended} cells\n{log}")
        time.sleep(0.2)
