"""Plans without a search: what they share, and what they cost."""

from collections.abc import Callable
from itertools import combinations
from random import Random

import pytest

from cepbench.algorithms.detection.mcep.planning.baselines import (
    EVENTS,
    SteinerGraph,
    shared,
    shared_by_merging,
    shared_by_redundancy,
    steiner_graph,
    steiner_vertices,
    unshared,
)
from cepbench.algorithms.detection.mcep.planning.costs import CostModel
from cepbench.algorithms.detection.mcep.planning.plans import MultiPlan
from tests.algorithms.detection.mcep.planning.workloads import (
    check,
    random_costs,
    random_patterns,
    recomputed_cost,
)

PLANS: dict[str, Callable[[CostModel, range], MultiPlan]] = {
    "trivial in orders": lambda costs, patterns: unshared(costs, patterns, "orders", reordered=False),
    "trivial in trees": lambda costs, patterns: unshared(costs, patterns, "trees", reordered=False),
    "re in orders": lambda costs, patterns: unshared(costs, patterns, "orders", reordered=True),
    "re in trees": lambda costs, patterns: unshared(costs, patterns, "trees", reordered=True),
    "sh in orders": lambda costs, patterns: shared(costs, patterns, "orders"),
    "sh in trees": lambda costs, patterns: shared(costs, patterns, "trees"),
    "sh-rr": shared_by_redundancy,
    "sh-mdt": shared_by_merging,
}


@pytest.mark.parametrize("name", PLANS)
@pytest.mark.parametrize("seed", range(12))
def test_plans_are_valid(name: str, seed: int) -> None:
    random = Random(seed)
    costs = random_costs(random, random_patterns(random, 8))
    plan = PLANS[name](costs, range(8))
    check(plan, range(8))
    assert plan.cost == pytest.approx(recomputed_cost(plan))


@pytest.mark.parametrize("seed", range(30))
def test_steiner_trees_against_all_choices(seed: int) -> None:
    random = Random(seed)
    costs = random_costs(random, random_patterns(random, 5, 5, "ABC"))
    graph = steiner_graph(costs, range(5))
    others = [v for v in graph.weights if v not in graph.terminals]
    best = min(graph.cost(some) for n in range(min(len(others), 4) + 1) for some in combinations(others, n))
    found = graph.cost(steiner_vertices(graph))
    assert found <= graph.cost(())
    assert found <= best * 1.2
    plan = shared_by_merging(costs, range(5))
    parents = graph.parents(steiner_vertices(graph))
    assert parents.keys() >= graph.terminals
    subs = {plan.nodes.items[node].sub for node in plan.in_order()}
    assert all(parent < 0 or parent in subs for parent in parents.values())


def test_steiner_vertices_that_became_useless_are_left() -> None:
    """Vertex 10 saves most alone; 11 and 12, which are taken next, are the cheaper ways into all four terminals."""
    weights = {
        **{v: {EVENTS: 20.0, 10: 9.0, 11 if v < 2 else 12: 0.0} for v in range(4)},
        10: {EVENTS: 10.0},
        11: {EVENTS: 13.0},
        12: {EVENTS: 13.0},
    }
    graph = SteinerGraph(frozenset(range(4)), weights, {})
    assert graph.cost({10}) == 10 + 4 * 9 < graph.cost(()) == 80
    assert steiner_vertices(graph) == {11, 12}
    assert graph.cost({11, 12}) == 26
