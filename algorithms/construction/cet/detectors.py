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
    WORDS,
    BaselineRecord,
    CompleteTrends,
    emit_trends,
    extend_trends,
)
from cepbench.algorithms.construction.cet.kernels.depth_first import Path, PlaceRecord, WorkRecord, search
from cepbench.algorithms.engine.arena import Arena, Table
from cepbench.algorithms.engine.kernels.stacks import COMPLETE
from cepbench.algorithms.engine.peak import Peak
from cepbench.algorithms.engine.sinks import MatchSink, collected, match_sink
from cepbench.algorithms.rows import MatchDigests, QueryRows
from cepbench.queries.records import records_of

PATH_BYTES = 24
"""Bytes per vertex of the path, and of its hash or position."""

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
        self.work = np.zeros(1, records_of(WorkRecord))

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
            "traversals": float(self.work["traversals"][0]),
            "updates": float(self.work["updates"][0]),
        }

    def collected(self, window: int, sink: MatchSink, traverse: Callable[[MatchSink], bool]) -> list[QueryRows]:
        """All complete trends of a window, which a traversal hands to a sink."""
        parts = collected(window, sink, traverse)
        self.detected += sum(int(rows.matches[0]) if isinstance(rows, MatchDigests) else len(rows) for rows in parts)
        return [*parts]


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
        stored = _no_trends()
        progress = stored.arrays.counters
        limit = (self.limit.bytes - fixed) // WORD

        def extend(_: int) -> tuple[int, int]:
            events, full = extend_trends(graph.tables, graph.stacks, limit, stored.arrays, self.work)
            trends = int(progress["most_trends"][0])
            kinds = {"events": size, "edges": 0, "trends": trends}
            what = f"{trends} trends after {events + 1} of {size} events of a window"
            self.limit.hold(fixed + WORD * int(progress["most_words"][0]), kinds, what)
            return events, full

        stored.run(extend)
        sink = match_sink(graph.stacks.place[:size], summarised=self.summarised)
        return self.collected(window, sink, lambda sink: emit_trends(stored.arrays, sink))


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
        path, sink = new_path(size), match_sink(live.place, summarised=self.summarised)
        return self.collected(window, sink, lambda sink: search(live, path, sink, self.work))


def new_path(size: int) -> Path:
    """A path of up to `size` vertices, before a search."""
    return Path(np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(1, records_of(PlaceRecord)))


def _no_trends() -> Arena[CompleteTrends]:
    previous, new = np.zeros(FIRST_WORDS, np.int32), np.zeros(FIRST_WORDS, np.int32)
    trends = CompleteTrends(previous, new, np.zeros(1, records_of(BaselineRecord)))
    return Arena(trends, {WORDS: Table(("previous", "new"), stop="words")})
