"""The search for a sharing plan in a SHARON graph (dissertation 23.2, 23.3).

`find_plan` is the sharing plan finder (Algorithm 13), which stores the search space level by level (Algorithm 12);
`search_all` the exhaustive search; `gwmin` the greedy algorithm with a guaranteed weight (Sakai, Togasaki, Yamazaki
2003).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.sequences.sharon.graph import SharonGraph
from cepbench.algorithms.sequences.sharon.limits import LimitReached, Limits

WORD = 64


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
    best, score = 0, 0.0
    visited, peak = 0, 0
    level = single
    stopped = None
    while len(level):
        visited += len(level)
        peak = max(peak, level.bytes)
        top = int(np.argmax(level.scores))
        if level.scores[top] > score:
            best, score = as_mask(level, top, vertices), float(level.scores[top])
        try:
            parents, level = level, next_level(level, single, limits)
        except LimitReached as limit:
            stopped = limit
            break
        peak = max(peak, parents.bytes + level.bytes)
    return FoundPlan(best | conflict_free, visited, peak, stopped)


def search_all(graph: SharonGraph, limits: Limits) -> FoundPlan:
    """An optimal plan among all 2^|V| plans, each of which is constructed and then checked for conflicts.

    Whole levels are stored, as in the plan finder, so that the two differ in their pruning only: O(2^|V| |V|) time and
    O(binomial(|V|, |V| / 2)) space. Raises `LimitReached`.
    """
    vertices = graph.members(graph.everything)
    adjacent = adjacency(graph, vertices)
    single = first_level(np.zeros_like(adjacent), graph.weights)
    conflicts = packed(adjacent)
    best, score = 0, 0.0
    visited, peak = 0, 0
    level = single
    while len(level):
        visited += len(level)
        scores = np.where(_valid(level, conflicts, limits), level.scores, 0.0)
        top = int(np.argmax(scores))
        if scores[top] > score:
            best, score = as_mask(level, top, vertices), float(scores[top])
        parents, level = level, next_level(level, single, limits)
        peak = max(peak, parents.bytes + level.bytes)
    return FoundPlan(best, visited, peak)


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


@dataclass(frozen=True)
class PlanLevel:
    """All plans of one size over n vertices, W = ceil(n / 64) words each.

    - `plans` uint64[k, W]: the vertices of each plan.
    - `later` uint64[k, W]: vertices that can be added to each plan: larger than its last one, and not excluded.
    - `scores` float64[k].
    """

    plans: NDArray[np.uint64]
    later: NDArray[np.uint64]
    scores: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.scores)

    @property
    def bytes(self) -> int:
        """Bytes of all three arrays."""
        return self.plans.nbytes + self.later.nbytes + self.scores.nbytes


def first_level(excluded: NDArray[np.bool_], weights: NDArray[np.float64]) -> PlanLevel:
    """Plans of one vertex each. `excluded[u, v]`: v cannot be added to a plan with u."""
    count = len(weights)
    later = ~excluded & np.triu(np.ones((count, count), np.bool_), k=1)
    return PlanLevel(packed(np.eye(count, dtype=np.bool_)), packed(later), weights)


def next_level(parents: PlanLevel, single: PlanLevel, limits: Limits) -> PlanLevel:
    """The plans of the next size; `single` is the first level.

    Algorithm 12 joins every two parents that differ in their last vertex only, if these two vertices have no conflict.
    Here each parent stores the last vertices of the parents with which it can be joined, so that each
    tested pair is joined: O(W) per child and O(n) per parent. Raises `LimitReached` before the two levels exceed the
    memory limit.
    """
    count = int(np.bitwise_count(parents.later).sum())
    words = parents.plans.shape[1]
    limits.check_bytes(parents.bytes + 8 * count * (2 * words + 1))
    plans = np.empty((count, words), np.uint64)
    later, scores = np.empty_like(plans), np.empty(count)
    filled = 0
    for v in range(len(single)):
        limits.check_time()
        rows = containing(parents.later, v)
        stop = filled + len(rows)
        plans[filled:stop] = parents.plans[rows] | single.plans[v]
        later[filled:stop] = parents.later[rows] & single.later[v]
        scores[filled:stop] = parents.scores[rows] + single.scores[v]
        filled = stop
    return PlanLevel(plans, later, scores)


def containing(sets: NDArray[np.uint64], v: int) -> NDArray[np.intp]:
    """The rows of `sets` (uint64[k, W]) that contain vertex v."""
    word, bit = divmod(v, WORD)
    return np.flatnonzero(sets[:, word] & np.uint64(1 << bit))


def packed(sets: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """bool[k, n] as uint64[k, W]; vertex v is bit v % 64 of word v // 64."""
    count, size = sets.shape
    wide = np.zeros((count, -(-size // WORD) * WORD), np.bool_)
    wide[:, :size] = sets
    return np.packbits(wide, axis=1, bitorder="little").view(np.uint64)


def _valid(level: PlanLevel, conflicts: NDArray[np.uint64], limits: Limits) -> NDArray[np.bool_]:
    """bool[k]: whether no two vertices of a plan are in conflict."""
    valid = np.ones(len(level), np.bool_)
    for v, neighbors in enumerate(conflicts):
        limits.check_time()
        rows = containing(level.plans, v)
        valid[rows] &= ~(level.plans[rows] & neighbors).any(axis=1)
    return valid
