"""When short runs are repeated, on a clock made by hand."""

import ctypes
import subprocess
import sys
from types import SimpleNamespace

import pytest

from cepbench.pipeline import repeated as module
from cepbench.pipeline.repeated import LEAST, MOST, is_narrow, keep_memory, release_memory, repeated


class Clock:
    """Runs take these seconds, the last of them for ever; the first run spends `system` seconds on fresh memory."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *seconds: float, system: float = 0.0) -> None:
        self.now = self.spent = 0.0
        self.calls = 0
        self._seconds, self._first = list(seconds), system
        monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: self.now))
        monkeypatch.setattr(module, "_system_seconds", lambda: self.spent)

    def run(self) -> float:
        took = self._seconds.pop(0) if len(self._seconds) > 1 else self._seconds[0]
        self.now += took
        self.spent += 0.0 if self.calls else self._first
        self.calls += 1
        return took


def identity(seconds: float) -> float:
    return seconds


def test_the_first_of_several_runs_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, 0.5, 0.1)
    assert repeated(clock.run, identity, 2.0) == [0.1] * 6  # the fewest whose median has an interval
    assert clock.calls == 7


def test_runs_go_on_until_the_interval_is_narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, 0.01, 0.02, *[0.01] * MOST)
    runs = repeated(clock.run, identity, 2.0)
    # One slow run among eight is the largest, which the interval of nine leaves out.
    assert len(runs) == 9
    assert is_narrow(runs)
    assert not is_narrow(runs[:-1])


def test_runs_that_never_agree_end_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, *[0.001, 0.002] * MOST)
    assert len(repeated(clock.run, identity, 2.0)) == MOST


def test_a_run_begins_only_if_there_is_time_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, 0.6, 0.5)
    assert repeated(clock.run, identity, 2.0) == [0.5, 0.5]
    assert clock.now == 1.6
    assert len(repeated(Clock(monkeypatch, 0.6, 0.5).run, identity, 2.1)) == 3


def test_a_long_run_is_done_once(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, 1.1, 1.0, system=0.05)
    assert repeated(clock.run, identity, 2.0) == [1.1]
    assert clock.calls == 1


def test_a_long_run_on_fresh_memory_is_done_again(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, 30.0, 20.0, system=10.0)
    assert repeated(clock.run, identity, 2.0) == [20.0]
    assert clock.calls == 2


def test_someone_looks_between_runs_outside_of_all_clocks(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, looked = Clock(monkeypatch, 0.1), list[int]()

    def look() -> None:
        looked.append(clock.calls)
        clock.now += 0.001

    assert repeated(clock.run, identity, 2.0, look) == [0.1] * 6
    assert looked == list(range(8))  # before the first run, and after each
    looked.clear()
    clock.calls = 0
    assert repeated(clock.run, identity, 0, look) == [0.1]
    assert looked == [0, 1]


def test_no_time_is_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch, 0.1, system=0.1)
    assert repeated(clock.run, identity, 0) == [0.1]
    assert clock.calls == 1


def test_an_interval_is_narrow_to_either_side() -> None:
    assert LEAST < 6
    assert not is_narrow([1.0] * 5)  # five runs have no interval of 95 %
    assert is_narrow([0.96, 1.0, 1.0, 1.0, 1.0, 1.05])
    assert not is_narrow([0.94, 1.0, 1.0, 1.0, 1.0, 1.05])


def test_freed_memory_stays() -> None:
    """In a separate process: options of the allocator are permanent."""
    program = """
import resource, sys
import numpy as np
from cepbench.pipeline.repeated import keep_memory
def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    np.ones(8 * 10**6)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
if sys.argv[1] == "keep":
    keep_memory()
print(faults(), faults())
"""
    if not hasattr(ctypes.CDLL(None), "mallopt"):
        keep_memory()
        pytest.skip("not glibc")

    def faults(how: str) -> list[int]:
        done = subprocess.run([sys.executable, "-c", program, how], capture_output=True, text=True, check=True)
        return [int(word) for word in done.stdout.split()]

    keeping, returning = faults("keep"), faults("leave")
    assert keeping[1] < 5 < min(keeping[0], returning[1])


def test_freed_memory_is_given_back() -> None:
    """Memory is returned even if blocks above it are still held."""
    program = """
import psutil
from cepbench.pipeline.repeated import release_memory
def resident():
    return psutil.Process().memory_info().rss
blocks = [b"x" * 10_000 for _ in range(10_000)]
del blocks[:-1]
held = resident()
release_memory()
print(held - resident())
"""
    if not hasattr(ctypes.CDLL(None), "malloc_trim"):
        release_memory()
        pytest.skip("not glibc")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) > 50 * 10**6
