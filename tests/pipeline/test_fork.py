import os
import resource
import signal
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from cepbench.algorithms.base import NotEnoughMemory
from cepbench.pipeline.fork import Clock, Fork, ForkDied, ForkTooLong, memory_limit
from tests.pipeline.doubles import spin


def _children() -> set[int]:
    return {child.pid for child in psutil.Process().children()}


def test_a_fork_is_what_this_process_was_when_it_was_made() -> None:
    held = [1]

    def work(clock: Clock) -> tuple[int, list[int]]:
        with clock:
            return os.getpid(), held

    with Fork(work) as fork:
        held.append(2)
        process, state = fork.result(60)
    assert process != os.getpid()
    assert state == [1]
    assert not psutil.pid_exists(process)


def test_a_large_result() -> None:
    with Fork(lambda clock: bytes(10**7)) as fork:
        assert fork.result(60) == bytes(10**7)


def test_the_limit_counts_for_each_part_and_not_between_them() -> None:
    def work(clock: Clock) -> int:
        for _ in range(3):
            with clock:
                time.sleep(0.3)
            time.sleep(0.3)
        return 3

    with Fork(work) as fork:
        assert fork.result(0.5) == 3


def test_preparation_is_not_limited() -> None:
    def work(clock: Clock) -> int:
        with clock:
            pass
        time.sleep(0.6)
        return 1

    with Fork(work) as fork:
        assert fork.result(0.2) == 1


def test_too_long_a_part_is_killed_inside_of_compiled_code() -> None:
    def work(clock: Clock) -> None:
        with clock:
            spin(10**9)

    spin(3)
    before = _children()
    with Fork(work) as fork:
        began = time.monotonic()
        with pytest.raises(ForkTooLong):
            fork.result(0.3)
        assert time.monotonic() - began < 10
    assert _children() == before


def test_a_death_says_how_large_it_was() -> None:
    def work(clock: Clock) -> None:
        block = b"x" * 10**8
        assert block
        os.kill(os.getpid(), signal.SIGKILL)

    with Fork(work) as fork, pytest.raises(ForkDied, match="the Python worker died") as died:
        fork.result(60)
    largest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    assert 10**8 < died.value.resident < largest + 2 * 10**8


def test_a_failure_is_a_death() -> None:
    with Fork(lambda clock: 1 // 0) as fork, pytest.raises(ForkDied):
        fork.result(60)


def test_a_fork_that_nobody_waits_for_is_gone_with_its_context() -> None:
    before = _children()
    with Fork(lambda clock: time.sleep(600)):
        assert len(_children() - before) == 1
    assert _children() == before


def test_memory_beyond_that_of_this_process_is_limited() -> None:
    def work(clock: Clock) -> str:
        held = bytearray(10**8)
        try:
            bytearray(10**9)
        except MemoryError:
            return f"{len(held)} bytes and no more"
        return "no limit"

    with Fork(work, memory=5 * 10**8) as fork:
        assert fork.result(60) == "100000000 bytes and no more"


def test_a_fork_holds_no_socket_of_this_process() -> None:
    near, far = socket.socketpair()
    with Fork(lambda clock: time.sleep(600)):
        near.close()
        far.settimeout(10)
        assert far.recv(1) == b""  # the end, though the fork runs
    far.close()


STOPPED = """
import time
from cepbench.pipeline import fork

def work(clock):
    with clock:
        print("begun", flush=True)
        time.sleep(600)

fork.GAP_SECONDS = 1.0
with fork.Fork(work) as running:
    try:
        running.result(3)
    except (fork.ForkLost, fork.ForkTooLong) as error:
        print(type(error).__name__, error, flush=True)
"""


@pytest.mark.parametrize(("seconds", "shown"), [(4.0, "ForkLost a worker on "), (0.0, "ForkTooLong")])
def test_a_parent_that_was_stopped_is_lost_and_not_late(seconds: float, shown: str) -> None:
    with subprocess.Popen([sys.executable, "-c", STOPPED], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "begun\n"
        if seconds:
            time.sleep(0.5)  # so that it waits
            parent.send_signal(signal.SIGSTOP)
            time.sleep(seconds)
            parent.send_signal(signal.SIGCONT)
        assert parent.stdout.readline().startswith(shown)


ENDLESS = """
import os, time
from cepbench.pipeline.fork import Fork

def work(clock):
    print(os.getpid(), flush=True)
    time.sleep(600)

with Fork(work) as fork:
    fork.result(600)
"""


def test_it_dies_with_its_parent() -> None:
    with subprocess.Popen([sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        fork = psutil.Process(int(parent.stdout.readline()))
        parent.kill()
        with suppress(psutil.NoSuchProcess):
            fork.wait(10)
    assert not fork.is_running()


def test_parts_share_the_limit_where_that_is_asked() -> None:
    def work(clock: Clock) -> int:
        for _ in range(4):
            with clock:
                time.sleep(0.3)
            time.sleep(0.1)  # counts for nobody
        return 3

    with Fork(work) as fork:
        assert fork.result(1.1) == 3
    with Fork(work) as fork:
        started = time.monotonic()
        with pytest.raises(ForkTooLong):
            fork.result(0.8, together=True)
        assert time.monotonic() - started >= 0.8


LARGE = 10**9


def test_memory_of_this_process_is_limited_and_then_no_more() -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    message = r"^it needs more than 200 MB of memory \(--memory\); use fewer events or shorter windows$"
    with pytest.raises(NotEnoughMemory, match=message), memory_limit(200 * 10**6, "--memory"):
        bytearray(LARGE)
    assert resource.getrlimit(resource.RLIMIT_AS) == before
    with memory_limit(2 * LARGE):
        assert len(bytearray(LARGE)) == LARGE
    with memory_limit():  # most of the memory of the machine
        assert len(bytearray(1000)) == 1000


def test_a_lower_limit_of_the_process_stays() -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    lower = psutil.Process().memory_info().vms + 300 * 10**6
    resource.setrlimit(resource.RLIMIT_AS, (lower, before[1]))
    try:
        with pytest.raises(NotEnoughMemory), memory_limit(10 * LARGE):
            bytearray(LARGE)
        assert resource.getrlimit(resource.RLIMIT_AS)[0] == lower
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def test_limits_that_overlap_leave_none() -> None:
    before = resource.getrlimit(resource.RLIMIT_AS)
    outer, inner = memory_limit(2 * LARGE), memory_limit(LARGE)
    with outer:
        inner.__enter__()
    assert resource.getrlimit(resource.RLIMIT_AS) != before
    inner.__exit__(None, None, None)
    assert resource.getrlimit(resource.RLIMIT_AS) == before


def test_other_errors_pass_a_limit_of_memory() -> None:
    with pytest.raises(FileNotFoundError), memory_limit():
        Path("no such file").read_bytes()


def test_a_peak_is_seen_after_it_is_gone() -> None:
    def work(clock: Clock) -> list[int]:
        clock.watch()
        peaks = [clock.peak()]
        block = bytearray(b"x") * 2 * 10**8
        time.sleep(0.3)
        del block
        peaks.append(clock.peak())
        clock.watch()
        return [*peaks, clock.peak()]

    with Fork(work) as fork:
        before, highest, after = fork.result(60)
    assert 1.9 * 10**8 < highest - before < 2.5 * 10**8
    assert after - before < 10**8  # a peak belongs to one watch
