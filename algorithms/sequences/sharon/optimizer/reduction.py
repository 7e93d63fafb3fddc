"""Reduction of the SHARON graph by conflict-ridden and conflict-free candidates (dissertation 23.2)."""

from __future__ import annotations

from dataclasses import dataclass

from cepbench.algorithms.sequences.sharon.optimizer.limits import Limits
from cepbench.algorithms.sequences.sharon.optimizer.sharon_graph import SharonGraph, bits

ROUNDING = 1e-9
"""Relative error of sums of benefits. Without this slack, a candidate of the optimal plan can look conflict-ridden."""


@dataclass(frozen=True)
class Reduction:
    """Sets of vertices: those left to search, those in every optimal plan (F), and those in no optimal plan."""

    left: int
    conflict_free: int
    conflict_ridden: int


def maximal_score(graph: SharonGraph, v: int, present: int) -> float:
    """Score_max(v): the weight of all vertices in `present` that are not in conflict with v (Equation 23.3)."""
    return graph.weight(present & ~graph.neighbors[v])


def reduce_graph(graph: SharonGraph, minimum: float, limits: Limits) -> Reduction:
    """Algorithm 11: removes conflict-free and conflict-ridden candidates until the graph no longer changes.

    `minimum` is the guaranteed weight of GWMIN on the whole graph. Conflict-free candidates are removed from the graph,
    but still count in the maximal score of the others: the bound is for a plan of the whole graph. O(|V|^2 |V| / 64)
    time.
    """
    left, free, ridden = graph.everything, 0, 0
    changed = True
    while changed:
        changed = False
        for v in bits(left):
            limits.check_time()
            if not graph.neighbors[v] & left:
                free |= 1 << v
            elif maximal_score(graph, v, left | free) < minimum * (1 - ROUNDING):
                ridden |= 1 << v
            else:
                continue
            left &= ~(1 << v)
            changed = True
    return Reduction(left, free, ridden)
