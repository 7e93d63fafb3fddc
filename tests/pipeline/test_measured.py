import dataclasses
import os
import socket
import time

import psutil
import pytest

from cepbench.algorithms.base import Algorithm
from cepbench.algorithms.construction.sase.algorithm import Sase
from cepbench.events.errors import CepbenchError
from cepbench.generators.registry import from_spec
from cepbench.metrics.record import Status
from cepbench.pipeline.arrivals import OpenRate
from cepbench.pipeline.generation import generate
from cepbench.pipeline.in_process import answer_of
from cepbench.pipeline.measured import measure, measure_both, measuring_session
from cepbench.pipeline.measured_task import MeasuredRun
from tests.pipeline.doubles import (
    Broken,
    Counting,
    Dying,
    Endless,
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
    outcome = measure(spark, job(store, Counting()), seconds=60)
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
    outcome = measure(spark, job(store, Sase(), workload=query), seconds=60)
    assert (outcome.status, outcome.reason) == (Status.OK, "")
    answer = answer_of(query, store, "sase")
    assert outcome.digest == answer.digest()
    assert outcome.realised is not None
    assert outcome.realised.windows == 30
    assert outcome.realised.rows == len(outcome.samples.latency) <= 4 * 30
    assert outcome.realised.matches_per_window == pytest.approx(answer.matches / 30)


def test_open_rate_gives_a_bracket_of_the_capacity(spark, store):
    outcome = measure(spark, job(store, Slow(), arrival=OpenRate(rate=100, batch=40)), seconds=60)
    assert outcome.status is Status.OK, outcome.reason
    low, high = outcome.summary.sustainable_low, outcome.summary.sustainable_high
    assert low is not None
    assert high is not None
    # A millisecond per event on each of two workers, of which one may have more of the four groups.
    assert 700 < low <= high < 2100


def test_the_answer_does_not_depend_on_the_arrival_model(spark, store):
    burst = measure(spark, job(store, Counting()), seconds=60)
    opened = measure(spark, job(store, Counting(), arrival=OpenRate(rate=100, batch=7)), seconds=60)
    assert burst.digest == opened.digest
    assert measure(spark, job(store, Counting(1)), seconds=60).digest != burst.digest


def test_a_worker_stuck_in_compiled_code_is_killed_at_the_limit(spark, store):
    started = time.monotonic()
    outcome = measure(spark, job(store, Stuck()), seconds=2)
    assert outcome.status is Status.TIMEOUT
    assert "2 s" in outcome.reason
    assert time.monotonic() - started < 60
    assert not _spinning()
    assert measure(spark, job(store, Counting()), seconds=60).status is Status.OK


def test_memory_beyond_the_limit(spark, store):
    outcome = measure(spark, job(store, Hungry(), limit_bytes=3 * 10**9), seconds=60)
    assert outcome.status is Status.OUT_OF_MEMORY
    assert "Unable to allocate" in outcome.reason
    assert "\n" not in outcome.reason


def test_the_limit_is_that_of_each_worker_and_reported(spark, store):
    # Spark would divide a limit of its own by the cores of an executor.
    outcome = measure(spark, job(store, Counting(), limit_bytes=2 * 10**9), seconds=60)
    assert (outcome.status, outcome.summary.worker_limit_bytes) == (Status.OK, 2 * 10**9)
    assert 10**8 < outcome.summary.worker_base_bytes < 10**9
    without = measure(spark, job(store, Counting()), seconds=60)
    assert (without.status, without.summary.worker_limit_bytes) == (Status.OK, None)


@pytest.mark.full
def test_memory_is_that_above_an_idle_worker(spark, store):
    outcome = measure(spark, job(store, Holding(), memory=True), seconds=60)
    assert outcome.status is Status.OK, outcome.reason
    peak = outcome.summary.process_peak
    assert peak is not None
    assert 700 * 10**6 < peak < 1300 * 10**6  # four sub-streams of 200 MB, each of which is replaced once made
    # A window has 100 events; each worker has its peak in a window of its own.
    assert 100 <= outcome.summary.state_kinds["events"] <= 130
    assert outcome.summary.state_peak == outcome.summary.state_kinds["events"] * 8
    assert outcome.samples.latency == []


def test_times_and_memory_of_one_job(spark, store):
    times, memory = measure_both(spark, job(store, Counting(), limit_bytes=2 * 10**9), seconds=60)
    assert memory is not None
    assert (times.status, times.reason, memory.status, memory.reason) == (Status.OK, "", Status.OK, "")
    alone = measure(spark, job(store, Counting(), memory=True), seconds=60)
    assert times.digest == memory.digest == alone.digest
    assert times.realised == memory.realised == alone.realised
    assert (times.summary.state_peak, times.summary.process_peak) == (None, None)
    assert memory.summary.state_peak == alone.summary.state_peak
    assert memory.samples.state_bytes == alone.samples.state_bytes
    assert memory.summary.worker_limit_bytes == 2 * 10**9
    assert memory.summary.service_total is None
    assert memory.samples.service == []
    assert memory.load is None
    assert times.summary.service_total is not None


def test_memory_that_takes_too_long_or_dies_leaves_the_times(spark, store):
    times, memory = measure_both(spark, job(store, Endless()), seconds=2)
    assert times.status is Status.OK
    assert memory is not None
    assert (memory.status, memory.reason) == (Status.TIMEOUT, "killed after 2 s of measured time")
    assert not _spinning()
    times, memory = measure_both(spark, job(store, Mortal()), seconds=60)
    assert times.status is Status.OK
    assert memory is not None
    assert (memory.status, memory.reason) == (Status.ERROR, "the Python worker died")


def test_memory_is_left_where_times_are_cut_off(spark, store):
    times, memory = measure_both(spark, job(store, Stuck()), seconds=2)
    assert (times.status, memory) == (Status.TIMEOUT, None)
    assert not _spinning()
    picky, memory = measure_both(spark, job(store, Picky()), seconds=60)
    assert (picky.status, picky) == (Status.UNSUPPORTED, memory)


def test_workers_that_cannot_all_run_at_once_do_not_wait_for_each_other(spark, tmp_path):
    generator = from_spec("uniform", {"events": EVENTS, "types": 1, "groups": 9, "rate": 1})
    many = generate(generator, tmp_path / "many", spark=None, key=("key",), buckets=4).path
    times, memory = measure_both(spark, job(many, Counting()), seconds=60)
    assert (times.status, memory) == (Status.OK, None)


def test_other_ends(spark, store):
    picky = measure(spark, job(store, Picky()), seconds=60)
    assert (picky.status, picky.reason) == (Status.UNSUPPORTED, "picky cannot evaluate query q1: it is picky")
    broken = measure(spark, job(store, Broken()), seconds=60)
    assert (broken.status, broken.reason) == (Status.ERROR, "ZeroDivisionError: one by nothing")
    dying = measure(spark, job(store, Dying()), seconds=60)
    assert (dying.status, dying.reason) == (Status.ERROR, "the Python worker died")


def test_what_cannot_be_used_at_all_is_refused(spark, store):
    with pytest.raises(CepbenchError, match="no attribute 'price'"):
        measure(spark, job(store, Counting(), workload="RETURN MAX(A.price) PATTERN A+ WITHIN 1 min"), seconds=60)
    with pytest.raises(CepbenchError, match="not an event store"):
        measure(spark, job(store / "nowhere", Counting()), seconds=60)


def _spinning() -> list[int]:
    """Python descendants of this process that use the processor."""
    children = psutil.Process(os.getpid()).children(recursive=True)
    return [child.pid for child in children if _spins(child)]


def _spins(child):
    try:
        return "python" in child.name() and child.cpu_percent(0.2) > 50
    except psutil.NoSuchProcess:  # it ended meanwhile
        return False
