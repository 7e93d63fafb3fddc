"""Exit statuses, and what a user sees of errors that nobody expected."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from cepbench.algorithms.base import NotEnoughMemory
from cepbench.cli.main import cepbench as group
from cepbench.cli.main import main
from cepbench.events.errors import CepbenchError

MODULE = (sys.executable, "-m", "cepbench.cli.main")


@pytest.mark.parametrize("name", ["", *group.commands])
def test_help(name):
    result = CliRunner().invoke(group, [*name.split(), "--help"])
    assert result.exit_code == 0
    assert "Usage: " in result.output
    assert "..." not in result.output.replace("...]", "").replace("]...", ""), "a summary is cut off"


def test_version(cepbench):
    assert cepbench("--version").out.startswith("cepbench 1.")


def test_no_command_is_a_usage_error():
    assert subprocess.run(MODULE, capture_output=True, check=False).returncode == 2


@pytest.mark.parametrize(
    ("error", "status", "message"),
    [
        (CepbenchError("the stream is empty"), 2, "cepbench: the stream is empty\n"),
        (PermissionError(13, "Permission denied", "x.csv"), 2, "cepbench: x.csv: permission denied\n"),
        (OSError(28, "No space left on device"), 2, "cepbench: no space left on device\n"),
        (click.UsageError("no such thing"), 2, "cepbench: no such thing (see 'cepbench algorithms --help')\n"),
        (NotEnoughMemory("2 GB do not suffice"), 1, "cepbench: 2 GB do not suffice\n"),
        (OSError(12, "Cannot allocate memory"), 1, "cepbench: cannot allocate memory\n"),
        (MemoryError(), 1, "cepbench: out of memory; use fewer events, or shorter windows\n"),
        (KeyboardInterrupt(), 130, "cepbench: interrupted\n"),
    ],
)
def test_errors_become_one_line(cepbench, monkeypatch, error, status, message):
    fail(monkeypatch, error)
    ended = cepbench("algorithms")
    assert (ended.status, ended.err.lstrip("\n")) == (status, message)


def test_error_of_ours_is_reported_without_a_traceback(cepbench, monkeypatch):
    fail(monkeypatch, ZeroDivisionError("division by zero\nmore"))
    ended = cepbench("algorithms")
    assert ended.status == 1
    assert ended.err.startswith("cepbench: unexpected ZeroDivisionError: division by zero (")
    assert "CEPBENCH_DEBUG=1" in ended.err
    assert ended.err.count("\n") == 1


def test_debugging_shows_the_traceback(monkeypatch):
    fail(monkeypatch, ZeroDivisionError())
    monkeypatch.setenv("CEPBENCH_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main(["algorithms"])


def fail(monkeypatch, error):
    def raising(**_):
        raise error

    monkeypatch.setattr(group.commands["algorithms"], "callback", raising)


def test_broken_pipe_is_quiet():
    command = f"{sys.executable} -m cepbench.cli.main datasets --json | head -c 1"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert result.stdout == "["
    assert result.stderr == ""


def catches(pid, number):
    """Whether a process has a handler for a signal; True where the system does not report it."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return True
    caught = [line.split()[1] for line in status.read_text().splitlines() if line.startswith("SigCgt")]
    return bool(int(caught[0], 16) >> (number - 1) & 1)


@pytest.mark.full
def test_interrupt():
    command = (*MODULE, "verify", "-a", "cogra", "--cases", "1000000")
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 60
        while not catches(process.pid, signal.SIGTERM) and time.monotonic() < deadline:  # Python is starting still
            time.sleep(0.1)
        time.sleep(4)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert out == ""
    reported = [
        line for line in err.split("\n") if line and "compiling kernels" not in line
    ]  # as the disk has them, or not
    assert reported == ["cepbench: interrupted"]


def test_an_interrupt_of_generated_code_is_one(tmp_path):
    plugin = tmp_path / "plugin.py"
    plugin.write_text("exec('raise KeyboardInterrupt')\n")
    ended = subprocess.run((*MODULE, "algorithms", "--plugin", plugin), capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (130, "")
    assert ended.stderr.strip() == "cepbench: interrupted"


def test_help_is_fast():
    """In processor time, which others on this machine take nothing of."""
    subprocess.run((*MODULE, "--help"), capture_output=True, check=True)
    seconds = []
    for _ in range(3):
        before = os.times()
        subprocess.run((*MODULE, "--help"), capture_output=True, check=True)
        after = os.times()
        spent = after.children_user - before.children_user, after.children_system - before.children_system
        seconds.append(sum(spent))
    assert min(seconds) < 0.5


def test_help_imports_nothing_heavy():
    heavy = {"numpy", "pandas", "numba", "pyspark", "matplotlib"}
    code = f"import sys, cepbench.cli.main; print(sorted({heavy} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert result.stdout.strip() == "[]"


def test_an_interrupt_behind_an_error_is_one(cepbench, monkeypatch):
    error = RuntimeError("the compiler stopped")
    error.__cause__ = KeyboardInterrupt()
    fail(monkeypatch, error)
    ended = cepbench("algorithms")
    assert (ended.status, ended.err) == (130, "cepbench: interrupted\n")
