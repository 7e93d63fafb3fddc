"""How a command ends: the status and the one line of an error, of a signal, and of its time limit.

- 2: the request or the input is wrong (`CepbenchError`, an unusable file or option); a query error also shows the
  underlined place.
- 1: a check failed, memory did not suffice, a plug-in failed, or there is an error in cepbench itself.
- 130: interrupted; 143: terminated (SIGTERM). Temporary files and processes are cleaned up first.
- 124: not done within --timeout.
"""

import errno
import os
import select
import signal
import sys
import traceback
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from math import isfinite
from types import FrameType

import click

from cepbench.cli.options import as_options
from cepbench.events.errors import CepbenchError, is_interrupt
from cepbench.pipeline.lifetime import die_with

CHECK_FAILED = 1
WRONG_USE = 2
INTERRUPTED = 130
TERMINATED = 143
TIMED_OUT = 124

GRACE = 0.5
"""Seconds after its time limit at which a command is killed that has not ended by itself, for example in a kernel."""
GRACE_ON_SPARK = 10.0
"""The same where a Spark session has to be stopped, and temporary folders to be removed."""
AGAIN = 0.02
"""Seconds after which an interrupt that was dropped is raised again."""
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Signals that a command under a time limit passes to its fork."""


def _finite(context: click.Context, parameter: click.Parameter, seconds: float | None) -> float | None:
    if seconds is not None and not isfinite(seconds):
        raise click.BadParameter("it is a number of seconds", context, parameter)
    return seconds


timeout = click.option(
    "--timeout",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    callback=_finite,
    help="Time limit in seconds, also for writing the result (exit status 124).",
)


class Terminated(KeyboardInterrupt):
    """The process received SIGTERM; handlers of an interrupt clean up."""


class TimeIsUp(KeyboardInterrupt):
    """A command exceeded its --timeout; this is not an error of the algorithm that was running."""


def reported(error: BaseException, arguments: Sequence[str] = ()) -> int:
    """Writes the line of an error that ended a command to stderr; returns the status."""
    if is_interrupt(error) or isinstance(error, click.Abort):
        return _interrupted(error, arguments)
    match error:
        case click.exceptions.Exit():
            return error.exit_code
        case click.UsageError():
            return _fail(error.format_message(), _hint(error))
        case click.ClickException():
            return _fail(error.format_message())
        case BrokenPipeError():
            # The reader of the output has closed it; there is nowhere to report, and nothing more to flush.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return CHECK_FAILED
        case MemoryError():
            return _fail("out of memory; use fewer events, or shorter windows", status=CHECK_FAILED)
        case CepbenchError():
            from cepbench.algorithms.base import NotEnoughMemory

            status = CHECK_FAILED if isinstance(error, NotEnoughMemory) else WRONG_USE
            return _fail(as_options(str(error)), status=status)
        case OSError():
            status = CHECK_FAILED if error.errno == errno.ENOMEM else WRONG_USE
            return _fail(_file_problem(error), status=status)
        case _:
            from cepbench.algorithms.plugins import described, origin

            if origin(error) is not None:
                return _fail(described(error), status=CHECK_FAILED)
            hint = " (an error in cepbench; CEPBENCH_DEBUG=1 shows where)"
            return _fail(f"unexpected {described(error)}", hint, CHECK_FAILED)


def _interrupted(error: BaseException, arguments: Sequence[str]) -> int:
    """Reports that a command was interrupted and what is kept; returns the status."""
    # An interrupt that passed through exec of a text, as Numba and dataclasses use it, leaves CPython with the state of
    # an uncaught one: `python -m` would end by the signal, regardless of the status. Running another text clears that.
    exec("")
    begun: BaseException | None = error
    while begun is not None and not isinstance(begun, KeyboardInterrupt):
        begun = begun.__cause__ or begun.__context__
    if isinstance(begun, TimeIsUp):
        return TIMED_OUT  # `_watched` reports it
    terminated = isinstance(begun, Terminated)
    kept = (
        "; finished cells are kept, and the same command continues with the others" if arguments[:1] == ["run"] else ""
    )
    click.echo(f"cepbench: {'terminated' if terminated else 'interrupted'}{kept}", err=True)
    return TERMINATED if terminated else INTERRUPTED


def _fail(message: str, hint: str = "", status: int = WRONG_USE) -> int:
    click.echo(f"cepbench: {message}{hint}", err=True)
    return status


def _hint(error: click.UsageError) -> str:
    return f" (see '{error.ctx.command_path} --help')" if error.ctx else ""


def _file_problem(error: OSError) -> str:
    """`file: reason`, as far as the system says so."""
    reason = (error.strerror or str(error) or type(error).__name__).lower()
    return reason if error.filename is None else f"{error.filename}: {reason}"


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

    def end(received: int, frame: FrameType | None) -> None:
        for number in before:
            signal.signal(number, signal.SIG_IGN)  # one is enough
        raise Terminated

    numbers = [signal.SIGTERM] + ([signal.SIGHUP] if signal.getsignal(signal.SIGHUP) is signal.SIG_DFL else [])
    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def time_limit(seconds: float | None, grace: float = GRACE) -> Iterator[None]:
    """Runs the block, which is the rest of a command, in a fork that ends after `seconds`, with the status 124.

    The fork raises `TimeIsUp` in the block; if it has not ended `grace` seconds later, for example since it is in a
    kernel, this process kills it. Here the block does not run: the command ends with the status of the fork. Without a
    limit there is no fork.
    """
    if seconds is None:
        yield
        return
    sys.stdout.flush()
    sys.stderr.flush()
    parent = os.getpid()
    ended, alive = os.pipe()  # the system closes `alive` when the fork ends
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED)  # until both processes have their handlers
    child = os.fork()
    if child:
        os.close(alive)
        try:
            raise click.exceptions.Exit(_watched(child, ended, seconds, grace, mask))
        finally:
            os.close(ended)
    os.close(ended)
    status = CHECK_FAILED
    try:
        _end_after(seconds)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        die_with(parent)
        yield
        sys.stdout.flush()
        status = 0
    except BaseException as error:
        if os.environ.get("CEPBENCH_DEBUG") == "1":
            traceback.print_exc()
        status = reported(error)
    finally:
        with suppress(BrokenPipeError):
            sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)  # immediately: to free large answers takes seconds


def _end_after(seconds: float) -> None:
    """Raises `TimeIsUp` in this process after `seconds`; of several interrupts, only the first counts."""

    def end(number: int, frame: FrameType | None) -> None:
        raise TimeIsUp

    def once(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to both processes
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, once)
    signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def _watched(child: int, ended: int, seconds: float, grace: float, mask: Iterable[int]) -> int:
    """Waits for a fork, which receives the signals of this process, and kills it after its time; returns its status.

    `mask`: the signals that are blocked from then on.
    """

    def forward(number: int, frame: FrameType | None) -> None:
        os.kill(child, number)

    numbers = [number for number in FORWARDED if signal.getsignal(number) not in (signal.SIG_IGN, None)]
    before = {number: signal.signal(number, forward) for number in numbers}
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        killed = not select.select([ended], [], [], seconds + grace)[0]
        if killed:
            os.kill(child, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if killed or status == TIMED_OUT:
        return _fail(f"not done within {seconds:g} s (--timeout)", status=TIMED_OUT)
    if status < 0:
        name = signal.Signals(-status).name
        return _fail(f"the process ended by {name}; perhaps the machine ran out of memory", status=CHECK_FAILED)
    return status
