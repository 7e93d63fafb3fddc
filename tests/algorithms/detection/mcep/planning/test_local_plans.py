"""Local plans against all plans by brute force."""

from itertools import permutations
from random import Random

import pytest

from cepbench.algorithms.detection.mcep.planning.costs import order_cost, tree_cost
from cepbench.algorithms.detection.mcep.planning.local_plans import (
    MAX_JOINED,
    MAX_ORDERED,
    canonical_joins,
    cheapest_joins,
    cheapest_order,
    greedy_joins,
    greedy_order,
    left_deep,
)
from tests.algorithms.detection.mcep.planning.workloads import all_trees, ordered, random_costs, random_patterns

SEEDS = range(40)


def parts_of(prefix: tuple[int, ...], size: int) -> tuple[int, ...]:
    """The set of the operands of a prefix, and each of the others."""
    return (sum(1 << one for one in prefix), *(1 << one for one in range(size) if one not in prefix))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_cheapest_order_of_all(seed: int) -> None:
    random = Random(seed)
    [pattern] = given = random_patterns(random, 1, 6)
    costs = random_costs(random, given)
    found = cheapest_order(lambda mask: costs.of(0, mask), parts_of((), len(pattern)))
    orders = {ordered(order): order_cost(costs, 0, order) for order in permutations(range(len(pattern)))}
    assert orders[found] == pytest.approx(min(orders.values()))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_cheapest_order_with_a_prefix(seed: int) -> None:
    random = Random(seed)
    [pattern] = given = random_patterns(random, 1, 6)
    costs = random_costs(random, given)
    prefix = tuple(random.sample(range(len(pattern)), random.randint(1, len(pattern))))
    found = cheapest_order(lambda mask: costs.of(0, mask), parts_of(prefix, len(pattern)))
    every = [order for order in permutations(range(len(pattern))) if order[: len(prefix)] == prefix]
    orders = {ordered(order): order_cost(costs, 0, order) for order in every}
    assert orders[*ordered(prefix), *found] == pytest.approx(min(orders.values()))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_cheapest_tree_around_given_ones(seed: int) -> None:
    random = Random(seed)
    [pattern] = given = random_patterns(random, 1, 6)
    costs = random_costs(random, given)
    parts: list[int] = []
    for operand in range(len(pattern)):
        if parts and random.random() < 0.3:
            parts[random.randrange(len(parts))] |= 1 << operand
        else:
            parts.append(1 << operand)
    joins = cheapest_joins(lambda mask: costs.of(0, mask), parts)
    trees = {canonical_joins(tree) for tree in all_trees(tuple(parts))}
    assert joins in trees
    assert tree_cost(costs, 0, joins) == pytest.approx(min(tree_cost(costs, 0, tree) for tree in trees))


def test_all_trees_of_three() -> None:
    """Figure 8: three tree-based plans for SEQ(A, B, C)."""
    trees = {canonical_joins(tree) for tree in all_trees((1, 2, 4))}
    assert trees == {((1, 2), (3, 4)), ((2, 4), (1, 6)), ((1, 4), (5, 2))}


def test_greedy_takes_the_fewest_instances_at_once() -> None:
    sizes = {0b001: 1, 0b010: 2, 0b100: 3, 0b011: 9, 0b101: 8, 0b110: 1, 0b111: 4}
    assert greedy_order(lambda mask: sizes[mask], (0, 1, 2, 4)) == ordered((0, 2, 1))
    assert greedy_order(lambda mask: sizes[mask], (2, 1, 4)) == ordered((1, 2, 0))
    assert cheapest_order(lambda mask: sizes[mask], (0, 1, 2, 4)) == ordered((1, 2, 0))
    assert greedy_joins(lambda mask: sizes[mask], (1, 2, 4)) == ((2, 4), (1, 6))


def test_greedy_joins_may_be_dearer() -> None:
    sizes = dict.fromkeys(range(16), 10.0) | {0b0011: 1, 0b1100: 9, 0b0111: 90, 0b1011: 90, 0b0110: 2, 0b1001: 2}
    assert greedy_joins(lambda mask: sizes[mask], (1, 2, 4, 8)) == ((1, 2), (4, 8), (3, 12))
    assert cheapest_joins(lambda mask: sizes[mask], (1, 2, 4, 8)) == ((1, 8), (2, 4), (9, 6))


def test_left_deep_trees_follow_an_order() -> None:
    assert left_deep([4, 1, 2]) == ((4, 1), (5, 2))
    assert left_deep([1]) == ()


@pytest.mark.parametrize(("more", "greedily"), [(0, False), (1, True), (8, True)])
def test_large_patterns_are_planned_greedily(more: int, greedily: bool) -> None:
    """These are so many operands that their cheapest plan is another one; it is found up to the limit."""

    def instances(mask: int) -> float:
        return 1.5 ** mask.bit_count() + mask % 7

    size = 1 + MAX_ORDERED + more
    operands = parts_of((3,), size)
    order = cheapest_order(instances, operands)
    assert (order == greedy_order(instances, operands)) is greedily
    assert sorted(part for _, part in order) == list(operands[1:])
    parts = [1 << operand for operand in range(MAX_JOINED + more)]
    joins = cheapest_joins(instances, parts)
    assert (joins == greedy_joins(instances, parts)) is greedily
    assert len(joins) == len(parts) - 1
