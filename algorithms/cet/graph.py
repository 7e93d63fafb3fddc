"""The CET graph of a key, which its windows share, and the live part of one window (dissertation Section 5.1)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.cet.kernels.graph import (
    EDGES,
    NO_TRANSITION,
    VERTICES,
    GraphArrays,
    count_live_edges,
    drop_before,
    extract_live,
    graph_bytes,
    insert_events,
    number_live,
    restrict_edges,
    reverse_edges,
)
from cepbench.algorithms.cet.kernels.window_graph import WindowGraph
from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.kernels.growth import widened
from cepbench.queries.compile import CompiledQuery, Part

FIRST_VERTICES = 256


class CetGraph:
    """The vertices of all open windows, with edges that Algorithm 4 finds when an event arrives.

    An edge leads from an event to one that it can precede, unless a longer path connects them. Edges do not depend on
    the window, so windows share them. Without `connected`, events are stored without edges, as BL needs them.

    O(|V| + |E|) time per event, O(|V| + |E|) space.
    """

    def __init__(self, query: CompiledQuery, part: Part, *, connected: bool = True) -> None:
        self.tables, self.connected = part.tables, connected
        positions = len(part.automaton.positions)
        self.link = np.full((positions, positions), NO_TRANSITION, np.int64)
        for number, transition in enumerate(part.automaton.transitions):
            self.link[transition.source, transition.target] = number
        self.arrays = _new_arrays(query)

    @property
    def vertices(self) -> int:
        """Number of vertices."""
        return int(self.arrays.counters[VERTICES])

    @property
    def edges(self) -> int:
        """Number of edges."""
        return int(self.arrays.counters[EDGES])

    @property
    def bytes(self) -> int:
        """Bytes of vertices and edges in use."""
        return graph_bytes(self.arrays)

    def insert(self, first: int, last: int, events: KernelEvents, place: Ints, earliest: int, most: int) -> int:
        """Inserts those of the events first..last-1 that are not before `earliest`; returns the next event.

        The result is less than `last` if the graph exceeds `most` bytes.
        """
        while True:
            first = insert_events(
                first, last, events, place, self.tables, self.link, earliest, self.connected, most, self.arrays
            )
            if first == last or self.bytes > most:
                return first
            self._grow()

    def drop_before(self, oldest: int) -> None:
        """Drops events before time `oldest`."""
        drop_before(oldest, self.arrays)

    def live(self) -> WindowGraph:
        """The live sub-graph of the window that holds all vertices. O(|V| + |E|)."""
        number = np.empty(self.vertices, np.int64)
        size = number_live(self.tables, self.arrays, number)
        time, place, in_ptr = (np.empty(n, np.int64) for n in (size, size, size + 1))
        into = np.empty(count_live_edges(self.arrays, number), np.int64)
        extract_live(self.arrays, number, time, place, in_ptr, into)
        return _with_out_edges(time, place, in_ptr, into)

    def _grow(self) -> None:
        """Doubles the space for vertices if the next one may not fit, otherwise for edges."""
        if self.vertices == len(self.arrays.time):
            self.arrays = widened(self.arrays, _PER_VERTEX, len(self.arrays.time))
        else:
            self.arrays = widened(self.arrays, ("into",), len(self.arrays.into))


def restricted(graph: WindowGraph, low: int, high: int) -> WindowGraph:
    """The vertices low..high-1, renumbered from 0, with the edges between them."""
    in_ptr = np.empty(high - low + 1, np.int64)
    into = np.empty(int(graph.in_ptr[high] - graph.in_ptr[low]), np.int64)
    edges = restrict_edges(low, high, graph.in_ptr, graph.into, in_ptr, into)
    return _with_out_edges(graph.time[low:high].copy(), graph.place[low:high].copy(), in_ptr, into[:edges].copy())


def window_bytes(graph: WindowGraph) -> int:
    """Bytes of a window's graph."""
    return sum(array.nbytes for array in graph)


def _with_out_edges(time: Ints, place: Ints, in_ptr: Ints, into: Ints) -> WindowGraph:
    out_ptr, out = np.zeros(len(in_ptr), np.int64), np.empty(len(into), np.int64)
    reverse_edges(in_ptr, into, out_ptr, out)
    return WindowGraph(time, out_ptr, out, in_ptr, into, place)


_PER_VERTEX = ("time", "position", "place", "in_ptr", "black", "ints", "reals")


def _new_arrays(query: CompiledQuery) -> GraphArrays:
    def column(length: int = FIRST_VERTICES) -> Ints:
        return np.zeros(length, np.int64)

    return GraphArrays(
        time=column(),
        position=column(),
        place=column(),
        in_ptr=column(FIRST_VERTICES + 1),
        into=column(),
        black=np.zeros(FIRST_VERTICES, np.bool_),
        ints=np.zeros((len(query.ints), FIRST_VERTICES), np.int64),
        reals=np.zeros((len(query.reals), FIRST_VERTICES), np.float64),
        counters=column(2),
    )
