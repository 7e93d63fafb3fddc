"""The memory limit of CET detection; memory is counted before it is allocated."""

from __future__ import annotations

from collections.abc import Mapping

from cepbench.algorithms.base import NotEnoughMemory, StateSize
from cepbench.algorithms.running.peak import Peak


class MemoryLimit:
    """Records the peak state since the last report, and refuses states beyond `bytes`."""

    def __init__(self, size: int) -> None:
        self.bytes = size
        self.peak = Peak()

    def hold(self, needed: float, kinds: Mapping[str, int], purpose: str) -> None:
        """Records a state of `needed` bytes. Raises `NotEnoughMemory` if it exceeds the limit."""
        if needed > self.bytes:
            shown = f"{needed:.0f}" if needed < 1e15 else f"{needed:.3g}"
            raise NotEnoughMemory(f"{purpose} needs {shown} bytes, but the memory limit is {self.bytes} bytes")
        self.peak.note(StateSize(int(needed), kinds))
