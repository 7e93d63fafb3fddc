"""The process of the engine: started on first use, used over its pipes, and ended with the worker."""

from __future__ import annotations

import atexit
import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from cepbench.algorithms.base import NotEnoughMemory
from cepbench.algorithms.external import packages
from cepbench.events.errors import CepbenchError

MAX_SECONDS = 3600.0
PROGRAM = Path(__file__).with_name("program.py")
REFUSED = "Failed to process client request"
"""Output of the engine when it rejects a query; it then continues without the query."""


class EngineFailed(CepbenchError):
    """The engine's process ended or rejected a query; the message contains its output."""


def missing() -> str | None:
    """Why the engine cannot run on this machine, in one line; None if it can."""
    return packages.missing(packages.CORE)


class Engine:
    """One process of the engine.

    Attributes
    ----------
    limit
        Seconds after which a call fails and the process is ended.
    start_seconds
        From its start to its first answer.
    empty_seconds
        What its process needs for a call without events.
    """

    def __init__(self, limit: float = MAX_SECONDS) -> None:
        self.limit = limit
        state = packages.look_up(packages.CORE)
        if not isinstance(state, packages.Installed):
            raise EngineFailed(str(missing()))
        started = time.perf_counter()
        self.pid = os.getpid()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [str(state.python), str(PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )
        self._empty()
        self.start_seconds = time.perf_counter() - started
        self.empty_seconds = self._empty()

    def run(
        self,
        pattern: str,
        span: str,
        types: Sequence[str],
        kind: Sequence[int],
        columns: Sequence[Sequence[float]],
        kinds: Mapping[str, str] | None = None,
    ) -> dict[str, Any]:
        """Runs `WHERE pattern WITHIN span` on events and returns what `program.measured` reports.

        `kinds` are the names and kinds of the columns after the first; the first column has the numbers of the events.
        Raises `EngineFailed` and `NotEnoughMemory`.
        """
        query = f"SELECT * FROM S\nWHERE {pattern}\nWITHIN {span}\nCONSUME BY NONE"
        attributes = [["id", "int"], *([name, kind] for name, kind in (kinds or {}).items())]
        job = {
            "types": list(types), "attributes": attributes, "query": query, "kind": list(kind),
            "columns": [list(column) for column in columns],
        }  # fmt: skip
        if self._process.poll() is not None:
            raise EngineFailed("CORE's engine has ended")
        before = self._output()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        started = time.perf_counter()
        watchdog = threading.Timer(self.limit, self._process.kill)
        watchdog.start()
        try:
            self._process.stdin.write(json.dumps(job) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            watchdog.cancel()
        if not line:
            raise self._ended(time.perf_counter() - started >= self.limit)
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise _failure(f"refused a query: {answer['error']}")
        if REFUSED in self._output()[len(before) :]:
            raise EngineFailed(f"CORE's engine refused a query: {' '.join(query.split())}")
        return answer

    def close(self) -> None:
        """Ends the process."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._log):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def _empty(self) -> float:
        """Seconds of the process for a call without events."""
        return float(self.run("(T0 as v0)", "1 EVENTS", ["T0"], [], [[]])["process"])

    def _ended(self, late: bool) -> CepbenchError:
        """Why the process ended, which closed its output."""
        status = self._process.wait()
        if late:
            return _failure(f"did not answer within {self.limit:g} s, and was ended")
        if status == -signal.SIGKILL:
            return _failure("was killed; perhaps the machine ran out of memory")
        lines = self._output().strip().splitlines()
        return _failure(f"ended: {lines[-1] if lines else f'status {status}'}")

    def _output(self) -> str:
        """Everything that the engine has printed."""
        self._log.seek(0)
        return self._log.read().decode(errors="replace")


def _failure(text: str) -> CepbenchError:
    lacks = "bad_alloc" in text or "MemoryError" in text
    return (NotEnoughMemory if lacks else EngineFailed)(f"CORE's engine {text}")


_engines: list[Engine] = []


def current() -> Engine:
    """The engine of this process; starts one if there is none."""
    if not _engines or _engines[0].pid != os.getpid():
        _engines[:] = [Engine()]
        atexit.register(_engines[0].close)
    return _engines[0]
