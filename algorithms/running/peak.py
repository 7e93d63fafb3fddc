"""The largest state during calls, in which it rises and falls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.clock import HIGH, LOW, new_clock


class Peak:
    """The largest state since it was last reported.

    Note a state where it may be largest: before windows are closed and before anything is dropped. What kernels see is
    noted by `algorithms.kernels.clock`.
    """

    def __init__(self) -> None:
        self._largest = StateSize()

    def note(self, state: StateSize) -> None:
        """Keeps the state if it is the largest."""
        if state.bytes > self._largest.bytes:
            self._largest = state

    def report(self, now: StateSize) -> StateSize:
        """The largest state, including the current one; clears the noted one."""
        self.note(now)
        found, self._largest = self._largest, StateSize()
        return found if found.bytes > now.bytes else now


@dataclass(frozen=True)
class Sizes:
    """Sizes in a state: `window_cells` per open window, and `cell_bytes` per cell, those of windows and others."""

    cell_bytes: int
    window_cells: int

    def clock(self) -> Ints:
        """A clock before the first event (`kernels.clock`)."""
        return new_clock(self.window_cells * self.cell_bytes, self.cell_bytes)

    def largest(self, kept: Ints, clocks: Ints) -> StateSize:
        """The largest state of S keys since the last call, given how many cells each keeps now; clears noted states.

        `kept` int64[S], `clocks` int64[S, 10].
        """
        per_window, per_kept, noted, noted_windows, noted_kept = clocks[:, 5:].T
        open_windows = clocks[:, HIGH] - clocks[:, LOW] + 1
        smaller = open_windows * per_window + kept * per_kept < noted
        windows = int(np.where(smaller, noted_windows, open_windows).sum())
        cells = windows * self.window_cells + int(np.where(smaller, noted_kept, kept).sum())
        noted[:] = 0
        return StateSize(cells * self.cell_bytes, {"aggregates": cells})
