"""How a command ends early: by a signal or by its time limit."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import click

GRACE = 3.0
"""Seconds after its time limit at which a process is killed if it is in a kernel, where it cannot react to a signal."""
AGAIN = 0.02
"""Seconds after which an interrupt that was dropped is raised again."""

timeout = click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Time limit in seconds (exit status 124).",
)


class Terminated(KeyboardInterrupt):
    """The process received SIGTERM; handlers of an interrupt clean up."""


class TimeIsUp(KeyboardInterrupt):
    """A command exceeded its --timeout; this is not an error of the algorithm that was running."""


@contextmanager
def reraised() -> Iterator[None]:
    """Raises an interrupt again that Python drops in the block.

    Python passes what is raised in a callback from C, such as LLVM's reports on compiled code, to `sys.unraisablehook`
    and otherwise ignores it: without this a command that compiles kernels would not react to Ctrl-C.
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
    """SIGTERM ends the block as an interrupt does, so that handlers clean up; so does SIGHUP, unless it is ignored."""

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
    """`TimeIsUp` in the block after `seconds`; a process that is still in a kernel is killed, with a message."""
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
