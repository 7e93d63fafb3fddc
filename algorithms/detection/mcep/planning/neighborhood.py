"""Neighbors of a global plan: N_edge and N_vertex^k (MCEP, Section 4.2)."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from cepbench.algorithms.detection.mcep.planning.graph import MultiPatternGraph
from cepbench.algorithms.detection.mcep.planning.planners import LocalPlanner
from cepbench.algorithms.detection.mcep.planning.plans import LocalPlan, MultiPlan
from cepbench.events.errors import CepbenchError

DRAWS = 16
"""Maximum number of draws to find a plan that differs from the current one."""

Neighborhood = Callable[[MultiPlan, Random], list[LocalPlan]]
"""Draws a neighbor of a plan: the local plans that differ, or none if no other plan was found."""


def neighborhood_of(graph: MultiPatternGraph, planner: LocalPlanner, size: int = 2) -> Neighborhood:
    """N_edge for a `size` of 2, otherwise N_vertex^k of k = `size` patterns. Raises `CepbenchError` below 2.

    N_edge draws an edge and a common sub-pattern of its two patterns. N_vertex^k draws a pattern, a sub-pattern that it
    shares, and up to k patterns that contain it. These get local plans that share the sub-pattern. If the empty
    sub-pattern is drawn, they get their best local plans, which undoes sharing. O(k m), plus the planner's time for new
    sub-patterns.
    """
    if size < 2:
        raise CepbenchError(f"a neighborhood of {size} patterns shares nothing; choose at least 2")

    def neighbor(plan: MultiPlan, random: Random) -> list[LocalPlan]:
        for _ in range(DRAWS):
            if size == 2:
                choice = graph.random_pair(random, planner.least)
            else:
                choice = graph.random_vertex(random, planner.least, size)
            if choice is None:
                return []
            fresh = planner.sharing(choice, random)
            changed = [one for one in fresh if plan.plans[one.pattern] is not one]
            if changed:
                return changed
        return []

    return neighbor
