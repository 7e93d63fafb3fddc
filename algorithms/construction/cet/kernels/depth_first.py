"""M-CET: depth-first search over the graph of a window, with one trend in memory at a time (dissertation 5.2)."""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.construction.cet.kernels.graph import WindowGraph
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.compilation import kernel
from cepbench.algorithms.engine.kernels.sinks import Sink, emit, has_room
from cepbench.queries.records import Records


class WorkRecord:
    """Operations of Table 5.1: traversed edges, or segments, and updates of trends."""

    traversals: int
    updates: int


class PlaceRecord:
    """Where a traversal continues: the next vertex that can begin its path, and the depth of the path."""

    cursor: int
    depth: int


class Path(NamedTuple):
    """The trend under construction: `vertex[V]`, and `edge[V]`, their next out-edges. `place[1]`: `PlaceRecord`."""

    vertex: Ints
    edge: Ints
    place: Records


@kernel
def search(graph: WindowGraph, path: Path, sink: Sink, work: Records) -> bool:
    """Constructs all trends one after the other; False when the sink is full: call again to continue.

    O(l) per trend of length l, which the sink takes from scratch. `work` counts traversed edges (again after
    backtracking) and events in all trends.
    """
    vertex, edge, out_ptr, out = path.vertex, path.edge, graph.out_ptr, graph.out
    place, done = path.place[0], work[0]
    cursor, depth, traversals, updates = place.cursor, place.depth, 0, 0
    ended = True
    while True:
        if not has_room(sink, depth + 1):
            ended = False
            break
        if depth == 0:
            while cursor < len(graph.start) and not graph.start[cursor]:
                cursor += 1
            if cursor == len(graph.start):
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
        if graph.end[v]:
            emit(sink, vertex, 0, depth + 1)
            updates += depth + 1
        e = out_ptr[v]
        if e < out_ptr[v + 1]:
            edge[depth] = e
            depth += 1
    place.cursor, place.depth = cursor, depth
    done.traversals += traversals
    done.updates += updates
    return ended
