"""COGRA at type granularity beside the same loop in C (-O3): events per second on one core, and their ratio.

Run by hand: python benchmarks/type_grained.py [events]
"""

from __future__ import annotations

import ctypes
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.rows import AggregateRows
from cepbench.events.batch import EventBatch
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from streams import best_of, evaluate, random_stream

QUERY = "RETURN COUNT(*) PATTERN (SEQ(A+, B))+ WITHIN {} s SLIDE {} s"
WINDOWS = [(1_000_000, 1_000_000), (1_000, 1_000), (10_000, 5_000), (10_000, 1_000)]


def main() -> None:
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000_000
    with tempfile.TemporaryDirectory() as folder:
        library = compile_c(Path(folder))
        print(f"{'within':>9} {'slide':>9} {'at once':>7} {'cogra M/s':>10} {'C M/s':>8} {'C / cogra':>9}")
        for simultaneous in (1, 3):
            stream = random_stream(events, simultaneous=simultaneous)
            for within, slide in WINDOWS:
                compare(library, stream, within, slide, simultaneous)


def compare(library: ctypes.CDLL, stream: EventBatch, within: int, slide: int, simultaneous: int) -> None:
    """Both answers, which must agree, and both rates."""
    query = QUERY.format(within, slide)
    _, parts = evaluate("cogra", query, stream)
    rows = AggregateRows.concatenate([row for part in parts for row in part.values() if isinstance(row, AggregateRows)])
    reference = c_rows(library, stream, within, slide)
    assert np.array_equal(rows.window, reference[0])
    assert np.array_equal(rows.ring[:, 0], reference[1])
    assert np.array_equal(rows.overflow.astype(np.uint8), reference[2])
    ours = len(stream) / best_of(lambda: evaluate("cogra", query, stream)) / 1e6
    theirs = len(stream) / best_of(lambda: c_rows(library, stream, within, slide)) / 1e6
    print(f"{within:>9} {slide:>9} {simultaneous:>7} {ours:>10.1f} {theirs:>8.1f} {theirs / ours:>9.2f}", flush=True)


def compile_c(folder: Path) -> ctypes.CDLL:
    """The C program as a shared library."""
    source = Path(__file__).with_suffix(".c")
    target = folder / "type_grained.so"
    subprocess.run(["cc", "-O3", "-march=native", "-shared", "-fPIC", "-o", target, source], check=True)
    return ctypes.CDLL(str(target))


def c_rows(library: ctypes.CDLL, stream: EventBatch, within: int, slide: int) -> tuple[NDArray[Any], ...]:
    """Windows, counts and overflow flags of the C program."""
    tables = compile_workload([parse_query(QUERY.format(within, slide))], stream.schema).queries[0].parts[0].tables
    most = int(stream.time[-1]) // slide + 2
    window, count, over = np.empty(most, np.int64), np.empty(most, np.uint64), np.empty(most, np.uint8)
    arrays = [
        stream.time, stream.type, tables.binding, tables.start.astype(np.uint64), tables.end.astype(np.uint8),
        tables.enter_ptr.astype(np.uint64), tables.source.astype(np.uint64),
    ]  # fmt: skip
    pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in arrays]
    results = [array.ctypes.data_as(ctypes.c_void_p) for array in (window, count, over)]
    numbers = [ctypes.c_int64(n) for n in (len(tables.start), within, slide)]
    library.count_trends.restype = ctypes.c_int64
    rows = library.count_trends(ctypes.c_int64(len(stream)), *pointers, *numbers, *results)
    return window[:rows], count[:rows], over[:rows]


if __name__ == "__main__":
    main()
