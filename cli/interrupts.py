"""How a command ends before it is done: by a signal, or by the time that it was given."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import click

GRACE = 3.0
"""Seconds after which a process that is deep in a kernel, which hears no signal, is killed."""
AGAIN = 0.02
"""Seconds after which an interrupt that was dropped is raised again."""

timeout = click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Stop with status 124 after so long.",
)


class Terminated(KeyboardInterrupt):
    """The process was asked to end by SIGTERM; whoever cleans up after an interrupt does it now."""


class TimeIsUp(KeyboardInterrupt):
    """A command was not done within its --timeout; no error of the algorithm that was running."""


@contextmanager
def heard() -> Iterator[None]:
    """An interrupt that Python drops in the block is raised again.

    What is raised in a call from C that cannot fail, as those by which LLVM tells of what it compiled, is told to
    `sys.unraisablehook` and otherwise ignored: without this a command that compiles kernels would not hear Ctrl-C.
    """

    def raise_again(dropped: "sys.UnraisableHookArgs") -> None:
        error = dropped.exc_value
        if not isinstance(error, KeyboardInterrupt):
            before(dropped)
            return

        def again(number: int, frame: FrameType | None) -> None:
            raise error

        signal.signal(signal.SIGALRM, again)  # no time limit needs it any more: the command is ending
        signal.setitimer(signal.ITIMER_REAL, AGAIN)

    before, alarm = sys.unraisablehook, signal.getsignal(signal.SIGALRM)
    sys.unraisablehook = raise_again
    try:
        yield
    finally:
        sys.unraisablehook = before
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, alarm)


@contextmanager
def terminable() -> Iterator[None]:
    """SIGTERM ends the block as an interrupt does, so that all is cleaned up; so does SIGHUP, unless it is ignored."""

    def end(number: int, frame: FrameType | None) -> None:
        for one in before:
            signal.signal(one, signal.SIG_IGN)  # one is enough
        raise Terminated

    numbers = [signal.SIGTERM] + ([signal.SIGHUP] if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL else [])
    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """`TimeIsUp` in the block after so many seconds; a process whose kernel goes on is killed, with a message."""
    if seconds is None:
        yield
        return
    message = f"not done within {seconds:g} s (--timeout)"

    def end(number: int, frame: FrameType | None) -> None:
        raise TimeIsUp(message)

    before = signal.signal(signal.SIGALRM, end)
    script = 'sleep "$1"; echo "cepbench: $2" >&2; kill -KILL "$3"'
    command = ("sh", "-c", script, "sh", f"{seconds + GRACE:f}", message, str(os.getpid()))
    guard = subprocess.Popen(command, start_new_session=True)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        os.killpg(guard.pid, signal.SIGKILL)
        guard.wait()
        signal.signal(signal.SIGALRM, before)
