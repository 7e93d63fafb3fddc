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
    """Sizes in a state: `window_cells` per open window; `kept_cells` and `kept_bytes` per kept thing (an event or
    another object); `cell_bytes` per cell. Kept things with `kept_bytes` count as events.
    """

    cell_bytes: int
    window_cells: int
    kept_cells: int = 1
    kept_bytes: int = 0

    def clock(self) -> Ints:
        """A clock before the first event (`kernels.clock`)."""
        return new_clock(self.window_cells * self.cell_bytes, self.kept_cells * self.cell_bytes + self.kept_bytes)

    def largest(self, kept: Ints, clocks: Ints) -> StateSize:
        """The largest state of S keys since the last call, given how many things each keeps now; clears noted states.

        `kept` int64[S], `clocks` int64[S, 10].
        """
        per_window, per_kept, noted, noted_windows, noted_kept = clocks[:, 5:].T
        open_windows = clocks[:, HIGH] - clocks[:, LOW] + 1
        smaller = open_windows * per_window + kept * per_kept < noted
        windows = int(np.where(smaller, noted_windows, open_windows).sum())
        things = int(np.where(smaller, noted_kept, kept).sum())
        noted[:] = 0
        cells = windows * self.window_cells + things * self.kept_cells
        size = cells * self.cell_bytes + things * self.kept_bytes
        return StateSize(size, {"aggregates": cells, "events": things} if self.kept_bytes else {"aggregates": cells})
