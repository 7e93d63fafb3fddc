"""The exhaustive search: all sets of candidates, valid or not (the naive plan finder of dissertation 23.3, 25.3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.sequences.sharon.optimizer.levels import PlanLevel, containing, first_level, next_level, packed
from cepbench.algorithms.sequences.sharon.optimizer.limits import Limits
from cepbench.algorithms.sequences.sharon.optimizer.plan_finder import FoundPlan, adjacency, as_mask
from cepbench.algorithms.sequences.sharon.optimizer.sharon_graph import SharonGraph


def search_all(graph: SharonGraph, limits: Limits) -> FoundPlan:
    """An optimal plan among all 2^|V| plans, each of which is constructed and then checked for conflicts.

    Whole levels are stored, as in the plan finder, so that the two differ in their pruning only: O(2^|V| |V|) time and
    O(binomial(|V|, |V| / 2)) space. Raises `LimitReached`.
    """
    vertices = graph.members(graph.everything)
    adjacent = adjacency(graph, vertices)
    single = first_level(np.zeros_like(adjacent), graph.weights)
    conflicts = packed(adjacent)
    best, most = 0, 0.0
    visited, peak = 0, 0
    level = single
    while len(level):
        visited += len(level)
        scores = np.where(_valid(level, conflicts, limits), level.scores, 0.0)
        top = int(np.argmax(scores))
        if scores[top] > most:
            best, most = as_mask(level, top, vertices), float(scores[top])
        parents, level = level, next_level(level, single, limits)
        peak = max(peak, parents.bytes + level.bytes)
    return FoundPlan(best, visited, peak)


def _valid(level: PlanLevel, conflicts: NDArray[np.uint64], limits: Limits) -> NDArray[np.bool_]:
    """bool[k]: whether no two vertices of a plan are in conflict."""
    valid = np.ones(len(level), np.bool_)
    for v, neighbors in enumerate(conflicts):
        limits.check_time()
        rows = containing(level.plans, v)
        valid[rows] &= ~(level.plans[rows] & neighbors).any(axis=1)
    return valid
