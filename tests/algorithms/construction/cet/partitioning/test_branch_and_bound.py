"""Plans of branch-and-bound on graphs that are not homogeneous."""

import numpy as np

from cepbench.algorithms.construction.cet.partitioning.costs import Costs
from cepbench.algorithms.construction.cet.partitioning.search import branch_and_bound, highest_level
from tests.algorithms.construction.cet.partitioning.graphs import all_plans, irregular, nearly_balanced, uneven


def test_no_nearly_balanced_plan_is_overlooked() -> None:
    """None of its first level is cheaper than what is found; if nothing is found, no plan from that level on fits."""
    cheaper = lower = nothing = 0
    for seed in range(150):
        costs = Costs(irregular(seed, 6 + seed % 14))
        atoms = costs.atoms.tolist()
        if len(atoms) > 11:
            continue
        plans = [
            (bounds, costs.cost(np.array(bounds))) for bounds in all_plans(atoms) if nearly_balanced(bounds, atoms)
        ]
        for limit in sorted({int(cost.bytes) + off for _, cost in plans for off in (-1, 0)}):
            first = highest_level(costs, limit).graphlets
            fitting = [(len(bounds) - 1, cost.cpu) for bounds, cost in plans if cost.bytes <= limit]
            partition = branch_and_bound(costs, limit).bounds
            if partition is None:
                nothing += 1
                assert all(level < first for level, _ in fitting)
                continue
            cost = costs.cost(partition)
            assert cost.bytes <= limit
            assert nearly_balanced(partition.tolist(), atoms)
            assert all(cost.cpu <= cpu for level, cpu in fitting if level == first)
            cheaper += len({cpu for level, cpu in fitting if level == first}) > 1
            lower += len(partition) - 1 > first
    assert min(cheaper, lower, nothing) > 10, (cheaper, lower, nothing)


def test_a_level_without_nearly_balanced_plans_does_not_end_the_search() -> None:
    """Level search finds a balanced plan of five graphlets that fits, but it is not nearly balanced, nor is another."""
    costs = Costs(uneven([3, 6, 1, 6, 6, 1, 3, 3]))
    atoms, limit = costs.atoms.tolist(), 1170
    plans = [bounds for bounds in all_plans(atoms) if nearly_balanced(bounds, atoms)]
    assert highest_level(costs, limit).graphlets == 5
    assert 5 not in {len(bounds) - 1 for bounds in plans}
    fitting = [cost for bounds in plans if (cost := costs.cost(np.array(bounds))).bytes <= limit]
    partition = branch_and_bound(costs, limit).bounds
    assert partition is not None
    assert costs.cost(partition).cpu == min(cost.cpu for cost in fitting)
