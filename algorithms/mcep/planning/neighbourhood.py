"""Neighbours of a global plan: N_edge and N_vertex^k (MCEP, Section 4.2)."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from cepbench.algorithms.mcep.planning.graph import MultiPatternGraph
from cepbench.algorithms.mcep.planning.planners import LocalPlanner
from cepbench.algorithms.mcep.planning.plans import LocalPlan, MultiPlan
from cepbench.events.errors import CepbenchError

DRAWS = 16
"""Of which one should give a plan that differs from the present one."""

Neighbourhood = Callable[[MultiPlan, Random], list[LocalPlan]]
"""Draws a neighbour of a plan: the local plans that differ, or none if no other was found."""


def neighbourhood_of(graph: MultiPatternGraph, planner: LocalPlanner, size: int = 2) -> Neighbourhood:
    """N_edge for a `size` of 2, else N_vertex^k of k = `size` patterns. Raises `CepbenchError` below 2.

    N_edge draws an edge and a common sub-pattern of its two patterns; N_vertex^k a pattern, a sub-pattern that it
    shares, and up to k patterns that have it. These get local plans that share the sub-pattern; or their best ones if
    the empty sub-pattern was drawn, which undoes sharing. O(k m) and what the planner needs for new sub-patterns.
    """
    if size < 2:
        raise CepbenchError(f"a neighbourhood of {size} patterns shares nothing; choose at least 2")

    def neighbour(plan: MultiPlan, random: Random) -> list[LocalPlan]:
        for _ in range(DRAWS):
            if size == 2:
                choice = graph.random_pair(random, planner.least)
            else:
                choice = graph.random_vertex(random, planner.least, size)
            if choice is None:
                return []
            fresh = planner.sharing(plan, choice, random)
            changed = [one for one in fresh if plan.plans[one.pattern] is not one]
            if changed:
                return changed
        return []

    return neighbour
