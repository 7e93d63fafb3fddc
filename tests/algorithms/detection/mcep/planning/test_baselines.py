"""Plans without a search: what they share, and what they cost."""

from collections.abc import Callable
from itertools import combinations
from random import Random

import pytest

from cepbench.algorithms.detection.mcep.planning.baselines import (
    EVENTS,
    SteinerGraph,
    covered,
    shared,
    shared_by_merging,
    shared_by_redundancy,
    shared_runs,
    steiner_graph,
    steiner_vertices,
    unshared,
)
from cepbench.algorithms.detection.mcep.planning.costs import CostModel, order_cost
from cepbench.algorithms.detection.mcep.planning.local_plans import SHAPES
from cepbench.algorithms.detection.mcep.planning.plans import MultiPlan
from tests.algorithms.detection.mcep.planning.workloads import (
    check,
    costs_of,
    random_costs,
    random_patterns,
    recomputed_cost,
    table_of,
)

RATES = {"A": 1.0, "B": 2.0, "C": 3.0, "D": 4.0, "E": 5.0, "F": 6.0, "G": 7.0}

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


@pytest.mark.parametrize("shape", SHAPES)
def test_the_trivial_plan_shares_and_reorders_nothing(shape: str) -> None:
    costs = costs_of(table_of("SEQ(C, A, B)", "SEQ(C, A, B)"), RATES)
    plan = unshared(costs, [0, 1], shape, reordered=False)
    leaves = 30 if shape == "orders" else 60
    assert plan.cost == 2 * (leaves + 300 + 6000)
    assert all(plan.users(node) == 1 for node in plan.in_order())


@pytest.mark.parametrize("shape", SHAPES)
def test_reordering_takes_the_fewest_instances(shape: str) -> None:
    costs = costs_of(table_of("SEQ(C, A, B)", "SEQ(C, A, B)"), RATES)
    plan = unshared(costs, [0, 1], shape, reordered=True)
    leaves = 10 if shape == "orders" else 60
    assert plan.cost == 2 * (leaves + 200 + 6000)


def test_prefixes_are_shared_without_reordering() -> None:
    """Figure 3 (c): the first state or states of the patterns as they are written."""
    costs = costs_of(table_of("SEQ(A, B, C, D)", "SEQ(A, B, E)", "SEQ(B, A)"), RATES)
    plan = shared(costs, range(3), "orders")
    assert len(plan) == 4 + 1 + 2


def sub_patterns(plan: MultiPlan) -> set[str]:
    """The types of the shared nodes of trees that are no leaves."""
    table, found = plan.table, set()
    for pattern, local in plan.plans.items():
        for mask, node in local.places:
            if plan.users(node) > 1 and mask & (mask - 1):
                found.add("".join(table[pattern].elements[one].type for one in table.places(pattern, mask)))
    return found


def test_the_longest_runs_are_shared_first() -> None:
    costs = costs_of(table_of("SEQ(A, B, C, D)", "SEQ(A, B, C, E)", "SEQ(F, C, D)", "SEQ(C, D, G)"), RATES)
    assert sub_patterns(shared(costs, range(4), "trees")) == {"ABC", "AB", "CD"}
    again = costs_of(table_of("SEQ(A, B, C)", "SEQ(A, B, D)", "SEQ(B, C, D)", "SEQ(B, C, E)"), RATES)
    assert sub_patterns(shared(again, range(4), "trees")) == {"BC"}


def test_runs_of_and_have_any_order() -> None:
    costs = costs_of(table_of("A AND B AND C", "C AND B AND A AND D"), RATES)
    assert sub_patterns(shared(costs, range(2), "trees")) == {"ABC", "AB"}


def test_gaps_are_no_runs() -> None:
    table = table_of("SEQ(A, B, C)", "SEQ(A, E, C)", "SEQ(B, C, E)")
    assert list(shared_runs(table, range(3)).values()) == [{0: 0b110, 2: 0b011}]


def test_redundancy_prefers_dear_runs() -> None:
    """A long cheap run and a short dear one: the ratio counts the work that would be repeated."""
    table = table_of("SEQ(A, B, F)", "SEQ(A, B, G)", "SEQ(B, F, G)")
    costs = costs_of(table, {"A": 0.1, "B": 0.1, "F": 50.0, "G": 1.0})
    assert sub_patterns(shared_by_redundancy(costs, range(3))) == {"BF"}
    whole = [order_cost(costs, pattern, (0, 1, 2)) for pattern in range(3)]
    ratio = order_cost(costs, 0, (1, 2)) / (whole[0] + whole[2])
    assert ratio > order_cost(costs, 0, (0, 1)) / (whole[0] + whole[1])


def test_runs_of_no_score_are_left() -> None:
    costs = costs_of(table_of("SEQ(A, B)", "SEQ(A, B)"), RATES)
    plan = covered(costs, range(2), lambda sub, having: 0.0)
    assert sub_patterns(plan) == {"AB"}  # both plans are alike, and equal nodes are one


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


def test_a_steiner_tree_by_hand() -> None:
    """SEQ(A, B) is worth making once; SEQ(A, B, C), for two patterns, as well, of SEQ(A, B)."""
    table = table_of("SEQ(A, B, C, D)", "SEQ(A, B, C, E)", "SEQ(A, B, F)")
    costs = costs_of(table, RATES)
    graph = steiner_graph(costs, range(3))
    chosen = {table.of(0, 0b0011), table.of(0, 0b0111)}
    assert steiner_vertices(graph) == chosen
    assert graph.cost(chosen) == 200 + 6000 + 240000 + 300000 + 12000
    assert shared_by_merging(costs, range(3)).cost == 10 + 20 + 30 + 40 + 50 + 60 + graph.cost(chosen)


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


def test_decomposition_in_the_middle() -> None:
    table = table_of("SEQ(A, B, C)", "SEQ(B, C, D)")
    costs = costs_of(table, {"A": 9.0, "B": 1.0, "C": 1.0, "D": 9.0})
    plan = shared_by_merging(costs, range(2))
    assert sub_patterns(plan) == {"BC"}
    assert plan.plans[0].steps == ((0b010, 0b100), (0b001, 0b110))
