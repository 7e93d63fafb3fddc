"""Many sub-streams: events per second from a DataFrame to the answer.

Run by hand: python benchmarks/keys.py [algorithm ...]
"""

from __future__ import annotations

import sys
import time

import numpy as np
import pandas as pd

from cepbench.pipeline.in_process import evaluate

QUERY = "RETURN key, COUNT(*) PATTERN SEQ(A, B) GROUP-BY key WITHIN 10 seconds"
EVENTS = 1_000_000
SUBSTREAMS = (10, 1_000, 50_000)
TRIES = 3


def stream(substreams: int, events: int) -> pd.DataFrame:
    """Two types and the sub-streams at random, a thousand events per second."""
    random = np.random.default_rng(substreams)
    kinds = pd.Categorical.from_codes(random.integers(0, 2, events).astype(np.int8), ["A", "B"]).astype(str)
    return pd.DataFrame(
        {"time": np.arange(events) // 1000, "type": kinds, "key": random.integers(0, substreams, events)}
    )


def main() -> None:
    for name in sys.argv[1:] or ("cogra", "aseq", "greta"):
        rates = []
        for substreams in SUBSTREAMS:
            evaluate(QUERY, stream(substreams, 1000), name)  # loads the kernels
            frame = stream(substreams, EVENTS)
            taken = []
            for _ in range(TRIES):
                begin = time.perf_counter()
                evaluate(QUERY, frame, name)
                taken.append(time.perf_counter() - begin)
            rates.append(EVENTS / float(np.median(taken)))
        shown = ", ".join(f"{n} keys {rate / 1e6:.3f}" for n, rate in zip(SUBSTREAMS, rates, strict=True))
        print(f"{name}: million events/s at {shown}; last / first {rates[-1] / rates[0]:.2f}")


if __name__ == "__main__":
    main()
