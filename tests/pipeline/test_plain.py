"""Queries on a few events before anything is compiled."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numba
import pandas as pd
import pytest

from cepbench.pipeline import plain
from cepbench.pipeline.plain import MOST_EVENTS, PlainKernels, check_compiled, in_plain_python, is_faster

HEADING = "time,type,x\n"
QUERY = "RETURN COUNT(*), SUM(A.x) PATTERN SEQ(A+, B) WITHIN 10 s"


@pytest.fixture(autouse=True)
def nothing_compiled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """As in a process that has not imported Numba; the marker of compiled kernels."""
    monkeypatch.delenv("NUMBA_DISABLE_JIT", raising=False)
    monkeypatch.delitem(sys.modules, "numba", raising=False)
    marker = tmp_path / "marker"
    monkeypatch.setattr(
        "cepbench.algorithms.engine.kernels.compilation.compiled_marker", lambda algorithm, arithmetic: marker
    )
    return marker


def csv(folder: Path, events: int, name: str = "e.csv") -> Path:
    file = folder / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(HEADING + "".join(f"{i},A,1\n" for i in range(events)))
    return file


def test_few_events_of_any_file_are_counted(tmp_path: Path) -> None:
    assert is_faster("cogra", "modular", csv(tmp_path, MOST_EVENTS))
    assert not is_faster("cogra", "modular", csv(tmp_path, MOST_EVENTS + 1))
    for events, few in ((MOST_EVENTS, True), (MOST_EVENTS + 1, False)):
        pd.DataFrame({"time": range(events), "type": "A"}).to_parquet(tmp_path / "e.parquet")
        assert is_faster("cogra", "modular", tmp_path / "e.parquet") == few
    for part in ("a", "b"):
        csv(tmp_path, MOST_EVENTS // 2, f"parts/{part}.csv")
    assert is_faster("greta[granularity=event]", "float", tmp_path / "parts")
    csv(tmp_path, MOST_EVENTS, "parts/c.csv")
    assert not is_faster("cogra", "modular", tmp_path / "parts")


def test_what_cannot_be_counted_is_not_few(tmp_path: Path) -> None:
    assert not is_faster("cogra", "modular", tmp_path / "none.csv")
    assert not is_faster("cogra", "modular", csv(tmp_path, 3, "e.csv.gz"))
    (tmp_path / "e.parquet").write_text("no Parquet")
    assert not is_faster("cogra", "modular", tmp_path / "e.parquet")
    os.mkfifo(tmp_path / "pipe")
    assert not is_faster("cogra", "modular", tmp_path / "pipe")


def test_only_where_nothing_is_compiled(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, nothing_compiled: Path
) -> None:
    file = csv(tmp_path, 3)
    assert is_faster("cogra", "modular", file)
    assert not is_faster("flink", "modular", file)  # has no kernels
    assert not is_faster("own", "modular", file)  # perhaps without kernels
    for choice in "01":
        monkeypatch.setenv("NUMBA_DISABLE_JIT", choice)
        assert not is_faster("cogra", "modular", file)
    monkeypatch.delenv("NUMBA_DISABLE_JIT")
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "numba", plain)
        assert not is_faster("cogra", "modular", file)
    nothing_compiled.touch()
    assert not is_faster("cogra", "modular", file)


def test_failures_and_long_answers_are_left_to_compiled_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> int:
        raise ValueError("wrong")

    assert in_plain_python(lambda: 7) == 7
    assert in_plain_python(fail) is None
    monkeypatch.setattr(plain, "SECONDS", 0.1)
    assert in_plain_python(lambda: time.sleep(60)) is None


def test_a_query_says_so_and_has_the_same_answer(tmp_path: Path) -> None:
    (tmp_path / "q.sase").write_text(QUERY)
    (tmp_path / "e.csv").write_text(HEADING + "1,A,5\n2,A,7\n3,B,1\n12,A,1\n13,B,2\n")
    files = ["-q", str(tmp_path / "q.sase"), "-e", str(tmp_path / "e.csv")]
    command = [sys.executable, "-m", "cepbench.cli.main", "query", *files, "-a", "cogra", "--format", "csv"]
    kernels = tmp_path / "kernels"
    kernels.mkdir()
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(kernels)}
    chosen = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert chosen.stderr == (
        "cepbench: kernels ran as plain Python; `cepbench compile cogra` compiles them, once, for larger inputs\n"
    )
    assert list(kernels.iterdir()) == []
    environment["NUMBA_DISABLE_JIT"] = "1"
    asked = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert asked.stderr == ""
    assert chosen.stdout == asked.stdout
    assert chosen.stdout.splitlines()[1:] == ["q1,0,10,3,24,False", "q1,10,20,1,1,False"]


def test_plain_python_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    check_compiled()
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    with pytest.raises(PlainKernels, match="plain Python"):
        check_compiled()
