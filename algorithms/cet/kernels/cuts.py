"""Where a window's graph can be cut (dissertation Definition 6.2), for graphlets from an earlier window."""

from __future__ import annotations

from cepbench.algorithms.cet.kernels.window_graph import WindowGraph
from cepbench.algorithms.kernels.arrays import Flags, Ints
from cepbench.algorithms.kernels.compilation import kernel


@kernel
def mark_cuts(graph: WindowGraph, crossed: Ints, cut: Flags) -> None:
    """Sets `cut[V + 1]`: whether the vertices before v and those from v on can be in different graphlets. O(|V| + |E|).

    They cannot if they share a time stamp, or if a vertex has edges to both sides: an out-edge that ends before v and
    one that does not, or an in-edge that begins before v and one that does not. The caller zeroes `crossed[V + 1]`.
    """
    size = len(graph.time)
    for v in range(size):
        if graph.out_ptr[v + 1] > graph.out_ptr[v]:
            crossed[graph.out[graph.out_ptr[v]] + 1] += 1
            crossed[graph.out[graph.out_ptr[v + 1] - 1] + 1] -= 1
        if graph.in_ptr[v + 1] > graph.in_ptr[v]:
            crossed[graph.into[graph.in_ptr[v]] + 1] += 1
            crossed[graph.into[graph.in_ptr[v + 1] - 1] + 1] -= 1
    inside = 0
    for v in range(size + 1):
        inside += crossed[v]
        ends = v == 0 or v == size
        cut[v] = ends or (inside == 0 and graph.time[v - 1] < graph.time[v])
