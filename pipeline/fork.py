"""Limits of time and memory: work in a fork of this process, and memory of this process itself.

A fork waits for its release, and is killed when it exceeds its time limit. It has the state of this process when it was
created: what this process left on its heap since then is not in the fork.
"""

from __future__ import annotations

import errno
import os
import resource
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

import psutil

from cepbench.algorithms.base import NotEnoughMemory
from cepbench.events.errors import CepbenchError
from cepbench.events.units import in_bytes
from cepbench.metrics.record import Status
from cepbench.pipeline.lifetime import die_with
from cepbench.pipeline.pulse import machine_bytes

BEGUN, STOPPED, NOTE, DONE = range(4)
"""What a fork sends: its clock began or stopped, a note, or its result."""
PREPARATION_SECONDS = 600.0
"""Seconds that a fork may take between its measured parts."""
MOST = 0.8
"""The share of the machine's memory that a process may use by default."""


class ForkTooLong(Exception):
    """A fork was killed since a measured part exceeded the limit."""


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


class Fork:
    """Forks on entering; leaving kills the fork if it still runs. It ends with this process in any case.

    `work` runs in the fork when `result` releases it, and returns something that can be pickled.
    """

    def __init__(self, work: Callable[[Clock], Any]) -> None:
        self.notes: list[Any] = []
        self._work = work
        self._process = 0

    def __enter__(self) -> Fork:
        self._pipe, other = Pipe()
        parent = os.getpid()
        self._process = os.fork()
        if self._process == 0:
            try:
                self._pipe.close()  # or it would never see its end
                die_with(parent)
                with suppress(EOFError):  # the other process has closed its end
                    other.recv()
                    other.send((DONE, self._work(Clock(other))))
                    other.recv()
            except BaseException:  # an exception of the work, or a result that cannot be pickled
                traceback.print_exc()
            finally:
                os._exit(0)  # the open files of this process belong to the other one
        other.close()
        return self

    def result(self, seconds: float, together: bool = False) -> Any:
        """Releases the fork and returns the result of its work. The fork stays until the end of the context.

        Raises `ForkTooLong` if a part takes more than `seconds`, or all of them `together` do, and `ForkDied`.
        """
        with suppress(OSError):  # it is dead already
            self._pipe.send(None)
        until, timed, left = time.monotonic() + PREPARATION_SECONDS, False, seconds
        try:
            while self._pipe.poll(max(0.0, until - time.monotonic())):
                sign, value = self._pipe.recv()
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
