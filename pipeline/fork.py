"""Work in a fork of this process, which waits for its release, and is killed when it exceeds its time limit.

The fork has the state of this process when it was created: what this process left on its heap since then is not in the
fork.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

import psutil

from cepbench.metrics.record import Status
from cepbench.pipeline.pulse import machine_bytes

BEGUN, STOPPED, NOTE, DONE = range(4)
"""What a fork sends: its clock began or stopped, a note, or its result."""
PREPARATION_SECONDS = 600.0
"""Seconds that a fork may take between its measured parts."""
PR_SET_PDEATHSIG = 1  # sys/prctl.h


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
                _die_with(parent)
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


def _die_with(parent: int) -> None:
    """Lets the system kill this process when its parent ends, if supported; otherwise the end of the pipe ends it."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)
