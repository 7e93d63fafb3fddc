"""The largest state during calls, in which it rises and falls."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.clock import HIGH, LOW
from cepbench.algorithms.kernels.peak import new_clock


class Peak:
    """The largest state since it was last reported.

    Note a state where it may be largest: before windows are closed and before anything is dropped. What kernels see is
    noted by `algorithms.kernels.peak`.
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


def largest_of_all(kept: Ints, clocks: Ints) -> tuple[int, int]:
    """Windows and kept things of the largest state of S evaluators, including the current one; clears noted states.

    `kept` int64[S] are their things, `clocks` int64[S, 10] their clocks as `kernels.peak.new_clock` lays them out.
    """
    per_window, per_kept, noted, noted_windows, noted_kept = clocks[:, 5:].T
    windows = clocks[:, HIGH] - clocks[:, LOW] + 1
    smaller = windows * per_window + kept * per_kept < noted
    windows, kept = np.where(smaller, noted_windows, windows), np.where(smaller, noted_kept, kept)
    noted[:] = 0
    return int(windows.sum()), int(kept.sum())


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
        """A clock before the first event (`kernels.peak`)."""
        return new_clock(self.window_cells * self.cell_bytes, self.kept_cells * self.cell_bytes + self.kept_bytes)

    def largest(self, kept: Ints, clocks: Ints) -> StateSize:
        """The largest state of all keys since the last call, given the number of things kept now."""
        windows, things = largest_of_all(kept, clocks)
        cells = windows * self.window_cells + things * self.kept_cells
        size = cells * self.cell_bytes + things * self.kept_bytes
        return StateSize(size, {"aggregates": cells, "events": things} if self.kept_bytes else {"aggregates": cells})
