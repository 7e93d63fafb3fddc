"""Exact counts behind the costs of graphlets (dissertation Table 5.1)."""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.construction.cet.kernels.graph import WindowGraph
from cepbench.algorithms.engine.kernels.arrays import Ints, Reals
from cepbench.algorithms.engine.kernels.compilation import inlined, kernel

EDGES, TRENDS, NODES, SEGMENTS = 0, 1, 2, 3
"""Columns of what is counted per graphlet: its edges, its complete trends, the nodes of the tree that stores them, and
the complete trends of the window that pass through it, with one segment each."""
COUNTED = 4


class TrendCounting(NamedTuple):
    """Counts per vertex; float64, since trends may be too many for integers. Infinity is allowed.

    - `through[V]`: complete trends of the window that enter their graphlet with this vertex, if it is a first vertex.
    - `trends[V]`: trends from a first vertex of one graphlet that end with the vertex; scratch.
    - `after[V]`, and `ends[V]` (int64): scratch.
    """

    through: Reals
    trends: Reals
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
    before, after = counting.trends, counting.after
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
def count_plan(bounds: Ints, graph: WindowGraph, counting: TrendCounting, counted: Reals) -> None:
    """Sets `counted[k, COUNTED]` for the graphlets of vertices bounds[g]..bounds[g + 1]-1. O(|V| + |E|)."""
    for g in range(len(counted)):
        row = counted[g]
        row[:] = 0.0
        for v in range(bounds[g], bounds[g + 1]):
            _count_ends(v, bounds[g], graph, counting, row)
        for v in range(bounds[g], bounds[g + 1]):
            if _last(v, bounds[g + 1], graph):
                row[TRENDS] += counting.trends[v]


@kernel
def count_ranges(
    i: int, stored: int, most_nodes: float, graph: WindowGraph, counting: TrendCounting, bounds: Ints, counted: Reals
) -> int:
    """Sets `counted[.., COUNTED]` for the ranges of atomic graphlets i..j-1, one row per j > i, from row `stored` on.

    Stops before the first range with more than `most_nodes` nodes: longer ranges have no fewer. Returns the row after
    the last, or -1 if there is no space for all. O(vertices and edges in the longest range), plus O(w) for the w last
    vertices of each range.
    """
    low = bounds[i]
    edges, nodes, segments = 0.0, 0.0, 0.0
    waiting = 0
    for j in range(i + 1, len(bounds)):
        if stored == len(counted):
            return -1
        row = counted[stored]
        row[:] = 0.0
        row[EDGES], row[NODES], row[SEGMENTS] = edges, nodes, segments
        for v in range(bounds[j - 1], bounds[j]):
            _count_ends(v, low, graph, counting, row)
            counting.ends[waiting] = v
            waiting += 1
        edges, nodes, segments = row[EDGES], row[NODES], row[SEGMENTS]
        if nodes > most_nodes:
            break
        kept = 0
        for w in range(waiting):
            v = counting.ends[w]
            if _last(v, bounds[j], graph):
                counting.ends[kept] = v
                kept += 1
                row[TRENDS] += counting.trends[v]
        waiting = kept
        stored += 1
    return stored


@kernel
def merge_atoms(
    most_nodes: float, graph: WindowGraph, counting: TrendCounting, bounds: Ints, counted: Reals, merged: Ints
) -> int:
    """Merges atomic graphlets greedily while they take at most `most_nodes` nodes, and writes the bounds.

    Returns their number; up to `len(counted)` are merged into one. O(|V| + |E|).
    """
    merged[0] = 0
    i, number = 0, 0
    while i < len(bounds) - 1:
        ranges = count_ranges(i, 0, most_nodes, graph, counting, bounds, counted)
        i += max(ranges, 1) if ranges >= 0 else len(counted)
        number += 1
        merged[number] = bounds[i]
    return number


@inlined
def _count_ends(v: int, low: int, graph: WindowGraph, counting: TrendCounting, counted: Reals) -> None:
    """Counts trends that end with v in the graphlet from vertex `low` on; all in-edges of v lie in it, or none."""
    begin, end = graph.in_ptr[v], graph.in_ptr[v + 1]
    if begin == end or graph.into[begin] < low:
        counting.trends[v] = 1.0
        counted[SEGMENTS] += counting.through[v]
    else:
        trends = 0.0
        for e in range(begin, end):
            trends += counting.trends[graph.into[e]]
        counting.trends[v] = trends
        counted[EDGES] += end - begin
    counted[NODES] += counting.trends[v]


@inlined
def _last(v: int, high: int, graph: WindowGraph) -> bool:
    """Whether v has no out-edge in the graphlet that ends before vertex `high`."""
    begin = graph.out_ptr[v]
    return begin == graph.out_ptr[v + 1] or graph.out[begin] >= high
