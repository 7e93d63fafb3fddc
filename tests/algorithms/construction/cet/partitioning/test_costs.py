"""Cuts and costs against enumeration, and the monotonicity of costs (Theorems 6.1-6.3)."""

from itertools import pairwise

import numpy as np
import pytest

from cepbench.algorithms.construction.cet.kernels.graph import WindowGraph
from cepbench.algorithms.construction.cet.partitioning.costs import MAX_ATOMS, Costs
from cepbench.algorithms.construction.cet.partitioning.partition import one_graphlet, one_per_atom
from tests.algorithms.construction.cet.partitioning.graphs import (
    all_plans,
    edges_of,
    homogeneous,
    irregular,
    slow_cost,
    slow_cuts,
    trends_of,
    window_graph,
)

UNLIMITED = 2**60


def example() -> WindowGraph:
    """Example 5.2: two graphlets of four events and three edges each, and four cut edges between them."""
    within = [(0, 2), (0, 3), (1, 3), (4, 6), (4, 7), (5, 7)]
    across = [(2, 4), (2, 5), (3, 4), (3, 5)]
    return window_graph([1, 1, 2, 2, 3, 3, 4, 4], within + across)


def irregular_graphs(number: int = 150) -> list[WindowGraph]:
    return [irregular(seed, vertices=4 + seed % 11) for seed in range(number)]


def test_example_exactly() -> None:
    costs = Costs(example())
    assert costs.atoms.tolist() == [0, 2, 4, 6, 8]
    whole, halves, single = one_graphlet(example()), costs.cost(np.array([0, 4, 8])), one_per_atom(example())
    assert (whole.cpu, whole.bytes) == (10 + 9, 24 * (2 + 3 + 6 + 9) + 16)
    assert halves == (3 + 3 + 3 + 3 + 2 * 9 * 2, 2 * (24 * (2 + 3) + 16))
    assert (single.cpu, single.bytes) == (4 * 2 + 2 * 9 * 4, 4 * (24 * 2 + 16))


@pytest.mark.parametrize("group", range(5))
def test_cuts_are_those_of_the_definition(group: int) -> None:
    graphs = irregular_graphs()[group::5]
    found = [Costs(graph).atoms.tolist() for graph in graphs]
    assert found == [[0, *slow_cuts(graph), len(graph.time)] for graph in graphs]
    assert max(map(len, found)) > 4


def test_costs_of_all_plans_are_exact() -> None:
    for graph in irregular_graphs(60):
        costs = Costs(graph)
        for bounds in all_plans(costs.atoms.tolist()):
            assert costs.cost(np.array(bounds)) == slow_cost(graph, bounds)


def test_costs_of_all_ranges_are_exact() -> None:
    for graph in irregular_graphs(60):
        costs = Costs(graph)
        ranges, number = costs.ranges(UNLIMITED), len(costs.atoms) - 1
        assert np.diff(ranges.row).tolist() == list(range(number, 0, -1))
        for bounds in all_plans(list(range(number + 1))):
            rows = [ranges.row[p] + q - p - 1 for p, q in pairwise(bounds)]
            assert (ranges.cpu[rows].sum(), ranges.bytes[rows].sum()) == costs.cost(costs.atoms[bounds])


def test_ranges_that_cannot_fit_are_left_out() -> None:
    costs = Costs(homogeneous(6, 2))
    limit = 24 * (2 + 4 + 8)  # the trends of three atomic graphlets
    assert np.diff(costs.ranges(limit).row).tolist() == [3, 3, 3, 3, 2, 1]


def test_trends_cross_graphlets_from_last_to_first_events_in_order() -> None:
    for graph in irregular_graphs():
        atoms, edges = Costs(graph).atoms.tolist(), edges_of(graph)
        graphlets = list(pairwise(atoms))
        inner = {graphlet: set(trends_of(*graphlet, edges)) for graphlet in graphlets}
        for trend in trends_of(0, len(graph.time), edges):
            homes = [int(np.searchsorted(atoms, v, side="right")) - 1 for v in trend]
            assert homes == sorted(homes)
            for home in set(homes):
                segment = tuple(v for v, h in zip(trend, homes, strict=True) if h == home)
                assert segment in inner[graphlets[home]]


def children(bounds: list[int], atoms: list[int]) -> list[list[int]]:
    return [sorted([*bounds, cut]) for cut in atoms if cut not in bounds]


def test_cutting_edges_costs_cpu_and_never_trees_in_any_graph() -> None:
    """Theorems 6.1 and 6.2 with exact counts, on graphs that are not homogeneous too."""
    compared = 0
    for graph in irregular_graphs(80):
        costs = Costs(graph)
        atoms = costs.atoms.tolist()
        for bounds in all_plans(atoms):
            parent = np.array(bounds)
            for child in children(bounds, atoms):
                before, after = costs.counted(parent), costs.counted(np.array(child))
                more = costs.cost(np.array(child)).cpu - costs.cost(parent).cpu
                if after["edges"].sum() < before["edges"].sum():
                    compared += 1
                    assert more > 0
                assert more >= 0
                assert costs.least_bytes(np.array(child)) <= costs.least_bytes(parent)
    assert compared > 1000


@pytest.mark.parametrize("width", [3, 4])
def test_cutting_a_graphlet_saves_memory_where_events_follow_three_others(width: int) -> None:
    costs = Costs(homogeneous(7, width))
    atoms = costs.atoms.tolist()
    for bounds in all_plans(atoms):
        for child in children(bounds, atoms):
            assert costs.cost(np.array(child)).bytes < costs.cost(np.array(bounds)).bytes


@pytest.mark.parametrize(("width", "degree"), [(2, 2), (3, 3), (3, 2), (4, 4), (4, 3)])
@pytest.mark.parametrize("atoms", range(2, 9))
def test_balanced_plans_of_a_level_take_the_least(atoms: int, width: int, degree: int) -> None:
    """Theorem 6.3; CPU costs differ by the trends in graphlets only, of which balanced plans have the fewest, too."""
    costs = Costs(homogeneous(atoms, width, degree))
    for level in range(1, atoms + 1):
        plans = [np.array(bounds) for bounds in all_plans(costs.atoms.tolist()) if len(bounds) == level + 1]
        even = [plan for plan in plans if np.ptp(np.diff(plan)) <= width]
        assert even
        least = costs.cost(even[0])
        assert all(costs.cost(plan) == least for plan in even)
        stitching = 2 * level * width * degree ** (atoms - 1) if level > 1 else 0
        for plan in plans:
            cost = costs.cost(plan)
            assert cost.bytes >= least.bytes
            assert cost.cpu >= least.cpu >= stitching


@pytest.mark.full
def test_counts_beyond_any_number_are_infinite() -> None:
    graph = homogeneous(1500, 3)
    costs = Costs(graph)
    top, bottom = one_graphlet(graph), costs.cost(costs.atoms)
    assert np.isinf(top.cpu)
    assert top.bytes == 2**62
    assert bottom.bytes == 1500 * (24 * 3 + 16)


def test_long_chains_are_cut_coarsely_and_dense_parts_finely() -> None:
    chain, dense = 3000, homogeneous(8, 3)
    time = [*range(chain), *(dense.time + chain)]
    edges = [(v, v + 1) for v in range(chain - 1)] + [(chain - 1, chain + v) for v in range(3)]
    graph = window_graph(time, edges + [(u + chain, v + chain) for u, v in edges_of(dense)])
    costs = Costs(graph)
    assert len(costs.atoms) - 1 == chain + 8
    limit = 40_000
    coarse = costs.coarse(limit).atoms
    assert len(coarse) - 1 <= MAX_ATOMS
    assert set(coarse.tolist()) <= set(costs.atoms.tolist())
    assert set(range(chain + 3, chain + 24, 3)) <= set(coarse.tolist())
