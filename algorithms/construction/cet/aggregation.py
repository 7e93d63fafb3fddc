"""Two-step aggregation: CET constructs all trends of a window, then aggregates them (dissertation, Section 13.1)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.construction.cet.detectors import MemoryLimit, new_path
from cepbench.algorithms.construction.cet.executor import LimitedExecutor
from cepbench.algorithms.construction.cet.graph import window_graph
from cepbench.algorithms.construction.cet.kernels.breadth_first import StoredTrends, TrendTree, construct
from cepbench.algorithms.construction.cet.kernels.depth_first import WorkRecord, search
from cepbench.algorithms.construction.cet.kernels.graph import WindowGraph
from cepbench.algorithms.construction.cet.kernels.stitching import stitch
from cepbench.algorithms.construction.cet.stored import Arranged, new_segments
from cepbench.algorithms.engine.batches import aggregate_rows
from cepbench.algorithms.engine.kernels import cells
from cepbench.algorithms.engine.kernels.cells import Cells, cell_bytes, empty_cells, weighing
from cepbench.algorithms.engine.kernels.compilation import in_python
from cepbench.algorithms.engine.kernels.constants import ANY, NONE
from cepbench.algorithms.engine.kernels.sinks import Aggregated
from cepbench.algorithms.engine.kernels.stacks import number_live
from cepbench.algorithms.rows import QueryRows
from cepbench.events.windows import Window
from cepbench.queries.analysis import analyse
from cepbench.queries.compile import CompiledQuery, Part
from cepbench.queries.model import Query, Semantics
from cepbench.queries.records import records_of

PER_VERTEX = 3 * 8 + 2 + 2 * 8
"""Bytes of a vertex without its columns: time, places in the input and the pattern, two flags, the offsets of its
edges."""
PER_EDGE = 16
PER_STEP = 16
"""Bytes of a vertex on the path of the depth-first search."""
PER_NODE = 16
"""Bytes of a stored sub-trend (`TrendTree`), without its aggregates."""
PER_STORED_VERTEX = 4 * 8
PER_GRAPHLET = 2 * 8 + 1 + 2 * 8
"""Bytes of a vertex and of a graphlet in `Graphlets`, and of its segment on the path, without its aggregates."""


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
    - `time`: breadth-first. Every prefix of a trend is stored with its aggregates, which its extensions share; O(E + y)
      time and O(y) space.
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
        self.per_vertex = PER_VERTEX + 8 * (len(query.ints) + len(query.reals))
        self.cell_bytes = cell_bytes(part.tables)
        self.weights = weighing(part.tables)
        self.partial, self.total = (empty_cells(size, query.layout, query.arithmetic) for size in (0, 1))
        self.work = np.zeros(1, records_of(WorkRecord))
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
        graph, sink = self._graph(self.window.start(k))
        in_python(cells.clear)(self.total, 0)
        if self.detect == "memory":
            self._search(graph, sink)
        else:
            self._store(graph, sink)
        if in_python(cells.is_empty)(self.total, 0):
            return []
        self.trends += float(self.total.counts[0, 0])
        return [aggregate_rows(np.array([k], np.int64), self.total, 1)]

    def arranged(self, graph: WindowGraph) -> Arranged:
        """A single graphlet by `time`, or the fewest that fit; if none fit, those that need the least memory."""
        size = len(graph.time)
        left = self.limit.bytes - self._graph_bytes(graph)
        best = arranged = Arranged(graph, [0, size], {})
        number = 1
        while self.detect != "time" and self._needed(arranged) > left and number < size:
            number = min(number + 1 + number // 8, size)
            arranged = Arranged(graph, np.linspace(0, size, number + 1).astype(np.int64).tolist(), {})
            best = min(best, arranged, key=self._needed)
        return best

    def _kinds(self, trends: float, edges: int = 0) -> dict[str, int]:
        events, pointers = self.kept
        return {"events": events, "edges": pointers + edges, "trends": round(min(trends, 2.0**62))}

    def _graph(self, start: int) -> tuple[WindowGraph, Aggregated]:
        """The live part of the window that starts at `start`, and the sink of its trends."""
        number = np.empty(self.kept[0], np.int64)
        vertices, edges = number_live(start, self.tables, self.stacks, number)
        needed = self.kept_bytes + number.nbytes + self.per_vertex * vertices + PER_EDGE * edges
        self.limit.hold(needed, self._kinds(0, edges), f"the graph of a window of {vertices} events and {edges} edges")
        events = np.flatnonzero(number != NONE)
        stacks = self.stacks
        ints, reals = np.take(stacks.ints, events, axis=1), np.take(stacks.reals, events, axis=1)
        sink = Aggregated(self.weights, stacks.position[events], ints, reals, self.partial, self.total)
        return window_graph(vertices, edges, self.tables, stacks, number), sink

    def _cells(self, number: int) -> Cells:
        return empty_cells(number, self.query.layout, self.query.arithmetic)

    def _graph_bytes(self, graph: WindowGraph) -> int:
        return self.kept_bytes + self.per_vertex * len(graph.time) + PER_EDGE * len(graph.into)

    def _hold(self, graph: WindowGraph, needed: float, trends: float, purpose: str) -> None:
        self.limit.hold(self._graph_bytes(graph) + needed, self._kinds(trends, len(graph.into)), purpose)

    def _search(self, graph: WindowGraph, sink: Aggregated) -> None:
        size = len(graph.time)
        self._hold(graph, PER_STEP * size, 1, f"a trend of up to {size} events")
        search(graph, new_path(size), sink, self.work)

    def _store(self, graph: WindowGraph, sink: Aggregated) -> None:
        arranged = self.arranged(graph)
        trends, number = float(arranged.nodes.sum()), len(arranged.nodes)
        purpose = f"storing {trends:.6g} trends of a window in {number} graphlets"
        self._hold(graph, self._needed(arranged), trends, purpose)
        self.stored += trends
        self.built += number
        arranged.graphlets.base[1:] = np.cumsum(arranged.nodes[:-1])
        prefix, event, first, length = (np.empty(int(trends), np.uint32) for _ in range(4))
        tree = TrendTree(prefix, event, first, length, self._cells(int(trends)))
        stored = StoredTrends(graph, arranged.graphlets, tree)
        sink = sink._replace(partial=self._cells(number))
        construct(stored, sink, self.work)
        stitch(stored, new_segments(number), sink, self.work)

    def _needed(self, arranged: Arranged) -> float:
        """Bytes of stored sub-trends, of their graphlets, and of the path."""
        nodes, number = float(arranged.nodes.sum()), len(arranged.nodes)
        cells = (nodes + number) * self.cell_bytes
        return cells + PER_NODE * nodes + PER_STORED_VERTEX * len(arranged.graph.time) + PER_GRAPHLET * number
