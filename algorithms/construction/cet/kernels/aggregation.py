"""Counts, constructs and aggregates all trends of a window in a graph
(two-step aggregation on CET graphs, dissertation 5.2 and 13.1).
"""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.construction.cet.kernels.graph import TrendGraph
from cepbench.algorithms.engine.kernels.arrays import Codes, Ints, Reals
from cepbench.algorithms.engine.kernels.cells import ONE, Cells, add, add_trend, begin, clear, copy, extend, sum_exceeds
from cepbench.algorithms.engine.kernels.compilation import inlined, kernel
from cepbench.algorithms.engine.kernels.stacks import Stacks
from cepbench.queries.tables import Tables


@inlined
def _begins(v: int, low: int, graph: TrendGraph) -> bool:
    """Whether sub-trends of the graphlet from vertex `low` on can begin with v: a START, or reached from before."""
    begins = graph.start[v]
    for at in range(graph.in_ptr[v], graph.in_ptr[v + 1]):
        begins = begins or graph.into[at] < low
    return begins


@kernel
def count_trends(bounds: Ints, graph: TrendGraph, ways: Reals, words: Reals, trends: Reals, events: Reals) -> None:
    """Sets `trends[k]`, the sub-trends per graphlet (vertices bounds[g]..bounds[g+1]-1), and `events[k]`, their length.

    Exact up to rounding, infinite if too large; `ways[V]` and `words[V]` hold both numbers for sub-trends that end at a
    vertex. O(V + E).
    """
    for g in range(len(bounds) - 1):
        trends[g], events[g] = 0.0, 0.0
        for v in range(bounds[g], bounds[g + 1]):
            ways[v] = 1.0 if _begins(v, bounds[g], graph) else 0.0
            words[v] = 0.0
            for at in range(graph.in_ptr[v], graph.in_ptr[v + 1]):
                if graph.into[at] >= bounds[g]:
                    ways[v] += ways[graph.into[at]]
                    words[v] += words[graph.into[at]]
            words[v] += ways[v]
            trends[g] += ways[v]
            events[g] += words[v]


@kernel
def construct_trends(
    bounds: Ints,
    graph: TrendGraph,
    tables: Tables,
    stacks: Stacks,
    arena: Codes,
    row_ptr: Ints,
    last: Codes,
    cells: Cells,
) -> None:
    """Stores all sub-trends of all graphlets, breadth-first: each is copied once per successor in its graphlet.

    `arena` holds a row (length, vertices) for each of the R sub-trends; `last[R]`: their last vertices; `cells[R]`:
    their aggregates. The rows that begin with vertex v are `row_ptr[v]:row_ptr[v + 1]`. O(l) time to copy a row of
    length l, O(1) to aggregate it.
    """
    write, row, rows = 0, 0, 0
    for g in range(len(bounds) - 1):
        high = bounds[g + 1]
        for v in range(bounds[g], high):
            row_ptr[v] = rows
            if not _begins(v, bounds[g], graph):
                continue
            read = write
            arena[write], arena[write + 1], last[rows] = 1, v, v
            clear(cells, rows)
            begin(cells, rows)
            _extend(rows, v, graph, tables, stacks, cells)
            write += 2
            rows += 1
            while row < rows:
                length, u = arena[read], last[row]
                for at in range(graph.out_ptr[u], graph.out_ptr[u + 1]):
                    w = graph.out[at]
                    if w >= high:
                        break
                    arena[write] = length + 1
                    for k in range(1, length + 1):
                        arena[write + k] = arena[read + k]
                    arena[write + length + 1], last[rows] = w, w
                    copy(cells, rows, cells, row)
                    _extend(rows, w, graph, tables, stacks, cells)
                    write += length + 2
                    rows += 1
                read += length + 1
                row += 1
    row_ptr[bounds[-1]] = rows


@inlined
def _extend(i: int, v: int, graph: TrendGraph, tables: Tables, stacks: Stacks, cells: Cells) -> None:
    """Appends vertex v to the trend of cell i."""
    event = graph.event[v]
    extend(cells, i, tables, stacks.position[event], stacks.ints, stacks.reals, event)


@kernel
def search_trends(graph: TrendGraph, tables: Tables, stacks: Stacks, path: Ints, edge: Ints, total: Cells) -> None:
    """Adds every trend to cell 0 of `total`, depth-first. O(l) per trend of length l.

    `path[V]`: the events of the trend under construction; `edge[V]`: the next out-edge of each to try.
    """
    for v in range(len(graph.event)):
        depth = 0
        if graph.start[v]:
            path[0], edge[0], depth = graph.event[v], graph.out_ptr[v], 1
            if graph.end[v]:
                add_trend(total, 0, tables, path, depth, stacks.position, stacks.ints, stacks.reals)
        while depth > 0:
            at = edge[depth - 1]
            last = v if depth == 1 else graph.out[edge[depth - 2] - 1]
            if at == graph.out_ptr[last + 1]:
                depth -= 1
                continue
            edge[depth - 1] = at + 1
            w = graph.out[at]
            path[depth], edge[depth] = graph.event[w], graph.out_ptr[w]
            depth += 1
            if graph.end[w]:
                add_trend(total, 0, tables, path, depth, stacks.position, stacks.ints, stacks.reals)


class Segments(NamedTuple):
    """Stored sub-trends: `last[R]`: last vertex; `cells[R]`. Those that begin with v: `row_ptr[v]:row_ptr[v + 1]`.

    `cut[V]`: the first out-edge of each vertex that leaves its graphlet.
    """

    row_ptr: Ints
    last: Codes
    cells: Cells
    cut: Ints


class Stitched(NamedTuple):
    """The trend under construction, per segment: its row, the cut edge and row to try next, and its aggregates."""

    row: Ints
    edge: Ints
    stop: Ints
    cells: Cells


@kernel
def find_cuts(bounds: Ints, graph: TrendGraph, cut: Ints) -> None:
    """Sets `cut[V]` (`Segments`); O(V + E)."""
    for g in range(len(bounds) - 1):
        for v in range(bounds[g], bounds[g + 1]):
            at = graph.out_ptr[v]
            while at < graph.out_ptr[v + 1] and graph.out[at] < bounds[g + 1]:
                at += 1
            cut[v] = at


@kernel
def stitch_trends(graph: TrendGraph, segments: Segments, path: Stitched, total: Cells) -> None:
    """Adds every trend to cell 0 of `total`, depth-first over segments. O(1) per appended segment."""
    for v in range(len(graph.event)):
        if not graph.start[v]:
            continue
        depth = 0
        path.row[0], path.stop[0] = segments.row_ptr[v], segments.row_ptr[v + 1]
        _append(0, segments, path)
        while depth >= 0:
            row = path.row[depth]
            last = segments.last[row]
            at = path.edge[depth]
            if at == segments.cut[last] and graph.end[last]:
                add(total, 0, path.cells, depth)
            if at < graph.out_ptr[last + 1]:
                path.edge[depth] = at + 1
                depth += 1
                w = graph.out[at]
                path.row[depth], path.stop[depth] = segments.row_ptr[w], segments.row_ptr[w + 1]
                _append(depth, segments, path)
                continue
            path.row[depth] += 1
            if path.row[depth] < path.stop[depth]:
                _append(depth, segments, path)
            else:
                depth -= 1


@inlined
def _append(depth: int, segments: Segments, path: Stitched) -> None:
    """Makes the row chosen at `depth` the last segment; the cell of `depth` holds the trend up to its end."""
    row = path.row[depth]
    path.edge[depth] = segments.cut[segments.last[row]]
    if depth == 0:
        copy(path.cells, 0, segments.cells, row)
    else:
        _concatenate(path.cells, depth, depth - 1, segments.cells, row)


@inlined
def _concatenate(cells: Cells, i: int, before: int, segments: Cells, after: int) -> None:
    """Sets cell i to the trend of cell `before` followed by the sub-trend of cell `after` (one trend each)."""
    over = cells.over[before] | segments.over[after]
    cells.counts[i, 0] = cells.counts[before, 0]
    for c in range(ONE, cells.words.real):
        value = segments.counts[after, c]
        whole = cells.counts[before, c] + value
        if sum_exceeds(whole, value):
            over |= ONE << c
        cells.counts[i, c] = whole
    cells.over[i] = over
    for c in range(cells.words.real, cells.words.least):
        cells.reals[i, c] = cells.reals[before, c] + segments.reals[after, c]
    for c in range(cells.words.least, cells.words.end):
        cells.ints[i, c] = min(cells.ints[before, c], segments.ints[after, c])
