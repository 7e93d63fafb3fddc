"""The largest state during calls, in which it rises and falls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.clock import HIGH, LOW, MOST, PER_WINDOW, new_clock


class Peak:
    """The largest state since it was last reported.

    Note a state where it may be largest: before windows are closed and before anything is dropped. What kernels see is
    noted by `algorithms.engine.kernels.clock`.
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


@dataclass(frozen=True, eq=False)
class KeySizes:
    """The states of S keys: `bytes` int64[S], and numbers of live objects by kind, int64[S] each."""

    bytes: Ints
    kinds: Mapping[str, Ints]

    def total(self) -> StateSize:
        """The sum over all keys."""
        return StateSize(int(self.bytes.sum()), {kind: int(count.sum()) for kind, count in self.kinds.items()})

    def largest(self) -> StateSize:
        """The state of the key with the most bytes; of no key if there are none."""
        if not len(self.bytes):
            return StateSize()
        key = int(self.bytes.argmax())
        return StateSize(int(self.bytes[key]), {kind: int(count[key]) for kind, count in self.kinds.items()})


@dataclass(frozen=True)
class Sizes:
    """Sizes in a state: `window_cells` per open window, and `cell_bytes` per cell, those of windows and others."""

    cell_bytes: int
    window_cells: int

    def clock(self) -> Ints:
        """A clock before the first event (`kernels.clock`)."""
        return new_clock(self.window_cells)

    def largest(self, others: Ints, clocks: Ints) -> KeySizes:
        """The largest state of each of S keys since the last call, with so many other cells now; clears noted states.

        `others` int64[S], `clocks` int64[S, 7].
        """
        now = (clocks[:, HIGH] - clocks[:, LOW] + 1) * clocks[:, PER_WINDOW] + others
        cells = np.maximum(now, clocks[:, MOST])
        clocks[:, MOST] = 0
        return KeySizes(cells * self.cell_bytes, {"aggregates": cells})
