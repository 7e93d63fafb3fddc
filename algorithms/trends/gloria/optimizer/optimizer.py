"""The Gloria optimizer: from the pools of a template to a workload sharing plan (Sections 4-6)."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf, prod
from random import Random

import numpy as np

from cepbench.algorithms.trends.gloria.optimizer.algorithm_1 import node_pruning, path_search
from cepbench.algorithms.trends.gloria.optimizer.costs import PaperCosts, members_in
from cepbench.algorithms.trends.gloria.optimizer.elimination import (
    SearchLimitReached,
    SearchLimits,
    TablesTooLarge,
    lightest,
)
from cepbench.algorithms.trends.gloria.optimizer.enumeration import enumerated
from cepbench.algorithms.trends.gloria.optimizer.graph import MISSING, GloriaGraph, Leaving
from cepbench.algorithms.trends.gloria.optimizer.nodes import Node, Profile, Shared, generated, groups_of
from cepbench.algorithms.trends.gloria.optimizer.pools import Pool, Pools
from cepbench.algorithms.trends.gloria.plan import QSet, WorkloadSharingPlan

KEPT, ENUMERATE = "kept", "enumerate"
SEARCHES = (KEPT, ENUMERATE)
"""The path searches of `algorithm1` and `noprune`: by the edges that pruning keeps, or of all paths."""
BY_PATHS = ("algorithm1", "noprune")
OPTIMIZERS = ("gloria", "exact", "greedy", "algorithm1", "noprune")
RANDOM = "random"
"""The optimizer that draws a path."""
WHOLE = ("exact", "noprune")
"""The optimizers that search the whole graph, and raise an error if a limit is reached."""
BY_PROFILE = ("gloria", "algorithm1")
"""The optimizers that drop nodes which no edge enters, and whose nodes of one profile (`nodes.Profile`) share edges."""
NODE, EDGE, Q_SET = 40, 32, 40
"""Bytes of objects as a Java program has them: a header of 16, and 8 for each reference and each number.

A node: its weight, its distance, its Q-sets; an edge: its nodes; a Q-set: its members (two words) and snapshots.
"""


@dataclass(frozen=True)
class SharingDecision:
    """A sharing plan, its weight, and numbers on how it was found: `nodes`, `graph_edges`, and those that were pruned.

    - `graph_bytes`: of nodes, edges and their Q-sets at their peak, counted as `NODE`, `EDGE` and `Q_SET` say.
    - `graph_seconds`, `search_seconds`: construction with pruning, and path search.
    - `thinned`: number of pools of which not all plans were compared, since they or the pools before had too many
      plans, or too many parts.
    - `fell_back`: 1 if the plan is the greedy one because a limit was reached.
    """

    sharing: WorkloadSharingPlan
    weight: float
    numbers: Mapping[str, float]


@dataclass(eq=False)
class Construction:
    """Builds a graph pool by pool, and counts its work."""

    pools: Pools
    costs: PaperCosts
    limits: SearchLimits
    optimizer: str
    counts: Counter[str] = field(default_factory=Counter)

    def graph(self) -> GloriaGraph:
        """The graph (Sections 5.1 and 5.2). Raises `SearchLimitReached`."""
        graph, counts = GloriaGraph(), self.counts
        greedy, pruned = self.optimizer == "greedy", self.optimizer in BY_PROFILE
        q_sets = kept_edges = 0
        for p, pool in enumerate(self.pools.pools):
            self.limits.check()
            entering = [graph.leave(pair, self.costs, not pruned) for pair in pool.before]
            nodes = self._generated(pool, self._profiles(entering), entering)
            here = graph.enter(pool, nodes, entering, self.costs, splitting=greedy)
            if greedy:
                graph.keep(p, [_lightest_entered(graph)])
            edges = sum(int(np.count_nonzero(graph.edges[pair] < MISSING)) for pair in pool.before)
            counts["nodes"] += len(here.nodes)
            counts["graph_edges"] += edges
            q_sets += sum(map(len, here.nodes))
            size = (counts["nodes"] - counts["pruned_nodes"]) * NODE + q_sets * Q_SET
            counts["graph_bytes"] = max(counts["graph_bytes"], size + (kept_edges + edges) * EDGE)
            if pruned:
                graph.keep(p, (here.distances < MISSING).nonzero()[0])
                if self.optimizer == "algorithm1":
                    graph.keep(p, node_pruning(here, self.costs))
                counts["pruned_nodes"] += len(nodes) - len(here.nodes)
            kept_edges += len(here.nodes) * len(entering) if pruned else edges
        counts["pruned_edges"] = counts["graph_edges"] - kept_edges
        return graph

    def _profiles(self, entering: Sequence[Leaving]) -> list[list[Profile]]:
        """The profiles of nodes before a pool; only the nearest ones if they have too many combinations."""
        profiles = [list(dict.fromkeys(leaving.profiles)) for leaving in entering]
        if self.optimizer in WHOLE or prod(map(len, profiles)) <= self.limits.combinations:
            return profiles
        self.counts["thinned"] += 1
        profiles = [[leaving.profiles[n] for n in leaving.nearest.argsort(kind="stable")] for leaving in entering]
        while prod(map(len, profiles)) > self.limits.combinations:
            longest = max(profiles, key=len)
            longest.pop(-2 if longest[-1] == () else -1)
        return profiles

    def _generated(self, pool: Pool, profiles: list[list[Profile]], entering: Sequence[Leaving]) -> list[Node]:
        """No more nodes than fit into the tables of edges; among them the one that shares nothing."""
        if self.optimizer == "greedy":
            return list(_candidates(pool, [profile for [profile] in profiles], self.costs, self.limits.choices))
        limits, thinned = self.limits, partial(self.counts.update, thinned=1)
        nodes = generated(pool, profiles, self.costs, limits.choices, limits.check, thinned)
        room = max(64, self.limits.entries // max(1, sum(len(leaving.profiles) for leaving in entering)))
        if len(nodes) <= room:
            return nodes
        if self.optimizer in WHOLE:
            raise SearchLimitReached(f"{self.limits.entries} edges between two pools")
        self.counts["thinned"] += 1
        return [*nodes[: room - 1], ()] if () not in nodes[:room] else nodes[:room]


def optimize(
    pools: Pools, costs: PaperCosts, optimizer: str, limits: SearchLimits, search: str = KEPT, seed: int = 1
) -> SharingDecision:
    """The plan of one of `OPTIMIZERS`, or a `RANDOM` one by `seed`.

    At a limit, those of `WHOLE` raise `SearchLimitReached`, others are greedy.

    Those of `BY_PATHS` raise it, too, if they enumerate all paths (`search`).
    """
    if search == ENUMERATE:
        return _enumerated(pools, costs, optimizer, limits)
    unlimited = SearchLimits(inf, choices=limits.choices)
    construction = Construction(pools, costs, unlimited if optimizer == "greedy" else limits, optimizer)
    counts = construction.counts
    started = built = time.perf_counter()
    try:
        graph = construction.graph()
        built = time.perf_counter()
        chosen = _random(graph, Random(seed)) if optimizer == RANDOM else _searched(graph, construction)
    except SearchLimitReached:
        if optimizer in WHOLE:
            raise
        counts["fell_back"] = 1
        graph = Construction(pools, costs, unlimited, "greedy").graph()
        chosen = [0] * len(graph.pools)
    nodes = [here.nodes[n] for here, n in zip(graph.pools, chosen, strict=True)]
    seconds = {"graph_seconds": built - started, "search_seconds": time.perf_counter() - built}
    return SharingDecision(plan_of(pools, nodes), graph.weight(chosen), {**counts, **seconds})


def _enumerated(pools: Pools, costs: PaperCosts, optimizer: str, limits: SearchLimits) -> SharingDecision:
    """The lightest of all paths in the graph of the authors' released code."""
    started = time.perf_counter()
    result = enumerated(pools, costs, optimizer == "algorithm1", limits.check)
    numbers = {
        "search_seconds": time.perf_counter() - started,
        "nodes": result.nodes,
        "graph_edges": result.edges,
        "paths": result.paths,
        "enumerated_bytes": result.bytes,
    }
    nodes = [here.nodes[n] for here, n in zip(result.graph.pools, result.chosen, strict=True)]
    return SharingDecision(plan_of(pools, nodes), result.graph.weight(result.chosen), numbers)


def _lightest_entered(graph: GloriaGraph) -> int:
    """The node of the last pool with the least weight of the edges that come in, and within it; of equal ones that
    which shares more.
    """
    here = graph.pools[-1]
    incoming = here.weights * here.pool.kleene + sum(graph.edges[pair][0] for pair in here.pool.before)
    shared = [sum(q.members.bit_count() for q in node) for node in here.nodes]
    return min(range(len(here.nodes)), key=lambda n: (incoming[n], -shared[n]))


def _candidates(pool: Pool, profiles: Sequence[Profile], costs: PaperCosts, choices: int) -> Iterator[Node]:
    """The nodes that Greedy compares (Section 8.1): snapshots are reused wherever they can be, or made where no members
    share yet, or neither.
    """
    yield ()
    if pool.kleene:
        yield from generated(pool, [[profile] for profile in profiles], costs, choices)
        return
    groups = groups_of(pool, profiles)
    reuse = tuple(sorted(Shared(group, snapshot) for group, snapshot in groups.items() if snapshot is not None))
    if reuse:
        yield reuse
    elif not any(profiles) and pool.members & (pool.members - 1):
        yield generated(pool, [[profile] for profile in profiles], costs, choices)[-1]


def _searched(graph: GloriaGraph, construction: Construction) -> list[int]:
    """The node of each pool."""
    optimizer, limits = construction.optimizer, construction.limits
    if optimizer == "greedy":
        return [0] * len(graph.pools)
    if optimizer in BY_PATHS:
        return path_search(graph)
    for nodes in (inf, 16, 4, 2):
        if nodes < inf:
            construction.counts["thinned"] += _thin(graph, int(nodes))
        try:
            return lightest(graph, limits.check)
        except TablesTooLarge:
            if optimizer in WHOLE:
                raise
    raise SearchLimitReached("the room of the search")


def _random(graph: GloriaGraph, random: Random) -> list[int]:
    """A node of each pool, one after another, that edges connect with those before.

    The seed draws the probability of nodes that share. Where no node is connected, all begin anew.
    """
    while True:
        probability, chosen = random.random(), list[int]()
        for here in graph.pools:
            entered = np.ones(len(here.nodes), np.bool_)
            for pair in here.pool.before:
                entered &= graph.edges[pair][chosen[pair.before.number]] < MISSING
            nodes = entered.nonzero()[0].tolist()
            if not nodes:
                break
            sharing = [n for n in nodes if here.nodes[n] != ()]
            shares = random.random() < probability
            chosen.append(random.choice((sharing if shares else [n for n in nodes if here.nodes[n] == ()]) or nodes))
        else:
            return chosen


def _thin(graph: GloriaGraph, limit: int) -> int:
    """Keeps the `limit` nodes of each pool that are nearest to the start, among them the one that shares nothing."""
    thinned = 0
    for p, here in enumerate(graph.pools):
        if len(here.nodes) > limit:
            thinned += 1
            order = np.lexsort(np.array([here.distances, [node != () for node in here.nodes]], np.float64))
            graph.keep(p, np.sort(order[:limit]))
    return thinned


def plan_of(pools: Pools, nodes: Sequence[Node]) -> WorkloadSharingPlan:
    """The sharing plan that chooses the given node of each pool."""
    plans: dict[tuple[int, int], list[QSet]] = {}
    for pool, node in zip(pools.pools, nodes, strict=True):
        alone = pool.members
        q_sets = []
        for q in node:
            alone &= ~q.members
            q_sets.append(QSet(frozenset(members_in(q.members)), pools.states[q.snapshot]))
        q_sets += [QSet(frozenset((m,))) for m in members_in(alone)]
        for edge in pool.transitions:
            plans.setdefault(edge, []).extend(q_sets)
    return WorkloadSharingPlan({pools.named(edge): tuple(q_sets) for edge, q_sets in plans.items()})
