"""Exact counts behind the costs of graphlets (dissertation Table 5.1)."""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.construction.cet.kernels.graph import WindowGraph, begins, inner_in_edges
from cepbench.algorithms.engine.kernels.arrays import Ints, Reals
from cepbench.algorithms.engine.kernels.compilation import inlined, kernel
from cepbench.queries.records import Records


class GraphletRecord:
    """Numbers of a graphlet: its edges, its maximal sub-trends, the nodes of the tree that stores its sub-trends, and
    the trends of the window that pass through it, with one segment each. Infinity is allowed.
    """

    edges: float
    trends: float
    nodes: float
    segments: float


class TrendCounting(NamedTuple):
    """Counts per vertex; float64, since trends may be too many for integers. Infinity is allowed.

    - `through[V]`: trends of the window that enter their graphlet with this vertex, if sub-trends begin with it.
    - `ways[V]`: sub-trends of its graphlet that end with the vertex.
    - `after[V]`, and `ends[V]` (int64): scratch.
    """

    through: Reals
    ways: Reals
    after: Reals
    ends: Ints


class Ranges(NamedTuple):
    """Costs of ranges of consecutive atomic graphlets that may fit into memory, from each start up to the longest.

    The range of atomic graphlets p..q-1 is row `row[p] + q - p - 1` of `cpu` and `bytes`, if that is less than
    `row[p + 1]`; `row` is int64[a + 1]. Longer ranges do not fit.
    """

    row: Ints
    cpu: Reals
    bytes: Reals


@kernel
def count_through(graph: WindowGraph, counting: TrendCounting) -> None:
    """Sets `through`: number of paths from a first vertex of the window, times paths to a last one. O(|V| + |E|)."""
    before, after = counting.ways, counting.after
    for v in range(len(graph.time)):
        before[v] = 0.0
        for e in range(graph.in_ptr[v], graph.in_ptr[v + 1]):
            before[v] += before[graph.into[e]]
        before[v] = max(before[v], 1.0)
    for v in range(len(graph.time) - 1, -1, -1):
        after[v] = 0.0
        for e in range(graph.out_ptr[v], graph.out_ptr[v + 1]):
            after[v] += after[graph.out[e]]
        after[v] = max(after[v], 1.0)
        counting.through[v] = before[v] * after[v]


@kernel
def count_plan(bounds: Ints, graph: WindowGraph, counting: TrendCounting, counted: Records) -> None:
    """Sets `counted[k]` (`GraphletRecord`) for the graphlets of vertices bounds[g]..bounds[g + 1]-1. O(|V| + |E|)."""
    for g in range(len(counted)):
        row = counted[g]
        row.edges, row.trends, row.nodes, row.segments = 0.0, 0.0, 0.0, 0.0
        for v in range(bounds[g], bounds[g + 1]):
            _count_ends(v, bounds[g], graph, counting, row)
        for v in range(bounds[g], bounds[g + 1]):
            if _last(v, bounds[g + 1], graph):
                row.trends += counting.ways[v]


@kernel
def count_ranges(
    i: int, most_nodes: float, graph: WindowGraph, counting: TrendCounting, bounds: Ints, counted: Records
) -> int:
    """Sets `counted` (`GraphletRecord`) for the ranges of atomic graphlets i..j-1, one row per j > i; returns their
    number.

    Stops before the first range with more than `most_nodes` nodes: longer ranges have no fewer. O(vertices and edges in
    the longest range), plus O(w) for the w last vertices of each range.
    """
    low, stored = bounds[i], 0
    edges, nodes, segments = 0.0, 0.0, 0.0
    waiting = 0
    for j in range(i + 1, len(bounds)):
        row = counted[stored]
        row.edges, row.trends, row.nodes, row.segments = edges, 0.0, nodes, segments
        for v in range(bounds[j - 1], bounds[j]):
            _count_ends(v, low, graph, counting, row)
            counting.ends[waiting] = v
            waiting += 1
        edges, nodes, segments = row.edges, row.nodes, row.segments
        if nodes > most_nodes:
            break
        kept = 0
        for w in range(waiting):
            v = counting.ends[w]
            if _last(v, bounds[j], graph):
                counting.ends[kept] = v
                kept += 1
                row.trends += counting.ways[v]
        waiting = kept
        stored += 1
    return stored


@kernel
def merge_atoms(
    most_nodes: float, graph: WindowGraph, counting: TrendCounting, bounds: Ints, counted: Records, merged: Ints
) -> int:
    """Merges atomic graphlets greedily while they take at most `most_nodes` nodes, and writes the bounds.

    Returns their number. `counted`: a row per atomic graphlet. O(|V| + |E|).
    """
    merged[0] = 0
    i, number = 0, 0
    while i < len(bounds) - 1:
        i += max(count_ranges(i, most_nodes, graph, counting, bounds, counted), 1)
        number += 1
        merged[number] = bounds[i]
    return number


@inlined
def _count_ends(v: int, low: int, graph: WindowGraph, counting: TrendCounting, counted: GraphletRecord) -> None:
    """Counts the sub-trends that end with v in the graphlet from vertex `low` on."""
    begin, end = inner_in_edges(v, low, graph), graph.in_ptr[v + 1]
    ways = 0.0
    if begins(v, low, graph):
        ways = 1.0
        counted.segments += counting.through[v]
    for e in range(begin, end):
        ways += counting.ways[graph.into[e]]
    counting.ways[v] = ways
    counted.edges += end - begin
    counted.nodes += ways


@inlined
def _last(v: int, high: int, graph: WindowGraph) -> bool:
    """Whether v has no out-edge in the graphlet that ends before vertex `high`."""
    begin = graph.out_ptr[v]
    return begin == graph.out_ptr[v + 1] or graph.out[begin] >= high
