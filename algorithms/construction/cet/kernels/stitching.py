"""The second step of H-CET: depth-first search over graphlets stitches their stored trends (dissertation 5.3).

The search goes back in time: the stored trends that end with a vertex are consecutive, and each has its first vertex,
whose in-edges lead to earlier graphlets.
"""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.construction.cet.kernels.breadth_first import Graphlets, TrendTree, signed
from cepbench.algorithms.construction.cet.kernels.graph import WindowGraph
from cepbench.algorithms.construction.cet.kernels.trends import TRAVERSALS, TRENDS, UPDATES, WRITTEN, FoundTrends, full
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.engine.kernels.trend_hash import Hashes, finished

CURSOR, DEPTH = 0, 1
NEW = -1
"""In place of an edge: the node has not been visited yet."""


class Stitch(NamedTuple):
    """The trend under construction, its last segment first: `node[k]`, and `edge[k]`, the cut edge to try next.

    `at`: CURSOR, the next vertex that can be the last of a trend, and DEPTH, the number of segments.
    """

    node: Ints
    edge: Ints
    at: Ints


@kernel
def stitch(
    graph: WindowGraph,
    graphlets: Graphlets,
    tree: TrendTree,
    powers: Hashes,
    path: Stitch,
    output: FoundTrends,
    work: Ints,
) -> bool:
    """Constructs all complete trends of the window from stored ones; False if `output` is full: call again to continue.

    A segment continues over each in-edge of its first vertex; all of them are cut edges. O(k) per trend of k segments
    (plus its events, if they are written). With one graphlet, nothing is stitched or counted. `powers[i]` = BASE^i;
    `work` counts visited segments and segments in trends.
    """
    writing = len(output.offsets) > 0
    if len(graphlets.base) == 1 and not writing:
        _digest_stored(graph, graphlets, tree, output)
        return True
    node, edge, in_ptr = path.node, path.edge, graph.in_ptr
    cursor, depth = path.at[CURSOR], path.at[DEPTH]
    trends, written, digest = output.size[TRENDS], output.size[WRITTEN], output.digest[0]
    traversals, updates = 0, 0
    ended = True
    while True:
        if depth == 0:
            while cursor < len(graph.time) and graph.out_ptr[cursor] < graph.out_ptr[cursor + 1]:
                cursor += 1
            if cursor == len(graph.time):
                break
            node[0], edge[0] = graphlets.start[cursor], NEW
            cursor += 1
            depth = 1
            traversals += 1
        d = depth - 1
        last = cursor - 1 if d == 0 else graph.into[edge[d - 1] - 1]
        here, home, stop = node[d], graphlets.home[last], graphlets.stop[last]
        first = home + signed(tree.first[here])
        if edge[d] == NEW and in_ptr[first] == in_ptr[first + 1]:
            if writing:
                total = 0
                for s in range(depth):
                    total += signed(tree.length[node[s]])
                if full(total, trends, written, output):
                    ended = False
                    break
                _write(total, cursor - 1, depth, written, graph, graphlets, tree, path, output)
                written += total
                trends += 1
                output.offsets[trends] = written
                updates += depth
                here += 1
            else:
                begin = here
                while here < stop:
                    first = home + signed(tree.first[here])
                    if in_ptr[first] < in_ptr[first + 1]:
                        break
                    h = tree.hash[here]
                    for s in range(d - 1, -1, -1):
                        h = h * powers[tree.length[node[s]]] + tree.hash[node[s]]
                    digest += finished(h)
                    here += 1
                trends += here - begin
                updates += depth * (here - begin)
                traversals += here - begin - 1
        else:
            if edge[d] == NEW:
                edge[d] = in_ptr[first]
            if edge[d] < in_ptr[first + 1]:
                node[depth], edge[depth] = graphlets.start[graph.into[edge[d]]], NEW
                edge[d] += 1
                depth += 1
                traversals += 1
                continue
            here += 1
        if here < stop:
            node[d], edge[d] = here, NEW
            traversals += 1
        else:
            depth -= 1
    path.at[CURSOR], path.at[DEPTH] = cursor, depth
    output.size[TRENDS], output.size[WRITTEN], output.digest[0] = trends, written, digest
    if len(graphlets.base) > 1:
        work[TRAVERSALS] += traversals
        work[UPDATES] += updates
    return ended


@inner
def _digest_stored(graph: WindowGraph, graphlets: Graphlets, tree: TrendTree, output: FoundTrends) -> None:
    """Digests the stored trends of the only graphlet that are complete."""
    for v in range(len(graph.time)):
        if graph.out_ptr[v] == graph.out_ptr[v + 1]:
            hashes = tree.hash[graphlets.start[v] : graphlets.stop[v]]
            digest = output.digest[0]
            for i in range(len(hashes)):
                digest += finished(hashes[i])
            output.digest[0] = digest
            output.size[TRENDS] += len(hashes)


@inlined
def _write(
    total: int,
    end: int,
    depth: int,
    written: int,
    graph: WindowGraph,
    graphlets: Graphlets,
    tree: TrendTree,
    path: Stitch,
    output: FoundTrends,
) -> None:
    """Writes the `total` events of the trend that ends with vertex `end`, from the last one back."""
    to = written + total
    for s in range(depth):
        home = graphlets.home[end if s == 0 else graph.into[path.edge[s - 1] - 1]]
        base = graphlets.start[home]
        at = path.node[s]
        for left in range(signed(tree.length[at]), 0, -1):
            to -= 1
            output.positions[to] = graph.place[home + signed(tree.event[at])]
            if left > 1:
                at = base + signed(tree.prefix[at])
