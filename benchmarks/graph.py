"""GRETA: edges visited per second, and how time grows with the events of a window (quadratic: ratio 4 per doubling).

Run by hand: python benchmarks/graph.py
"""

from __future__ import annotations

from functools import partial

from streams import best_of, evaluate, random_stream

QUERIES = {
    "A+": "RETURN COUNT(*) PATTERN A+",
    "(SEQ(A+, B))+": "RETURN COUNT(*) PATTERN (SEQ(A+, B))+",
    "A+, predicate holds for half": "RETURN COUNT(*) PATTERN A+ WHERE A.x < NEXT(A).x",
    "A+, four windows per event": "RETURN COUNT(*) PATTERN A+ WITHIN 8000 s SLIDE 2000 s",
    "A+, half, four windows": "RETURN COUNT(*) PATTERN A+ WHERE A.x < NEXT(A).x WITHIN 8000 s SLIDE 2000 s",
    "A+, SUM and MIN": "RETURN SUM(A.x), MIN(A.x) PATTERN A+",
}
SIZES = (10_000, 20_000, 40_000)


def main() -> None:
    print(f"{'query':<30} {'events':>7} {'M edges':>8} {'M edges/s':>10} {'time ratio':>10}")
    for name, query in QUERIES.items():
        before = None
        for size in SIZES:
            stream = random_stream(size)
            executor, _ = evaluate("greta", query, stream)
            seconds = best_of(partial(evaluate, "greta", query, stream), 3)
            ratio = "" if before is None else f"{seconds / before:.2f}"
            edges = executor.details()["edges"] / 1e6
            rate = edges / seconds
            print(f"{name:<30} {size:>7} {edges:>8.1f} {rate:>10.0f} {ratio:>10}", flush=True)
            before = seconds


if __name__ == "__main__":
    main()
