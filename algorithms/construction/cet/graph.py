"""The CET graph of a key, which its windows share, and the live part of one window (dissertation Section 5.1).

The stacks for complete matches are the graph: their pointers are the edges that Algorithm 4 finds when an event
arrives. An edge leads from an event to one that it can precede, unless a longer path connects them. Edges do not depend
on the window, so windows share them.
"""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.construction.cet.kernels.graph import (
    WindowGraph,
    lay_out,
    mark_cuts,
    restrict_edges,
    reverse_edges,
)
from cepbench.algorithms.engine.kernels.arrays import Flags, Ints
from cepbench.algorithms.engine.kernels.stacks import Stacks, number_live
from cepbench.queries.tables import Tables

EDGE_BYTES = 8
BYTES = 33
"""Bytes of a vertex without attributes: its time, position, place, the offset of its edges, and a flag."""


class CetGraph:
    """The stacks of one key, read as a graph. O(|V| + |E|) space."""

    def __init__(self, tables: Tables, stacks: Stacks) -> None:
        self.tables, self.stacks = tables, stacks

    @property
    def vertices(self) -> int:
        """Number of vertices."""
        return int(self.stacks.counters["events"][0])

    @property
    def edges(self) -> int:
        """Number of edges."""
        return int(self.stacks.counters["pointers"][0])

    @property
    def bytes(self) -> int:
        """Bytes of vertices and edges; what the stacks hold for other semantics is not part of the graph."""
        vertex = BYTES + 8 * (len(self.stacks.ints) + len(self.stacks.reals))
        return vertex * self.vertices + EDGE_BYTES * self.edges

    def live(self) -> WindowGraph:
        """The CET graph of the window that holds all vertices. O(|V| + |E|)."""
        number = np.empty(self.vertices, np.int64)
        sizes = number_live(0, self.tables, self.stacks, number)
        graph = window_graph(*sizes, self.tables, self.stacks, number)
        return graph._replace(start=np.diff(graph.in_ptr) == 0, end=np.diff(graph.out_ptr) == 0)


def window_graph(vertices: int, edges: int, tables: Tables, stacks: Stacks, number: Ints) -> WindowGraph:
    """The graph of the vertices that `number_live` has numbered, and of all their trends. O(V + E)."""
    time, place, into, out = (np.empty(size, np.int64) for size in (vertices, vertices, edges, edges))
    start, end = np.empty(vertices, np.bool_), np.empty(vertices, np.bool_)
    in_ptr, out_ptr = np.zeros(vertices + 1, np.int64), np.zeros(vertices + 1, np.int64)
    graph = WindowGraph(time, place, start, end, in_ptr, into, out_ptr, out)
    lay_out(tables, stacks, number, graph)
    reverse_edges(in_ptr, into, out_ptr, out)
    in_ptr[:] = 0
    reverse_edges(out_ptr, out, in_ptr, into)  # ascending
    return graph


def cet_graph(time: Ints, place: Ints, in_ptr: Ints, into: Ints) -> WindowGraph:
    """The CET graph of vertices with these in-edges, ascending. O(V + E)."""
    out_ptr, out = np.zeros_like(in_ptr), np.empty_like(into)
    reverse_edges(in_ptr, into, out_ptr, out)
    return WindowGraph(time, place, np.diff(in_ptr) == 0, np.diff(out_ptr) == 0, in_ptr, into, out_ptr, out)


def restricted(graph: WindowGraph, low: int, high: int) -> WindowGraph:
    """The vertices low..high-1, renumbered from 0, with the edges between them."""
    in_ptr = np.empty(high - low + 1, np.int64)
    into = np.empty(int(graph.in_ptr[high] - graph.in_ptr[low]), np.int64)
    into = into[: restrict_edges(low, high, graph.in_ptr, graph.into, in_ptr, into)].copy()
    return cet_graph(graph.time[low:high].copy(), graph.place[low:high].copy(), in_ptr, into)


def window_bytes(graph: WindowGraph) -> int:
    """Bytes of a window's graph."""
    return sum(array.nbytes for array in graph)


def cuts_of(graph: WindowGraph) -> Flags:
    """bool[V + 1]: whether the graph can be cut before each vertex, and after the last one. O(|V| + |E|)."""
    crossed, cut = np.zeros(len(graph.time) + 1, np.int64), np.empty(len(graph.time) + 1, np.bool_)
    mark_cuts(graph, crossed, cut)
    return cut
