"""Balanced plans, the plans that are greedily filled, and nearly balanced ones."""

import numpy as np
import pytest

from cepbench.algorithms.construction.cet.partitioning.costs import Costs
from cepbench.algorithms.construction.cet.partitioning.search import (
    _NodeSearch,
    balanced,
    bounds_of,
    filled,
    ideal_size,
)
from tests.algorithms.construction.cet.partitioning.graphs import all_plans, homogeneous, irregular, nearly_balanced

UNLIMITED = 2**60


@pytest.mark.parametrize("seed", range(40))
def test_plans_of_every_level_are_plans(seed: int) -> None:
    atoms = Costs(irregular(seed, 12)).atoms
    for level in range(1, len(atoms)):
        for plan in (balanced(atoms, level), filled(atoms, level)):
            assert len(plan) == level + 1
            assert plan[0] == 0
            assert plan[-1] == 12
            assert np.all(np.diff(plan) > 0)
            assert set(plan.tolist()) <= set(atoms.tolist())


@pytest.mark.parametrize("width", [1, 2, 3])
def test_balanced_plans_of_homogeneous_graphs_differ_by_one_atomic_graphlet(width: int) -> None:
    for number in range(1, 30):
        atoms = np.arange(number + 1) * width
        for level in range(1, number + 1):
            sizes = np.diff(balanced(atoms, level)) // width
            assert set(sizes.tolist()) <= {number // level, -(-number // level)}


def test_cuts_are_nearest_to_equal_parts() -> None:
    assert balanced(np.array([0, 5, 6, 7, 12]), 2).tolist() == [0, 6, 12]
    assert balanced(np.array([0, 1, 2, 3, 12]), 3).tolist() == [0, 2, 3, 12], "a big atomic graphlet leaves no choice"
    assert balanced(np.array([0, 9, 10, 11, 12]), 3).tolist() == [0, 9, 10, 12]


def test_a_ratio_makes_the_first_graphlet_larger() -> None:
    atoms = np.arange(15) * 3
    sizes = [(np.diff(balanced(atoms, 2, ratio)) // 3).tolist() for ratio in (1, 2.5, 6, 13)]
    assert sizes == [[7, 7], [10, 4], [12, 2], [13, 1]]
    assert np.diff(balanced(atoms, 5, 3.0)).tolist() == [18, 6, 6, 6, 6]


def test_filled_graphlets_reach_the_ideal_size_first() -> None:
    atoms = np.arange(8) * 3
    assert np.diff(filled(atoms, 3)).tolist() == [9, 9, 3]
    assert np.diff(balanced(atoms, 3)).tolist() == [6, 9, 6]
    assert np.diff(filled(atoms[:7], 3)).tolist() == [6, 6, 6], "and do not exceed it where it can be met"
    assert np.diff(filled(atoms, 5)).tolist() == [6, 6, 3, 3, 3], "each graphlet has an atomic one at least"


@pytest.mark.parametrize("number", range(1, 15))
def test_filled_plans_are_nearly_balanced_on_homogeneous_graphs(number: int) -> None:
    atoms = np.arange(number + 1) * 3
    for level in range(1, number + 1):
        assert nearly_balanced(filled(atoms, level).tolist(), atoms.tolist())
        assert nearly_balanced(balanced(atoms, level).tolist(), atoms.tolist())


def test_example_of_two_nearly_balanced_plans() -> None:
    """Example 6.2: five equal atomic graphlets in two graphlets; the middle one belongs to either."""
    atoms = (np.arange(6) * 2).tolist()
    plans = [bounds for bounds in all_plans(atoms) if len(bounds) == 3 and nearly_balanced(bounds, atoms)]
    assert plans == [[0, 4, 10], [0, 6, 10]]


@pytest.mark.parametrize("seed", range(40))
def test_all_nearly_balanced_plans_of_a_level_are_generated(seed: int) -> None:
    """Each once, with its costs, the cheapest first."""
    graph = irregular(seed, 12) if seed % 4 else homogeneous(3 + seed // 4, 2)
    costs = Costs(graph)
    atoms = costs.atoms.tolist()
    for level in range(1, len(atoms)):
        search = _NodeSearch(costs.atoms, costs.ranges(UNLIMITED), UNLIMITED)
        assert search.add(level)
        queue = search.queue
        found = [bounds_of(cuts, costs.atoms).tolist() for cuts in queue.cuts]
        assert len(found) == search.visited
        expected = [b for b in all_plans(atoms) if len(b) == level + 1 and nearly_balanced(b, atoms)]
        assert sorted(found) == sorted(expected)
        for bounds, cpu, size in zip(found, queue.cpu, queue.bytes, strict=True):
            assert (cpu, size) == pytest.approx(costs.cost(np.array(bounds)))
        assert np.all(np.diff(queue.cpu) >= 0)
        assert ideal_size(costs.atoms, level) == -(-len(graph.time) // level)
