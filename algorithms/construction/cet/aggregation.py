"""Two-step aggregation: CET constructs all trends of a window, then aggregates them (dissertation, Section 13.1)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.construction.cet.detectors import MemoryLimit
from cepbench.algorithms.construction.cet.executor import LimitedExecutor
from cepbench.algorithms.construction.cet.graph import trend_graph
from cepbench.algorithms.construction.cet.kernels.aggregation import (
    Segments,
    Stitched,
    construct_trends,
    count_trends,
    find_cuts,
    search_trends,
    stitch_trends,
)
from cepbench.algorithms.construction.cet.kernels.graph import TrendGraph, number_live
from cepbench.algorithms.engine.batches import aggregate_rows
from cepbench.algorithms.engine.kernels import cells
from cepbench.algorithms.engine.kernels.cells import cell_bytes, empty_cells
from cepbench.algorithms.engine.kernels.compilation import in_python
from cepbench.algorithms.engine.kernels.stacks import ANY
from cepbench.algorithms.rows import QueryRows
from cepbench.events.windows import Window
from cepbench.queries.analysis import analyse
from cepbench.queries.compile import CompiledQuery, Part
from cepbench.queries.model import Query, Semantics

WORD = 4
PER_VERTEX = 8 + 2 + 4 * 8
"""Bytes of a vertex: its event, two flags, the offsets of its edges, and two counts of sub-trends."""
PER_EDGE = 16
PER_STEP = 16
"""Bytes of a vertex on the path of the depth-first search."""
PER_SEGMENT = 24
"""Bytes of a segment on the path of stitching, without its aggregates."""


def unsupported_aggregation(query: Query, detect: str) -> str | None:
    """Why CET cannot construct and then aggregate the trends of an aggregation query, in words; None if it can."""
    if detect == "baseline":
        return "the baseline stores complete trends only; aggregation needs all"
    if detect == "plan":
        return "detect=plan plans the graphlets of complete trends; write RETURN COMPLETE MATCHES"
    if query.semantics is not Semantics.ANY:
        return f"CET constructs trends under skip-till-any-match, not {query.semantics}"
    automata = analyse(query).automata
    if any(automaton.negations for automaton in automata):
        return "CET does not support negated events"
    if any(automaton.pairwise for automaton in automata):
        return "a predicate compares events that are not adjacent, which the edges of the CET graph do not represent"
    return None


class TwoStepExecutor(LimitedExecutor):
    """Constructs all trends of a window, not only the complete ones, and then aggregates them.

    When a window closes, a graph of its V live vertices and all E edges between them is built. `detect` selects how the
    y trends of l events are constructed, as for complete trends (Chapter 5):

    - `memory`: depth-first, each trend aggregated from its first event on; O(E + y l) time, O(V + E) space.
    - `time`: breadth-first. Every prefix of a trend is stored with its aggregates, which its extensions reuse; O(y l)
      time and space.
    - `hybrid`: the window is split into k graphlets of about as many vertices each; k is the smallest number found that
      respects the limit. The sub-trends of a graphlet are stored once, with their aggregates, and stitched
      depth-first: O(y k) time and the space of the sub-trends. With k = 1 it is `time`.

    The limit covers the stacks, the graph of the window and the stored trends; all are counted before they are stored.
    Departures: the papers do not say how graphlets are chosen for aggregation. Trends that lie in several overlapping
    windows are constructed for each window.
    """

    def __init__(self, query: CompiledQuery, part: Part, window: Window, *, detect: str, limit: int) -> None:
        super().__init__(query, part, window, ANY, MemoryLimit(limit // len(query.parts)))
        self.detect = detect
        self.cell_bytes = cell_bytes(part.tables)
        self.total = empty_cells(1, query.layout, query.arithmetic)
        self.trends = 0.0
        self.stored = 0.0
        self.built = 0.0

    def held(self) -> StateSize:
        """Events in stacks and pointers between them."""
        return StateSize(self.kept_bytes, self._kinds(0))

    def details(self) -> Mapping[str, float]:
        """Numbers of aggregated trends, of sub-trends that were stored for them, and of graphlets."""
        return {"trends": self.trends, "trends_stored": self.stored, "graphlets_built": self.built}

    def construct(self, k: int, latest: NDArray[np.int64]) -> list[QueryRows]:
        """Rows of window k. Raises `NotEnoughMemory`."""
        graph = self._graph(self.window.start(k))
        in_python(cells.clear)(self.total, 0)
        if self.detect == "memory":
            self._search(graph)
        else:
            self._store(graph)
        if in_python(cells.is_empty)(self.total, 0):
            return []
        self.trends += float(self.total.counts[0, 0])
        return [aggregate_rows(np.array([k], np.int64), self.total, 1)]

    def graphlets(self, graph: TrendGraph) -> NDArray[np.int64]:
        """The bounds of the fewest graphlets that fit; if none fit, of those that need the least memory."""
        size = len(graph.event)
        left = self.limit.bytes - self.kept_bytes - PER_VERTEX * size - PER_EDGE * len(graph.into)
        best, least = _whole(size), np.inf
        number = 1
        while number <= max(1, size):
            bounds = np.linspace(0, size, number + 1).astype(np.int64)
            needed = self._cost(graph, bounds)[2]
            if needed <= left:
                return bounds
            if needed < least:
                best, least = bounds, needed
            number = size if number < size < number + 1 + number // 8 else number + 1 + number // 8
        return best

    def _kinds(self, trends: float, edges: int = 0) -> dict[str, int]:
        events, pointers = self.kept
        return {"events": events, "edges": pointers + edges, "trends": round(min(trends, 2.0**62))}

    def _graph(self, start: int) -> TrendGraph:
        """The live part of the window that starts at `start`."""
        number = np.empty(self.kept[0], np.int64)
        vertices, edges = number_live(start, self.tables, self.stacks, number)
        needed = self.kept_bytes + number.nbytes + PER_VERTEX * vertices + PER_EDGE * edges
        self.limit.hold(needed, self._kinds(0, edges), f"the graph of a window of {vertices} events and {edges} edges")
        return trend_graph(vertices, edges, self.tables, self.stacks, number)

    def _hold(self, graph: TrendGraph, needed: float, trends: float, purpose: str) -> None:
        vertices, edges = len(graph.event), len(graph.into)
        fixed = self.kept_bytes + PER_VERTEX * vertices + PER_EDGE * edges
        self.limit.hold(fixed + needed, self._kinds(trends, edges), purpose)

    def _search(self, graph: TrendGraph) -> None:
        size = len(graph.event)
        self._hold(graph, PER_STEP * size, 1, f"a trend of up to {size} events")
        path, edge = np.empty(size, np.int64), np.empty(size, np.int64)
        search_trends(graph, self.tables, self.stacks, path, edge, self.total)

    def _store(self, graph: TrendGraph) -> None:
        size = len(graph.event)
        bounds = _whole(size) if self.detect == "time" else self.graphlets(graph)
        trends, events, needed = self._cost(graph, bounds)
        number = len(bounds) - 1
        self._hold(graph, needed, trends, f"storing {trends:.6g} trends of a window in {number} graphlets")
        self.stored += trends
        self.built += number
        rows = int(trends)
        arena, row_ptr, last = (
            np.empty(int(events + trends), np.int32),
            np.empty(size + 1, np.int64),
            np.empty(rows, np.int32),
        )
        cells = empty_cells(rows, self.query.layout, self.query.arithmetic)
        construct_trends(bounds, graph, self.tables, self.stacks, arena, row_ptr, last, cells)
        segments = Segments(row_ptr, last, cells, np.empty(size, np.int64))
        find_cuts(bounds, graph, segments.cut)
        row, edge, stop = (np.empty(number, np.int64) for _ in range(3))
        path = Stitched(row, edge, stop, empty_cells(number, self.query.layout, self.query.arithmetic))
        stitch_trends(graph, segments, path, self.total)

    def _cost(self, graph: TrendGraph, bounds: NDArray[np.int64]) -> tuple[float, float, float]:
        """Number of sub-trends to store, their total length, and their bytes."""
        size, number = len(graph.event), len(bounds) - 1
        trends, events = np.empty(number), np.empty(number)
        count_trends(bounds, graph, np.empty(size), np.empty(size), trends, events)
        rows, words = float(trends.sum()), float(events.sum())
        stored = WORD * words + rows * (2 * WORD + self.cell_bytes)
        needed = stored + 16 * (size + 1) + number * (PER_SEGMENT + self.cell_bytes)
        return rows, words, needed


def _whole(size: int) -> NDArray[np.int64]:
    return np.array([0, size], np.int64)
