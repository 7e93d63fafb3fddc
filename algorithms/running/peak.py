"""The largest state inside calls, for those who see it rise and fall."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.clock import HIGH, LOW


class Peak:
    """The largest state since it was last told.

    Note a state where it may be largest: before windows are closed and before anything is dropped. What kernels see is
    noted by `algorithms.kernels.peak`.
    """

    def __init__(self) -> None:
        self._largest = StateSize()

    def note(self, state: StateSize) -> None:
        """Keeps the state if it is the largest."""
        if state.bytes > self._largest.bytes:
            self._largest = state

    def tell(self, now: StateSize) -> StateSize:
        """The largest state, that of now included; what was noted is forgotten."""
        self.note(now)
        told, self._largest = self._largest, StateSize()
        return told if told.bytes > now.bytes else now


def largest_of_all(kept: Ints, clocks: Ints) -> tuple[int, int]:
    """As `kernels.peak.largest`, added up over S evaluators.

    `kept` int64[S] are their things, `clocks` int64[S, 10] their clocks as `kernels.peak.new_clock` lays them out.
    """
    per_window, per_kept, noted, noted_windows, noted_kept = clocks[:, 5:].T
    windows = clocks[:, HIGH] - clocks[:, LOW] + 1
    smaller = windows * per_window + kept * per_kept < noted
    windows, kept = np.where(smaller, noted_windows, windows), np.where(smaller, noted_kept, kept)
    noted[:] = 0
    return int(windows.sum()), int(kept.sum())
