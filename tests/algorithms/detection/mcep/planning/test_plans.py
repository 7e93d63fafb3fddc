"""Global plans: the paper's figures, costs that follow changes, and checks."""

import pickle
from random import Random

import pytest

from cepbench.algorithms.detection.mcep.planning import plans
from cepbench.algorithms.detection.mcep.planning.local_plans import SHAPES, Join, LocalPlanner
from cepbench.algorithms.detection.mcep.planning.plans import MultiPlan
from tests.algorithms.detection.mcep.planning.workloads import (
    check,
    costs_of,
    ordered,
    random_costs,
    random_patterns,
    recomputed_cost,
    table_of,
)

RATES = {"A": 1.0, "B": 2.0, "C": 3.0, "D": 4.0, "E": 5.0, "F": 6.0, "G": 7.0, "H": 8.0}


def tree_of(texts: list[str], orders: list[tuple[int, ...]]) -> MultiPlan:
    plan = MultiPlan(costs_of(table_of(*texts), RATES), orders=True)
    plan.exchange(plan.local(pattern, ordered(order)) for pattern, order in enumerate(orders))
    check(plan, range(len(texts)))
    return plan


FIGURE_5 = ["SEQ(A, B, C) WITHIN 10 s", "SEQ(A, B, D) WITHIN 20 s"]


@pytest.mark.parametrize(
    ("orders", "nodes", "cost"),
    [
        ([(0, 1, 2), (0, 1, 2)], 4, 20 + 800 + 6000 + 64000),
        ([(1, 2, 0), (1, 0, 2)], 5, 40 + 600 + 6000 + 800 + 64000),
        ([(2, 1, 0), (0, 2, 1)], 6, 30 + 600 + 6000 + 20 + 1600 + 64000),
    ],
)
def test_figure_5(orders: list[tuple[int, ...]], nodes: int, cost: float) -> None:
    """Three multi-pattern trees, from maximal to minimal sharing; a shared state has the larger window."""
    plan = tree_of(FIGURE_5, orders)
    assert len(plan) == nodes
    assert plan.cost == cost
    assert plan.inner_cost == cost - 6000 - 64000
    assert set(plan.first_places()) >= set(plan.in_order())
    shared = [node for node in plan.in_order() if plan.users(node) == 2]
    assert [plan.window(node) for node in shared] == [20] * (6 - nodes)


def test_figure_6() -> None:
    """SEQ(A, C, E) is added to the tree of Figure 5 (a), and SEQ(A, B, C) removed."""
    plan = MultiPlan(costs_of(table_of("SEQ(A, B, C)", "SEQ(A, B, D)", "SEQ(A, C, E)"), RATES), orders=True)
    plan.exchange([plan.local(0, ordered((0, 1, 2))), plan.local(1, ordered((0, 1, 2)))])
    assert len(plan) == 4
    assert plan.exchange([plan.local(2, ordered((0, 1, 2)))]) == 300 + 15000
    assert len(plan) == 6
    assert plan.remove(0) == -6000
    assert len(plan) == 5
    check(plan, [1, 2])


def test_a_final_state_may_be_an_inner_node() -> None:
    """Section 3.1: SEQ(A, B) and SEQ(A, B, C)."""
    plan = tree_of(["SEQ(A, B, C)", "SEQ(A, B)"], [(0, 1, 2), (0, 1)])
    assert len(plan) == 3
    assert plan.finals() == {plan.in_order()[2]: [0], plan.in_order()[1]: [1]}


FIGURE_9 = ["SEQ(A, B, C, D)", "SEQ(A, E, C, F)", "SEQ(G, B, H, D)"]


def test_figure_9() -> None:
    """SEQ(A, C) is shared by P1 and P2, SEQ(B, D) by P1 and P3: 8 leaves and 2 + 1 + 2 + 2 joins."""
    plan = MultiPlan(costs_of(table_of(*FIGURE_9), RATES))
    a, b, c, d = 1, 2, 4, 8
    middle: list[list[Join]] = [
        [(a, c), (b, d), (a | c, b | d)],
        [(a, c), (b, d), (a | c, b | d)],
        [(a, c), (b, d), (a | c, b | d)],
    ]
    plan.exchange(plan.local(pattern, joins) for pattern, joins in enumerate(middle))
    check(plan, range(3))
    shared = [node for node in plan.in_order() if plan.users(node) > 1 and plan.nodes.items[node].children]
    subs = {plan.nodes.items[node].sub for node in shared}
    assert subs == {plan.table.of(0, a | c), plan.table.of(0, b | d)}
    assert [plan.first_places()[node] for node in shared] == [(0, a | c), (0, b | d)]
    assert len(plan) == 8 + 9 - 2
    assert plan.cost == recomputed_cost(plan)


def test_nodes_of_their_own_are_not_shared() -> None:
    plan = MultiPlan(costs_of(table_of(*FIGURE_5), RATES), orders=True)
    plan.exchange(plan.local(pattern, ordered((0, 1, 2)), pattern) for pattern in (0, 1))
    check(plan, [0, 1])
    assert len(plan) == 6
    assert plan.cost == 10 + 200 + 6000 + 20 + 800 + 64000


def test_a_sub_pattern_twice_in_a_pattern_is_one_node() -> None:
    plan = MultiPlan(costs_of(table_of("SEQ(A, B, A, B)"), RATES))
    plan.exchange([plan.local(0, [(1, 2), (4, 8), (3, 12)])])
    check(plan, [0])
    assert len(plan) == 4
    assert plan.cost == 10 + 20 + 200 + 40000


def test_absences_are_decided_between_neighbors() -> None:
    plan = tree_of(["SEQ(NOT A, B, NOT E, C, NOT F, D, NOT A)"], [(0, 1, 2)])
    found = [plan.negated_at(plan.plans[0], mask) for mask in (0b001, 0b011, 0b101, 0b111)]
    assert found == [(), (1,), (), (1, 2)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", range(15))
def test_costs_follow_changes(shape: str, seed: int) -> None:
    random = Random(seed)
    patterns = random_patterns(random, 6)
    plan = MultiPlan(random_costs(random, patterns), orders=shape == "orders")
    for _ in range(40):
        before, pattern = plan.cost, random.randrange(6)
        if pattern in plan.plans and random.random() < 0.3:
            rise = plan.remove(pattern)
        else:
            order = tuple(random.sample(range(len(patterns[pattern])), len(patterns[pattern])))
            rise = plan.exchange([plan.local(pattern, ordered(order))])
        assert plan.cost == pytest.approx(before + rise)
        assert plan.cost == pytest.approx(recomputed_cost(plan))
        check(plan, list(plan.plans))


def test_plans_survive_pickling() -> None:
    plan = tree_of(FIGURE_5, [(0, 1, 2), (1, 0, 2)])
    copy = pickle.loads(pickle.dumps(plan))
    check(copy, [0, 1])
    assert copy.cost == plan.cost
    assert copy.first_places() == plan.first_places()


def test_forgotten_local_plans_are_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plans, "MAX_KEPT", 2)
    plan = tree_of(["SEQ(A, B, C)"], [(0, 1, 2)])
    first = plan.plans[0]
    assert plan.local(0, ordered((0, 1, 2))) is first
    others = [plan.local(0, ordered(order)) for order in [(0, 2, 1), (1, 0, 2), (1, 2, 0)]]
    again = plan.local(0, ordered((0, 1, 2)))
    assert again is not first
    assert again.nodes == first.nodes
    assert plan.exchange([again]) == 0
    assert plan.exchange(others[:1]) == 300 - 200


def test_the_start_of_a_search_has_the_best_local_plans() -> None:
    """Section 4.2, in the example of Section 1: the types in ascending order of their rates."""
    costs = costs_of(table_of("SEQ(C, A, B)", "SEQ(A, B, D)"), RATES)
    plan = LocalPlanner(costs, "orders").start([0, 1])
    assert [plan.plans[pattern].steps for pattern in (0, 1)] == [ordered((1, 2, 0)), ordered((0, 1, 2))]
