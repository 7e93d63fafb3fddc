"""How a command ends before it is done: by a signal, or by the time that it was given."""

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import click

GRACE = 3.0
"""Seconds after which a process that is deep in a kernel, which hears no signal, is killed."""

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
def terminable() -> Iterator[None]:
    """SIGTERM ends the block as an interrupt does, so that all is cleaned up."""

    def end(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # one is enough
        raise Terminated

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


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
