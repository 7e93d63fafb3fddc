"""Limits of time and memory: work in a fork of this process, and memory of this process itself.

A fork is killed when it exceeds its time limit, and limits its own address space. It needs Linux, and a process without
threads of Arrow, DuckDB or a JVM, whose locks a fork would inherit.
"""

from __future__ import annotations

import errno
import os
import resource
import signal
import socket
import stat
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psutil

from cepbench.algorithms.base import NotEnoughMemory
from cepbench.events.errors import CepbenchError
from cepbench.events.units import in_bytes
from cepbench.metrics.memory import whole
from cepbench.metrics.status import Status
from cepbench.pipeline.lifetime import die_with

BEGUN, STOPPED, NOTE, WATCH, PEAK, DONE = range(6)
"""Signs of a fork: its clock began or stopped, a note, its memory is to be watched, a request for its peak, its result.
"""
PREPARATION_SECONDS = 600.0
"""Seconds that a fork may take between its measured parts."""
LOOK_SECONDS = 1.0
"""Seconds between two looks at a fork."""
SAMPLE_SECONDS = 0.01
"""Seconds between two looks at the memory of a fork that asked for its peak."""
GAP_SECONDS = 5.0
"""A process that looks this much later than it wanted was stopped, and its fork perhaps with it."""
MOST = 0.8
"""The share of the machine's memory that a process may use by default."""


class ForkTooLong(Exception):
    """A fork was killed since a measured part exceeded the limit."""


class ForkLost(Exception):
    """This process was stopped while it waited for a fork, so that times mean nothing."""


class ForkDied(Exception):
    """A fork ended without a result; `resident` is its maximum of bytes."""

    def __init__(self, reason: str, resident: int = 0) -> None:
        super().__init__(reason)
        self.resident = resident

    def outcome(self, limit: int | None = None) -> tuple[Status, str]:
        """Out of memory if it used half of its limit, or, without one, of the machine's memory; otherwise an error."""
        if self.resident > (machine_bytes() if limit is None else limit) // 2:
            return Status.OUT_OF_MEMORY, f"the worker died at {self.resident / 1e9:.1f} GB"
        return Status.ERROR, str(self)


def address_space() -> int:
    """The address space of this process in bytes, which its forks inherit: their limits must include it."""
    return int(psutil.Process().memory_info().vms)


def machine_bytes() -> int:
    """The memory of this machine, or of the container that this process is in."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        with suppress(OSError, ValueError):  # no container, or a container without a limit ("max")
            total = min(total, int(Path(path).read_text(encoding="ascii")))
    return total


def size_of(memory: int | str | None) -> int | None:
    """The bytes of a size such as `4 GB`. Raises `CepbenchError` for another text."""
    try:
        return in_bytes(memory) if isinstance(memory, str) else memory
    except ValueError as error:
        raise CepbenchError(f"memory: expected {error}, not {memory!r}") from None


class _Limits:
    """The limits of memory in force, and the limit of the process before the first of them."""

    lock = threading.Lock()
    active = 0
    before = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)


@contextmanager
def memory_limit(size: int | None = None, name: str = "memory") -> Iterator[None]:
    """Limits the memory that this process takes in the block to `size` bytes; by default, most of the machine's memory.

    The limit is one of the address space. Of limits that are in force at the same time, in threads, the first one
    counts. Raises `NotEnoughMemory` where an allocation fails; the message names the option as `name`.
    """
    limit = int(MOST * machine_bytes()) if size is None else size
    with _Limits.lock:
        _Limits.active += 1
        if _Limits.active == 1:
            soft, hard = _Limits.before = resource.getrlimit(resource.RLIMIT_AS)
            wanted = address_space() + limit
            allowed = [bound for bound in (soft, hard) if bound != resource.RLIM_INFINITY]
            resource.setrlimit(resource.RLIMIT_AS, (min([wanted, *allowed]), hard))
    try:
        yield
    except (MemoryError, OSError) as error:
        if isinstance(error, OSError) and error.errno != errno.ENOMEM:
            raise
        shown = f"{limit / 1e9:.3g} GB" if limit >= 10**9 else f"{limit / 1e6:.3g} MB"
        raise NotEnoughMemory(
            f"it needs more than {shown} of memory ({name}); use fewer events or shorter windows"
        ) from None
    finally:
        with _Limits.lock:
            _Limits.active -= 1
            if _Limits.active == 0:
                resource.setrlimit(resource.RLIMIT_AS, _Limits.before)


class Clock:
    """The fork's side: a context around each measured part, for which the limit applies."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe

    def __enter__(self) -> Clock:
        self._pipe.send((BEGUN, None))
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Ends the measured part, also before the context ends."""
        self._pipe.send((STOPPED, None))

    def note(self, value: object) -> None:
        """Adds to the notes of the fork, which remain if it is killed."""
        self._pipe.send((NOTE, value))

    def watch(self) -> None:
        """Lets the parent sample the private bytes from now on."""
        self._pipe.send((WATCH, None))
        self._pipe.recv()

    def peak(self) -> int:
        """The peak of the private bytes since the last `watch`."""
        self._pipe.send((PEAK, None))
        return int(self._pipe.recv())


class Fork:
    """Forks on entering; leaving kills the fork if it still runs. It ends with this process in any case.

    `work` runs in the fork, and returns something that can be pickled. It may use `memory` bytes of address space
    beyond those of this process; the limit cannot be raised again.
    """

    def __init__(self, work: Callable[[Clock], Any], memory: int | None = None) -> None:
        self.notes: list[Any] = []
        self._work, self._memory = work, memory
        self._process = 0
        self._peak: int | None = None

    def __enter__(self) -> Fork:
        self._pipe, theirs = Pipe()
        parent = os.getpid()
        self._process = os.fork()
        if self._process == 0:
            try:
                die_with(parent)
                _leave_sockets(theirs.fileno())
                _limit_memory(self._memory)
                theirs.send((DONE, self._work(Clock(theirs))))
            except BaseException:  # an exception of the work, or a result that cannot be pickled
                traceback.print_exc()
            finally:
                os._exit(0)  # the open files of this process belong to the other one
        theirs.close()
        return self

    def result(self, seconds: float, together: bool = False) -> Any:
        """The result of the work.

        Raises `ForkTooLong` if a part takes more than `seconds`, or all of them `together` do, `ForkDied`, and
        `ForkLost` if this process was stopped meanwhile.
        """
        until, timed, left = time.monotonic() + PREPARATION_SECONDS, False, seconds
        try:
            while self._speaks(until):
                sign, value = self._pipe.recv()
                if sign in (WATCH, PEAK):
                    self._peak = 0 if sign == WATCH else max(self._peak or 0, whole(self._process))
                    self._pipe.send(self._peak)
                    continue
                if sign == DONE:
                    return value
                if sign == NOTE:
                    self.notes.append(value)
                    continue
                if timed and together:
                    left = max(0.0, until - time.monotonic())
                timed = sign == BEGUN
                until = time.monotonic() + (left if timed else PREPARATION_SECONDS)
        except (EOFError, OSError):  # perhaps killed while it wrote
            raise ForkDied("the Python worker died", self._end()) from None
        self._end()
        raise ForkTooLong if timed else ForkDied(f"not ready after {PREPARATION_SECONDS:g} s")

    def _speaks(self, until: float) -> bool:
        """Waits for the fork until then. Raises `ForkLost`."""
        while True:
            began = time.monotonic()
            wait = max(0.0, min(until - began, LOOK_SECONDS if self._peak is None else SAMPLE_SECONDS))
            speaks = self._pipe.poll(wait)
            late = time.monotonic() - began - wait
            if late > GAP_SECONDS:
                self._end()
                raise ForkLost(f"a worker on {socket.gethostname()} was stopped for {late:.0f} s")
            if speaks:
                return True
            if time.monotonic() >= until:
                return False
            if self._peak is not None:
                with suppress(OSError):  # it has just ended
                    self._peak = max(self._peak, whole(self._process))

    def __exit__(self, *_: object) -> None:
        self._end()
        self._pipe.close()

    def _end(self) -> int:
        """Kills the fork, if it runs; returns its maximum of bytes."""
        if self._process == 0:
            return 0
        os.kill(self._process, signal.SIGKILL)  # the id is still that of the fork: no one has waited for it
        _, _, used = os.wait4(self._process, 0)
        self._process = 0
        return used.ru_maxrss * 1024


def _leave_sockets(kept: int) -> None:
    """Replaces the sockets of the parent: nobody would notice its end while a fork holds them."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # the one that listed them
            if int(name) != kept and stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                os.dup2(nothing, int(name))
    os.close(nothing)


def _limit_memory(size: int | None) -> None:
    """Limits the address space, and makes this process the first one to be killed where the machine lacks memory."""
    with suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000", encoding="ascii")
    if size is not None:
        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = address_space() + size
        limit = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
