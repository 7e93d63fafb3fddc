"""T-CET: constructs all sub-trends of a graphlet breadth-first, and stores each of them (dissertation 5.2).

Sub-trends with a common prefix share it: a stored one is a node with its last event and a link to the node of its
prefix. A trend grows by one node, regardless of its length; Table 5.1 counts updates like this. The nodes of sub-trends
that end with the same vertex are consecutive, in the order of the vertices. When an edge is taken, all nodes of its
source are extended, and the results are consecutive, too. So no node is moved or written twice.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.construction.cet.kernels.graph import WindowGraph, begins, inner_out_edges
from cepbench.algorithms.engine.kernels import cells
from cepbench.algorithms.engine.kernels.arrays import Flags, Ints, Reals
from cepbench.algorithms.engine.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.engine.kernels.sinks import Aggregated, Digested, Sink, Written, by_type, variant_of
from cepbench.algorithms.engine.kernels.trend_hash import BASE
from cepbench.queries.records import Records

Words = NDArray[np.uint32]

CHUNK = 1024
"""Nodes that are extended over all out-edges while they are in the cache: 24 KiB."""

NO_PREFIX = np.uint32(0xFFFFFFFF)


class TrendTree(NamedTuple):
    """Stored sub-trends, one node of 16 bytes each and a value. Those of a graphlet are consecutive.

    - `prefix[N]`: the node of the trend without its last event, counted from the graphlet's first node, or NO_PREFIX.
    - `event[N]`, `first[N]`: the last and the first vertex, counted from the graphlet's first vertex.
    - `length[N]`: number of events.
    - `value[N]`: by sink, `Hashes` of the sub-trends or their aggregates (`Cells`); not used where trends are written.
    """

    prefix: Words
    event: Words
    first: Words
    length: Words
    value: Any


class Graphlets(NamedTuple):
    """Graphlets of a window in time order; graphlet i holds vertices `bounds[i]..bounds[i + 1] - 1` (`bounds[k + 1]`).

    - `base[k]`: the graphlet's first node; `fresh[k]`: whether its sub-trends have to be constructed.
    - per vertex: `home`, the first vertex of its graphlet; `ways`, the number of sub-trends of its graphlet that end
      with it (float64: they may be too many to store); their nodes are `start..stop - 1`.
    """

    bounds: Ints
    base: Ints
    fresh: Flags
    home: Ints
    start: Ints
    stop: Ints
    ways: Reals


class StoredTrends(NamedTuple):
    """The graph of a window, cut into graphlets, and their sub-trends."""

    graph: WindowGraph
    graphlets: Graphlets
    tree: TrendTree


@kernel
def construct(stored: StoredTrends, sink: Sink, work: Records) -> None:
    """Constructs the sub-trends of all fresh graphlets; sets `home`, `start` and `stop` for all. `work` counts
    operations.

    Each edge is traversed once, and a node is an update. O(1) per node, and per channel of its aggregate.
    """
    graph, graphlets, tree = stored
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
                if begins(v, low, graph):
                    _begin(stop[v], v - low, tree)
                    begin_value(sink, v, stop[v], tree)
                    stop[v] += 1
                _extend_over_edges(v, low, high, stored, sink, work)
            work[0].updates += at - graphlets.base[g]


@inlined
def _begin(at: int, vertex: int, tree: TrendTree) -> None:
    """Sets node `at` to the trend of one vertex."""
    tree.prefix[at], tree.event[at], tree.first[at], tree.length[at] = NO_PREFIX, vertex, vertex, 1


@inner
def _extend_over_edges(u: int, low: int, high: int, stored: StoredTrends, sink: Sink, work: Records) -> None:
    """Traverses each out-edge of u to its graphlet once, and extends all sub-trends that end with u.

    `stop[u]` is the end of these: edges lead to later vertices only, and those to u have been traversed.
    """
    graph, graphlets, tree = stored
    start, stop = graphlets.start, graphlets.stop
    begin, end = graph.out_ptr[u], inner_out_edges(u, high, graph)
    size = stop[u] - start[u]
    for done in range(0, size, CHUNK):
        source = start[u] + done
        number = min(CHUNK, size - done)
        for e in range(begin, end):
            v = graph.out[e]
            to = stop[v] + done
            _extend(source, to, number, source - start[low], v - low, tree)
            extend_values(sink, v, source, to, number, tree)
    for e in range(begin, end):
        stop[graph.out[e]] += size
    work[0].traversals += end - begin


@inlined
def _extend(source: int, to: int, number: int, prefix: int, event: int, tree: TrendTree) -> None:
    """Sets nodes `to..to + number - 1` to those from `source` on, extended by one vertex.

    There is one loop per array, so that the compiler can vectorize it.
    """
    prefixes, events = tree.prefix[to : to + number], tree.event[to : to + number]
    first, new_first = tree.first[source : source + number], tree.first[to : to + number]
    length, new_length = tree.length[source : source + number], tree.length[to : to + number]
    for i in range(number):
        prefixes[i] = np.uint32(prefix + i)
    for i in range(number):
        events[i] = np.uint32(event)
    for i in range(number):
        new_first[i] = first[i]
    for i in range(number):
        new_length[i] = length[i] + np.uint32(1)


@by_type
def begin_value(sink: Sink, v: int, at: int, tree: TrendTree) -> None:
    """Sets the value of node `at` to that of vertex v alone."""
    raise NotImplementedError


@by_type
def extend_values(sink: Sink, v: int, source: int, to: int, number: int, tree: TrendTree) -> None:
    """Sets the values of nodes `to..to + number - 1` to those from `source` on, extended by vertex v."""
    raise NotImplementedError


@variant_of(begin_value, Written)
def _begin_nothing(sink: Written, v: int, at: int, tree: TrendTree) -> None:
    pass


@variant_of(extend_values, Written)
def _extend_nothing(sink: Written, v: int, source: int, to: int, number: int, tree: TrendTree) -> None:
    pass


@variant_of(begin_value, Digested)
def _begin_hash(sink: Digested, v: int, at: int, tree: Any) -> None:
    tree.value[at] = sink.term[v]


@variant_of(extend_values, Digested)
def _extend_hashes(sink: Digested, v: int, source: int, to: int, number: int, tree: Any) -> None:
    hashes, new_hashes = tree.value[source : source + number], tree.value[to : to + number]
    term = sink.term[v]
    for i in range(number):
        new_hashes[i] = hashes[i] * BASE + term


@variant_of(begin_value, Aggregated)
def _begin_cell(sink: Aggregated, v: int, at: int, tree: Any) -> None:
    cells.clear(tree.value, at)
    cells.begin(tree.value, at)
    cells.extend(tree.value, at, sink.weights, sink.position[v], sink.ints, sink.reals, v)


@variant_of(extend_values, Aggregated)
def _extend_cells(sink: Aggregated, v: int, source: int, to: int, number: int, tree: Any) -> None:
    for i in range(number):
        cells.copy(tree.value, to + i, tree.value, source + i)
        cells.extend(tree.value, to + i, sink.weights, sink.position[v], sink.ints, sink.reals, v)


@inlined
def signed(number: Any) -> Any:
    """A word or a float64 as int64."""
    return np.int64(number)


@kernel
def move_down(source: int, target: int, size: int, tree: TrendTree) -> None:
    """Moves `size` nodes to a lower place of the same arrays."""
    for k in range(size):
        tree.prefix[target + k] = tree.prefix[source + k]
        tree.event[target + k] = tree.event[source + k]
        tree.first[target + k] = tree.first[source + k]
        tree.length[target + k] = tree.length[source + k]
        tree.value[target + k] = tree.value[source + k]
