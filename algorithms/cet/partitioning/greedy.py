"""Greedy partitioning (dissertation Section 7.2)."""

from __future__ import annotations

from cepbench.algorithms.cet.partitioning.balanced import filled
from cepbench.algorithms.cet.partitioning.costs import Costs
from cepbench.algorithms.cet.partitioning.levels import highest_level
from cepbench.algorithms.cet.partitioning.search import FoundPartition


def greedy(costs: Costs, limit: int) -> FoundPartition:
    """The first plan that fits: one per level, each graphlet filled up to the ideal size, from the highest level on.

    The plan may have more graphlets than necessary. O(a) plans of O(|V| + |E|) time, one stored at a time. The paper
    goes on at "level i - 1"; as plans with fewer graphlets need more memory, it is i + 1 here. Of windows with more
    than a thousand cuts, not all are considered (`Costs.coarse`).
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
