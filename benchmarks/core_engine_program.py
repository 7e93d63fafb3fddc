"""Runs queries on the real CORE engine (PyPI `pycer`), in an interpreter of its own that `core_engine` starts.

A line of JSON on stdin per run: {"types": names, "query": CEQL text, "events": [type code, time, x] of each, "matches":
whether to tell them}; a line on stdout each: seconds of the process and of the clock from the first event sent until
all output was there, the number of matches, and, if asked for, the positions of the events of each.
"""

from __future__ import annotations

import importlib
import json
import os
import re
import sys
import tempfile
import time
from typing import Any

POSITION = re.compile(r"attributes: \[(\d+)")


def measured(engine: Any, job: dict[str, Any]) -> dict[str, Any]:
    """One query on one stream; the first attribute of an event is its position."""
    server = engine.PyOfflineServer()
    declared = ",\n".join(f"EVENT {name} {{ id:int, ts:int, x:int }}" for name in job["types"])
    ids = {info.name: info.id for info in server.declare_stream(f"CREATE STREAM S {{\n{declared}\n}}").events_info}
    server.add_query(job["query"])
    codes, value = [ids[name] for name in job["types"]], engine.PyIntValue
    events = [
        engine.PyEvent(codes[kind], [value(n), value(moment), value(x)])
        for n, (kind, moment, x) in enumerate(job["events"])
    ]
    began, spent = time.perf_counter(), time.process_time()
    server.send_events(events)
    text = server.get_output()
    told: dict[str, Any] = {"wall": time.perf_counter() - began, "process": time.process_time() - spent}
    lines = [line for line in text.splitlines() if line.startswith("[")]
    told["count"] = len(lines)
    if job["matches"]:
        told["matches"] = [[int(place) for place in POSITION.findall(line)] for line in lines]
    return told


def main() -> None:
    """Until stdin ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # the engine's own messages
    with tempfile.TemporaryDirectory() as folder:  # for its log
        os.chdir(folder)
        engine = importlib.import_module("pycer")
        for line in sys.stdin:
            print(json.dumps(measured(engine, json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
