"""Work in a fork of this process, which waits until it is let go, and is killed when it exceeds its time limit.

The fork is what this process was when it was made, whatever this one has done since: what that left behind in the heap
is not the fork's.
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
"""What a fork may take besides its measured parts, each time."""
CHUNK = 2**16
PR_SET_PDEATHSIG = 1  # sys/prctl.h


class ForkTooLong(Exception):
    """A fork was killed since a measured part exceeded the limit."""


class ForkDied(Exception):
    """A fork ended without a result; `resident` is the most bytes that it had."""

    def __init__(self, reason: str, resident: int) -> None:
        super().__init__(reason)
        self.resident = resident


def address_space() -> int:
    """Bytes of addresses of this process, which its forks begin with: a limit on theirs has to hold these, too."""
    return int(psutil.Process().memory_info().vms)


class Clock:
    """The fork's side: a context around each measured part, for which the limit counts."""

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
    """Forks on entering; leaving kills the fork if it is still there. It ends with this process in any case.

    `work` runs in the fork when `result` lets it go, and returns something that can be pickled.
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
            except BaseException:  # what leaves the work, or cannot be pickled
                traceback.print_exc()
            finally:
                os._exit(0)  # what this process has open is the other one's
        os.close(waits)
        os.close(to_parent)
        return self

    def result(self, seconds: float, together: bool = False) -> Any:
        """Lets the fork go; what its work returns. The fork stays until the context is left.

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
        """Kills the fork, if it is there; the most bytes that it had."""
        if self._process == 0:
            return 0
        os.kill(self._process, signal.SIGKILL)  # it is no other process yet: nobody has waited for it
        _, _, used = os.wait4(self._process, 0)
        self._process = 0
        return used.ru_maxrss * 1024


def _die_with(parent: int) -> None:
    """Has the system kill this process when its parent ends, where it can; elsewhere it sees the end of the pipe."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def _send(pipe: int, result: bytes) -> None:
    with open(pipe, "wb", closefd=True) as file:
        file.write(DONE + result)
