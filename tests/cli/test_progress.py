"""What is reported on stderr while work goes on."""

import os
import pty
import select
import subprocess
import sys
import termios
from contextlib import contextmanager

import pytest

from cepbench.cli.progress import compilation_shown


@pytest.mark.full
def test_compilation_is_reported_once_and_only_if_something_is_compiled(tmp_path, query_file, event_file):
    command = (sys.executable, "-m", "cepbench.cli.main", "query", "-a", "cogra", "-q", query_file, "-e", event_file)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "kernels"), "NUMBA_DISABLE_JIT": "0"}
    said = "cepbench: compiling kernels; later runs find them on disk\n"
    first, second = (
        subprocess.run(command, env=environment, capture_output=True, text=True, check=True) for _ in range(2)
    )
    assert first.stderr == said
    assert second.stderr == ""
    assert first.stdout == second.stdout


def test_a_terminal_shows_which_kernel(monkeypatch, capsys):
    @contextmanager
    def watched(notify):
        notify("online.kernels.visits.propagate")
        notify("online.kernels.sums.aggregate_any")
        yield

    monkeypatch.setattr("cepbench.algorithms.engine.kernels.compilation.watched", watched)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with compilation_shown():
        pass
    reported = capsys.readouterr().err
    assert reported.count("compiling kernels") == 1
    assert "online.kernels.visits.propagate" in reported
    assert "online.kernels.sums.aggregate_any" in reported


@pytest.mark.parametrize("terminal", [True, False])
def test_bars_are_for_terminals(terminal):
    code = (
        "import time\n"
        "from cepbench.cli.progress import advance, bar\n"
        "with bar('event', 'cogra') as shown:\n"
        "    for _ in range(15):\n"
        "        advance(shown, 15, 1); time.sleep(0.1)\n"
    )
    if not terminal:
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert (ended.stdout, ended.stderr) == ("", "")
        return
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    subprocess.run([sys.executable, "-c", code], stderr=theirs, check=True)
    seen = os.read(ours, 1 << 16).decode() if select.select([ours], [], [], 0)[0] else ""
    os.close(theirs)
    os.close(ours)
    assert "cogra" in seen
    assert "/15" in seen


def test_generate_and_query_move_the_bar(cepbench, monkeypatch, tmp_path, query_file):
    moved = []
    monkeypatch.setattr("cepbench.cli.generate.advance", lambda shown, total, more: moved.append((total, more)))
    monkeypatch.setattr("cepbench.cli.query.advance", lambda shown, total, more: moved.append((total, more)))
    assert cepbench("generate", "uniform", "-p", "events=100", "-o", tmp_path / "store").status == 0
    total, _ = moved[0]
    assert sum(step for _, step in moved) == total
    moved.clear()
    query_file.write_text("RETURN COUNT(*) PATTERN A\n\nRETURN COUNT(*) PATTERN A WHERE [key]\n")
    assert cepbench("query", "-a", "cogra", "-q", query_file, "-e", tmp_path / "store").status == 0
    assert [total for total, _ in moved] == [200] * len(moved)
    assert sum(step for _, step in moved) == 200
