"""T-CET: breadth-first construction of all complete trends of a graphlet, each of them stored (dissertation 5.2).

A stored trend is a record of uint32 words: its length, the two halves of its hash, low first, and its vertices, counted
from the first of the graphlet. A trend under construction lies at the start of the space that all its completions will
take, and the word behind it links it to the previous trend that ends with the same vertex. When an edge is taken, every
trend that ends at its source is extended: over the first out-edge in place, over the others as a copy in the space of
their own completions. So the records never take more than the complete trends need in the end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.cet.kernels.trends import TRAVERSALS, UPDATES
from cepbench.algorithms.cet.kernels.window_graph import WindowGraph
from cepbench.algorithms.kernels.arrays import Flags, Ints, Reals
from cepbench.algorithms.kernels.compilation import inlined, kernel
from cepbench.algorithms.kernels.trend_hash import BASE, Hashes

Words = NDArray[np.uint32]

HEADER = 3
"""Words of a record beside its vertices."""

BLOCK = 1 << 16
"""Words of trends that are constructed at once, so that they stay in the cache."""

_NONE = -1
_NO_LINK = np.uint32(0xFFFFFFFF)
_HALF = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


class Graphlets(NamedTuple):
    """Graphlets of a window: vertices `bounds[i]..bounds[i + 1] - 1` each (`bounds[k + 1]`), in the order of time.

    - `base[k]`: the first word of the graphlet's records; `fresh[k]`: whether they have to be constructed.
    - per vertex: `home`, the first vertex of its graphlet; for first vertices, their records are words
      `start..stop - 1`; `ways`, trends that lead from it to a last vertex of its graphlet, and `extra`, events of
      those trends beside it (float64: both may be too many to store); `head`, the latest trend that ends with it.
    - per out-edge of the vertex at hand: trends `before` it and events `inside` their completions.
    """

    bounds: Ints
    base: Ints
    fresh: Flags
    home: Ints
    start: Ints
    stop: Ints
    ways: Reals
    extra: Reals
    head: Ints
    before: Ints
    inside: Ints


@kernel
def count_trends(graph: WindowGraph, graphlets: Graphlets, words: Reals, trends: Reals, firsts: Ints) -> None:
    """`words[k]` and number of complete trends of each graphlet, and number of its first vertices. O(|V| + |E|)."""
    for g in range(len(graphlets.base)):
        low, high = graphlets.bounds[g], graphlets.bounds[g + 1]
        words[g], trends[g], firsts[g] = 0.0, 0.0, 0
        for v in range(high - 1, low - 1, -1):
            count, extra = 0.0, 0.0
            for e in range(graph.out_ptr[v], inner_stop(v, high, graph)):
                count += graphlets.ways[graph.out[e]]
                extra += graphlets.ways[graph.out[e]] + graphlets.extra[graph.out[e]]
            graphlets.ways[v] = max(count, 1.0)
            graphlets.extra[v] = extra
            graphlets.home[v] = low
            if is_first(v, low, graph):
                words[g] += (HEADER + 1) * graphlets.ways[v] + extra
                trends[g] += graphlets.ways[v]
                firsts[g] += 1


@kernel
def construct(graph: WindowGraph, terms: Hashes, graphlets: Graphlets, words: Words, work: Ints) -> None:
    """Constructs the trends of all fresh graphlets; `start` and `stop` are set for all. `work` counts its operations.

    An edge is taken once; a stored trend is updated once per event and copied at most once per out-edge that it takes.
    A graphlet of more than BLOCK words is constructed in blocks, each of which takes the edges that it needs.
    """
    for g in range(len(graphlets.base)):
        begin = graphlets.base[g]
        end = _put_first_vertices(g, begin, graph, terms, graphlets, words, work)
        if not graphlets.fresh[g]:
            continue
        if end - begin <= BLOCK:
            _complete(g, begin, end, 0, graph, terms, graphlets, words, work)
            continue
        _complete(g, begin, end, BLOCK, graph, terms, graphlets, words, work)
        at = begin
        while begin < end:
            while at < end and at - begin < BLOCK:
                length = signed(words[at])
                v = graphlets.bounds[g] + signed(words[at + HEADER + length - 1])
                at += _completions(v, length, graphlets)
            _complete(g, begin, at, 0, graph, terms, graphlets, words, work)
            begin = at


@kernel
def _put_first_vertices(
    g: int, at: int, graph: WindowGraph, terms: Hashes, graphlets: Graphlets, words: Words, work: Ints
) -> int:
    """Starts the trends of a graphlet, whose records begin at word `at`; returns their end."""
    low = graphlets.bounds[g]
    for v in range(low, graphlets.bounds[g + 1]):
        graphlets.start[v] = at
        if is_first(v, low, graph):
            if graphlets.fresh[g]:
                words[at] = 1
                _put_hash(words, at, terms[v])
                words[at + HEADER] = v - low
                work[UPDATES] += 1
            at += _completions(v, 1, graphlets)
        graphlets.stop[v] = at
    return at


@kernel
def _complete(
    g: int,
    begin: int,
    end: int,
    least: int,
    graph: WindowGraph,
    terms: Hashes,
    graphlets: Graphlets,
    words: Words,
    work: Ints,
) -> None:
    """Extends the trends whose spaces fill words begin..end-1, breadth-first.

    Trends whose completions take at most `least` words are left as they are.
    """
    low, high, base = graphlets.bounds[g], graphlets.bounds[g + 1], graphlets.base[g]
    for v in range(low, high):
        graphlets.head[v] = _NONE
    at, lowest = begin, high
    while at < end:
        length = signed(words[at])
        v = low + signed(words[at + HEADER + length - 1])
        space = _completions(v, length, graphlets)
        if space > least and graph.out_ptr[v] < inner_stop(v, high, graph):
            _link(at, length, v, base, graphlets, words)
            lowest = min(lowest, v)
        at += space
    for u in range(lowest, high):
        if graphlets.head[u] != _NONE:
            _extend(u, g, least, graph, terms, graphlets, words, work)


@kernel
def _extend(
    u: int, g: int, least: int, graph: WindowGraph, terms: Hashes, graphlets: Graphlets, words: Words, work: Ints
) -> None:
    """Takes each out-edge of u once, and extends all trends that end with u over them, over the last edge first."""
    low, high, base = graphlets.bounds[g], graphlets.bounds[g + 1], graphlets.base[g]
    begin, end = graph.out_ptr[u], inner_stop(u, high, graph)
    before, inside = graphlets.before, graphlets.inside
    trends, events = 0, 0
    for e in range(begin, end):
        v = graph.out[e]
        before[e - begin], inside[e - begin] = trends, events
        trends += signed(graphlets.ways[v])
        events += signed(graphlets.ways[v] + graphlets.extra[v])
    work[TRAVERSALS] += end - begin
    here = graphlets.head[u]
    while here != _NONE:
        length = signed(words[here])
        link = words[here + HEADER + length]
        h = stored_hash(words, here) * BASE
        for e in range(end - 1, begin - 1, -1):
            v = graph.out[e]
            to = here + before[e - begin] * (HEADER + length) + inside[e - begin]
            if to != here:
                for k in range(HEADER, HEADER + length):
                    words[to + k] = words[here + k]
            words[to] = length + 1
            _put_hash(words, to, h + terms[v])
            words[to + HEADER + length] = v - low
            if graph.out_ptr[v] < inner_stop(v, high, graph) and _completions(v, length + 1, graphlets) > least:
                _link(to, length + 1, v, base, graphlets, words)
        work[UPDATES] += end - begin
        here = _NONE if link == _NO_LINK else base + signed(link)


@inlined
def _link(at: int, length: int, v: int, base: int, graphlets: Graphlets, words: Words) -> None:
    """Puts the trend at word `at` before the others that end with v."""
    head = graphlets.head[v]
    words[at + HEADER + length] = _NO_LINK if head == _NONE else np.uint32(head - base)
    graphlets.head[v] = at


@inlined
def _completions(v: int, length: int, graphlets: Graphlets) -> int:
    """Words that the completions of a trend of this length that ends with v take."""
    return signed(graphlets.ways[v]) * (HEADER + length) + signed(graphlets.extra[v])


@inlined
def signed(number: Any) -> Any:
    """A word or a float64 as int64."""
    return np.int64(number)


@inlined
def inner_stop(v: int, high: int, graph: WindowGraph) -> int:
    """The end of the out-edges of v that stay in its graphlet: by Definition 6.2, all of them or none."""
    stop = graph.out_ptr[v + 1]
    if stop > graph.out_ptr[v] and graph.out[stop - 1] >= high:
        return graph.out_ptr[v]
    return stop


@inlined
def is_first(v: int, low: int, graph: WindowGraph) -> bool:
    """Whether v has no in-edge from its graphlet, which starts with vertex `low`."""
    stop = graph.in_ptr[v + 1]
    return stop == graph.in_ptr[v] or graph.into[stop - 1] < low


@inlined
def stored_hash(words: Words, at: int) -> np.uint64:
    """The hash of the record at word `at`."""
    return np.uint64(words[at + 1]) | (np.uint64(words[at + 2]) << _HALF)


@inlined
def _put_hash(words: Words, at: int, h: np.uint64) -> None:
    words[at + 1] = np.uint32(h & _LOW)
    words[at + 2] = np.uint32(h >> _HALF)


@kernel
def move_down(source: int, target: int, size: int, words: Words) -> None:
    """Moves `size` words to a lower place of the same array."""
    for k in range(size):
        words[target + k] = words[source + k]
