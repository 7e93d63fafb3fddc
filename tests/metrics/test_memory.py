"""What counts as the memory of a process."""

import mmap
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from cepbench.metrics.memory import INTERVAL, PeakMemory, pss, whole_pss

MB = 10**6
pages_are_distinguished = pytest.mark.skipif(
    not Path("/proc/self/smaps_rollup").exists(), reason="the system reports the sum of all pages only"
)


WAITING = "import os, sys\ndef wait():\n    print('waiting', flush=True)\n    sys.stdin.readline()\n"


@contextmanager
def process(code: str) -> Iterator[tuple[int, Callable[[], None]]]:
    """A fresh process that runs `code`, in which every `wait()` lasts until the function is called; and its id."""
    command = [sys.executable, "-c", WAITING + code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdin is not None
        assert started.stdout is not None
        given, reported = started.stdin, started.stdout
        assert reported.readline() == "waiting\n"

        def go_on() -> None:
            given.write("\n")
            given.flush()
            assert reported.readline() == "waiting\n"

        yield started.pid, go_on


def test_pss_is_of_the_process_that_is_asked_for() -> None:
    with process("wait()\nblock = bytearray(b'x') * 100_000_000\nwait()\n") as (pid, go_on):
        before = pss(pid)
        go_on()
        assert 95 * MB < pss(pid) - before < 110 * MB


@pages_are_distinguished
def test_pages_that_two_processes_share_are_split_between_them() -> None:
    forking = """
block = bytearray(b'x') * 100_000_000
wait()
hold, release = os.pipe()
if os.fork() == 0:
    os.close(release)
    os.read(hold, 1)
    os._exit(0)
wait()
"""
    with process(forking) as (pid, go_on):
        alone = pss(pid)
        go_on()
        assert 45 * MB < alone - pss(pid) < 65 * MB


@pages_are_distinguished
def test_pages_of_files_are_not_counted(tmp_path: Path) -> None:
    file = tmp_path / "data"
    file.write_bytes(b"x" * 100 * MB)
    before = pss()
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert mapped[:: mmap.PAGESIZE].count(b"x") == -(-100 * MB // mmap.PAGESIZE)  # every page is touched
        assert pss() - before < 50 * MB


@pages_are_distinguished
def test_processes_that_it_started_are_counted_but_for_one() -> None:
    code = """
import subprocess
wait()
holder = "import sys; block = bytearray(b'x') * 100_000_000; print(flush=True); sys.stdin.readline()"
child = subprocess.Popen([sys.executable, "-c", holder], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
wait()
child.kill()
"""
    with subprocess.Popen(
        [sys.executable, "-c", WAITING + code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as started:
        assert started.stdin is not None
        assert started.stdout is not None
        started.stdout.readline()
        before = whole_pss(started.pid)
        started.stdin.write("\n")
        started.stdin.flush()
        child = int(started.stdout.readline())
        started.stdout.readline()
        assert 100 * MB < whole_pss(started.pid) - before < 140 * MB
        assert whole_pss(started.pid, child) - before < 10 * MB
        started.stdin.write("\n")


def test_peak_is_seen_after_it_is_gone() -> None:
    with PeakMemory() as memory:
        before = memory.taken()
        block = np.ones(30_000_000)  # 240 MB
        block *= 2.0
        block *= 2.0
        block *= 2.0
        del block
        time.sleep(30 * INTERVAL)  # the last samples no longer see it
        assert memory.taken() - before > 150 * MB
        assert memory.taken() - before < 150 * MB  # each peak is taken once


def test_a_peak_begins_with_what_is_held() -> None:
    with PeakMemory() as memory:
        before = memory.taken()
        block = np.ones(30_000_000)
        memory.taken()
        assert memory.taken() - before > 150 * MB
        del block
        memory.taken()
        assert memory.taken() - before < 150 * MB


def test_an_error_inside_passes_through() -> None:
    with pytest.raises(MemoryError), PeakMemory():
        raise MemoryError
