"""The second step of H-CET: depth-first search over graphlets stitches their stored sub-trends (dissertation 5.3).

The search goes back in time: the stored sub-trends that end with a vertex are consecutive, and each has its first
vertex, whose cut in-edges lead to earlier graphlets.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from cepbench.algorithms.construction.cet.kernels.breadth_first import StoredTrends, signed
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.cells import ONE, Cells, add, add_all, copy, sum_exceeds
from cepbench.algorithms.engine.kernels.compilation import inlined, kernel
from cepbench.algorithms.engine.kernels.constants import NONE
from cepbench.algorithms.engine.kernels.sinks import (
    Aggregated,
    Digested,
    Sink,
    Written,
    by_type,
    has_room,
    variant_of,
)
from cepbench.algorithms.engine.kernels.trend_hash import finished
from cepbench.queries.records import Records


class Segments(NamedTuple):
    """The trend under construction, its last segment first.

    `node[k]`: the stored sub-trend of segment k. `edge[k]`: the cut edge to try next, NONE before the first visit.
    `place[1]`: `PlaceRecord`, where the search continues.
    """

    node: Ints
    edge: Ints
    place: Records


@kernel
def stitch(stored: StoredTrends, path: Segments, sink: Sink, work: Records) -> bool:
    """Constructs all trends of the window from stored sub-trends; False when the sink is full: call again to continue.

    A segment continues over each cut in-edge of its first vertex. O(k) per trend of k segments (plus its events, if
    they are written). `work` counts visited segments and segments in trends; with one graphlet, nothing is stitched or
    counted.
    """
    graph, graphlets, tree = stored
    node, edge, in_ptr, into = path.node, path.edge, graph.in_ptr, graph.into
    place, done = path.place[0], work[0]
    cursor, depth, traversals, updates = place.cursor, place.depth, 0, 0
    one_graphlet = len(graphlets.base) == 1
    ended = True
    while True:
        if depth == 0:
            while cursor < len(graph.end) and not graph.end[cursor]:
                cursor += 1
            if cursor == len(graph.end):
                break
            node[0], edge[0] = graphlets.start[cursor], NONE
            cursor += 1
            depth = 1
            traversals += 1
        d = depth - 1
        last = cursor - 1 if d == 0 else into[edge[d - 1] - 1]
        here, home, stop = node[d], graphlets.home[last], graphlets.stop[last]
        first = home + signed(tree.first[here])
        fresh = edge[d] == NONE
        at = in_ptr[first] if fresh else edge[d]
        continues = at < in_ptr[first + 1] and into[at] < home
        if fresh and graph.start[first]:
            end = stop if one_graphlet else here + 1
            while end < stop and not continues and _is_whole(end, home, stored):
                end += 1
            emitted = emit_stored(sink, here, end, depth, cursor - 1, stored, path)
            updates += depth * emitted
            traversals += emitted
            if here + emitted < end:
                node[d] = here + emitted
                ended = False
                break
            traversals -= 1
            here = end - 1
        if continues:
            if fresh:
                bind(sink, d, here, stored)
            edge[d] = at + 1
            node[depth], edge[depth] = graphlets.start[into[at]], NONE
            depth += 1
            traversals += 1
            continue
        here += 1
        if here < stop:
            node[d], edge[d] = here, NONE
            traversals += 1
        else:
            depth -= 1
    place.cursor, place.depth = cursor, depth
    if not one_graphlet:
        done.traversals += traversals
        done.updates += updates
    return ended


@inlined
def _is_whole(at: int, home: int, stored: StoredTrends) -> bool:
    """Whether the sub-trend of a node begins with a START event, and continues over no cut edge."""
    graph = stored.graph
    first = home + signed(stored.tree.first[at])
    edge = graph.in_ptr[first]
    return graph.start[first] and (edge == graph.in_ptr[first + 1] or graph.into[edge] >= home)


@by_type
def bind(sink: Sink, d: int, at: int, stored: StoredTrends) -> None:
    """Makes node `at` segment d of the trend under construction."""
    raise NotImplementedError


@variant_of(bind, Written, Digested)
def _bind_nothing(sink: Written | Digested, d: int, at: int, stored: StoredTrends) -> None:
    pass


@variant_of(bind, Aggregated)
def _bind_cell(sink: Aggregated, d: int, at: int, stored: Any) -> None:
    if d == 0:
        copy(sink.partial, 0, stored.tree.value, at)
    else:
        _concatenate(sink.partial, d, stored.tree.value, at)


@by_type
def emit_stored(
    sink: Sink, begin: int, end: int, depth: int, last: int, stored: StoredTrends, path: Segments
) -> int:  # fmt: skip
    """Hands over trends of `depth` segments that end with vertex `last`, one for each of the nodes `begin..end - 1`,
    its earliest segment; returns their number, which is smaller if the sink is full.
    """
    raise NotImplementedError


@variant_of(emit_stored, Digested)
def _digest_stored(
    sink: Digested, begin: int, end: int, depth: int, last: int, stored: Any, path: Segments
) -> int:  # fmt: skip
    hashes, length = stored.tree.value[begin:end], stored.tree.length
    digest = np.uint64(0)
    if depth == 1:
        for i in range(len(hashes)):
            digest += finished(hashes[i])
    else:
        for i in range(len(hashes)):
            h = hashes[i]
            for s in range(depth - 2, -1, -1):
                h = h * sink.power[length[path.node[s]]] + stored.tree.value[path.node[s]]
            digest += finished(h)
    sink.output[0].digest += digest
    sink.output[0].matches += len(hashes)
    return len(hashes)


@variant_of(emit_stored, Aggregated)
def _aggregate_stored(
    sink: Aggregated, begin: int, end: int, depth: int, last: int, stored: Any, path: Segments
) -> int:  # fmt: skip
    if depth == 1:
        add_all(sink.total, 0, stored.tree.value, begin, 1, end - begin)
    else:
        for at in range(begin, end):
            _concatenate(sink.partial, depth - 1, stored.tree.value, at)
            add(sink.total, 0, sink.partial, depth - 1)
    return end - begin


@inlined
def _concatenate(partial: Cells, d: int, segments: Cells, at: int) -> None:
    """Sets cell d of `partial` to the trend of the cell before it and the sub-trend of cell `at` (one trend each)."""
    over = partial.over[d - 1] | segments.over[at]
    partial.counts[d, 0] = partial.counts[d - 1, 0]
    for c in range(ONE, partial.words.real):
        value = segments.counts[at, c]
        whole = partial.counts[d - 1, c] + value
        if sum_exceeds(whole, value):
            over |= ONE << c
        partial.counts[d, c] = whole
    partial.over[d] = over
    for c in range(partial.words.real, partial.words.least):
        partial.reals[d, c] = partial.reals[d - 1, c] + segments.reals[at, c]
    for c in range(partial.words.least, partial.words.end):
        partial.ints[d, c] = min(partial.ints[d - 1, c], segments.ints[at, c])


@variant_of(emit_stored, Written)
def _write_stored(
    sink: Written, begin: int, end: int, depth: int, last: int, stored: StoredTrends, path: Segments
) -> int:  # fmt: skip
    output, tree = sink.output[0], stored.tree
    later = 0
    for s in range(depth - 1):
        later += signed(tree.length[path.node[s]])
    for node in range(begin, end):
        length = later + signed(tree.length[node])
        if not has_room(sink, length):
            return node - begin
        path.node[depth - 1] = node
        _write_segments(output.events + length, depth, last, sink, stored, path)
        output.events += length
        output.matches += 1
        sink.offsets[output.matches] = output.events
    return end - begin


@inlined
def _write_segments(to: int, depth: int, last: int, sink: Written, stored: StoredTrends, path: Segments) -> None:
    """Writes the events of a trend from the last one back, before place `to` of the output."""
    graph, graphlets, tree = stored
    for s in range(depth):
        home = graphlets.home[last if s == 0 else graph.into[path.edge[s - 1] - 1]]
        base, at = graphlets.start[home], path.node[s]
        for left in range(signed(tree.length[at]), 0, -1):
            to -= 1
            sink.positions[to] = sink.place[home + signed(tree.event[at])]
            if left > 1:
                at = base + signed(tree.prefix[at])
