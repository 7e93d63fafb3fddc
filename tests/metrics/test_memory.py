"""The memory of a process."""

import mmap
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from cepbench.metrics.memory import private, whole

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
        commands, reported = started.stdin, started.stdout
        assert reported.readline() == "waiting\n"

        def go_on() -> None:
            commands.write("\n")
            commands.flush()
            assert reported.readline() == "waiting\n"

        yield started.pid, go_on


def test_memory_is_of_the_process_that_is_asked_for() -> None:
    with process("wait()\nblock = bytearray(b'x') * 100_000_000\nwait()\n") as (pid, go_on):
        before = private(pid)
        go_on()
        assert 95 * MB < private(pid) - before < 110 * MB


@pages_are_distinguished
def test_pages_that_two_processes_share_are_not_counted() -> None:
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
        alone = private(pid)
        go_on()
        assert alone - private(pid) > 95 * MB


@pages_are_distinguished
def test_pages_of_files_are_not_counted(tmp_path: Path) -> None:
    file = tmp_path / "data"
    with file.open("wb") as written:
        written.write(b"x" * 100 * MB)
        os.fsync(written.fileno())
    before = private(os.getpid())
    with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as mapped:
        assert mapped[:: mmap.PAGESIZE].count(b"x") == -(-100 * MB // mmap.PAGESIZE)  # every page is touched
        assert private(os.getpid()) - before < 50 * MB


@pages_are_distinguished
def test_processes_that_it_started_are_counted() -> None:
    code = """
import subprocess
wait()
holder = "import sys; block = bytearray(b'x') * 100_000_000; print(flush=True); sys.stdin.readline()"
child = subprocess.Popen([sys.executable, "-c", holder], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
child.stdout.readline()
wait()
child.kill()
"""
    with subprocess.Popen(
        [sys.executable, "-c", WAITING + code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as started:
        assert started.stdin is not None
        assert started.stdout is not None
        started.stdout.readline()
        before = whole(started.pid)
        started.stdin.write("\n")
        started.stdin.flush()
        started.stdout.readline()
        assert 100 * MB < whole(started.pid) - before < 140 * MB
        started.stdin.write("\n")
