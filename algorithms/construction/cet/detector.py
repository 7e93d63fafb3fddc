"""The common base of the detectors of complete trends, and their memory limit."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import ClassVar

import numpy as np

from cepbench.algorithms.base import NotEnoughMemory, StateSize
from cepbench.algorithms.construction.cet.graph import CetGraph
from cepbench.algorithms.construction.cet.kernels.trends import TRAVERSALS, TRENDS, UPDATES, FoundTrends
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.stacks import COMPLETE
from cepbench.algorithms.engine.kernels.trend_hash import Hashes, mix_positions
from cepbench.algorithms.engine.peak import Peak
from cepbench.algorithms.rows import MatchDigests, MatchRows, QueryRows

FOUND_MATCHES = 65_536
FOUND_EVENTS = 1_048_576


class MemoryLimit:
    """Records the peak state since the last report, and refuses states beyond `bytes` before they are allocated."""

    def __init__(self, size: int) -> None:
        self.bytes = size
        self.peak = Peak()

    def hold(self, needed: float, kinds: Mapping[str, int], purpose: str) -> None:
        """Records a state of `needed` bytes. Raises `NotEnoughMemory` if it exceeds the limit."""
        if needed > self.bytes:
            shown = f"{needed:.0f}" if needed < 1e15 else f"{needed:.3g}"
            raise NotEnoughMemory(f"{purpose} needs {shown} bytes, but the memory limit is {self.bytes} bytes")
        self.peak.note(StateSize(int(needed), kinds))


class Detector(ABC):
    """Detects the complete trends of one key, window by window, in its graph."""

    pointers: ClassVar[int] = COMPLETE
    """The pointers between events of the graph (`kernels.stacks`)."""

    def __init__(self, limit: MemoryLimit, *, summarised: bool) -> None:
        self.limit, self.summarised = limit, summarised
        self.detected = 0
        self.work = np.zeros(2, np.int64)

    @abstractmethod
    def detect(self, graph: CetGraph, window: int, following: int) -> list[QueryRows]:
        """Returns the complete trends of a window that holds all vertices; the next window starts at time `following`.

        Raises `NotEnoughMemory`.
        """

    @property
    def bytes(self) -> int:
        """Bytes of the trends that are kept for the next window."""
        return 0

    @property
    def trends(self) -> int:
        """Number of the trends that are kept for the next window."""
        return 0

    def forget(self) -> None:
        """Drops the trends that are kept for the next window."""
        return

    def details(self) -> Mapping[str, float]:
        """Complete trends so far, and the operations of Table 5.1: traversed edges and updates of trends."""
        return {
            "trends": float(self.detected),
            "traversals": float(self.work[TRAVERSALS]),
            "updates": float(self.work[UPDATES]),
        }

    def collected(self, window: int, longest: int, detect: Callable[[FoundTrends], bool]) -> list[QueryRows]:
        """All complete trends of a window; none has more than `longest` events.

        A detection kernel is called again if its output arrays were full.
        """
        matches, events = (0, 0) if self.summarised else (FOUND_MATCHES, FOUND_EVENTS + longest)
        found = FoundTrends(
            np.zeros(matches, np.int64), np.empty(events, np.int64), np.zeros(2, np.int64), np.zeros(1, np.uint64)
        )
        parts: list[QueryRows] = []
        ended = False
        while not ended:
            ended = detect(found)
            size = int(found.size[TRENDS])
            if size and (ended or not self.summarised):
                self.detected += size
                parts.append(self._rows(window, size, found))
                found.size[:] = 0
        return parts

    def _rows(self, window: int, size: int, found: FoundTrends) -> QueryRows:
        if self.summarised:
            return MatchDigests(np.array([window], np.int64), np.array([size], np.uint64), found.digest)
        offsets = found.offsets[: size + 1].copy()
        return MatchRows(np.full(size, window, np.int64), offsets, found.positions[: offsets[-1]].copy())


def terms_of(place: Ints) -> Hashes:
    """The hash of each vertex."""
    terms = np.empty(len(place), np.uint64)
    mix_positions(place, terms)
    return terms
