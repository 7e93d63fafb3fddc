"""Checks that `cepbench.advise` keeps its budget, by hand: `python benchmarks/advise_budget.py [BUDGET ...]`.

Hostile queries: matches that explode in the first windows, many queries whose plan is searched for long, one window
over the whole stream, many keys. Reports for each the share of the budget that was spent, compilation left out, and how
many were tried.
"""

import sys
import time
from itertools import permutations

import numpy as np
import pandas as pd

from cepbench import advise

MOST = 1.2
SIZE = 40_000
QUERIES = {
    "explodes": "RETURN MATCHES PATTERN SEQ(A+, B) WITHIN 1000 s",
    "whole": "RETURN COUNT(*) PATTERN SEQ(A+, B) WHERE A.x < NEXT(A).x",
    "visits": "RETURN COUNT(*) PATTERN A+ WHERE A.x < NEXT(A).x WITHIN 30000 s SLIDE 10 s",
    "keys": "RETURN k, COUNT(*) PATTERN SEQ(A+, B) WHERE [k] GROUP-BY k WITHIN 100 s SLIDE 10 s",
    "slides": "RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 1000 s SLIDE 1 s",
    "detects": "RETURN MATCHES PATTERN A AND B AND C WITHIN 100 s PER MATCH",
    "many": "\n\n".join(
        f"RETURN COUNT(*) PATTERN SEQ({first}, {second}, {third}+) WITHIN {within} s SLIDE 10 s"
        for first, second, third in permutations("ABC")
        for within in (50, 100, 200)
    ),
}  # fmt: skip


def events(seed: int) -> pd.DataFrame:
    """Types, keys and values without an order."""
    random = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "time": np.arange(SIZE),
            "type": random.choice(list("ABC"), SIZE),
            "k": random.integers(0, SIZE // 4, SIZE),
            "x": random.integers(0, 1000, SIZE),
        }
    )


def main(budgets: list[float]) -> None:
    held = []
    for seed, (name, text) in enumerate(QUERIES.items()):
        frame = events(seed)
        for budget in budgets:
            began = time.monotonic()
            advice = advise(text, frame, budget=budget, notify=lambda line: None)
            spent = time.monotonic() - began
            able = [candidate for candidate in advice.candidates if candidate.ended != "unsupported"]
            tried = sum(candidate.status is not None for candidate in able)
            held.append(advice.trial_seconds <= MOST * budget)
            print(
                f"{name}, {budget:g} s: {advice.trial_seconds / budget:.2f} of the budget ({spent:.1f} s with reading "
                f"and compiling), {tried} of {len(able)} tried, {advice.recommended}",
                flush=True,
            )
    print(f"within {MOST:g} of the budget: {sum(held)} of {len(held)}")


if __name__ == "__main__":
    main([float(seconds) for seconds in sys.argv[1:]] or [0.5, 2.0, 10.0])
