"""T-CET: constructs all complete trends of a graphlet breadth-first, and stores each of them (dissertation 5.2).

Trends with a common prefix share it: a stored trend is a node with its last event and a link to the node of its prefix.
A trend grows by one node, regardless of its length; Table 5.1 counts updates like this. The nodes of trends that end
with the same vertex are consecutive, in the order of the vertices. When an edge is taken, all nodes of its source are
extended, and the results are consecutive, too. So no node is moved or written twice.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.construction.cet.kernels.graph import WindowGraph
from cepbench.algorithms.construction.cet.kernels.trends import TRAVERSALS, UPDATES
from cepbench.algorithms.engine.kernels.arrays import Flags, Ints, Reals
from cepbench.algorithms.engine.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.engine.kernels.trend_hash import BASE, Hashes

Words = NDArray[np.uint32]

CHUNK = 1024
"""Nodes that are extended over all out-edges while they are in the cache: 24 KiB."""

NO_PREFIX = np.uint32(0xFFFFFFFF)


class TrendTree(NamedTuple):
    """Stored trends, one node of 24 bytes each. Those of a graphlet are consecutive.

    - `prefix[N]`: the node of the trend without its last event, counted from the graphlet's first node, or NO_PREFIX.
    - `event[N]`, `first[N]`: the last and the first vertex, counted from the graphlet's first vertex.
    - `length[N]`: number of events. `hash[N]`: hash of the trend.
    """

    prefix: Words
    event: Words
    first: Words
    length: Words
    hash: Hashes


class Graphlets(NamedTuple):
    """Graphlets of a window in time order; graphlet i holds vertices `bounds[i]..bounds[i + 1] - 1` (`bounds[k + 1]`).

    - `base[k]`: the graphlet's first node; `fresh[k]`: whether its trends have to be constructed.
    - per vertex: `home`, the first vertex of its graphlet; `ways`, the number of trends from a first vertex of its
      graphlet that end with it (float64: they may be too many to store); their nodes are `start..stop - 1`.
    """

    bounds: Ints
    base: Ints
    fresh: Flags
    home: Ints
    start: Ints
    stop: Ints
    ways: Reals


@kernel
def construct(graph: WindowGraph, terms: Hashes, graphlets: Graphlets, tree: TrendTree, work: Ints) -> None:
    """Constructs the trends of all fresh graphlets; sets `home`, `start` and `stop` for all. `work` counts operations.

    Each edge is traversed once, and a node is an update. O(1) per node.
    """
    start, stop = graphlets.start, graphlets.stop
    for g in range(len(graphlets.base)):
        low, high = graphlets.bounds[g], graphlets.bounds[g + 1]
        at = graphlets.base[g]
        for v in range(low, high):
            graphlets.home[v], start[v] = low, at
            at += signed(graphlets.ways[v])
            stop[v] = start[v] if graphlets.fresh[g] else at
        if graphlets.fresh[g]:
            for v in range(low, high):
                if is_first(v, low, graph):
                    _begin(start[v], v - low, terms[v], tree)
                    stop[v] += 1
                _extend_over_edges(v, low, high, graph, terms, graphlets, tree, work)
            work[UPDATES] += at - graphlets.base[g]


@inlined
def _begin(at: int, vertex: int, term: np.uint64, tree: TrendTree) -> None:
    """Sets node `at` to the trend of one vertex."""
    tree.prefix[at], tree.event[at], tree.first[at], tree.length[at] = NO_PREFIX, vertex, vertex, 1
    tree.hash[at] = term


@inner
def _extend_over_edges(
    u: int,
    low: int,
    high: int,
    graph: WindowGraph,
    terms: Hashes,
    graphlets: Graphlets,
    tree: TrendTree,
    work: Ints,
) -> None:
    """Traverses each out-edge of u once, and extends all trends that end with u."""
    start, stop = graphlets.start, graphlets.stop
    begin, end = graph.out_ptr[u], inner_stop(u, high, graph)
    size = stop[u] - start[u]
    for done in range(0, size, CHUNK):
        source = start[u] + done
        number = min(CHUNK, size - done)
        for e in range(begin, end):
            v = graph.out[e]
            _extend(source, stop[v] + done, number, source - start[low], v - low, terms[v], tree)
    for e in range(begin, end):
        stop[graph.out[e]] += size
    work[TRAVERSALS] += end - begin


@inlined
def _extend(source: int, to: int, number: int, prefix: int, event: int, term: np.uint64, tree: TrendTree) -> None:
    """Sets nodes `to..to + number - 1` to those from `source` on, extended by one vertex.

    There is one loop per array, so that the compiler can vectorize it.
    """
    prefixes, events = tree.prefix[to : to + number], tree.event[to : to + number]
    first, new_first = tree.first[source : source + number], tree.first[to : to + number]
    length, new_length = tree.length[source : source + number], tree.length[to : to + number]
    hashes, new_hashes = tree.hash[source : source + number], tree.hash[to : to + number]
    for i in range(number):
        prefixes[i] = np.uint32(prefix + i)
    for i in range(number):
        events[i] = np.uint32(event)
    for i in range(number):
        new_first[i] = first[i]
    for i in range(number):
        new_length[i] = length[i] + np.uint32(1)
    for i in range(number):
        new_hashes[i] = hashes[i] * BASE + term


@inlined
def signed(number: Any) -> Any:
    """A word or a float64 as int64."""
    return np.int64(number)


@inlined
def inner_stop(v: int, high: int, graph: WindowGraph) -> int:
    """The end of the out-edges of v that stay in its graphlet: all of them or none (Definition 6.2)."""
    stop = graph.out_ptr[v + 1]
    if stop > graph.out_ptr[v] and graph.out[stop - 1] >= high:
        return graph.out_ptr[v]
    return stop


@inlined
def is_first(v: int, low: int, graph: WindowGraph) -> bool:
    """Whether v has no in-edge from its graphlet, which starts with vertex `low`."""
    stop = graph.in_ptr[v + 1]
    return stop == graph.in_ptr[v] or graph.into[stop - 1] < low


@kernel
def move_down(source: int, target: int, size: int, tree: TrendTree) -> None:
    """Moves `size` nodes to a lower place of the same arrays."""
    for k in range(size):
        tree.prefix[target + k] = tree.prefix[source + k]
        tree.event[target + k] = tree.event[source + k]
        tree.first[target + k] = tree.first[source + k]
        tree.length[target + k] = tree.length[source + k]
        tree.hash[target + k] = tree.hash[source + k]
