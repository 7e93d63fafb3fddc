"""Local search: valid plans, never dearer ones, alike for alike seeds, and in time."""

from itertools import pairwise, permutations, product
from random import Random

import pytest

from cepbench.algorithms.detection.mcep.planning.costs import CostModel
from cepbench.algorithms.detection.mcep.planning.graph import MultiPatternGraph, SharedChoice
from cepbench.algorithms.detection.mcep.planning.local_plans import GENERATORS, SHAPES, LocalPlanner
from cepbench.algorithms.detection.mcep.planning.optimizer import (
    SearchBudget,
    SearchOutcome,
    anneal,
    neighborhood_of,
    tabu_search,
)
from cepbench.algorithms.detection.mcep.planning.plans import LocalPlan, MultiPlan
from cepbench.events.errors import CepbenchError
from tests.algorithms.detection.mcep.planning.workloads import (
    check,
    costs_of,
    ordered,
    random_costs,
    random_patterns,
    recomputed_cost,
    table_of,
)

SEARCHES = ("annealing", "tabu")


def searched(
    search: str, costs: CostModel, planner: LocalPlanner, size: int, seed: int, budget: SearchBudget
) -> tuple[MultiPlan, float, SearchOutcome]:
    """The plan that a search finds, the cost at its start, and what it did."""
    patterns = range(len(costs.table))
    plan = planner.start(patterns)
    start = plan.cost
    neighborhood = neighborhood_of(MultiPatternGraph(costs.table, patterns), planner, size)
    if search == "annealing":
        return plan, start, anneal(plan, neighborhood, Random(seed), budget, probes=50)
    return plan, start, tabu_search(plan, neighborhood, Random(seed), budget, breadth=10)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("seed", range(2))
def test_plans_are_valid_and_never_dearer(search: str, shape: str, size: int, seed: int) -> None:
    random = Random(seed)
    costs = random_costs(random, random_patterns(random, 8))
    planner = LocalPlanner(costs, shape, GENERATORS[seed % 2])
    plan, start, outcome = searched(search, costs, planner, size, seed, SearchBudget(steps=300))
    check(plan, range(8))
    assert plan.cost == outcome.trace[-1].cost <= start == outcome.trace[0].cost
    assert plan.cost == pytest.approx(recomputed_cost(plan))
    assert outcome.steps == 300
    points = list(pairwise(outcome.trace))
    assert all(a.cost >= b.cost and a.steps <= b.steps and a.seconds <= b.seconds for a, b in points)
    again = LocalPlanner(costs, shape, GENERATORS[seed % 2])
    other, _, same = searched(search, costs, again, size, seed, SearchBudget(steps=300))
    assert other.cost == plan.cost
    assert [one.steps for one in other.plans.values()] == [one.steps for one in plan.plans.values()]
    assert [point.steps for point in same.trace] == [point.steps for point in outcome.trace]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(8))
def test_every_neighbor_is_valid_and_differs(shape: str, seed: int) -> None:
    random = Random(seed)
    costs = random_costs(random, random_patterns(random, 6))
    planner = LocalPlanner(costs, shape)
    plan = planner.start(range(6))
    graph = MultiPatternGraph(costs.table, range(6))
    found = 0
    for step in range(100):
        fresh = neighborhood_of(graph, planner, 2 + step % 3)(plan, random)
        found += bool(fresh)
        assert all(plan.plans[one.pattern] is not one for one in fresh)
        plan.exchange(fresh)
        check(plan, range(6))
    assert plan.cost == pytest.approx(recomputed_cost(plan))
    edges = graph.edges(planner.least)
    assert found if len(edges) > 2 else edges or not found


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("seed", range(4))
def test_the_best_of_all_trees_of_orders(search: str, seed: int) -> None:
    """Three patterns of at most three operands have at most 216 plans."""
    random = Random(seed)
    patterns = random_patterns(random, 3, 3, "ABC")
    costs = random_costs(random, patterns)
    plan, _, _ = searched(search, costs, LocalPlanner(costs, "orders"), 2, 1, SearchBudget(steps=500))
    every = MultiPlan(costs, orders=True)
    lowest = float("inf")
    for orders in product(*(permutations(range(len(pattern))) for pattern in patterns)):
        every.exchange(every.local(pattern, ordered(order)) for pattern, order in enumerate(orders))
        lowest = min(lowest, every.cost)
    assert plan.cost >= lowest * (1 - 1e-12)
    assert plan.cost == pytest.approx(lowest, rel=0.05)


def test_subtrees_that_are_shared_may_be_kept() -> None:
    """Section 5: SEQ(B, D) is shared either in the best tree around it, or beside SEQ(A, C) of before."""
    table = table_of("SEQ(A, B, C, D)", "SEQ(A, E, C, F)", "SEQ(G, B, H, D)")
    costs = costs_of(table, {"A": 5, "B": 0.1, "C": 5, "D": 0.1, "E": 1, "F": 1, "G": 1, "H": 1})
    planner = LocalPlanner(costs, "trees")
    found = set()
    for seed in range(20):
        plan = planner.start(range(3))
        plan.exchange(planner.sharing(SharedChoice(table.of(0, 0b0101), ((0, 0b0101), (1, 0b0101))), Random(1)))
        assert plan.users(dict(plan.plans[0].places)[0b0101]) == 2
        plan.exchange(planner.sharing(SharedChoice(table.of(0, 0b1010), ((0, 0b1010), (2, 0b1010))), Random(seed)))
        check(plan, range(3))
        assert plan.users(dict(plan.plans[0].places)[0b1010]) == 2
        found.add(plan.plans[0].steps)
    assert found == {((1, 4), (2, 8), (5, 10)), ((2, 8), (1, 10), (11, 4))}


@pytest.mark.parametrize("search", SEARCHES)
def test_the_time_limit_ends_a_search(search: str) -> None:
    random = Random(5)
    costs = random_costs(random, random_patterns(random, 8))
    plan, start, outcome = searched(search, costs, LocalPlanner(costs, "trees"), 2, 0, SearchBudget(seconds=0.1))
    assert 0.1 <= outcome.seconds < 2
    assert plan.cost <= start
    _, _, none = searched(search, costs, LocalPlanner(costs, "trees"), 2, 0, SearchBudget(seconds=0))
    assert none.steps == 0


@pytest.mark.parametrize("search", SEARCHES)
def test_idle_steps_end_a_search(search: str) -> None:
    random = Random(5)
    costs = random_costs(random, random_patterns(random, 8))
    _, _, outcome = searched(search, costs, LocalPlanner(costs, "orders"), 2, 0, SearchBudget(idle=60))
    improved = outcome.trace[-2].steps
    assert improved + 60 <= outcome.steps <= improved + 71


def test_small_gains_beside_a_dear_pattern_count() -> None:
    """A cheaper plan is known as such where both costs are the same number after rounding."""
    table = table_of("SEQ(A, B, C, D)", "SEQ(A, E, C, F)", "SEQ(G+, H+) WITHIN 1 hour")
    rates = {"A": 1, "B": 0.9, "C": 1, "D": 1.2, "E": 0.9, "F": 1.2, "G": 1.0, "H": 1.0}
    costs = costs_of(table, rates)
    plan, start, outcome = searched("annealing", costs, LocalPlanner(costs, "orders"), 2, 0, SearchBudget(steps=200))
    assert plan.cost == start > 2.0**79
    assert plan.users(dict(plan.plans[0].places)[0b101]) == 2
    assert len(outcome.trace) > 2


def test_tabu_search_visits_no_plan_twice() -> None:
    """It moves to the cheapest neighbor that it has not seen, also to dearer ones."""
    random = Random(3)
    costs = random_costs(random, random_patterns(random, 8, 5, "ABC"))
    planner = LocalPlanner(costs, "orders")
    plan = planner.start(range(8))
    drawn = neighborhood_of(MultiPatternGraph(costs.table, range(8)), planner)
    seen: list[tuple[int, ...]] = []

    def watched(present: MultiPlan, random: Random) -> list[LocalPlan]:
        state = tuple(present.plans[pattern].root for pattern in range(8))
        if not seen or seen[-1] != state:
            seen.append(state)
        return drawn(present, random)

    tabu_search(plan, watched, random, SearchBudget(steps=300), breadth=5)
    assert len(set(seen)) == len(seen) > 20


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SearchBudget(), "needs a limit"),
        (lambda: LocalPlanner(costs_of(table_of("A"), {}), "bushes"), "unknown shape of plans 'bushes'"),
        (lambda: LocalPlanner(costs_of(table_of("A"), {}), "trees", "random"), "unknown plan generator 'random'"),
        (
            lambda: neighborhood_of(
                MultiPatternGraph(table_of("A")), LocalPlanner(costs_of(table_of("A"), {}), "trees"), 1
            ),
            "at least 2",
        ),
    ],
)
def test_bad_options(make: object, message: str) -> None:
    assert callable(make)
    with pytest.raises(CepbenchError, match=message):
        make()
