"""The largest state inside calls, for those who see it rise and fall."""

from __future__ import annotations

from cepbench.algorithms.base import StateSize


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
