"""Detectors of complete trends: their common base and memory limit, BL without a graph (dissertation Chapter 4,
Algorithm 3), and M-CET, which stores one trend (Section 5.2). T-CET and H-CET are in `stored`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import ClassVar

import numpy as np

from cepbench.algorithms.base import NotEnoughMemory, StateSize
from cepbench.algorithms.construction.cet.graph import CetGraph, window_bytes
from cepbench.algorithms.construction.cet.kernels.baseline import (
    EVENT,
    MAX_TRENDS,
    MAX_WORDS,
    WORDS,
    StoredTrends,
    extend_trends,
    report_trends,
)
from cepbench.algorithms.construction.cet.kernels.depth_first import Path, search
from cepbench.algorithms.construction.cet.kernels.trends import TRAVERSALS, TRENDS, UPDATES, FoundTrends
from cepbench.algorithms.engine.kernels.arrays import Codes, Ints
from cepbench.algorithms.engine.kernels.stacks import COMPLETE
from cepbench.algorithms.engine.kernels.trend_hash import Hashes, mix_positions
from cepbench.algorithms.engine.peak import Peak
from cepbench.algorithms.rows import MatchDigests, MatchRows, QueryRows

FOUND_MATCHES = 65_536

FOUND_EVENTS = 1_048_576

PATH_BYTES = 24
"""Bytes per vertex of the path and of hashes."""

FIRST_WORDS = 1024

NO_POINTERS = -1
"""None of the kinds of pointers of `kernels.stacks`: events are kept without edges."""

WORD = 4
"""Bytes of a word of the stored trends of `Baseline`."""


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
        output = FoundTrends(
            np.zeros(matches, np.int64), np.empty(events, np.int64), np.zeros(2, np.int64), np.zeros(1, np.uint64)
        )
        parts: list[QueryRows] = []
        ended = False
        while not ended:
            ended = detect(output)
            size = int(output.size[TRENDS])
            if size and (ended or not self.summarised):
                self.detected += size
                parts.append(self._rows(window, size, output))
                output.size[:] = 0
        return parts

    def _rows(self, window: int, size: int, output: FoundTrends) -> QueryRows:
        if self.summarised:
            return MatchDigests(np.array([window], np.int64), np.array([size], np.uint64), output.digest)
        offsets = output.offsets[: size + 1].copy()
        return MatchRows(np.full(size, window, np.int64), offsets, output.positions[: offsets[-1]].copy())


class Baseline(Detector):
    """Stores all complete trends and compares each event with each of them.

    When a window closes, its trends are built event by event; overlapping windows share only the events.
    O(n (y l r + y^2 l)) time and O(y l) space for n events, y trends of length l and r predicates.
    """

    pointers: ClassVar[int] = NO_POINTERS

    def detect(self, graph: CetGraph, window: int, following: int) -> list[QueryRows]:
        """Algorithm 3 over all vertices."""
        size = graph.vertices
        fixed = graph.bytes + 8 * size
        stored = StoredTrends(np.empty(FIRST_WORDS, np.int32), np.empty(FIRST_WORDS, np.int32), np.zeros(4, np.int64))
        limit = (self.limit.bytes - fixed) // WORD
        ended = False
        while not ended:
            ended = extend_trends(graph.tables, graph.stacks, limit, stored, self.work)
            trends = int(stored.at[MAX_TRENDS])
            kinds = {"events": size, "edges": 0, "trends": trends}
            what = f"{trends} trends after {int(stored.at[EVENT]) + 1} of {size} events of a window"
            self.limit.hold(fixed + WORD * int(stored.at[MAX_WORDS]), kinds, what)
            if not ended:
                stored = _grown(stored)
        place = graph.stacks.place[:size]
        terms, cursor = terms_of(place), np.zeros(1, np.int64)
        return self.collected(window, size, lambda output: report_trends(cursor, place, terms, stored, output))


class MemoryOptimized(Detector):
    """Depth-first search over the CET graph of the window.

    O(|V| + |E| + y l) time for y trends of length l, each of which is hashed from scratch; O(|V| + |E|) space.
    """

    def detect(self, graph: CetGraph, window: int, following: int) -> list[QueryRows]:
        """Searches one trend after the other."""
        live = graph.live()
        size = len(live.time)
        if not size:
            return []
        needed = graph.bytes + window_bytes(live) + PATH_BYTES * size
        kinds = {"events": graph.vertices, "edges": graph.edges, "trends": 1}
        self.limit.hold(needed, kinds, "one trend with the graph")
        terms = terms_of(live.place)
        path = Path(np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(2, np.int64))
        return self.collected(window, size, lambda output: search(live, terms, path, output, self.work))


def terms_of(place: Ints) -> Hashes:
    """The hash of each vertex."""
    terms = np.empty(len(place), np.uint64)
    mix_positions(place, terms)
    return terms


def _grown(stored: StoredTrends) -> StoredTrends:
    """The same trends in arrays of twice the size."""
    room = 4 * int(stored.at[WORDS]) + 4
    previous: Codes = np.empty(room, np.int32)
    previous[: stored.at[WORDS]] = stored.previous[: stored.at[WORDS]]
    new: Codes = np.empty(room, np.int32)
    return StoredTrends(previous, new, stored.at)
