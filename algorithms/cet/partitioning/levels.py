"""Level search: the highest level of the search space at which a balanced plan fits (dissertation Algorithm 5)."""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.cet.partitioning.balanced import balanced
from cepbench.algorithms.cet.partitioning.costs import Costs


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
