"""The second step of H-CET: depth-first search over graphlets stitches their stored trends (dissertation 5.3)."""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.cet.kernels.breadth_first import HEADER, Graphlets, Words, signed, stored_hash
from cepbench.algorithms.cet.kernels.trends import TRAVERSALS, TRENDS, UPDATES, WRITTEN, FoundTrends, full
from cepbench.algorithms.cet.kernels.window_graph import WindowGraph
from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.compilation import kernel
from cepbench.algorithms.kernels.trend_hash import Hashes, finished

CURSOR, DEPTH = 0, 1
NEW = -1
"""Instead of an edge: the record is not looked at yet."""


class Stitch(NamedTuple):
    """The segments of the trend under construction: `record[k]` in the words, the next cut edge to take `edge[k]`.

    `at`: CURSOR, the next vertex that may be the first of a trend, and DEPTH, the number of segments.
    """

    record: Ints
    edge: Ints
    at: Ints


@kernel
def stitch(
    graph: WindowGraph,
    graphlets: Graphlets,
    words: Words,
    powers: Hashes,
    path: Stitch,
    found: FoundTrends,
    work: Ints,
) -> bool:
    """Constructs all complete trends of the window from stored ones; False when `found` is full: call again to go on.

    A segment continues over each out-edge of its last vertex, all of which are cut edges. O(k) per trend of k segments
    (plus its events, if they are written); nothing is stitched, or counted, where there is one graphlet.
    `powers[i]` = BASE^i; `work` counts segments visited and segments put into trends.
    """
    record, edge, out_ptr = path.record, path.edge, graph.out_ptr
    cursor, depth = path.at[CURSOR], path.at[DEPTH]
    trends, written, digest = found.size[TRENDS], found.size[WRITTEN], found.digest[0]
    traversals, updates = 0, 0
    writing = len(found.offsets) > 0
    ended = True
    while True:
        if depth == 0:
            while cursor < len(graph.time) and graph.in_ptr[cursor] < graph.in_ptr[cursor + 1]:
                cursor += 1
            if cursor == len(graph.time):
                break
            record[0], edge[0] = graphlets.start[cursor], NEW
            cursor += 1
            depth = 1
            traversals += 1
        d = depth - 1
        here = record[d]
        length = signed(words[here])
        first = cursor - 1 if d == 0 else graph.out[edge[d - 1] - 1]
        last = graphlets.home[first] + signed(words[here + HEADER + length - 1])
        if edge[d] == NEW:
            edge[d] = out_ptr[last]
            if out_ptr[last] == out_ptr[last + 1]:
                if writing:
                    total = 0
                    for s in range(depth):
                        total += signed(words[record[s]])
                    if full(total, trends, written, found):
                        edge[d] = NEW
                        ended = False
                        break
                    for s in range(depth):
                        home = graphlets.home[cursor - 1 if s == 0 else graph.out[edge[s - 1] - 1]]
                        begin = record[s] + HEADER
                        for k in range(begin, begin + signed(words[record[s]])):
                            found.positions[written] = graph.place[home + signed(words[k])]
                            written += 1
                    trends += 1
                    found.offsets[trends] = written
                else:
                    h = stored_hash(words, record[0])
                    for s in range(1, depth):
                        h = h * powers[words[record[s]]] + stored_hash(words, record[s])
                    digest += finished(h)
                    trends += 1
                updates += depth
        if edge[d] < out_ptr[last + 1]:
            record[depth], edge[depth] = graphlets.start[graph.out[edge[d]]], NEW
            edge[d] += 1
            depth += 1
            traversals += 1
            continue
        here += HEADER + length
        if here < graphlets.stop[first]:
            record[d], edge[d] = here, NEW
            traversals += 1
        else:
            depth -= 1
    path.at[CURSOR], path.at[DEPTH] = cursor, depth
    found.size[TRENDS], found.size[WRITTEN], found.digest[0] = trends, written, digest
    if len(graphlets.base) > 1:
        work[TRAVERSALS] += traversals
        work[UPDATES] += updates
    return ended
