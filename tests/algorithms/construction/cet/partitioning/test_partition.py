"""The three partitioners: optimal on homogeneous graphs, within the limit and feasible on all."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepbench.algorithms.base import NotEnoughMemory
from cepbench.algorithms.construction.cet.kernels.graph import WindowGraph
from cepbench.algorithms.construction.cet.partitioning.costs import Costs
from cepbench.algorithms.construction.cet.partitioning.partition import (
    METHODS,
    PartitionPlan,
    one_graphlet,
    one_per_atom,
    partition,
    prescribed,
)
from cepbench.algorithms.construction.cet.partitioning.search import EXHAUSTIVE_ATOMS, TooManyPlans
from tests.algorithms.construction.cet.partitioning.graphs import (
    all_plans,
    edges_of,
    homogeneous,
    irregular,
    window_graph,
)

DETAILS = {"partition_seconds", "partition_nodes", "partition_bytes_peak"}


def planned(graph: WindowGraph, method: str, limit: int) -> PartitionPlan | None:
    """The plan, checked by itself; None if there is none."""
    try:
        plan = partition(graph, method, limit)
    except NotEnoughMemory:
        return None
    costs = Costs(graph)
    assert plan.bounds[0] == 0
    assert plan.bounds[-1] == len(graph.time)
    assert np.all(np.diff(plan.bounds) > 0)
    assert set(plan.bounds.tolist()) <= set(costs.atoms.tolist())
    assert plan.bytes <= limit
    assert (plan.cpu, plan.bytes) == costs.cost(plan.bounds)
    assert set(plan.details) == DETAILS
    return plan


def interesting_limits(graph: WindowGraph) -> list[int]:
    """At and around the memory of the extreme plans and of plans between them."""
    costs = Costs(graph)
    atoms = costs.atoms
    sizes = {int(costs.cost(atoms[[0, cut, -1]]).bytes) for cut in range(1, len(atoms) - 1)}
    sizes |= {one_graphlet(graph).bytes, one_per_atom(graph).bytes}
    low, high = min(sizes), max(sizes)
    sizes |= {int(low * (high / low) ** (i / 12)) for i in range(13)}
    return sorted({max(1, size + off) for size in sizes for off in (-1, 0)})


@pytest.mark.parametrize(("width", "degree"), [(1, 1), (2, 1), (2, 2), (3, 2), (3, 3), (4, 4)])
@pytest.mark.parametrize("atoms", [1, 2, 3, 5, 8, 11, 14])
def test_branch_and_bound_is_optimal_on_homogeneous_graphs(atoms: int, width: int, degree: int) -> None:
    graph = homogeneous(atoms, width, degree)
    feasible = 0
    for limit in interesting_limits(graph):
        best, plan = planned(graph, "exhaustive", limit), planned(graph, "branch-and-bound", limit)
        assert (best is None) == (plan is None)
        if best is not None and plan is not None:
            assert plan.cpu == best.cpu
            feasible += 1
    assert feasible


@settings(max_examples=300, deadline=None)
@given(atoms=st.integers(1, 14), width=st.integers(1, 4), data=st.data())
def test_branch_and_bound_is_optimal_at_any_limit(atoms: int, width: int, data: st.DataObject) -> None:
    degree = data.draw(st.integers(1, width))
    graph = homogeneous(atoms, width, degree)
    low, high = one_per_atom(graph).bytes, one_graphlet(graph).bytes
    limit = data.draw(st.integers(min(low, high) // 2, max(low, high)))
    best, plan = planned(graph, "exhaustive", limit), planned(graph, "branch-and-bound", limit)
    assert (best is None) == (plan is None)
    assert best is None or plan is None or plan.cpu == best.cpu


@pytest.mark.parametrize("seed", range(60))
def test_exhaustive_finds_the_best_of_all_plans(seed: int) -> None:
    graph = irregular(seed, 5 + seed % 12)
    costs = Costs(graph)
    plans = [costs.cost(np.array(bounds)) for bounds in all_plans(costs.atoms.tolist())]
    for limit in interesting_limits(graph):
        plan = planned(graph, "exhaustive", limit)
        fitting = [cost.cpu for cost in plans if cost.bytes <= limit]
        assert (plan.cpu if plan else None) == min(fitting, default=None)
        assert plan is None or plan.details["partition_nodes"] == len(plans) == 2 ** (len(costs.atoms) - 2)


@pytest.mark.full
def test_feasible_wherever_exhaustive_is() -> None:
    methods = ("branch-and-bound", "greedy")
    feasible, better = 0, dict.fromkeys(methods, 0)
    for seed in range(100):
        graph = irregular(seed, 6 + seed % 20)
        if len(Costs(graph).atoms) > 14:
            continue
        for limit in interesting_limits(graph):
            best = planned(graph, "exhaustive", limit)
            feasible += best is not None
            for method in methods:
                plan = planned(graph, method, limit)
                assert (best is None) == (plan is None), method
                if best is not None and plan is not None:
                    assert plan.cpu >= best.cpu, method
                    better[method] += plan.cpu > best.cpu
    assert feasible > 800
    assert all(better.values()), "other graphs have gaps, which the benchmark reports"


@pytest.mark.parametrize("method", METHODS)
def test_extreme_limits(method: str) -> None:
    graph = homogeneous(8, 3)
    top, bottom = one_graphlet(graph), one_per_atom(graph)
    assert partition(graph, method, top.bytes).bounds.tolist() == top.bounds.tolist() == [0, 24]
    assert partition(graph, method, bottom.bytes).bounds.tolist() == bottom.bounds.tolist()
    assert bottom.graphlets == 8
    with pytest.raises(NotEnoughMemory, match="24 events"):
        partition(graph, method, bottom.bytes - 1)


@pytest.mark.parametrize("method", METHODS)
def test_one_event(method: str) -> None:
    plan = partition(homogeneous(1, 1), method, 4 + 12 + 8 + 16)
    assert (plan.bounds.tolist(), plan.cpu, plan.bytes) == ([0, 1], 1.0, 40)


def test_prescribed_plans() -> None:
    graph = homogeneous(14, 3)
    plans = [prescribed(graph, number, 1.0, 10**9) for number in (1, 2, 5, 14, 20)]
    assert [plan.graphlets for plan in plans] == [1, 2, 5, 14, 14]
    assert [plan.bytes for plan in plans] == sorted((plan.bytes for plan in plans), reverse=True)
    assert [plan.cpu for plan in plans] == sorted(plan.cpu for plan in plans)
    skewed = prescribed(graph, 2, 13.0, 10**9)
    assert skewed.bounds.tolist() == [0, 39, 42]
    assert skewed.bytes > 100 * plans[1].bytes
    with pytest.raises(NotEnoughMemory, match="2 graphlets"):
        prescribed(graph, 2, 13.0, plans[1].bytes)


def test_a_prescribed_plan_may_take_all_the_memory() -> None:
    graph = homogeneous(6, 3)
    size = prescribed(graph, 3, 1.0, 10**9).bytes
    assert prescribed(graph, 3, 1.0, size).bytes == size
    with pytest.raises(NotEnoughMemory, match=f"takes {size} bytes, but {size - 1} are left"):
        prescribed(graph, 3, 1.0, size - 1)


def test_exhaustive_stores_a_level_and_the_next() -> None:
    """Five atomic graphlets have 1, 4, 6, 4 and 1 plans of one to five graphlets, a word each."""
    details = partition(homogeneous(5, 2), "exhaustive", 10**6).details
    assert (details["partition_nodes"], details["partition_bytes_peak"]) == (16, 8 * (4 + 6))


LOADED = """
import sys
from cepbench.algorithms.construction.cet.algorithm import Cet
from cepbench.algorithms.construction.cet.partitioning.partition import partition
from cepbench.algorithms.construction.cet.kernels import costs, plans
from cepbench.algorithms.base import Plan
from cepbench.events.schema import Schema
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from tests.algorithms.construction.cet.partitioning.graphs import homogeneous

def loaded():
    kernels = [f for module in (costs, plans) for f in vars(module).values() if hasattr(f, "signatures")]
    return sum(len(kernel.signatures) for kernel in kernels)

query = parse_query("RETURN COMPLETE MATCHES PATTERN A+")
Cet(partition=sys.argv[1]).operator(Plan(compile_workload([query], Schema(("A",))))).load()
before = loaded()
for limit in (1000, 2000, 10000):
    partition(homogeneous(9, 3), sys.argv[1], limit)
print(before, loaded())
"""


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.full
def test_an_algorithm_loads_all_kernels_of_its_search(method: str) -> None:
    """So that none is loaded while a search is timed; in a process of its own."""
    run = subprocess.run([sys.executable, "-c", LOADED, method], check=True, capture_output=True, text=True)
    before, after = run.stdout.split()
    assert int(before) == int(after) > 0


def test_greedy_cuts_more_than_necessary() -> None:
    graph = homogeneous(7, 3)
    even = int(Costs(graph).cost(np.array([0, 6, 15, 21])).bytes)
    best, quick = planned(graph, "branch-and-bound", even), planned(graph, "greedy", even)
    assert best is not None
    assert quick is not None
    assert (best.graphlets, quick.graphlets) == (3, 4)
    assert quick.cpu > best.cpu


def test_branch_and_bound_looks_at_few_plans() -> None:
    graph = homogeneous(20, 3)
    for limit in (10_000, 100_000, 1_000_000):
        few, all_of_them = partition(graph, "branch-and-bound", limit), partition(graph, "exhaustive", limit)
        assert few.cpu == all_of_them.cpu
        assert 100 * few.details["partition_nodes"] < all_of_them.details["partition_nodes"] == 2**19
        assert 12 * few.details["partition_bytes_peak"] < all_of_them.details["partition_bytes_peak"]


def test_exhaustive_refuses_what_it_cannot_visit() -> None:
    with pytest.raises(TooManyPlans, match=rf"2\^{EXHAUSTIVE_ATOMS} plans of {EXHAUSTIVE_ATOMS + 1} atomic graphlets"):
        partition(homogeneous(EXHAUSTIVE_ATOMS + 1, 2), "exhaustive", 10**6)


@pytest.mark.parametrize("method", ["branch-and-bound", "greedy"])
def test_windows_with_more_cuts_than_a_word_has_bits(method: str) -> None:
    graph = homogeneous(150, 3)
    limit = one_per_atom(graph).bytes + 2000
    plan = planned(graph, method, limit)
    assert plan is not None
    assert 2 < plan.graphlets < 150


@pytest.mark.parametrize("method", ["branch-and-bound", "greedy"])
@pytest.mark.full
def test_windows_with_thousands_of_cuts(method: str) -> None:
    """A long chain that fits whole, and dense parts that only fit in their atomic graphlets."""
    chain = homogeneous(3000, 1)
    whole = one_graphlet(chain)
    plan = planned(chain, method, whole.bytes)
    assert plan is not None
    assert plan.graphlets == 1
    assert planned(chain, method, whole.bytes - 40) is None
    dense, parts = homogeneous(5, 3), 300
    time = np.concatenate([dense.time + 5 * part for part in range(parts)])
    edges = [(u + 15 * part, v + 15 * part) for part in range(parts) for u, v in edges_of(dense)]
    graph = window_graph(time.tolist(), edges)
    least = one_per_atom(graph)
    assert least.graphlets == 1500
    found = planned(graph, method, least.bytes)
    assert found is not None
    assert planned(graph, method, least.bytes - 1) is None


def test_a_search_of_too_many_plans_ends_with_the_balanced_one(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = homogeneous(13, 3)
    limit = 2300
    free = planned(graph, "branch-and-bound", limit)
    monkeypatch.setattr("cepbench.algorithms.construction.cet.partitioning.search.MAX_PLANS", 1)
    cut_short = planned(graph, "branch-and-bound", limit)
    assert free is not None
    assert cut_short is not None
    assert free.details["partition_nodes"] > cut_short.details["partition_nodes"]
    assert cut_short.cpu == free.cpu, "on a homogeneous graph the balanced plan is the best of its level"


def test_a_search_of_too_many_plans_keeps_within_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where no balanced plan fits."""
    monkeypatch.setattr("cepbench.algorithms.construction.cet.partitioning.search.MAX_PLANS", 1)
    for seed in range(60):
        graph = irregular(seed, 6 + seed % 12)
        for limit in interesting_limits(graph):
            best, plan = planned(graph, "exhaustive", limit), planned(graph, "branch-and-bound", limit)
            assert (best is None) == (plan is None)
