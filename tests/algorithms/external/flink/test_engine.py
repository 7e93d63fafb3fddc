"""The Java process: one per worker, and none left behind."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import psutil
import pytest

from cepbench.algorithms.external.flink.engine import MAX_JOBS, FlinkFailed, current
from cepbench.algorithms.external.flink.installation import classes
from tests.algorithms.external.flink.test_flink import executor_of
from tests.contract.streams import batch
from tests.streams import stream

PROGRAM = """
import sys, time
from cepbench.algorithms.external.flink.engine import current
print(current()._process.pid, flush=True)
if "wait" in sys.argv:
    time.sleep(600)
"""


@contextmanager
def started(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A worker and its Java process."""
    worker = subprocess.Popen([sys.executable, "-c", PROGRAM, *arguments], stdout=subprocess.PIPE, text=True)
    with worker:
        assert worker.stdout is not None
        try:
            yield worker, int(worker.stdout.readline())
        finally:
            worker.kill()


def ended(process: int, seconds: float = 10) -> bool:
    until = time.monotonic() + seconds
    while psutil.pid_exists(process) and time.monotonic() < until:
        time.sleep(0.05)
    return not psutil.pid_exists(process)


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGTERM])
def test_it_dies_with_its_worker(signal_number: signal.Signals) -> None:
    with started("wait") as (worker, java):
        assert psutil.pid_exists(java)
        os.kill(worker.pid, signal_number)
        worker.wait(10)
        assert ended(java)


def test_it_ends_with_a_worker_that_is_done() -> None:
    with started() as (worker, java):
        assert worker.wait(30) == 0
        assert ended(java)


def test_one_process_runs_all_queries() -> None:
    events = batch(stream("A1 B2"))
    java = current()._process.pid
    for n in range(3):
        executor_of(f"RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN {n + 2} s", events).process(events)
    assert current()._process.pid == java
    assert current().start_seconds > 0
    memory = current().memory()
    assert memory["jvm_resident_bytes_peak"] > memory["jvm_heap_bytes_peak"] >= memory["jvm_live_bytes_peak"]
    assert memory["jvm_live_bytes_peak"] >= memory["jvm_base_bytes_peak"] > 2**20


def test_equal_queries_share_a_job() -> None:
    events = batch(stream("A1 B2"))
    text = "RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 77 s"
    executor_of(text, events).process(events)
    jobs = len(current()._jobs)
    executor_of(text, events).process(events)
    assert len(current()._jobs) == jobs <= MAX_JOBS


def test_a_failure_of_a_job_is_told_in_one_line() -> None:
    with pytest.raises(FlinkFailed, match=r"^Flink: [^\n]*unknown line: nonsense$"):
        current().job("nonsense")
    events = batch(stream("A1 B2"))
    executor = executor_of("RETURN COUNT(*) PATTERN SEQ(A, B)", events)
    assert not executor.process(events)
    [rows] = executor.finish().values()
    assert np.array_equal(rows.window, [0])


def test_the_program_is_compiled_once() -> None:
    folder = classes()
    before = (folder / "cepbench" / "Server.class").stat().st_mtime_ns
    assert classes() == folder
    assert (folder / "cepbench" / "Server.class").stat().st_mtime_ns == before
