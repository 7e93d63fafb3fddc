"""Partitioners of CET graphs: plans visited, milliseconds and bytes of stored plans; gaps to the optimal plan.

On homogeneous graphs over the number of atomic graphlets and the memory limit; gaps on random graphs that are not
homogeneous, where branch and bound is a heuristic.

Run by hand: python benchmarks/partitioning.py
"""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.base import NotEnoughMemory
from cepbench.algorithms.construction.cet.kernels.graph import WindowGraph
from cepbench.algorithms.construction.cet.partitioning.costs import Costs
from cepbench.algorithms.construction.cet.partitioning.partition import (
    METHODS,
    PartitionPlan,
    one_graphlet,
    one_per_atom,
    partition,
)

ATOMS = (8, 12, 16, 20, 24)
TIGHTNESS = (0.0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.0)
"""0 is the memory of the plan with most graphlets, 1 that of one graphlet; between them on a logarithmic scale."""

REPETITIONS = 5
RANDOM_GRAPHS = 300


def grouped(sizes: list[int]) -> WindowGraph:
    """Groups of simultaneous events; each event follows all of the group before."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    edge = group[:, None] + 1 == group[None, :]
    source, target = np.nonzero(edge)
    into_target, into_source = np.nonzero(edge.T)
    out_ptr = np.searchsorted(source, np.arange(len(group) + 1))
    in_ptr = np.searchsorted(into_target, np.arange(len(group) + 1))
    return WindowGraph(group, out_ptr, target, in_ptr, into_source, np.arange(len(group)))


def limits(graph: WindowGraph) -> list[int]:
    """Memory limits by tightness."""
    low, high = one_per_atom(graph).bytes, one_graphlet(graph).bytes
    return [int(low * (high / low) ** tightness) for tightness in TIGHTNESS]


def best_of(graph: WindowGraph, method: str, limit: int) -> PartitionPlan:
    """The plan of the fastest of some runs."""
    return min(
        (partition(graph, method, limit) for _ in range(REPETITIONS)),
        key=lambda plan: plan.details["partition_seconds"],
    )


def homogeneous_graphs() -> None:
    print(
        f"{'atoms':>5} {'limit B':>15} {'method':<17}{'k':>3} {'cpu/optimal':>11} {'plans':>9} {'ms':>8} {'bytes':>9}"
    )
    for atoms in ATOMS:
        graph = grouped([3] * atoms)
        for limit in limits(graph):
            plans = {method: best_of(graph, method, limit) for method in METHODS}
            for method, plan in plans.items():
                gap = plan.cpu / plans["exhaustive"].cpu
                d = plan.details
                print(
                    f"{atoms:>5} {limit:>15} {method:<17}{plan.graphlets:>3} {gap:>11.3f} {d['partition_nodes']:>9.0f} "
                    f"{1000 * d['partition_seconds']:>8.3f} {d['partition_bytes_peak']:>9.0f}"
                )


def random_graphs() -> None:
    """Gaps where groups differ in size."""
    random = np.random.default_rng(2018)
    gaps: dict[str, list[float]] = {"branch-and-bound": [], "greedy": []}
    infeasible = dict.fromkeys(gaps, 0)
    for _ in range(RANDOM_GRAPHS):
        graph = grouped(random.integers(1, 7, random.integers(4, 15)).tolist())
        assert len(Costs(graph).atoms) <= 15
        for limit in limits(graph):
            try:
                optimal = partition(graph, "exhaustive", limit)
            except NotEnoughMemory:
                continue
            for method in gaps:
                try:
                    gaps[method].append(partition(graph, method, limit).cpu / optimal.cpu)
                except NotEnoughMemory:
                    infeasible[method] += 1
    print(f"\n{'method':<17} {'cases':>6} {'optimal':>8} {'mean gap':>9} {'p95':>6} {'largest':>8} {'infeasible':>10}")
    for method, found in gaps.items():
        ratio = np.array(found)
        print(
            f"{method:<17} {len(ratio):>6} {np.mean(ratio < 1 + 1e-9):>8.0%} {ratio.mean():>9.3f} "
            f"{np.quantile(ratio, 0.95):>6.2f} {ratio.max():>8.2f} {infeasible[method]:>10}"
        )


if __name__ == "__main__":
    homogeneous_graphs()
    random_graphs()
