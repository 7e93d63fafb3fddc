"""`cepbench query` on 10 million events in Parquet: seconds and memory of the whole command, from file to answer.

Run by hand: python benchmarks/query.py [CHECKOUT ...]

Checkouts (folders named `cepbench`; by default this one) run in turns, and must give the same answers. A first run,
which may compile kernels, does not count.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

QUERY = "RETURN key, COUNT(*) PATTERN SEQ(A, B+, C) GROUP-BY key WITHIN 1 minute"
EVENTS = 10_000_000
KEYS = 1_000
RATE = 1_000
"""Events per second of the stream: sixty of each key in a window of a minute."""
TRIES = 5


def write(path: Path, events: int, text_keys: bool) -> None:
    """Four types and the keys at random, and two attributes that the query does not need."""
    random = np.random.default_rng(7)
    keys = pa.array(random.integers(0, KEYS, events))
    columns = {
        "time": pa.array(np.arange(events) // RATE),
        "type": pa.array(np.array(list("ABCD"))[random.integers(0, 4, events)]),
        "key": pa.array([f"key {n}" for n in range(KEYS)]).take(keys) if text_keys else keys,
        "price": pa.array(random.random(events)),
        "volume": pa.array(random.integers(0, 100, events)),
    }
    pq.write_table(pa.table(columns), path)


def measured(checkout: Path, folder: Path, events: Path) -> tuple[float, float, float]:
    """Seconds, seconds of the processor, and peak MB of a command; its answer is in `answer.parquet`."""
    files = ["-q", folder / "query.sase", "-e", events, "-o", folder / "answer.parquet"]
    command = [sys.executable, "-m", "cepbench.cli.main", "query", "-a", "cogra", *map(str, files)]
    environment: Mapping[str, str] = {**os.environ, "PYTHONPATH": str(checkout.parent)}
    begin = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - begin
    if status != 0:
        raise SystemExit(f"{checkout}: the command failed with status {os.waitstatus_to_exitcode(status)}")
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def main() -> None:
    checkouts = [Path(name).resolve() for name in sys.argv[1:]] or [Path(__file__).resolve().parents[1]]
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "query.sase").write_text(QUERY)
        for size in (100, EVENTS):
            for kind in ("numbers", "texts"):
                events = folder / f"{kind}-{size}.parquet"
                write(events, size, kind == "texts")
                runs = {checkout: [measured(checkout, folder, events)][:0] for checkout in checkouts}
                answers = set()
                for _ in range(TRIES):
                    for checkout in checkouts:
                        runs[checkout].append(measured(checkout, folder, events))
                        answers.add((folder / "answer.parquet").read_bytes())
                if len(answers) > 1:
                    raise SystemExit("the answers differ")
                for checkout, values in runs.items():
                    seconds, cpu, peak = (median(column) for column in zip(*values, strict=True))
                    shown = f"{seconds:.2f} s, {cpu:.2f} s of CPU, peak {peak:.0f} MB"
                    print(f"{size:,} events, keys are {kind}: {shown} ({checkout})", flush=True)


if __name__ == "__main__":
    main()
