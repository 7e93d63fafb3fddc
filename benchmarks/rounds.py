"""Spread of the rounds of a cell, whose parents are new for each round, against that of wholly fresh processes.

Run by hand: python benchmarks/rounds.py
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from math import exp, log
from pathlib import Path

from cepbench.algorithms.registry import make
from cepbench.generators.registry import from_spec
from cepbench.metrics.statistics import median
from cepbench.pipeline.generation import generate
from cepbench.pipeline.measured import Session, measure_cell, measuring_session
from cepbench.pipeline.measured_task import MeasuredRun

ROUNDS = 5
REPEAT = 0.4
QUERIES = {
    "kleene": "RETURN key, COUNT(*) PATTERN SEQ(A, B+) GROUP-BY key WITHIN 100 s",
    "sequence": "RETURN key, COUNT(*) PATTERN SEQ(A, B, C) GROUP-BY key WITHIN 100 s",
}
ALGORITHMS = ("cogra", "greta", "hamlet", "gloria", "sase")
FRESH = """
import pickle, sys
from cepbench.pipeline.measured import measure_cell
job = pickle.load(open(sys.argv[1], "rb"))
print(measure_cell(job, 60).summary.service_total)
"""


def main() -> None:
    """Prints both spreads (largest over smallest of five) of ten cells, and geometric means."""
    ratios, spreads = [], []
    with tempfile.TemporaryDirectory() as folder:
        store = Path(folder) / "uniform"
        generator = from_spec("uniform", {"events": 4000, "types": 3, "groups": 4, "rate": 1})
        generate(generator, store, spark=None, buckets=1)
        spark = measuring_session("local[1]", 4 * 10**9)
        for name, query in QUERIES.items():
            for algorithm in ALGORITHMS:
                job = MeasuredRun(store, query, make(algorithm), repeat=REPEAT)
                in_rounds, fresh = [], []
                for number in range(1, ROUNDS + 1):
                    in_rounds.append(_round(job, number, spark))
                    fresh.append(_fresh(job, Path(folder) / "job"))
                of_rounds, of_fresh = (max(seconds) / min(seconds) for seconds in (in_rounds, fresh))
                ratios.append(median(in_rounds) / median(fresh))
                spreads.append(of_rounds / of_fresh)
                print(f"{algorithm} {name}: {of_rounds:.3f} in rounds, {of_fresh:.3f} in fresh processes", flush=True)
    print(f"in rounds over in fresh processes: spread {_mean(spreads):.3f}, time {_mean(ratios):.3f}")


def _mean(ratios: Sequence[float]) -> float:
    return exp(sum(map(log, ratios)) / len(ratios))


def _round(job: MeasuredRun, number: int, spark: Session) -> float:
    seconds = measure_cell(MeasuredRun(**{**vars(job), "round": number}), 60, spark).summary.service_total
    assert seconds is not None
    return seconds


def _fresh(job: MeasuredRun, file: Path) -> float:
    file.write_bytes(pickle.dumps(job))
    return float(subprocess.run([sys.executable, "-c", FRESH, file], check=True, capture_output=True, text=True).stdout)


if __name__ == "__main__":
    main()
