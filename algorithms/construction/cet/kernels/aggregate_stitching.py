"""Trends over several graphlets, stitched from stored sub-trends and their aggregates: H-CET (dissertation 5.3) as the
first step of two-step aggregation (13.1).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.construction.cet.kernels.graph import TrendGraph
from cepbench.algorithms.engine.kernels.arrays import Codes, Ints
from cepbench.algorithms.engine.kernels.cells import ONE, Cells, add, copy, sum_exceeds
from cepbench.algorithms.engine.kernels.compilation import inlined, kernel


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
def _concatenate(cells: Cells, i: int, before: int, other: Cells, after: int) -> None:
    """Sets cell i to the trend of cell `before` followed by the sub-trend of cell `after` (one trend each)."""
    over = cells.over[before] | other.over[after]
    cells.ring[i, 0] = cells.ring[before, 0]
    for c in range(1, cells.ring.shape[1]):
        more = other.ring[after, c]
        whole = cells.ring[before, c] + more
        if sum_exceeds(whole, more):
            over |= ONE << np.uint64(c)
        cells.ring[i, c] = whole
    cells.over[i] = over
    for c in range(cells.real.shape[1]):
        cells.real[i, c] = cells.real[before, c] + other.real[after, c]
    for c in range(cells.least.shape[1]):
        cells.least[i, c] = min(cells.least[before, c], other.least[after, c])
