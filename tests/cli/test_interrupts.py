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

from cepbench.cli import interrupts
from cepbench.cli.interrupts import Terminated, TimeIsUp, reraised, terminable, time_limit

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


def test_a_block_ends_when_its_time_is_up() -> None:
    with pytest.raises(TimeIsUp, match=r"not done within 0\.2 s \(--timeout\)"), time_limit(0.2):
        time.sleep(20)
    with time_limit(60):
        pass
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


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
    with pytest.raises(TimeIsUp), reraised(), time_limit(0.2):
        _called_from_c_before_a_rest(lambda: time.sleep(0.5))
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_other_errors_that_python_drops_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    reported = []
    monkeypatch.setattr(sys, "unraisablehook", reported.append)
    called_from_c = ctypes.CFUNCTYPE(None)(lambda: [].pop())
    with reraised():
        called_from_c()
    called_from_c()
    assert [dropped.exc_type for dropped in reported] == [IndexError, IndexError]


def test_a_kernel_that_hears_nothing_is_killed() -> None:
    deaf = "import ctypes; ctypes.PyDLL(None).sleep(60)"  # holds the lock of the interpreter, as a kernel does
    code = f"""
from cepbench.cli import interrupts
interrupts.GRACE = 0.3
import signal
with interrupts.time_limit(0.2):
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
    {deaf}
"""
    begun = time.monotonic()
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert time.monotonic() - begun < 30
    assert ended.returncode == -signal.SIGKILL
    assert ended.stderr.strip() == "cepbench: not done within 0.2 s (--timeout)"


def test_commands_take_a_time_limit(cepbench, query_file, event_file, monkeypatch) -> None:
    monkeypatch.setattr(interrupts, "GRACE", 100.0)  # kernels may have to be compiled, in steps of seconds
    ended = cepbench("verify", "-a", "cogra", "--cases", "1000000", "--timeout", "1")
    assert (ended.status, ended.err.strip()) == (124, "cepbench: not done within 1 s (--timeout)")
    ended = cepbench("query", "-q", query_file, "-e", event_file, "-a", "cogra", "--timeout", "500")
    assert ended.status == 0


@pytest.mark.apart
@pytest.mark.full
def test_a_terminated_run_leaves_nothing_and_goes_on(tmp_path: Path) -> None:
    (tmp_path / "long.yaml").write_text(EXPERIMENT)
    scratch = tmp_path / "tmp"
    scratch.mkdir()
    command = (*MODULE, "run", "long.yaml", "--results", "results")
    environment = {**os.environ, "TMPDIR": str(scratch)}
    with subprocess.Popen(
        command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stderr is not None
        assert next(line for line in process.stderr if ": ok in " in line).rstrip().endswith("9 cells left")
        below = psutil.Process(process.pid).children(recursive=True)
        process.send_signal(signal.SIGTERM)
        rest = process.stderr.read()
    assert "cepbench: terminated; finished cells are kept, and the same command continues with the others\n" in rest
    assert process.returncode == 143
    assert psutil.wait_procs(below, timeout=20)[1] == []
    assert [path.name for path in scratch.iterdir() if not path.name.startswith("hsperfdata")] == []
    assert len(list(tmp_path.glob("results/long/quick/cells/*.json"))) >= 1
    assert list(tmp_path.glob("results/**/.*.tmp")) == []
