"""Commands that end before they are done."""

import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from cepbench.cli.interrupts import Terminated, reraised, terminable

MODULE = (sys.executable, "-m", "cepbench.cli.main")

EXPERIMENT = """
id: long
figure: "1"
paper: none
title: A long run
departures: []
stream: {generator: uniform, parameters: {rate: 10, events: "${events}", seed: 1}}
workload: RETURN COUNT(*) PATTERN (SEQ(A+, B))+ WITHIN 2 seconds
axes: {events: [40, 50, 60, 70, 80]}
algorithms: [greta, cogra]
repeat: 0
measurements: [time]
limits: {seconds: 60}
plot:
  x: {name: events, label: Events}
  panels: [{metric: latency_mean, label: Latency, unit: s}]
"""


def limited(seconds: float, block: str, before: str = "") -> subprocess.Popen[str]:
    """A command that runs a block under a time limit."""
    code = f"""
import signal, sys, time
from cepbench.cli import interrupts
interrupts.GRACE = 0.3
{before}
with interrupts.reraised(), interrupts.terminable():
    try:
        with interrupts.time_limit({seconds}, interrupts.GRACE):
            {block}
    except BaseException as error:
        status = interrupts.reported(error)
print("the block ran in a fork")
sys.exit(status)
"""
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Status and outputs, without the line that this process itself writes."""
    out, err = process.communicate(timeout=60)
    return process.returncode, out.removesuffix("the block ran in a fork\n"), err


TIME_IS_UP = "cepbench: not done within 0.2 s (--timeout)\n"
UNINTERRUPTED = "import ctypes; ctypes.PyDLL(None).sleep(60)"
"""Holds the lock of the interpreter, as a kernel does."""


@pytest.mark.parametrize(
    ("seconds", "block", "result"),
    [
        pytest.param(60, "print('done')", (0, "done\n", ""), id="in time"),
        pytest.param(60, "raise interrupts.CepbenchError('no')", (2, "", "cepbench: no\n"), id="an error"),
        pytest.param(60, "raise interrupts.click.exceptions.Exit(1)", (1, "", ""), id="a failed check"),
        pytest.param(0.2, "time.sleep(60)", (124, "", TIME_IS_UP), id="too long"),
        pytest.param(
            0.2, "print('begun', flush=True); time.sleep(60)", (124, "begun\n", TIME_IS_UP), id="too long, with output"
        ),
        pytest.param(
            0.2,
            f"signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM]); {UNINTERRUPTED}",
            (124, "", TIME_IS_UP),
            id="in a kernel",
        ),
        pytest.param(
            60,
            "import os; os.kill(os.getpid(), signal.SIGKILL)",
            (1, "", "cepbench: the process ended by SIGKILL; perhaps the machine ran out of memory\n"),
            id="killed",
        ),
    ],
)
def test_a_command_under_a_time_limit(seconds: float, block: str, result: tuple[int, str, str]) -> None:
    begun = time.monotonic()
    assert ended(limited(seconds, block)) == result
    assert time.monotonic() - begun < 30


@pytest.mark.parametrize(
    ("number", "result"),
    [
        (signal.SIGTERM, (143, "cleaned up\n", "cepbench: terminated\n")),
        (signal.SIGINT, (130, "cleaned up\n", "cepbench: interrupted\n")),
    ],
)
@pytest.mark.parametrize("terminal", [False, True])
def test_a_signal_ends_a_command_under_a_time_limit(
    number: signal.Signals, result: tuple[int, str, str], terminal: bool
) -> None:
    """A terminal sends its signals to both processes."""
    block = """
            try:
                print("begun", flush=True)
                time.sleep(60)
            finally:
                time.sleep(0.2)
                print("cleaned up")"""
    before = "interrupts.GRACE = 10.0; signal.signal(signal.SIGINT, signal.default_int_handler)"  # for a busy machine
    process = limited(60, block, before)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    forks = psutil.Process(process.pid).children()
    for receiver in (process.pid, *(fork.pid for fork in forks if terminal)):
        os.kill(receiver, number)
    assert ended(process) == result


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_termination_is_an_interrupt(number: signal.Signals) -> None:
    before = signal.signal(number, signal.SIG_DFL)
    try:
        with pytest.raises(Terminated), terminable():
            signal.raise_signal(number)
        assert signal.getsignal(number) is signal.SIG_DFL
    finally:
        signal.signal(number, before)


def test_a_terminal_that_closes_ends_nothing_where_that_is_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with terminable():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)


def _called_from_c_before_a_rest(function: Callable[[], None]) -> None:
    """Python drops what the function raises."""
    ctypes.CFUNCTYPE(None)(function)()
    time.sleep(20)


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Also where the shell has started the tests in the background, with interrupts ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_that_python_drops_is_raised_again() -> None:
    def interrupt() -> None:
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt), reraised():
        _called_from_c_before_a_rest(interrupt)


def test_a_time_limit_that_ends_where_python_drops_it_works() -> None:
    block = "import ctypes; ctypes.CFUNCTYPE(None)(lambda: time.sleep(0.4))(); time.sleep(60)"
    assert ended(limited(0.2, block)) == (124, "", TIME_IS_UP)


def test_other_errors_that_python_drops_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    reported = []
    monkeypatch.setattr(sys, "unraisablehook", reported.append)
    called_from_c = ctypes.CFUNCTYPE(None)(lambda: [].pop())
    with reraised():
        called_from_c()
    called_from_c()
    assert [dropped.exc_type for dropped in reported] == [IndexError, IndexError]


def test_commands_take_a_time_limit(query_file: Path, event_file: Path) -> None:
    command = (*MODULE, "verify", "-a", "cogra", "--cases", "1000000", "--timeout", "1")
    verified = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert verified.returncode == 124
    assert verified.stderr.splitlines()[-1] == "cepbench: not done within 1 s (--timeout)"
    command = (*MODULE, "query", "-q", str(query_file), "-e", str(event_file), "-a", "cogra", "--timeout", "500")
    queried = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (queried.returncode, len(queried.stdout.splitlines())) == (0, 3)


@pytest.mark.apart
@pytest.mark.full
def test_a_terminated_run_leaves_nothing_and_goes_on(tmp_path: Path) -> None:
    (tmp_path / "long.yaml").write_text(EXPERIMENT)
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    command = (*MODULE, "run", "long.yaml", "--results", "results")
    environment = {**os.environ, "TMPDIR": str(scratch)}
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
        start_new_session=True,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        assert next(line for line in process.stderr if ": ok in " in line).rstrip().endswith("9 cells left")
        below = psutil.Process(process.pid).children(recursive=True)
        os.killpg(process.pid, signal.SIGTERM)  # as `timeout` does
        rest = process.stderr.read()
    assert "Traceback" not in rest
    assert "cepbench: terminated; finished cells are kept, and the same command continues with the others\n" in rest
    assert process.returncode == 143
    assert psutil.wait_procs(below, timeout=20)[1] == []
    assert [path.name for path in scratch.iterdir() if not path.name.startswith("hsperfdata")] == []
    assert len(list(tmp_path.glob("results/long/quick/cells/*.json"))) >= 1
    assert list(tmp_path.glob("results/**/.*.tmp")) == []
