"""Graphs of a window, read from the stacks of its key: of all trends, and of complete ones, which can be cut."""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.engine.kernels.arrays import Flags, Ints
from cepbench.algorithms.engine.kernels.compilation import inlined, kernel
from cepbench.algorithms.engine.kernels.stacks import ALONE, EVENTS, NOBODY, Stacks, is_continued
from cepbench.queries.tables import Tables

DEAD = -1
FROM_START, TO_END = 1, 2


class TrendGraph(NamedTuple):
    """The live vertices of one window, 0..V-1 in time order, and all E edges between them.

    A vertex is an event at a position, live if some trend of the window binds it; an edge leads to each vertex that can
    follow. A trend is a path from a `start[V]` to an `end[V]` vertex.

    - `event[V]`: index of the event in the stacks.
    - out-edges of v: `out[out_ptr[v]:out_ptr[v + 1]]`, ascending; in-edges likewise: `into`, by `in_ptr`, in any order.
    """

    event: Ints
    start: Flags
    end: Flags
    in_ptr: Ints
    into: Ints
    out_ptr: Ints
    out: Ints


class WindowGraph(NamedTuple):
    """The CET graph of a window (Definition 5.1): its live vertices, 0..V-1 in time order, and E edges between them.

    A vertex is live if it is on a path from a START event to an END event of the window. A complete trend of the window
    is a path from a vertex without in-edges to one without out-edges.

    - `time[V]`, not decreasing; `place[V]`, position in the input.
    - out-edges of v: `out[out_ptr[v]:out_ptr[v + 1]]`, ascending; in-edges likewise: `into`, by `in_ptr`.
    """

    time: Ints
    out_ptr: Ints
    out: Ints
    in_ptr: Ints
    into: Ints
    place: Ints


@inlined
def _reaches(at: int, u: int, stacks: Stacks) -> bool:
    """Whether pointer `at` leads to event u of its stack. Events before the window have been dropped."""
    return u != NOBODY and stacks.time[u] >= stacks.floor[at]


@inlined
def _next_below(u: int, at: int, stacks: Stacks) -> int:
    return NOBODY if stacks.floor[at] == ALONE else stacks.below[u]


@kernel
def number_live(earliest: int, tables: Tables, stacks: Stacks, number: Ints) -> tuple[int, int]:
    """Sets `number[v]` to the event's vertex, or DEAD; returns the number of vertices and edges. O(V + E)."""
    size = stacks.counters[EVENTS]
    for v in range(size):
        number[v] = 0
        if stacks.time[v] < earliest:
            continue
        number[v] = FROM_START if tables.start[stacks.position[v]] and not is_continued(v, number, stacks) else 0
        for at in range(stacks.pointer_ptr[v], stacks.pointer_ptr[v + 1]):
            u = stacks.target[at]
            while _reaches(at, u, stacks):
                number[v] |= number[u]
                u = _next_below(u, at, stacks)
    for v in range(size - 1, -1, -1):
        if tables.end[stacks.position[v]] and number[v] & FROM_START:
            number[v] |= TO_END
        if number[v] & TO_END:
            for at in range(stacks.pointer_ptr[v], stacks.pointer_ptr[v + 1]):
                u = stacks.target[at]
                while _reaches(at, u, stacks):
                    number[u] |= number[u] << 1 & TO_END
                    u = _next_below(u, at, stacks)
    vertices, edges = 0, 0
    for v in range(size):
        if not number[v] & TO_END:
            number[v] = DEAD
            continue
        number[v] = vertices
        vertices += 1
        for at in range(stacks.pointer_ptr[v], stacks.pointer_ptr[v + 1]):
            u = stacks.target[at]
            while _reaches(at, u, stacks):
                edges += number[u] != DEAD
                u = _next_below(u, at, stacks)
    return vertices, edges


@kernel
def lay_out(tables: Tables, stacks: Stacks, number: Ints, graph: TrendGraph) -> None:
    """Writes the live vertices and their in-edges, of each vertex in the reverse order of its pointers; O(V + E)."""
    edges = 0
    graph.in_ptr[0] = 0
    for v in range(stacks.counters[EVENTS]):
        w = number[v]
        if w == DEAD:
            continue
        graph.event[w] = v
        graph.start[w], graph.end[w] = tables.start[stacks.position[v]], tables.end[stacks.position[v]]
        for at in range(stacks.pointer_ptr[v], stacks.pointer_ptr[v + 1]):
            u = stacks.target[at]
            while _reaches(at, u, stacks):
                if number[u] != DEAD:
                    graph.into[edges] = number[u]
                    edges += 1
                u = _next_below(u, at, stacks)
        graph.in_ptr[w + 1] = edges
        low, high = graph.in_ptr[w], edges - 1
        while low < high:
            graph.into[low], graph.into[high] = graph.into[high], graph.into[low]
            low, high = low + 1, high - 1


@kernel
def restrict_edges(low: int, high: int, in_ptr: Ints, into: Ints, restricted_ptr: Ints, restricted: Ints) -> int:
    """Writes the in-edges inside vertices low..high-1, renumbered from 0; returns their number. O(|V| + |E|)."""
    edges = 0
    restricted_ptr[0] = 0
    for v in range(low, high):
        for at in range(in_ptr[v], in_ptr[v + 1]):
            if into[at] >= low:
                restricted[edges] = into[at] - low
                edges += 1
        restricted_ptr[v - low + 1] = edges
    return edges


@kernel
def reverse_edges(in_ptr: Ints, into: Ints, out_ptr: Ints, out: Ints) -> None:
    """Out-edges from in-edges, targets ascending. The caller zeroes `out_ptr[V + 1]`. O(|V| + |E|)."""
    size = len(in_ptr) - 1
    for at in range(in_ptr[size]):
        out_ptr[into[at] + 1] += 1
    for v in range(size):
        out_ptr[v + 1] += out_ptr[v]
    for v in range(size):
        for at in range(in_ptr[v], in_ptr[v + 1]):
            u = into[at]
            out[out_ptr[u]] = v
            out_ptr[u] += 1
    for v in range(size, 0, -1):
        out_ptr[v] = out_ptr[v - 1]
    out_ptr[0] = 0


@kernel
def mark_cuts(graph: WindowGraph, crossed: Ints, cut: Flags) -> None:
    """Sets `cut[V + 1]`: whether vertices before v and from v on can be in different graphlets (Definition 6.2).

    They cannot if they share a time stamp, or if a vertex has edges to both sides: an out-edge that ends before v and
    one that does not, or an in-edge that begins before v and one that does not. The caller zeroes `crossed[V + 1]`.
    O(|V| + |E|).
    """
    size = len(graph.time)
    for v in range(size):
        if graph.out_ptr[v + 1] > graph.out_ptr[v]:
            crossed[graph.out[graph.out_ptr[v]] + 1] += 1
            crossed[graph.out[graph.out_ptr[v + 1] - 1] + 1] -= 1
        if graph.in_ptr[v + 1] > graph.in_ptr[v]:
            crossed[graph.into[graph.in_ptr[v]] + 1] += 1
            crossed[graph.into[graph.in_ptr[v + 1] - 1] + 1] -= 1
    inside = 0
    for v in range(size + 1):
        inside += crossed[v]
        ends = v == 0 or v == size
        cut[v] = ends or (inside == 0 and graph.time[v - 1] < graph.time[v])
