"""Levels of the search space: balanced plans, the highest level that fits (dissertation Section 6.3, Algorithm 5), and
greedy partitioning (Section 7.2).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.construction.cet.partitioning.costs import Costs
from cepbench.algorithms.construction.cet.partitioning.plan import FoundPartition
from cepbench.algorithms.engine.kernels.arrays import Ints


def ideal_size(atoms: Ints, level: int) -> int:
    """ceil(|V| / k): the maximum number of vertices of a graphlet in a balanced plan with k = `level` graphlets."""
    return -(-int(atoms[-1]) // level)


def balanced(atoms: Ints, level: int, ratio: float = 1.0) -> Ints:
    """The bounds of the plan with `level` graphlets whose i-th cut is the one closest to i |V| / k. O(k log a).

    On a homogeneous graph, the numbers of atomic graphlets per graphlet are as equal as possible, and no plan of the
    level takes less memory (Theorem 6.3). On other graphs this is a heuristic. The target size of the first graphlet is
    `ratio` times that of the others.
    """
    number, steps = len(atoms) - 1, np.arange(1, level)
    aims = (ratio + steps - 1) * int(atoms[-1]) / (ratio + level - 1)
    above = np.searchsorted(atoms, aims)
    nearest = above - (aims - atoms[above - 1] < atoms[above] - aims)
    # Cuts are distinct, and each leaves at least one atomic graphlet per remaining graphlet.
    nearest = np.clip(np.maximum.accumulate(nearest - steps), 0, number - level) + steps
    bounds: Ints = atoms[np.concatenate([[0], nearest, [number]])]
    return bounds


def filled(atoms: Ints, level: int) -> Ints:
    """The bounds of the plan that fills graphlets greedily up to the ideal size, from the first on. O(a).

    Each of the `level` graphlets has at least one atomic graphlet. On a homogeneous graph the plan is nearly balanced.
    """
    number, ideal = len(atoms) - 1, ideal_size(atoms, level)
    ends = [0]
    for left in range(level - 1, 0, -1):
        begin = ends[-1]
        full = int(np.searchsorted(atoms, atoms[begin] + ideal))
        ends.append(min(max(full, begin + 1), number - left))
    bounds: Ints = atoms[[*ends, number]]
    return bounds


class CutLevel(NamedTuple):
    """A number of graphlets, whether its balanced plan fits, and the number of plans examined to find it."""

    graphlets: int
    fits: bool
    visited: int


def highest_level(costs: Costs, limit: int) -> CutLevel:
    """The least number of graphlets whose balanced plan fits into `limit` bytes.

    Infeasible level pruning: if the balanced plan with i graphlets does not fit, no plan with i graphlets does, on a
    homogeneous graph (Theorem 6.3).

    Departure: the binary search only compares the bytes of stored trends, for which Theorem 6.1 holds. The path under
    construction, a few bytes per graphlet, can make a plan with more graphlets larger. So after the binary search, the
    level is lowered step by step until the whole plan fits; on most graphs this takes at most one step. If no balanced
    plan fits, the result is the level of the binary search.

    O(log a) plans, plus one per step, each O(|V| + |E|).
    """
    atoms, number = costs.atoms, len(costs.atoms) - 1
    low, high, found, visited = 1, number, number, 0
    while low <= high:
        level = (low + high) // 2
        visited += 1
        if costs.least_bytes(balanced(atoms, level)) <= limit:
            found, high = level, level - 1
        else:
            low = level + 1
    for level in range(found, number + 1):
        visited += 1
        if costs.cost(balanced(atoms, level)).bytes <= limit:
            return CutLevel(level, True, visited)
    return CutLevel(found, False, visited)


def greedy(costs: Costs, limit: int) -> FoundPartition:
    """The first plan that fits, from the highest level down: one per level, each graphlet filled to the ideal size.

    The plan can have more graphlets than necessary. O(a) plans of O(|V| + |E|) time, one stored at a time. The paper
    continues at "level i - 1"; since plans with fewer graphlets need more memory, it is i + 1 here. In windows with
    more than a thousand cuts, some are not considered (`Costs.coarse`).
    """
    costs = costs.coarse(limit)
    highest = highest_level(costs, limit)
    visited = highest.visited
    for graphlets in range(highest.graphlets, len(costs.atoms)):
        bounds = filled(costs.atoms, graphlets)
        visited += 1
        if costs.cost(bounds).bytes <= limit:
            return FoundPartition(bounds, visited, bounds.nbytes)
    return FoundPartition(None, visited, costs.atoms.nbytes)
