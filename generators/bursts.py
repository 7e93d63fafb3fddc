"""Runs of consecutive events that have something in common, such as a company or a house."""

import numpy as np
from numpy.typing import NDArray


def burst_numbers(random: np.random.Generator, n: int, mean: float) -> NDArray[np.int64]:
    """The burst number (0, 0, .., 1, ..) of each of n > 0 events, int64[n]. Lengths are memoryless, >= 1, with this
    mean.

    With mean 1, every burst has one event. The last burst is cut.
    """
    begins = random.random(n) < 1 / mean
    begins[0] = True
    return np.cumsum(begins, dtype=np.int64) - 1
