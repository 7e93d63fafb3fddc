"""Partitioning of a window's CET graph into graphlets whose trends fit into memory (dissertation Chapters 6 and 7)."""

from __future__ import annotations

import time

import numpy as np

from algorithms.base import NotEnoughMemory
from algorithms.cet.graph import WindowGraph
from algorithms.cet.partitioning.branch_and_bound import branch_and_bound
from algorithms.cet.partitioning.costs import Costs
from algorithms.cet.partitioning.exhaustive import exhaustive
from algorithms.cet.partitioning.greedy import greedy
from algorithms.cet.partitioning.least_memory import least_memory
from algorithms.cet.partitioning.plan import PartitionPlan
from algorithms.cet.partitioning.search import Found, Search
from algorithms.kernels.arrays import Ints

METHODS: dict[str, Search] = {"branch-and-bound": branch_and_bound, "greedy": greedy, "exhaustive": exhaustive}

_MOST_BYTES = 2.0**62


def partition(graph: WindowGraph, method: str, limit: int) -> PartitionPlan:
    """A plan of a graph with at least one vertex, whose trends and path take at most `limit` bytes.

    Every method finds one if there is any: where `branch-and-bound` or `greedy` ends without, the plan that takes the
    least memory is taken. Raises `NotEnoughMemory` if that does not fit either.
    """
    begin = time.perf_counter()
    costs = Costs(graph)
    found = METHODS[method](costs, limit)
    bounds = least_memory(costs, limit) if found.bounds is None else found.bounds
    if bounds is None:
        raise NotEnoughMemory(
            f"no partitioning of the {len(graph.time)} events of a window into up to {len(costs.atoms) - 1} graphlets "
            f"keeps its trends within {limit} bytes"
        )
    seconds = time.perf_counter() - begin
    return _plan(costs, bounds, _details(found, seconds))


def one_graphlet(graph: WindowGraph) -> PartitionPlan:
    """The plan at the top of the search space: T-CET."""
    return _plan(Costs(graph), np.array([0, len(graph.time)], np.int64), {})


def one_per_atom(graph: WindowGraph) -> PartitionPlan:
    """The plan at the bottom of the search space: every atomic graphlet on its own."""
    costs = Costs(graph)
    return _plan(costs, costs.atoms, {})


def _plan(costs: Costs, bounds: Ints, details: dict[str, float]) -> PartitionPlan:
    cost = costs.cost(bounds)
    return PartitionPlan(bounds, cost.cpu, int(min(cost.bytes, _MOST_BYTES)), details)


def _details(found: Found, seconds: float) -> dict[str, float]:
    return {
        "partition_seconds": seconds,
        "partition_nodes": float(found.visited),
        "partition_bytes_peak": float(found.bytes_peak),
    }
