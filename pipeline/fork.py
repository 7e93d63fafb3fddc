"""Work in a fork of this process, which waits for its release, and is killed when it exceeds its time limit.

The fork has the state of this process when it was created: what this process left on its heap since then is not in the
fork.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import select
import signal
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any

import psutil

BEGUN, STOPPED, DONE = b"b", b"s", b"d"
"""What a fork writes: its clock began or stopped, or its result follows."""
PREPARATION_SECONDS = 600.0
"""Seconds that a fork may take between its measured parts."""
CHUNK = 2**16
PR_SET_PDEATHSIG = 1  # sys/prctl.h


class ForkTooLong(Exception):
    """A fork was killed since a measured part exceeded the limit."""


class ForkDied(Exception):
    """A fork ended without a result; `resident` is its maximum of bytes."""

    def __init__(self, reason: str, resident: int) -> None:
        super().__init__(reason)
        self.resident = resident


def address_space() -> int:
    """The address space of this process in bytes, which its forks inherit: their limits must include it."""
    return int(psutil.Process().memory_info().vms)


class Clock:
    """The fork's side: a context around each measured part, for which the limit applies."""

    def __init__(self, pipe: int) -> None:
        self._pipe = pipe

    def __enter__(self) -> Clock:
        os.write(self._pipe, BEGUN)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def stop(self) -> None:
        """Ends the measured part, also before the context ends."""
        os.write(self._pipe, STOPPED)


class Fork:
    """Forks on entering; leaving kills the fork if it still runs. It ends with this process in any case.

    `work` runs in the fork when `result` releases it, and returns something that can be pickled.
    """

    def __init__(self, work: Callable[[Clock], Any]) -> None:
        self._work = work
        self._process = 0

    def __enter__(self) -> Fork:
        waits, self._go = os.pipe()
        self._from_fork, to_parent = os.pipe()
        parent = os.getpid()
        self._process = os.fork()
        if self._process == 0:
            try:
                os.close(self._go)  # or it would never see its end
                os.close(self._from_fork)
                _die_with(parent)
                if os.read(waits, 1):
                    _send(to_parent, pickle.dumps(self._work(Clock(to_parent))))
                    os.read(waits, 1)
            except BaseException:  # an exception of the work, or a result that cannot be pickled
                traceback.print_exc()
            finally:
                os._exit(0)  # the open files of this process belong to the other one
        os.close(waits)
        os.close(to_parent)
        return self

    def result(self, seconds: float, together: bool = False) -> Any:
        """Releases the fork and returns the result of its work. The fork stays until the end of the context.

        Raises `ForkTooLong` if a part takes more than `seconds`, or all of them `together` do, and `ForkDied`.
        """
        with suppress(BrokenPipeError):  # it is dead already
            os.write(self._go, b"g")
        until, timed, left = time.monotonic() + PREPARATION_SECONDS, False, seconds
        while True:
            if not select.select([self._from_fork], [], [], max(0.0, until - time.monotonic()))[0]:
                self._end()
                raise ForkTooLong if timed else ForkDied(f"not ready after {PREPARATION_SECONDS:g} s", 0)
            sign = os.read(self._from_fork, 1)
            if sign == DONE:
                break
            if not sign:
                raise ForkDied("the Python worker died", self._end())
            if timed and together:
                left = max(0.0, until - time.monotonic())
            timed = sign == BEGUN
            until = time.monotonic() + (left if timed else PREPARATION_SECONDS)
        content = bytearray()
        while piece := os.read(self._from_fork, CHUNK):
            content += piece
        try:
            return pickle.loads(content)
        except (EOFError, pickle.UnpicklingError):  # it was killed while it wrote
            raise ForkDied("the Python worker died", self._end()) from None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()
        os.close(self._go)
        os.close(self._from_fork)

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


def _send(pipe: int, result: bytes) -> None:
    with open(pipe, "wb", closefd=True) as file:
        file.write(DONE + result)
