"""The cost model against numbers worked out by hand, and against the formulas."""

from math import inf
from random import Random

import pytest

from cepbench.algorithms.detection.mcep.planning.costs import MAX_DOUBLINGS, order_cost, tree_cost
from cepbench.queries.model import Op
from tests.algorithms.detection.mcep.planning.workloads import (
    alone,
    compared,
    costs_of,
    instances,
    local,
    pair,
    random_costs,
    random_patterns,
    table_of,
)

LESS = compared("x", 1, Op.LT, "x", 1)


def test_cost_of_an_order() -> None:
    """Section 3.3 for C = {A.x < C.x} of selectivity 0.5, W = 10 and rates 1, 2, 3.

    (A, B, C): 10 + 10 * 20 + 10 * 20 * 30 * 0.5; (C, A, B): 30 + 30 * 10 * 0.5 + 30 * 10 * 20 * 0.5.
    """
    costs = costs_of(
        table_of("SEQ(A a, B b, C c) WHERE a.x < c.x"), {"A": 1, "B": 2, "C": 3}, {pair("A", "C", LESS): 0.5}
    )
    assert order_cost(costs, 0, (0, 1, 2)) == 10 + 200 + 3000
    assert order_cost(costs, 0, (2, 0, 1)) == 30 + 150 + 3000


def test_a_rare_type_comes_first() -> None:
    """Section 1: if C is rarer than A and B, waiting for C first makes fewer partial matches."""
    costs = costs_of(table_of("SEQ(A, B, C)"), {"A": 1, "B": 1, "C": 0.1})
    assert order_cost(costs, 0, (2, 1, 0)) == 1 + 10 + 100
    assert order_cost(costs, 0, (0, 1, 2)) == 10 + 100 + 100


def test_cost_of_a_tree() -> None:
    """Appendix C: the leaves, and C(L) C(R) sel for a join."""
    costs = costs_of(
        table_of("SEQ(A a, B b, C c) WHERE a.x < c.x"), {"A": 1, "B": 2, "C": 3}, {pair("A", "C", LESS): 0.5}
    )
    leaves = 10 + 20 + 30
    assert tree_cost(costs, 0, ((0b001, 0b010), (0b011, 0b100))) == leaves + 200 + 3000
    assert tree_cost(costs, 0, ((0b001, 0b100), (0b101, 0b010))) == leaves + 150 + 3000


def test_selectivities_are_found_either_way_round() -> None:
    costs = costs_of(table_of("SEQ(B b, A a) WHERE a.x < b.x"), {"A": 1, "B": 1}, {pair("A", "B", LESS): 0.25})
    assert costs.of(0, 0b11) == 25


def test_conditions_between_two_operands_hold_together() -> None:
    """sel of Section 2 is that of all conditions of a pair; independent ones are those of which no more is known."""
    table = table_of("SEQ(A a, B b) WHERE a.x < b.x AND a.y < b.y")
    of_y = compared("y", 1, Op.LT, "y", 1)
    one_by_one = {pair("A", "B", LESS): 0.5, pair("A", "B", of_y): 0.2}
    rates = {"A": 1.0, "B": 1.0}
    assert costs_of(table, rates, {**one_by_one}).of(0, 0b11) == pytest.approx(10)
    assert costs_of(table, rates, {**one_by_one, pair("A", "B", LESS, of_y): 0.01}).of(0, 0b11) == pytest.approx(1)
    flipped = pair("A", "B", LESS, of_y).flipped
    assert costs_of(table, rates, {**one_by_one, flipped: 0.02}).of(0, 0b11) == pytest.approx(2)


def test_filters_make_fewer_events() -> None:
    costs = costs_of(table_of("A a WHERE a.x > 3"), {"A": 1}, {alone("A", local("x", 1, Op.GT, 3)): 0.2})
    assert costs.of(0, 1) == 2


def test_a_kleene_operand_binds_sets_of_events() -> None:
    costs = costs_of(table_of("SEQ(A, B+)", "B+ WITHIN 1 hour"), {"A": 1, "B": 0.5})
    assert costs.of(0, 0b11) == 10 * 2**5
    assert costs.of(1, 1) == 2**MAX_DOUBLINGS


def test_count_windows_hold_a_share_of_all_events() -> None:
    costs = costs_of(table_of("SEQ(A, B) WITHIN 40 events"), {"A": 1, "B": 2, "C": 5})
    assert costs.of(0, 0b01) == 40 / 8
    assert costs.of(0, 0b11) == 40 / 8 * 40 * 2 / 8


def test_costs_are_finite() -> None:
    many = " AND ".join(f"A+ a{i}" for i in range(30))
    costs = costs_of(table_of(many), {"A": 1e9})
    assert 0 < costs.of(0, 2**30 - 1) < inf


def test_a_type_that_never_came_costs_nothing() -> None:
    assert costs_of(table_of("SEQ(A, B)", "SEQ(A, B) WITHIN 3 events"), {}).of(0, 0b11) == 0


@pytest.mark.parametrize("seed", range(20))
def test_against_the_formula(seed: int) -> None:
    random = Random(seed)
    patterns = random_patterns(random, 5)
    costs = random_costs(random, patterns)
    for number, pattern in enumerate(patterns):
        for mask in range(1, pattern.everything + 1):
            for window in (5, pattern.window):
                expected = instances(costs, pattern, mask, window)
                assert costs.instances(costs.table.of(number, mask), window) == pytest.approx(expected)
