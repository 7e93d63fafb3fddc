"""Small inputs, and the command as a user meets it."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from cepbench.cli.main import main

QUERY = "RETURN COUNT(*) PATTERN SEQ(A+, B) WITHIN 10 seconds\n"
EVENTS = "time,type,x\n1,A,5\n2,A,7\n3,B,1\n12,A,1\n13,B,2\n"


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    status: int
    out: str
    err: str


Cepbench = Callable[..., Ended]


@pytest.fixture
def cepbench(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cepbench:
    """Runs a command line in this process, with its error handling.

    Whether it had to compile kernels depends on the disk, so what it says of that is left out.
    """
    monkeypatch.delenv("CEPBENCH_DEBUG", raising=False)

    def run(*arguments: str | Path) -> Ended:
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        logging.disable(logging.NOTSET)  # other tests may look at logs
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        told = [line for line in captured.err.splitlines(keepends=True) if "compiling kernels" not in line]
        return Ended(int(ended.value.code or 0), captured.out, "".join(told))

    return run


@pytest.fixture
def query_file(tmp_path: Path) -> Path:
    file = tmp_path / "query.sase"
    file.write_text(QUERY)
    return file


@pytest.fixture
def event_file(tmp_path: Path) -> Path:
    file = tmp_path / "events.csv"
    file.write_text(EVENTS)
    return file
