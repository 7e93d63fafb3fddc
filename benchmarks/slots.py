"""One slot beside two: the import of a large CSV file, and queries on a store of 50 equally large groups.

Times are whole calls with the session up, after a first one on few events that loads what workers need. Prints each
time, its throughput, and the ratio of one slot to two. Run by hand: python benchmarks/slots.py [gigabytes] [events]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import pyarrow as pa
from pyarrow import csv

from cepbench.generators.registry import from_spec
from cepbench.pipeline.distributed import evaluate_on_spark
from cepbench.pipeline.generation import generate
from cepbench.pipeline.import_events import import_events
from cepbench.pipeline.session import session, stop

BLOCK = 500_000
BUCKETS = 8
REPETITIONS = 3
QUERY = "RETURN key, COUNT(*) PATTERN SEQ(A+, B) GROUP-BY key WITHIN 20 s"
SLOTS = (1, 2)


def main() -> None:
    gigabytes = float(sys.argv[1]) if len(sys.argv) > 1 else 0.5
    events = int(sys.argv[2]) if len(sys.argv) > 2 else 5_000_000
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        rows, size = write_csv(root / "events.csv", int(gigabytes * 1e9))
        write_csv(root / "few.csv", 10**6)
        compare(f"import of {size / 1e9:.2f} GB", rows, lambda slots: import_seconds(root, slots))
        make(root / "few", 10_000)
        make(root / "store", events)
        for algorithm in ("cogra", "greta"):
            compare(
                f"{algorithm}, end to end",
                events,
                lambda slots, algorithm=algorithm: query_seconds(root, algorithm, slots),
            )


def compare(what: str, count: int, seconds_of: Callable[[int], float]) -> None:
    seconds = {slots: seconds_of(slots) for slots in SLOTS}
    listed = ", ".join(f"local[{slots}] {s:.1f} s ({count / s / 1e6:.2f} M/s)" for slots, s in seconds.items())
    print(f"{what}: {listed}, ratio {seconds[1] / seconds[2]:.2f}", flush=True)


def import_seconds(root: Path, slots: int) -> float:
    stop()
    spark = session(f"local[{slots}]")
    for name in ("few", "events"):
        began = time.perf_counter()
        path = root / f"imported-{slots}"
        import_events(root / f"{name}.csv", path, spark=spark, key=("key",), buckets=BUCKETS, replace=True)
    return time.perf_counter() - began


def query_seconds(root: Path, algorithm: str, slots: int) -> float:
    """The median of some calls."""
    stop()
    master = f"local[{slots}]"
    evaluate_on_spark(QUERY, root / "few", algorithm, master=master)
    times = []
    for _ in range(REPETITIONS):
        began = time.perf_counter()
        evaluate_on_spark(QUERY, root / "store", algorithm, master=master)
        times.append(time.perf_counter() - began)
    return median(times)


def make(path: Path, events: int) -> None:
    stop()
    parameters = {"events": events, "types": 4, "groups": 50, "rate": 1000}
    generate(from_spec("uniform", parameters), path, spark=session("local[2]"), key=("key",), buckets=BUCKETS)


def write_csv(path: Path, size: int) -> tuple[int, int]:
    """Events of four types and 50 keys until the file has about this many bytes; returns rows and bytes."""
    random = np.random.default_rng(0)
    rows = 0
    types = pa.array(["A", "B", "C", "D"])
    schema = pa.schema([("time", pa.int64()), ("type", pa.string()), ("key", pa.int64()), ("value", pa.float64())])
    with csv.CSVWriter(str(path), schema) as writer:
        while path.stat().st_size < size:
            block = min(BLOCK, max(1000, size // 40))
            kinds = types.take(pa.array(random.integers(4, size=block)))
            times = np.arange(rows, rows + block)
            columns = [times, kinds, random.integers(50, size=block), np.round(random.random(block) * 1e4, 3)]
            writer.write_batch(pa.record_batch(columns, schema=schema))
            rows += block
    return rows, path.stat().st_size


if __name__ == "__main__":
    main()
