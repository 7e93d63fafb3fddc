"""GWMIN: a greedy independent set of large weight (Sakai, Togasaki, Yamazaki 2003; dissertation 23.2)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.sequences.sharon.optimizer.sharon_graph import SharonGraph


def guaranteed_weight(graph: SharonGraph) -> float:
    """The minimum weight that GWMIN reaches, Equation 23.2."""
    degrees = np.array([mask.bit_count() for mask in graph.neighbors], np.float64)
    return float((graph.weights / (degrees + 1)).sum())


def gwmin(graph: SharonGraph) -> int:
    """Repeatedly takes the vertex with the largest weight / (degree + 1), and removes it and its neighbors.

    O(|V|^2 + |E|) time.
    """
    left = graph.everything
    degrees = np.array([mask.bit_count() for mask in graph.neighbors], np.int64)
    chosen = 0
    while left:
        vertices = graph.members(left)
        best = int(vertices[np.argmax(graph.weights[vertices] / (degrees[vertices] + 1))])
        chosen |= 1 << best
        removed = (graph.neighbors[best] | 1 << best) & left
        left &= ~removed
        for v in graph.members(removed):
            degrees[graph.members(graph.neighbors[v] & left)] -= 1
    return chosen
