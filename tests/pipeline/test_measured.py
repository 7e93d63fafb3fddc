import dataclasses
import os
import socket
import threading
import time

import psutil
import pytest

from cepbench.algorithms.base import Algorithm
from cepbench.algorithms.construction.sase.algorithm import Sase
from cepbench.algorithms.external.duckdb.algorithm import DuckDB
from cepbench.algorithms.registry import make
from cepbench.events.errors import CepbenchError
from cepbench.generators.registry import from_spec
from cepbench.metrics.status import Status
from cepbench.pipeline.arrivals import OpenRate
from cepbench.pipeline.cluster import SparkCluster
from cepbench.pipeline.generation import generate
from cepbench.pipeline.in_process import answer_of
from cepbench.pipeline.measured import measure_cell, measuring_session
from cepbench.pipeline.measured_task import MeasuredRun
from tests.pipeline.doubles import (
    Broken,
    Counting,
    Dying,
    Endless,
    Growing,
    Holding,
    Hungry,
    Mortal,
    Picky,
    Slow,
    Stuck,
)

pytestmark = pytest.mark.spark("measuring")

EVENTS = 600
QUERY = "RETURN key, COUNT(*) PATTERN A+ GROUP-BY key WITHIN 100 s"


@pytest.fixture(scope="module")
def spark():
    return measuring_session("local[2]", 3 * 10**9)


@pytest.fixture(scope="module")
def store(spark, tmp_path_factory):
    generator = from_spec("uniform", {"events": EVENTS, "types": 1, "groups": 4, "rate": 1})
    return generate(generator, tmp_path_factory.mktemp("stores") / "uniform", spark=spark, key=("key",), buckets=2).path


def job(store, algorithm: Algorithm, **more) -> MeasuredRun:
    return dataclasses.replace(MeasuredRun(store, QUERY, algorithm), **more)


def test_a_cell_that_goes_well(spark, store):
    outcome = measure_cell(job(store, Counting()), 60, spark)
    assert (outcome.status, outcome.reason) == (Status.OK, "")
    assert outcome.digest
    assert outcome.realised is not None
    assert (outcome.realised.events, outcome.realised.windows, outcome.realised.rows) == (EVENTS, 6, 24)
    assert (outcome.realised.substreams, outcome.realised.batches) == (4, 6)
    assert outcome.realised.matches_per_window == 100
    assert outcome.realised.events_per_window == 100
    assert len(outcome.samples.latency) == 24
    assert len(outcome.samples.service) == 12  # six intervals on each of two workers
    assert outcome.summary.service_total == pytest.approx(sum(outcome.samples.service))
    assert outcome.summary.throughput_per_core == pytest.approx(EVENTS / sum(outcome.samples.service))
    assert outcome.summary.makespan is not None
    assert outcome.summary.throughput == pytest.approx(EVENTS / outcome.summary.makespan)
    assert outcome.summary.slots == 2  # two buckets side by side
    assert sum(outcome.samples.service) / 2 <= outcome.summary.makespan < sum(outcome.samples.service)
    assert (outcome.hosts, outcome.lost) == ((socket.gethostname(),), ())
    assert outcome.summary.latency_p50 is not None
    assert outcome.summary.latency_max == max(outcome.samples.latency)
    assert outcome.summary.sustainable_low is None


@pytest.mark.parametrize("returns", ["MATCHES", "COMPLETE MATCHES"])
def test_matches_are_summarised(spark, store, returns):
    query = f"RETURN {returns} PATTERN A+ GROUP-BY key WITHIN 20 s"
    outcome = measure_cell(job(store, Sase(), workload=query), 60, spark)
    assert (outcome.status, outcome.reason) == (Status.OK, "")
    answer = answer_of(query, store, "sase")
    assert outcome.digest == answer.digest()
    assert outcome.realised is not None
    assert outcome.realised.windows == 30
    assert outcome.realised.rows == len(outcome.samples.latency) <= 4 * 30
    assert outcome.realised.matches_per_window == pytest.approx(answer.matches / 30)


def test_open_rate_gives_a_bracket_of_the_capacity(spark, store):
    outcome = measure_cell(job(store, Slow(), arrival=OpenRate(rate=100, batch=40)), 60, spark)
    assert outcome.status is Status.OK, outcome.reason
    low, high = outcome.summary.sustainable_low, outcome.summary.sustainable_high
    assert low is not None
    assert high is not None
    # A millisecond per event on each of two workers, of which one may have more of the four groups.
    assert 700 < low <= high < 2100


def test_the_answer_does_not_depend_on_the_arrival_model(spark, store):
    burst = measure_cell(job(store, Counting()), 60, spark)
    opened = measure_cell(job(store, Counting(), arrival=OpenRate(rate=100, batch=7)), 60, spark)
    assert burst.digest == opened.digest
    assert measure_cell(job(store, Counting(1)), 60, spark).digest != burst.digest


def test_a_worker_stuck_in_compiled_code_is_killed_at_the_limit(spark, store):
    started = time.monotonic()
    outcome = measure_cell(job(store, Stuck()), 2, spark)
    assert outcome.status is Status.TIMEOUT
    assert "2 s" in outcome.reason
    assert time.monotonic() - started < 60
    assert not _spinning()
    assert measure_cell(job(store, Counting()), 60, spark).status is Status.OK


def test_memory_beyond_the_limit(spark, store):
    outcome = measure_cell(job(store, Hungry(), limit_bytes=3 * 10**9), 60, spark)
    assert outcome.status is Status.OUT_OF_MEMORY
    assert "Unable to allocate" in outcome.reason
    assert "\n" not in outcome.reason
    outcome = measure_cell(job(store, Growing(), limit_bytes=10**9), 60, spark)
    assert outcome.status is Status.OUT_OF_MEMORY, outcome.reason


def test_the_limit_is_that_of_each_worker_and_reported(spark, store):
    # Spark would divide a limit of its own by the cores of an executor.
    outcome = measure_cell(job(store, Counting(), limit_bytes=2 * 10**9), 60, spark)
    assert outcome.status is Status.OK
    assert outcome.summary.worker_limit_bytes - 2 * 10**9 == pytest.approx(outcome.summary.worker_base_bytes, rel=0.5)
    assert outcome.summary.worker_base_bytes > 10**8
    without = measure_cell(job(store, Counting()), 60, spark)
    assert (without.status, without.summary.worker_limit_bytes) == (Status.OK, None)


@pytest.mark.full
def test_memory_is_that_above_an_idle_worker(spark, store):
    outcome = measure_cell(job(store, Holding(), memory=True), 60, spark)
    assert outcome.status is Status.OK, outcome.reason
    peak = outcome.summary.process_peak
    assert peak is not None
    assert 700 * 10**6 < peak < 1300 * 10**6  # four sub-streams of 200 MB, each of which is replaced once made
    # A window has 100 events; each worker has its peak in a window of its own.
    assert 100 <= outcome.summary.state_kinds["events"] <= 130
    assert outcome.summary.state_peak == outcome.summary.state_kinds["events"] * 8


def test_times_and_memory_of_one_job(spark, store):
    outcome = measure_cell(job(store, Counting(), limit_bytes=2 * 10**9, memory=True), 60, spark)
    assert (outcome.status, outcome.reason, outcome.memory_status) == (Status.OK, "", Status.OK)
    assert outcome.summary.service_total is not None
    assert len(outcome.samples.service) == 12
    assert len(outcome.samples.state_bytes) > 12
    assert outcome.summary.state_peak > 0
    times = measure_cell(job(store, Counting(), limit_bytes=2 * 10**9), 60, spark)
    assert (times.digest, times.realised) == (outcome.digest, outcome.realised)
    assert (times.memory_status, times.summary.state_peak, times.summary.process_peak) == (None, None, None)


def test_without_spark_the_same_is_measured(store, spark):
    local, distributed = (measure_cell(job(store, Counting(), memory=True), 60, session) for session in (None, spark))
    assert local.status is local.memory_status is Status.OK
    assert (local.digest, local.realised, local.summary.state_kinds) == (
        distributed.digest,
        distributed.realised,
        distributed.summary.state_kinds,
    )


def test_memory_that_takes_too_long_or_dies_leaves_the_times(spark, store):
    outcome = measure_cell(job(store, Endless(), memory=True), 2, spark)
    assert (outcome.status, outcome.memory_status) == (Status.OK, Status.TIMEOUT)
    assert outcome.memory_reason == "killed after 2 s of measured time"
    assert not _spinning()
    outcome = measure_cell(job(store, Mortal(), memory=True), 60, spark)
    assert (outcome.status, outcome.memory_status) == (Status.OK, Status.ERROR)
    assert outcome.memory_reason == "the Python worker died"


def test_memory_is_not_measured_where_times_are_cut_off(spark, store):
    outcome = measure_cell(job(store, Stuck(), memory=True), 2, spark)
    assert (outcome.status, outcome.memory_status) == (Status.TIMEOUT, Status.TIMEOUT)
    assert not _spinning()
    assert measure_cell(job(store, Picky(), memory=True), 60, spark).status is Status.UNSUPPORTED


def test_more_buckets_than_slots_are_measured_one_after_another(spark, tmp_path):
    generator = from_spec("uniform", {"events": EVENTS, "types": 1, "groups": 9, "rate": 1})
    many = generate(generator, tmp_path / "many", spark=None, key=("key",), buckets=4).path
    outcome = measure_cell(job(many, Counting(), memory=True), 60, spark)
    assert (outcome.status, outcome.memory_status, outcome.summary.slots) == (Status.OK, Status.OK, 2)


def test_a_killed_parent_is_repeated(spark, store):
    def kill() -> None:
        until = time.monotonic() + 60
        while not killed and time.monotonic() < until:
            time.sleep(0.2)
            python = [child for child in psutil.Process().children(recursive=True) if "python" in child.name()]
            killed.extend({fork.ppid() for fork in python if _depth(fork, python) == 3})
        for process in killed:
            psutil.Process(process).kill()

    killed: list[int] = []
    killer = threading.Thread(target=kill)
    killer.start()
    outcome = measure_cell(job(store, Slow(), repeat=4), 60, spark)
    killer.join()
    assert killed
    assert outcome.status is Status.OK, outcome.reason
    assert outcome.realised.events == EVENTS


def test_each_round_has_fresh_parents(spark, store):
    before = _workers()
    measure_cell(job(store, Counting(), round=2), 60, spark)
    second = _workers() - before
    measure_cell(job(store, Counting(), round=2), 60, spark)
    assert second
    assert _workers() - before == second
    measure_cell(job(store, Counting(), round=3), 60, spark)
    assert _workers() - before - second


class Unreadable(Counting):
    """Cannot be read by a worker."""

    def __reduce__(self):
        return int, ("no number",)


def test_a_task_that_fails_by_itself_is_an_error_at_once(spark, store):
    lines: list[str] = []
    outcome = measure_cell(job(store, Unreadable()), 60, spark, lines.append)
    assert (outcome.status, outcome.lost, lines) == (Status.ERROR, (), [])
    assert "invalid literal for int()" in outcome.reason


def test_dynamic_allocation_is_refused():
    with pytest.raises(CepbenchError, match=r"^spark.dynamicAllocation.enabled: measured cells need slots that stay"):
        measuring_session(SparkCluster("yarn", {"spark.dynamicAllocation.enabled": "true"}), 10**9)


def test_other_ends(spark, store):
    picky = measure_cell(job(store, Picky()), 60, spark)
    assert (picky.status, picky.reason) == (Status.UNSUPPORTED, "picky cannot evaluate query q1: it is picky")
    broken = measure_cell(job(store, Broken()), 60, spark)
    assert (broken.status, broken.reason) == (Status.ERROR, "ZeroDivisionError: one by nothing")
    dying = measure_cell(job(store, Dying()), 60, spark)
    assert (dying.status, dying.reason) == (Status.ERROR, "the Python worker died")


def test_ends_of_an_engine(spark, store):
    """Statements of DuckDB that take too long and that need too much memory, and a query that none expresses."""
    if (reason := DuckDB.missing()) is not None:
        pytest.skip(reason)

    def cell(pattern: str, plan: str = "auto") -> MeasuredRun:
        return job(store, DuckDB(plan), workload=f"RETURN key, COUNT(*) PATTERN {pattern} GROUP-BY key WITHIN 600 s")

    assert measure_cell(cell("SEQ(A x, A y)"), 60, spark).status is Status.OK
    long = measure_cell(cell("SEQ(A a, A b, A c, A d, A e, A f)"), 3, spark)
    assert (long.status, long.reason) == (Status.TIMEOUT, "killed after 3 s of measured time")
    large = measure_cell(dataclasses.replace(cell("A+"), limit_bytes=10**9), 60, spark)
    assert large.status is Status.OUT_OF_MEMORY, large.reason
    assert "\n" not in large.reason
    refused = measure_cell(cell("A+", "joins"), 60, spark)
    assert refused.status is Status.UNSUPPORTED
    assert refused.reason.startswith("duckdb cannot evaluate query q1: joins need at most 64 sequences")


def test_what_cannot_be_used_at_all_is_refused(spark, store):
    with pytest.raises(CepbenchError, match="no attribute 'price'"):
        measure_cell(job(store, Counting(), workload="RETURN MAX(A.price) PATTERN A+ WITHIN 1 min"), 60, spark)
    with pytest.raises(CepbenchError, match="not an event store"):
        measure_cell(job(store / "nowhere", Counting()), 60, spark)


def _depth(process: psutil.Process, python: list[psutil.Process]) -> int:
    """1 for Spark's daemon, 2 for its workers, 3 for their forks."""
    parents = [child for child in python if child.pid == process.ppid()]
    return 1 + _depth(parents[0], python) if parents else 1


def _workers() -> set[int]:
    """Spark's Python processes."""
    return {child.pid for child in psutil.Process().children(recursive=True) if "python" in child.name()}


def _spinning() -> list[int]:
    """Python descendants of this process that use the processor."""
    children = psutil.Process(os.getpid()).children(recursive=True)
    return [child.pid for child in children if _spins(child)]


def _spins(child):
    try:
        return "python" in child.name() and child.cpu_percent(0.2) > 50
    except psutil.NoSuchProcess:  # it ended meanwhile
        return False


TWO = "RETURN COUNT(*) PATTERN A+ WITHIN 100 s; RETURN COUNT(*) PATTERN A+ WHERE A.value > 500 WITHIN 100 s"


def test_several_plans_run_one_after_another_in_one_cell(store):
    systems = tuple(make(f"hamlet[sharing=random, seed={seed}]") for seed in (1, 2, 3))
    outcome = measure_cell(job(store, systems[0], workload=TWO, plans=systems, repeat=0.1), 60)
    assert (outcome.status, outcome.reason) == (Status.OK, "")
    assert {len(numbers) for numbers in outcome.runs.values()} == {3}
    assert {"service_total", "details.model_cost", "details.bursts", "plan_seconds"} <= outcome.runs.keys()
    alone = measure_cell(job(store, systems[2], workload=TWO), 60)
    assert alone.digest == outcome.digest
    assert outcome.runs["details.shared_bursts"][2] == alone.summary.details["shared_bursts"]
    assert all(cost > 0 for cost in outcome.runs["details.model_cost"])


def test_plans_with_different_answers_are_wrong(store):
    outcome = measure_cell(job(store, Counting(), plans=(Counting(), Counting(more=1))), 60)
    assert (outcome.status, outcome.reason) == (Status.WRONG, "two runs on the same events gave different answers")
