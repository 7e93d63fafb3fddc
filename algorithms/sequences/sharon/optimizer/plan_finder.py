"""The sharing plan finder: the valid plans of a SHARON graph, level by level (dissertation 23.3, Algorithm 13)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.sequences.sharon.optimizer.levels import PlanLevel, first_level, next_level
from cepbench.algorithms.sequences.sharon.optimizer.limits import LimitReached, Limits
from cepbench.algorithms.sequences.sharon.optimizer.sharon_graph import SharonGraph


@dataclass(frozen=True)
class FoundPlan:
    """The best plan among `visited` plans, as a set of vertices; the peak of stored plans in bytes.

    `stopped` is the limit that ended the search early; if it is None, the plan is optimal.
    """

    plan: int
    visited: int
    bytes_peak: int
    stopped: LimitReached | None = None


def find_plan(graph: SharonGraph, left: int, conflict_free: int, limits: Limits) -> FoundPlan:
    """An optimal plan: the best valid one of the vertices `left`, with all conflict-free ones.

    Invalid branches are pruned at their roots: no plan is extended by a neighbor of its vertices. Whole levels are
    stored. Exponential time and space in the number of vertices in the worst case (Equation 23.5).
    """
    vertices = graph.members(left)
    adjacent = adjacency(graph, vertices)
    single = first_level(adjacent, graph.weights[vertices])
    best, most = 0, 0.0
    visited, peak = 0, 0
    level = single
    stopped = None
    while len(level):
        visited += len(level)
        peak = max(peak, level.bytes)
        top = int(np.argmax(level.scores))
        if level.scores[top] > most:
            best, most = as_mask(level, top, vertices), float(level.scores[top])
        try:
            parents, level = level, next_level(level, single, limits)
        except LimitReached as limit:
            stopped = limit
            break
        peak = max(peak, parents.bytes + level.bytes)
    return FoundPlan(best | conflict_free, visited, peak, stopped)


def adjacency(graph: SharonGraph, vertices: NDArray[np.intp]) -> NDArray[np.bool_]:
    """bool[n, n]: the conflicts among some vertices."""
    matrix = np.zeros((len(vertices), len(graph.candidates)), np.bool_)
    for row, v in enumerate(vertices):
        matrix[row, graph.members(graph.neighbors[v])] = True
    return matrix[:, vertices]


def as_mask(level: PlanLevel, row: int, vertices: NDArray[np.intp]) -> int:
    """A plan of a level as a set of vertices of the graph."""
    plan = int.from_bytes(level.plans[row].tobytes(), "little")
    return sum(1 << int(v) for i, v in enumerate(vertices) if plan >> i & 1)
