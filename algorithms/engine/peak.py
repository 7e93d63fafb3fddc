"""The largest state during calls, in which it rises and falls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.clock import new_clock
from cepbench.queries.records import Records


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
        largest, self._largest = self._largest, StateSize()
        return largest if largest.bytes > now.bytes else now


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

    def clock(self) -> Records:
        """A clock before the first event (`kernels.clock`)."""
        return new_clock(self.window_cells)

    def largest(self, others: Ints, clocks: Records) -> KeySizes:
        """The largest state of each of S keys since the last call, with `others` int64[S] other cells now; clears noted
        states.
        """
        now = (clocks["high"] - clocks["low"] + 1) * clocks["window_cells"] + others
        cells = np.maximum(now, clocks["most_cells"])
        clocks["most_cells"] = 0
        return KeySizes(cells * self.cell_bytes, {"aggregates": cells})
