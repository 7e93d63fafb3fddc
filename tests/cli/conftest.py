"""Small inputs, and the command line run as a user runs it."""

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

    Notices of kernel compilation are left out, since they depend on what is cached on disk.
    """
    monkeypatch.delenv("CEPBENCH_DEBUG", raising=False)
    monkeypatch.setenv("CEPBENCH_PLUGINS", "")  # `--plugin` adds to it

    def run(*arguments: str | Path) -> Ended:
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        logging.disable(logging.NOTSET)  # other tests may look at logs
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        shown = [line for line in captured.err.splitlines(keepends=True) if "compiling kernels" not in line]
        return Ended(int(ended.value.code or 0), captured.out, "".join(shown))

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
