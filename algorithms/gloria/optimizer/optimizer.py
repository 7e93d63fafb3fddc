"""The Gloria optimizer: from the pools of a template to a workload sharing plan (Sections 4-6)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf, prod

from cepbench.algorithms.gloria.optimizer.algorithm_1 import node_pruning, path_search
from cepbench.algorithms.gloria.optimizer.costs import PaperCosts, members_in
from cepbench.algorithms.gloria.optimizer.elimination import SearchLimitReached, SearchLimits, TablesTooLarge, lightest
from cepbench.algorithms.gloria.optimizer.graph import (
    Edges,
    GloriaGraph,
    PoolNodes,
    leave,
    nodes_of,
)
from cepbench.algorithms.gloria.optimizer.nodes import Node, Profile, Shared, generated, groups_of
from cepbench.algorithms.gloria.optimizer.pools import Pool, Pools
from cepbench.algorithms.gloria.plan import QSet, WorkloadSharingPlan

OPTIMIZERS = ("gloria", "exact", "greedy", "algorithm1", "noprune")
WHOLE = ("exact", "noprune")
"""The optimizers that search the whole graph, and raise an error if a limit is reached."""
PRUNED = ("gloria", "algorithm1")
"""Those that keep no nodes without edges, and one of each node's edges to those that have the same."""
UNLIMITED = SearchLimits(inf)
COUNTS = ("nodes", "graph_edges", "q_sets", "pruned_nodes", "pruned_edges", "graph_bytes", "thinned", "fell_back")
NODE, EDGE, Q_SET = 40, 32, 40
"""Bytes of objects as a Java program has them: a header of 16, and 8 for each reference and each number.

A node: its weight, its distance, its Q-sets; an edge: its nodes; a Q-set: its members (two words) and snapshots.
"""


@dataclass(frozen=True)
class SharingDecision:
    """A sharing plan, its weight, and numbers on how it was found: `nodes`, `graph_edges`, and those that were pruned.

    - `graph_bytes`: of nodes, edges and their Q-sets at their peak, counted as `NODE`, `EDGE` and `Q_SET` say.
    - `graph_seconds`, `search_seconds`: construction with pruning, and path search.
    - `thinned`: number of pools of which not all plans were compared, since they or the pools before had too many.
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
    counts: dict[str, float] = field(default_factory=lambda: dict.fromkeys(COUNTS, 0.0))

    def graph(self) -> GloriaGraph:
        """The graph (Sections 5.1 and 5.2). Raises `SearchLimitReached`."""
        built: list[PoolNodes] = []
        pruned = self.optimizer in PRUNED
        kept_edges = 0
        for pool in self.pools.pools:
            self.limits.check()
            entering = [built[link.before.number].leaving[link] for link in pool.before]
            profiles = self._profiles(entering)
            nodes = self._generated(pool, profiles, entering)
            here = nodes_of(pool, nodes, entering, self.costs, self.optimizer == "greedy")
            if self.optimizer == "greedy":
                here.keep([_lightest_entered(here)])
            edges = sum(map(len, entering))
            self._count(here, edges, kept_edges)
            if pruned:
                here.keep(here.reached())
                if self.optimizer == "algorithm1":
                    here.keep(node_pruning(here, self.costs))
                self.counts["pruned_nodes"] += len(nodes) - len(here.nodes)
            kept_edges += len(here.nodes) * len(entering) if pruned else edges
            here.leaving = {link: leave(here, link, self.costs, not pruned) for link in pool.after}
            built.append(here)
        self.counts["pruned_edges"] = self.counts["graph_edges"] - kept_edges
        return GloriaGraph(built)

    def _profiles(self, entering: Sequence[Edges]) -> list[list[Profile]]:
        """The profiles of nodes before a pool; only the nearest ones if they have too many combinations."""
        found = [list(dict.fromkeys(edges.profiles)) for edges in entering]
        if self.optimizer in WHOLE or prod(map(len, found)) <= self.limits.combinations:
            return found
        self.counts["thinned"] += 1
        for n, edges in enumerate(entering):
            near = edges.nearest()
            found[n] = [edges.profiles[p] for p in sorted(range(len(near)), key=near.__getitem__)]
        while prod(map(len, found)) > self.limits.combinations:
            longest = max(found, key=len)
            longest.pop(-2 if longest[-1] == () else -1)
        return found

    def _generated(self, pool: Pool, profiles: list[list[Profile]], entering: Sequence[Edges]) -> list[Node]:
        """No more nodes than fit into the tables of edges; among them the one that shares nothing."""
        if self.optimizer == "greedy":
            return list(_candidates(pool, [one for [one] in profiles], self.costs))
        nodes = generated(pool, profiles, self.costs, self.limits.check)
        room = max(64, self.limits.entries // max(1, sum(len(edges.profiles) for edges in entering)))
        if len(nodes) <= room:
            return nodes
        if self.optimizer in WHOLE:
            raise SearchLimitReached(f"{self.limits.entries} edges between two pools")
        self.counts["thinned"] += 1
        return [*nodes[: room - 1], ()] if () not in nodes[:room] else nodes[:room]

    def _count(self, here: PoolNodes, edges: int, kept_edges: int) -> None:
        self.counts["nodes"] += len(here.nodes)
        self.counts["graph_edges"] += edges
        self.counts["q_sets"] += sum(map(len, here.nodes))
        kept = self.counts["nodes"] - self.counts["pruned_nodes"]
        size = kept * NODE + self.counts["q_sets"] * Q_SET + (kept_edges + edges) * EDGE
        self.counts["graph_bytes"] = max(self.counts["graph_bytes"], size)


def optimize(pools: Pools, costs: PaperCosts, optimizer: str, limits: SearchLimits) -> SharingDecision:
    """The plan of one of `OPTIMIZERS`. At a limit, those of `WHOLE` raise `SearchLimitReached`, others are greedy."""
    construction = Construction(pools, costs, UNLIMITED if optimizer == "greedy" else limits, optimizer)
    counts = construction.counts
    started = built = time.perf_counter()
    try:
        graph = construction.graph()
        built = time.perf_counter()
        chosen = _searched(graph, construction)
    except SearchLimitReached:
        if optimizer in WHOLE:
            raise
        counts["fell_back"] = 1
        graph = Construction(pools, costs, UNLIMITED, "greedy").graph()
        chosen = [0] * len(graph.pools)
    nodes = [here.nodes[n] for here, n in zip(graph.pools, chosen, strict=True)]
    seconds = {"graph_seconds": built - started, "search_seconds": time.perf_counter() - built}
    return SharingDecision(plan_of(pools, nodes), graph.weight(chosen), {**counts, **seconds})


def _lightest_entered(here: PoolNodes) -> int:
    """The node with the least weight of the edges that come in, and within it; of equal ones that which shares more."""

    def weight(n: int) -> tuple[float, int]:
        incoming = sum(edges.weight(0, n) for edges in here.entering) + (here.weights[n] if here.pool.kleene else 0.0)
        return incoming, -sum(q.members.bit_count() for q in here.nodes[n])

    return min(range(len(here.nodes)), key=weight)


def _candidates(pool: Pool, profiles: Sequence[Profile], costs: PaperCosts) -> Iterator[Node]:
    """The nodes that Greedy compares (Section 8.1): snapshots are reused wherever they can be, or made where no members
    share yet, or neither.
    """
    yield ()
    if pool.kleene:
        yield from generated(pool, [[one] for one in profiles], costs)
        return
    groups = groups_of(pool, profiles)
    reuse = tuple(sorted(Shared(group, snapshot) for group, snapshot in groups.items() if snapshot is not None))
    if reuse:
        yield reuse
    elif not any(profiles) and pool.members & (pool.members - 1):
        yield generated(pool, [[one] for one in profiles], costs)[-1]


def _searched(graph: GloriaGraph, construction: Construction) -> list[int]:
    """The node of each pool."""
    optimizer, limits = construction.optimizer, construction.limits
    if optimizer == "greedy":
        return [0] * len(graph.pools)
    if optimizer in ("algorithm1", "noprune"):
        return path_search(graph)
    for most in (inf, 16, 4, 2):
        if most < inf:
            construction.counts["thinned"] += _thin(graph, int(most))
        try:
            return lightest(graph, limits.check)
        except TablesTooLarge:
            if optimizer in WHOLE:
                raise
    raise SearchLimitReached("the room of the search")


def _thin(graph: GloriaGraph, most: int) -> int:
    """Keeps the `most` nodes of each pool that are nearest to the start, among them the one that shares nothing."""
    thinned = 0
    for here, distances in [(here, here.distances) for here in graph.pools]:
        if len(here.nodes) > most:
            thinned += 1
            order = sorted(range(len(here.nodes)), key=lambda n: (here.nodes[n] != (), distances[n]))
            kept = sorted(order[:most])
            for edges in here.leaving.values():
                edges.profile_of = [edges.profile_of[n] for n in kept]
                edges.base = [edges.base[n] for n in kept]
            here.keep(kept)
    return thinned


def plan_of(pools: Pools, nodes: Sequence[Node]) -> WorkloadSharingPlan:
    """The sharing plan that chooses the given node of each pool."""
    found: dict[tuple[int, int], list[QSet]] = {}
    for pool, node in zip(pools.pools, nodes, strict=True):
        alone = pool.members
        q_sets = []
        for q in node:
            alone &= ~q.members
            q_sets.append(QSet(frozenset(members_in(q.members)), pools.states[q.snapshot]))
        q_sets += [QSet(frozenset((m,))) for m in members_in(alone)]
        for edge in pool.transitions:
            found.setdefault(edge, []).extend(q_sets)
    return WorkloadSharingPlan({pools.named(edge): tuple(q_sets) for edge, q_sets in found.items()})
