"""COGRA by panes and by each window, and the same maps of panes in C (-O3): events per second on one core.

The C program counts trends of the first pattern only; all answers must agree, overflow included.

Run by hand: python benchmarks/panes.py [events]
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
from cepbench.algorithms.trends.cogra.kernels.pane_tables import pane_tables_of
from cepbench.events.batch import EventBatch
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from streams import best_of, evaluate, evaluate_planned, planned, random_stream

RETURNS = {
    "COUNT(*)": "COUNT(*)",
    "with SUM, AVG": "COUNT(*), SUM(A.x), AVG(A.x)",
    "with MIN, MAX": "COUNT(*), MIN(A.x), MAX(A.x)",
}
PATTERN, NEGATED = "(SEQ(A+, B))+", "(SEQ(A+, NOT C, B))+"
PER_PANE = 50
OVERLAPS = (1, 7, 60, 600)
REPETITIONS = 3


def main() -> None:
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000_000
    stream = random_stream(events)
    part = random_stream(min(events, 200_000))
    print(f"{'returns':<13} {'windows':>7} {'panes M/s':>9} {'each M/s':>8} {'C M/s':>6} {'C / panes':>9}")
    with tempfile.TemporaryDirectory() as folder:
        program = compile_c(Path(folder))
        for name, returns in RETURNS.items():
            for overlap in OVERLAPS:
                query = f"RETURN {returns} PATTERN {PATTERN} WITHIN {PER_PANE * overlap} s SLIDE {PER_PANE} s"
                compare(query, part)
                panes, each = speed("panes", query, stream), speed("each", query, part)
                line = f"{name:<13} {overlap:>7} {panes:>9.1f} {each:>8.1f}"
                if returns == "COUNT(*)":
                    expected, (count, over) = rows_of("panes", query, stream), c_rows(program, query, stream)
                    assert np.array_equal(expected.ring[:, 0], count)
                    assert np.array_equal(expected.overflow, over)
                    theirs = len(stream) / best_of(lambda q=query: c_rows(program, q, stream), REPETITIONS) / 1e6
                    line += f" {theirs:>6.1f} {theirs / panes:>9.2f}"
                print(line, flush=True)
    negated, part = random_stream(events, types=3), random_stream(min(events, 200_000), types=3)
    for overlap in OVERLAPS:
        query = f"RETURN COUNT(*) PATTERN {NEGATED} WITHIN {PER_PANE * overlap} s SLIDE {PER_PANE} s"
        compare(query, part)
        panes, each = speed("panes", query, negated), speed("each", query, part)
        print(f"{'with NOT':<13} {overlap:>7} {panes:>9.1f} {each:>8.1f}", flush=True)


def speed(windows: str, query: str, stream: EventBatch) -> float:
    """Millions of events per second of COGRA with one way to deal with windows, once the query is planned."""
    executors = planned(f"cogra[windows={windows}]", query, stream)
    return len(stream) / best_of(lambda: evaluate_planned(executors, stream), REPETITIONS) / 1e6


def rows_of(windows: str, query: str, stream: EventBatch) -> AggregateRows:
    """All rows of COGRA with one way to deal with windows."""
    parts = [rows for part in evaluate(f"cogra[windows={windows}]", query, stream)[1] for rows in part.values()]
    return AggregateRows.concatenate([part for part in parts if isinstance(part, AggregateRows)])


def compare(query: str, stream: EventBatch) -> None:
    """Both ways must give the same rows; sums of floats count only where the number of trends does."""
    panes, each = rows_of("panes", query, stream), rows_of("each", query, stream)
    assert np.array_equal(panes.window, each.window)
    assert np.array_equal(panes.ring, each.ring)
    assert np.array_equal(panes.overflow, each.overflow)
    assert np.array_equal(panes.least, each.least)
    exact = each.overflow == 0
    assert np.allclose(panes.real[exact], each.real[exact], rtol=1e-9)


def compile_c(folder: Path) -> ctypes.CDLL:
    """The C program as a shared library."""
    flags = ["-O3", "-march=native", "-shared", "-fPIC"]
    subprocess.run(["cc", *flags, "-o", folder / "panes.so", Path(__file__).with_suffix(".c")], check=True)
    return ctypes.CDLL(str(folder / "panes.so"))


def c_rows(program: ctypes.CDLL, query: str, stream: EventBatch) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Counts and overflow flags of the C program, a row per window with a match."""
    compiled = compile_workload([parse_query(query)], stream.schema).queries[0]
    window, tables = compiled.window, compiled.parts[0].tables
    assert window is not None
    maps, columns = pane_tables_of(tables).maps, np.argsort(~tables.end, kind="stable")
    after = np.empty(len(columns), np.int64)
    after[columns] = maps.after.astype(np.int64)
    enters = np.zeros((len(maps.stopped), len(columns)), np.uint8)
    enters[0] = tables.start
    for p in range(len(columns)):
        enters[after[tables.source[tables.enter_ptr[p] : tables.enter_ptr[p + 1]]], p] = 1
    most = int(stream.time[-1]) // window.slide + 2
    count, over = np.empty(most, np.uint64), np.empty(most, np.uint64)
    arrays: list[NDArray[Any]] = [
        stream.time, stream.type, tables.binding, enters, after, tables.end.astype(np.uint8),
        tables.enter_ptr.astype(np.int64), tables.source.astype(np.int64), count, over,
    ]  # fmt: skip
    numbers = [ctypes.c_int64(n) for n in (len(stream), *enters.shape, window.within, window.slide)]
    program.count_by_panes.restype = ctypes.c_int64
    rows = program.count_by_panes(*numbers, *(ctypes.c_void_p(array.ctypes.data) for array in arrays))
    return count[:rows], over[:rows]


if __name__ == "__main__":
    main()
