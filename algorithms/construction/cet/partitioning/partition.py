"""Partitions a window's CET graph into graphlets whose trends fit into memory (dissertation Chapters 6 and 7)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from random import Random

import numpy as np

from cepbench.algorithms.base import NotEnoughMemory
from cepbench.algorithms.construction.cet.graph import cet_graph
from cepbench.algorithms.construction.cet.kernels.graph import WindowGraph
from cepbench.algorithms.construction.cet.partitioning.costs import Costs
from cepbench.algorithms.construction.cet.partitioning.search import (
    FoundPartition,
    balanced,
    branch_and_bound,
    exhaustive,
    greedy,
)
from cepbench.algorithms.engine.kernels.arrays import Ints

Search = Callable[[Costs, int], FoundPartition]
"""Searches for a plan that fits into the given number of bytes."""

METHODS: dict[str, Search] = {"branch-and-bound": branch_and_bound, "greedy": greedy, "exhaustive": exhaustive}

_MAX_BYTES = 2.0**62


@dataclass(frozen=True, eq=False)
class PartitionPlan:
    """Graphlet i holds the vertices `bounds[i]..bounds[i + 1] - 1` of the window's V vertices; `bounds`: int64[k + 1].

    - `cpu`: traversed edges and updated trends, Table 5.1 with exact numbers of trends (can be infinite).
    - `bytes`: size of stored trends and of the path under construction, without the graph itself.
    - `details`: CPU seconds of the search, plans visited, and peak bytes of stored plans.
    """

    bounds: Ints
    cpu: float
    bytes: int
    details: Mapping[str, float] = field(default_factory=dict)

    @property
    def graphlets(self) -> int:
        """Number of graphlets."""
        return len(self.bounds) - 1


def partition(graph: WindowGraph, method: str, limit: int) -> PartitionPlan:
    """A plan of a graph with at least one vertex; its trends and path take at most `limit` bytes.

    Every method returns a plan if one exists: if `branch-and-bound` or `greedy` finds none, the plan with the least
    memory is used. Raises `NotEnoughMemory` if that does not fit either.
    """
    begin = time.thread_time()
    costs = Costs(graph)
    outcome = METHODS[method](costs, limit)
    bounds = costs.least_memory(limit) if outcome.bounds is None else outcome.bounds
    if bounds is None:
        raise NotEnoughMemory(
            f"no partitioning of the {len(graph.time)} events of a window into up to {len(costs.atoms) - 1} graphlets "
            f"keeps its trends within {limit} bytes"
        )
    seconds = time.thread_time() - begin
    return _plan(costs, bounds, _details(outcome, seconds))


def load(method: str) -> None:
    """Loads the kernels of a partitioner by a search on two edges with a limit that no plan meets."""
    time, place, in_ptr, into = (np.array(n, np.int64) for n in ([0, 0, 1, 1], range(4), [0, 0, 0, 1, 2], [0, 1]))
    costs = Costs(cet_graph(time, place, in_ptr, into))
    limit = int(costs.cost(costs.atoms[[0, -1]]).bytes) - 1
    METHODS[method](costs, limit)
    costs.least_memory(limit)


def prescribed(graph: WindowGraph, graphlets: int, ratio: float, limit: int) -> PartitionPlan:
    """The plan with `graphlets` graphlets, the first of which is about `ratio` times larger than the others; no search.

    With a ratio of 1 the plan is balanced. It has fewer graphlets if there are fewer atomic ones. Raises
    `NotEnoughMemory` if it takes more than `limit` bytes.
    """
    costs = Costs(graph)
    return _fitting(_plan(costs, balanced(costs.atoms, min(graphlets, len(costs.atoms) - 1), ratio), {}), limit)


def by_time(graph: WindowGraph, length: int, limit: int) -> PartitionPlan:
    """The plan with a graphlet per interval of `length` time units, counted from time 0; no search.

    Adjacent intervals form one graphlet if the graph cannot be cut between them. Plans do not depend on the window, so
    windows that overlap by whole intervals have the same graphlets (Section 7.3). Raises `NotEnoughMemory` if the plan
    takes more than `limit` bytes.
    """
    costs = Costs(graph)
    inner = costs.atoms[1:-1]
    cuts = inner[graph.time[inner] // length > graph.time[inner - 1] // length]
    return _fitting(_plan(costs, np.concatenate([[0], cuts, costs.atoms[-1:]]), {}), limit)


class RandomPartition:
    """Random cuts of each graph, where it can be cut, with a probability that the seed draws, too.

    If the plan takes more than `limit` bytes, the graph is cut wherever it can be. Raises `NotEnoughMemory` if that
    does not fit either.
    """

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.probability = self.random.random()

    def __call__(self, graph: WindowGraph, /, *, limit: int) -> PartitionPlan:
        """The plan of the next graph."""
        costs = Costs(graph)
        cuts = [cut for cut in costs.atoms[1:-1] if self.random.random() < self.probability]
        plan = _plan(costs, np.concatenate([[0], np.array(cuts, np.int64), costs.atoms[-1:]]), {})
        return plan if plan.bytes <= limit else _fitting(_plan(costs, costs.atoms, {}), limit)


def one_graphlet(graph: WindowGraph) -> PartitionPlan:
    """The plan at the top of the search space: T-CET."""
    return _plan(Costs(graph), np.array([0, len(graph.time)], np.int64), {})


def one_per_atom(graph: WindowGraph) -> PartitionPlan:
    """The plan at the bottom of the search space: each atomic graphlet is a graphlet."""
    costs = Costs(graph)
    return _plan(costs, costs.atoms, {})


def _fitting(plan: PartitionPlan, limit: int) -> PartitionPlan:
    if plan.bytes > limit:
        raise NotEnoughMemory(f"a plan of {plan.graphlets} graphlets takes {plan.bytes} bytes, but {limit} are left")
    return plan


def _plan(costs: Costs, bounds: Ints, details: dict[str, float]) -> PartitionPlan:
    cost = costs.cost(bounds)
    return PartitionPlan(bounds, cost.cpu, int(min(cost.bytes, _MAX_BYTES)), details)


def _details(outcome: FoundPartition, seconds: float) -> dict[str, float]:
    return {
        "partition_seconds": seconds,
        "partition_nodes": float(outcome.visited),
        "partition_bytes_peak": float(outcome.bytes_peak),
    }
