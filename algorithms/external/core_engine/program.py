"""Runs queries on the engine of CORE (PyPI `pycer`), in a separate interpreter that `engine.py` starts.

Each run is a line of JSON on stdin: {"types": names, "attributes": [[name, kind], ...], "query": CEQL text, "kind":
type of each event, "columns": values by attribute}; the first attribute is the number of the event. Each run answers a
line on stdout: "process" and "wall" seconds from sending the first event until all output was there, and the "matches",
as lists of numbers; or "error". The process ends with its standard input, and with the process that started it.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import re
import signal
import sys
import tempfile
import time
from typing import Any

NUMBER = re.compile(r"attributes: \[(\d+)")
DIES_WITH_PARENT = 1
MAX_PORTS = 100
"""Ports that a server tries; each process of the engine on this machine holds one."""
TAKEN = "Address already in use"


def new_server(engine: Any) -> Any:
    """A server of the engine, on the first port that no other process holds.

    A server listens on a fixed port, 6000 for the first of a process; every further attempt takes a higher one, even
    after an error.
    """
    for _ in range(MAX_PORTS - 1):
        try:
            return engine.PyOfflineServer()
        except RuntimeError as error:
            if TAKEN not in str(error):
                raise
    return engine.PyOfflineServer()


def measured(engine: Any, job: dict[str, Any]) -> dict[str, Any]:
    """Runs one query on one stream."""
    server = new_server(engine)
    attributes = ", ".join(f"{name}:{kind}" for name, kind in job["attributes"])
    declared = ",\n".join(f"EVENT {name} {{ {attributes} }}" for name in job["types"])
    ids = {info.name: info.id for info in server.declare_stream(f"CREATE STREAM S {{\n{declared}\n}}").events_info}
    server.add_query(job["query"])
    codes = [ids[name] for name in job["types"]]
    values = {"int": engine.PyIntValue, "double": engine.PyDoubleValue}
    makers = [values[kind] for _, kind in job["attributes"]]
    events = [
        engine.PyEvent(codes[kind], [make(value) for make, value in zip(makers, row, strict=True)])
        for kind, row in zip(job["kind"], zip(*job["columns"], strict=True), strict=True)
    ]
    began, spent = time.perf_counter(), time.process_time()
    server.send_events(events)
    text = server.get_output()
    answer: dict[str, Any] = {"wall": time.perf_counter() - began, "process": time.process_time() - spent}
    lines = (line for line in text.splitlines() if line.startswith("["))
    answer["matches"] = [[int(number) for number in NUMBER.findall(line)] for line in lines]
    return answer


def main() -> None:
    """Answers requests until stdin ends."""
    with contextlib.suppress(OSError, AttributeError):  # not on Linux
        ctypes.CDLL(None).prctl(DIES_WITH_PARENT, signal.SIGKILL)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # keeps the engine's own messages off stdout
    with tempfile.TemporaryDirectory() as folder:  # for its log
        os.chdir(folder)
        engine = importlib.import_module("pycer")
        for line in sys.stdin:
            try:
                answer = measured(engine, json.loads(line))
            except Exception as error:  # any error of the engine becomes the answer
                answer = {"error": f"{type(error).__name__}: {error}"}
            print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
