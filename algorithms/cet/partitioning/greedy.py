"""Greedy partitioning (dissertation Section 7.2)."""

from __future__ import annotations

from cepbench.algorithms.cet.partitioning.balanced import filled
from cepbench.algorithms.cet.partitioning.costs import Costs
from cepbench.algorithms.cet.partitioning.levels import highest_level
from cepbench.algorithms.cet.partitioning.search import FoundPartition


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
