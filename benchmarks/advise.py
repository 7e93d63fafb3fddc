"""Checks predictions of `cepbench.advise` against full runs, by hand: `python benchmarks/advise.py [BUDGET]`.

Twelve workloads on made-up streams. Reports for each
the recommended system over the best one, and of each system predicted over measured time.
"""

import sys

import numpy as np
import pandas as pd

from cepbench import advise, bench
from cepbench.metrics.status import Status

QUERIES = (
    ("seq", "RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 60 s SLIDE 20 s"),
    ("seq3", "RETURN COUNT(*) PATTERN SEQ(A, B, C) WITHIN 100 s"),
    ("keyed", "RETURN k, COUNT(*) PATTERN SEQ(A+, B) WHERE [k] GROUP-BY k WITHIN 100 s SLIDE 50 s"),
    ("kleene", "RETURN COUNT(*) PATTERN SEQ(A+, B) WITHIN 200 s"),
    ("adjacent", "RETURN COUNT(*) PATTERN SEQ(A+, B) WHERE A.x < NEXT(A).x WITHIN 500 s"),
    (
        "adjacent-keyed",
        "RETURN k, COUNT(*) PATTERN A+ WHERE [k] AND A.x < NEXT(A).x GROUP-BY k WITHIN 1000 s SLIDE 500 s",
    ),
    ("negation", "RETURN COUNT(*) PATTERN SEQ(A, NOT C, B) WITHIN 100 s"),
    ("next", "RETURN COUNT(*) PATTERN SEQ(A+, B) SEMANTICS next WHERE A.x < NEXT(A).x WITHIN 100 s"),
    ("contiguous", "RETURN COUNT(*) PATTERN A+ SEMANTICS contiguous WHERE [k] AND A.x < NEXT(A).x WITHIN 100 s"),
    ("sum", "RETURN SUM(A.x), MAX(A.x) PATTERN SEQ(A+, B) WITHIN 60 s"),
    ("detect", "RETURN COUNT(*) PATTERN SEQ(A, B) WHERE A.x > B.x WITHIN 20 s PER MATCH"),
    ("whole", "RETURN COUNT(*) PATTERN SEQ(A, B)"),
)
EVENTS = 60_000


def events(seed: int, size: int = EVENTS) -> pd.DataFrame:
    """Bursts, and keys of which some are frequent."""
    random = np.random.default_rng(seed)
    steps = random.choice([0, 1, 1, 2], size) * np.where((np.arange(size) // 5000) % 2, 1, 3)
    return pd.DataFrame(
        {
            "time": np.cumsum(steps),
            "type": random.choice(list("AABC"), size),
            "k": np.minimum(random.geometric(0.15, size), 20),
            "x": random.integers(0, 100, size),
        }
    )


def main(budget: float) -> None:
    ratios: list[float] = []
    inside, worst = 0, []
    for seed, (name, query) in enumerate(QUERIES):
        frame = events(seed)
        advice = advise(query, frame, budget=budget)
        tried = {entry.algorithm: entry for entry in advice.candidates if entry.seconds is not None}
        full = bench(query, frame, list(tried), seconds=20, repeat=1)
        times = {entry.algorithm: entry.seconds for entry in full.entries if entry.seconds is not None}
        wrong = [entry.algorithm for entry in full.entries if entry.status is Status.WRONG]
        best = min(times.values())
        regret = times.get(advice.recommended or "", float("inf")) / best
        worst.append(regret)
        predicted = {n: c for n, c in tried.items() if not c.measured and n in times}
        off = {n: c.seconds / times[n] for n, c in predicted.items()}
        inside += sum((c.seconds_low or 0) <= times[n] <= (c.seconds_high or 0) for n, c in predicted.items())
        ratios += off.values()
        predictions = ", ".join(f"{n} {ratio:.2f}" for n, ratio in off.items())
        print(
            f"{name}: {advice.recommended} at {regret:.2f} of the best; {predictions or 'all measured'} {wrong or ''}",
            flush=True,
        )
    good = sum(0.5 <= ratio <= 2 for ratio in ratios)
    print(f"recommended within 1.3 of the best: {sum(regret <= 1.3 for regret in worst)} of {len(worst)}")
    print(f"predicted within a factor of two: {good} of {len(ratios)}; inside the interval: {inside}")


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 6.0)
