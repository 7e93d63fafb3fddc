"""What was decided burst by burst: the newest decisions, and all of them added up by the size of their bursts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.hamlet.kernels.bursts import MOST
from cepbench.algorithms.hamlet.kernels.stream import COLUMNS, CREATED, EVENTS, NON_SHARED, QUERIES, SHARED

NUMBERS = ("traced_bursts", "traced_shared", "traced_snapshots", "predicted_shared", "predicted_alone")
"""Numbers by size: bursts, those that some queries shared, snapshots at event level, and both predicted costs."""
_SIZES = MOST.bit_length()


class DecisionTrace:
    """Keeps the newest `most` decisions, and a sum for each power of two: space does not grow with the stream."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.newest = np.zeros((0, COLUMNS), np.float64)
        self.sums = np.zeros((_SIZES, len(NUMBERS)), np.float64)

    def add(self, decisions: NDArray[np.float64]) -> None:
        """Adds `decisions[n, COLUMNS]`, as `kernels.stream` names their columns."""
        if self.most == 0:
            return
        self.newest = np.concatenate([self.newest, decisions[-self.most :]])[-self.most :].copy()
        size = np.frexp(decisions[:, EVENTS])[1] - 1
        numbers = np.ones((len(decisions), len(NUMBERS)))
        numbers[:, 1] = decisions[:, QUERIES] > 0
        numbers[:, 2:] = decisions[:, [CREATED, SHARED, NON_SHARED]]
        np.add.at(self.sums, size, numbers)

    def details(self) -> Mapping[str, float]:
        """`traced_bursts_64` and so on: sums over bursts of 64 to 127 events; none for sizes that did not occur."""
        return {
            f"{name}_{2**size}": float(self.sums[size, n])
            for size in np.flatnonzero(self.sums[:, 0]).tolist()
            for n, name in enumerate(NUMBERS)
        }
