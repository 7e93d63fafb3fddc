"""The graph of a window, read from the stacks of its key, and where it can be cut."""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.engine.kernels.arrays import Flags, Ints
from cepbench.algorithms.engine.kernels.compilation import inlined, kernel
from cepbench.algorithms.engine.kernels.constants import NONE
from cepbench.algorithms.engine.kernels.stacks import Stacks, next_below, reaches
from cepbench.queries.tables import Tables


class WindowGraph(NamedTuple):
    """The graph of a window: its live vertices, 0..V-1 in time order, and the E edges between them.

    A vertex is an event at a position, live if some trend of the window binds it. A trend is a path from a `start[V]`
    to an `end[V]` vertex. In the CET graph (Definition 5.1), whose trends are the complete ones, these are the vertices
    without in-edges and those without out-edges.

    - `time[V]`, not decreasing; `place[V]`, position in the input.
    - in-edges of v: `into[in_ptr[v]:in_ptr[v + 1]]`, ascending; out-edges likewise: `out`, by `out_ptr`.

    In a graphlet of vertices low..high-1, sub-trends begin with a START or after a cut edge, and end with any vertex.
    """

    time: Ints
    place: Ints
    start: Flags
    end: Flags
    in_ptr: Ints
    into: Ints
    out_ptr: Ints
    out: Ints


@inlined
def inner_in_edges(v: int, low: int, graph: WindowGraph) -> int:
    """The first in-edge of v from its graphlet, which begins with vertex `low`; cut edges come before it.

    O(1) where all in-edges are cut or none, as in CET graphs (Definition 6.2).
    """
    at, stop = graph.in_ptr[v], graph.in_ptr[v + 1]
    if at < stop and graph.into[stop - 1] < low:
        return stop
    while at < stop and graph.into[at] < low:
        at += 1
    return at


@inlined
def inner_out_edges(v: int, high: int, graph: WindowGraph) -> int:
    """The end of the out-edges of v to its graphlet, which ends before vertex `high`; cut edges come after it.

    O(1) where all out-edges are cut or none.
    """
    begin, stop = graph.out_ptr[v], graph.out_ptr[v + 1]
    if begin < stop and graph.out[begin] >= high:
        return begin
    while stop > begin and graph.out[stop - 1] >= high:
        stop -= 1
    return stop


@inlined
def begins(v: int, low: int, graph: WindowGraph) -> bool:
    """Whether sub-trends of the graphlet from vertex `low` on can begin with v."""
    at = graph.in_ptr[v]
    return graph.start[v] or (at < graph.in_ptr[v + 1] and graph.into[at] < low)


@kernel
def lay_out(tables: Tables, stacks: Stacks, number: Ints, graph: WindowGraph) -> None:
    """Writes the live vertices and their in-edges, in any order; O(V + E)."""
    edges = 0
    graph.in_ptr[0] = 0
    for v in range(stacks.counters[0].events):
        w = number[v]
        if w == NONE:
            continue
        graph.time[w], graph.place[w] = stacks.time[v], stacks.place[v]
        graph.start[w], graph.end[w] = tables.start[stacks.position[v]], tables.end[stacks.position[v]]
        for at in range(stacks.pointer_ptr[v], stacks.pointer_ptr[v + 1]):
            u = stacks.target[at]
            while reaches(at, u, stacks):
                if number[u] != NONE:
                    graph.into[edges] = number[u]
                    edges += 1
                u = next_below(u, at, stacks)
        graph.in_ptr[w + 1] = edges


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
def reverse_edges(ptr: Ints, edges: Ints, reverse_ptr: Ints, reverse: Ints) -> None:
    """In-edges from out-edges or out-edges from in-edges, those of each vertex ascending. The caller zeroes
    `reverse_ptr[V + 1]`. O(|V| + |E|).
    """
    size = len(ptr) - 1
    for at in range(ptr[size]):
        reverse_ptr[edges[at] + 1] += 1
    for v in range(size):
        reverse_ptr[v + 1] += reverse_ptr[v]
    for v in range(size):
        for at in range(ptr[v], ptr[v + 1]):
            u = edges[at]
            reverse[reverse_ptr[u]] = v
            reverse_ptr[u] += 1
    for v in range(size, 0, -1):
        reverse_ptr[v] = reverse_ptr[v - 1]
    reverse_ptr[0] = 0


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
