"""COGRA at type and pattern granularity beside the same loop in C (-O3): events per second on one core, and the ratio.

The C program is compiled for the channels and the semantics of each query; both answers must agree, overflow included.
Neither clock holds what is done once per query: to parse, compile and plan it here, to compile the program there.

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
from cepbench.queries.compile import CompiledQuery, compile_workload
from cepbench.queries.parser import parse_query
from streams import best_of, evaluate, evaluate_planned, planned, random_stream

RETURNS = {
    "COUNT(*)": "COUNT(*)",
    "with SUM, AVG": "COUNT(*), SUM(A.x), AVG(A.x)",
    "with MIN, MAX": "COUNT(*), MIN(A.x), MAX(A.x)",
}
PATTERN = "PATTERN (SEQ(A+, B))+"
SEMANTICS = {"any": 0, "next": 1, "cont": 2}
WINDOWS = [(1_000_000, 1_000_000), (1_000, 1_000), (10_000, 1_000)]
REPETITIONS = 5


def main() -> None:
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000_000
    print(f"{'returns':<13} {'semantics':<9} {'within':>7} {'slide':>7} {'at once':>7} ", end="")
    print(f"{'cogra M/s':>10} {'C M/s':>7} {'C / cogra':>9}")
    with tempfile.TemporaryDirectory() as folder:
        for simultaneous in (1, 3):
            stream = random_stream(events, simultaneous=simultaneous)
            for semantics in SEMANTICS:
                for name, returns in RETURNS.items():
                    for within, slide in WINDOWS:
                        query = f"RETURN {returns} {PATTERN} SEMANTICS {semantics} WITHIN {within} s SLIDE {slide} s"
                        ours, theirs = compare(Path(folder), query, SEMANTICS[semantics], stream)
                        print(
                            f"{name:<13} {semantics:<9} {within:>7} {slide:>7} {simultaneous:>7} {ours:>10.1f} "
                            f"{theirs:>7.1f} {theirs / ours:>9.2f}",
                            flush=True,
                        )


def compare(folder: Path, query: str, semantics: int, stream: EventBatch) -> tuple[float, float]:
    """Millions of events per second of COGRA and of C, whose answers must agree."""
    compiled = compile_workload([parse_query(query)], stream.schema).queries[0]
    program = compile_c(folder, compiled, semantics)
    parts = [rows for part in evaluate("cogra", query, stream)[1] for rows in part.values()]
    rows = AggregateRows.concatenate([part for part in parts if isinstance(part, AggregateRows)])
    window, ring, over, real, least = c_rows(program, compiled, stream)
    assert np.array_equal(rows.window, window)
    assert np.array_equal(rows.ring, ring)
    assert np.array_equal(rows.overflow, over)
    assert np.allclose(rows.real, real, rtol=1e-9)
    assert np.array_equal(rows.least, least)
    executors = planned("cogra", query, stream)
    ours = best_of(lambda: evaluate_planned(executors, stream), REPETITIONS)
    theirs = best_of(lambda: c_rows(program, compiled, stream), REPETITIONS)
    return len(stream) / ours / 1e6, len(stream) / theirs / 1e6


def compile_c(folder: Path, query: CompiledQuery, semantics: int) -> ctypes.CDLL:
    """The C program for the channels of a query, as a shared library."""
    layout = query.layout
    sizes = {"RING": len(layout.ring), "REAL": len(layout.real), "LEAST": len(layout.least), "SEMANTICS": semantics}
    target = folder / ("-".join(map(str, sizes.values())) + ".so")
    if not target.exists():
        flags = ["-O3", "-march=native", "-shared", "-fPIC", *(f"-D{name}={size}" for name, size in sizes.items())]
        subprocess.run(["cc", *flags, "-o", target, Path(__file__).with_suffix(".c")], check=True)
    return ctypes.CDLL(str(target))


def c_rows(program: ctypes.CDLL, query: CompiledQuery, stream: EventBatch) -> tuple[NDArray[Any], ...]:
    """Windows, ring channels, overflow flags, real and least channels of the C program."""
    window, layout, tables = query.window, query.layout, query.parts[0].tables
    assert window is not None
    ints, reals, *_ = query.columns.matrices(stream)
    most = int(stream.time[-1]) // window.slide + 2
    results = (
        np.empty(most, np.int64),
        np.empty((most, len(layout.ring)), np.uint64),
        np.empty(most, np.uint64),
        np.empty((most, len(layout.real)), np.float64),
        np.empty((most, len(layout.least)), np.int64),
    )
    arrays = [
        stream.time, stream.type, np.ascontiguousarray(ints), np.ascontiguousarray(reals), tables.binding,
        tables.start.astype(np.uint8), tables.end.astype(np.uint8), tables.enter_ptr.astype(np.uint64),
        tables.source.astype(np.uint64), tables.ring.bound.astype(np.uint8), tables.real.bound.astype(np.uint8),
        tables.real.column, tables.least.bound.astype(np.uint8), tables.least.column,
    ]  # fmt: skip
    numbers = [ctypes.c_int64(n) for n in (len(tables.start), window.within, window.slide)]
    program.aggregate_trends.restype = ctypes.c_int64
    rows = program.aggregate_trends(
        ctypes.c_int64(len(stream)), *map(_pointer, arrays), *numbers, *map(_pointer, results)
    )
    return tuple(result[:rows] for result in results)


def _pointer(array: NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)


if __name__ == "__main__":
    main()
