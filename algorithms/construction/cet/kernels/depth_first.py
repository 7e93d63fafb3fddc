"""M-CET: depth-first search over the CET graph, with one trend in memory at a time (dissertation Section 5.2)."""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.construction.cet.kernels.graph import WindowGraph
from cepbench.algorithms.construction.cet.kernels.trends import TRAVERSALS, TRENDS, UPDATES, WRITTEN, FoundTrends, full
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.compilation import kernel
from cepbench.algorithms.engine.kernels.trend_hash import BASE, Hashes, finished

CURSOR, DEPTH = 0, 1


class Path(NamedTuple):
    """The trend under construction: `vertex[V]`, the next out-edge to take `edge[V]`; `at`: CURSOR and DEPTH.

    The cursor is the next vertex that can be a first vertex.
    """

    vertex: Ints
    edge: Ints
    at: Ints


@kernel
def search(graph: WindowGraph, terms: Hashes, path: Path, output: FoundTrends, work: Ints) -> bool:
    """Constructs all complete trends one after the other; False when `output` is full: call again to continue.

    `terms[V]`: the hash of each vertex. O(l) per trend of length l, which is hashed or written from scratch; `work`
    counts traversed edges (again after backtracking) and events in all trends.
    """
    vertex, edge, out_ptr, out = path.vertex, path.edge, graph.out_ptr, graph.out
    cursor, depth = path.at[CURSOR], path.at[DEPTH]
    trends, written, digest = output.size[TRENDS], output.size[WRITTEN], output.digest[0]
    traversals, updates = work[TRAVERSALS], work[UPDATES]
    writing = len(output.offsets) > 0
    ended = True
    while True:
        if full(depth + 1, trends, written, output):
            ended = False
            break
        if depth == 0:
            while cursor < len(graph.time) and graph.in_ptr[cursor] < graph.in_ptr[cursor + 1]:
                cursor += 1
            if cursor == len(graph.time):
                break
            v = cursor
            cursor += 1
        else:
            e = edge[depth - 1]
            if e == out_ptr[vertex[depth - 1] + 1]:
                depth -= 1
                continue
            edge[depth - 1] = e + 1
            v = out[e]
            traversals += 1
        vertex[depth] = v
        e = out_ptr[v]
        if e < out_ptr[v + 1]:
            edge[depth] = e
            depth += 1
            continue
        trends += 1
        updates += depth + 1
        if writing:
            for d in range(depth + 1):
                output.positions[written + d] = graph.place[vertex[d]]
            written += depth + 1
            output.offsets[trends] = written
        else:
            h = terms[vertex[0]]
            for d in range(1, depth + 1):
                h = h * BASE + terms[vertex[d]]
            digest += finished(h)
    path.at[CURSOR], path.at[DEPTH] = cursor, depth
    output.size[TRENDS], output.size[WRITTEN], output.digest[0] = trends, written, digest
    work[TRAVERSALS], work[UPDATES] = traversals, updates
    return ended
