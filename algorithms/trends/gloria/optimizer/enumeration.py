"""The path search of the authors' released code: it enumerates all paths, with all combinations of end branches.

Algorithm 1 is linear in nodes and edges. The code that its authors published enumerates paths depth first, and their
measurements are those of that code: the bytes that they published are the bytes of these graphs and paths
(docs/findings.md). So their gain over NoPrune is a gain in paths.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

import numpy as np
import numpy.typing as npt

from cepbench.algorithms.trends.gloria.optimizer.costs import PaperCosts
from cepbench.algorithms.trends.gloria.optimizer.graph import MISSING, GloriaGraph
from cepbench.algorithms.trends.gloria.optimizer.nodes import Node, Shared, local_loops
from cepbench.algorithms.trends.gloria.optimizer.pools import Pool, PoolPair, Pools

ALONE = -1
"""Replaces the snapshots of a node where nothing is shared."""
NODE_BYTES, EDGE_BYTES = 24, 12
"""Bytes as the authors count them: of a node, also of each node of each path, and of an edge (a "transition")."""


@dataclass(frozen=True)
class Enumeration:
    """The lightest path, as the node of each pool, and what the authors count.

    `nodes` and `edges` include start and end nodes, and those in Kleene sub-graphs. `bytes`: of nodes, edges, and all
    paths.
    """

    graph: GloriaGraph
    chosen: list[int]
    nodes: int
    edges: int
    paths: int
    bytes: int


def enumerated(pools: Pools, costs: PaperCosts, pruned: bool, check: Callable[[], None]) -> Enumeration:
    """Enumerates all paths of the released code's graph; independent parts of it separately.

    Nodes share a transition among all of its members, or among none. A pool has the snapshots of the pool before it,
    and local ones; where several pools meet, members are merged. A pool of one member has both, too. With pruning,
    snapshots become local only if these are fewer, a pool of several members keeps the node with the fewest snapshots,
    and a Kleene sub-graph keeps one loop.

    Time: linear in the number of paths, which is exponential in the number of end branches. `check` is called at each
    path.
    """
    graph, snapshots = GloriaGraph(), list[list[int]]()
    allowed: dict[PoolPair, npt.NDArray[np.bool_]] = {}
    for pool in pools.pools:
        entering = [graph.leave(pair, costs, every=True) for pair in pool.before]
        here = _snapshots(pool, snapshots, costs, pruned)
        snapshots.append(here)
        graph.enter(pool, [_node(pool, snapshot) for snapshot in here], entering, costs)
        for pair in pool.before:
            before = snapshots[pair.before.number]
            allowed[pair] = np.array([[_continues(x, y, pair.after) for y in here] for x in before], np.bool_)
            allowed[pair] &= graph.edges[pair] < MISSING
    chosen, size, nodes, edges, paths = [0] * len(snapshots), 0, 0, 0, 0
    for part in _parts(pools):
        search = _Search(part, graph, allowed, check)
        for pool, node in zip(part, search.best, strict=True):
            chosen[pool.number] = node
        own_nodes, own_edges = _counted(part, snapshots, allowed)
        length = sum(map(_length, part))
        size += NODE_BYTES * (own_nodes + search.paths * length) + EDGE_BYTES * own_edges
        nodes, edges, paths = nodes + own_nodes, edges + own_edges, paths + search.paths
    return Enumeration(graph, chosen, nodes, edges, paths, size)


def _snapshots(pool: Pool, before: list[list[int]], costs: PaperCosts, pruned: bool) -> list[int]:
    """The snapshots of each node of a pool."""
    several = pool.members & (pool.members - 1)
    if pool.kleene:
        loops = [node[0].snapshot for node in local_loops(pool)]
        return _fewest(loops or [ALONE], costs, pruned)
    source = pool.source
    single = len(pool.before) == 1 and pool.before[0].common == pool.members and not pool.starts
    if not single:
        return [source] if several else [ALONE]
    [pair] = pool.before
    kept = pair.before.members == pool.members or not several
    here: dict[int, None] = {}
    for snapshot in before[pair.before.number]:
        if snapshot == ALONE:
            here |= dict.fromkeys((ALONE, source) if several else (ALONE,))
            continue
        fewer = not pruned or costs.rates[source] < costs.rates[snapshot]
        here |= dict.fromkeys([*([snapshot] if kept else []), *([source] if fewer or not kept else [])])
    return _fewest(list(here), costs, pruned) if several else list(here)


def _fewest(snapshots: list[int], costs: PaperCosts, pruned: bool) -> list[int]:
    """With pruning, the snapshots that are the fewest; those that share nothing are kept only by themselves."""
    shared = [snapshot for snapshot in snapshots if snapshot != ALONE]
    return [min(shared, key=costs.rates.__getitem__)] if pruned and shared else snapshots


def _node(pool: Pool, snapshot: int) -> Node:
    """The plan of a node: a member alone shares nothing, with any snapshots of the released code."""
    several = pool.members & (pool.members - 1)
    return (Shared(pool.members, snapshot),) if several and snapshot != ALONE else ()


def _continues(before: int, after: int, pool: Pool) -> bool:
    """Whether an edge joins nodes with these snapshots: they are kept, or new ones of the second pool."""
    return after == before or (after == ALONE and not pool.members & (pool.members - 1)) or after in pool.sources


class _Search:
    """The number of `paths` of some pools, and the `best` of them."""

    def __init__(
        self,
        part: list[Pool],
        graph: GloriaGraph,
        allowed: dict[PoolPair, npt.NDArray[np.bool_]],
        check: Callable[[], None],
    ) -> None:
        self.paths, self.least = 0, MISSING
        self.best = [0] * len(part)
        self._check, self._last = check, len(part)
        place = {pool.number: p for p, pool in enumerate(part)}
        self._before = [[place[pair.before.number] for pair in pool.before] for pool in part]
        self._steps = [_steps(pool, graph, allowed, check) for pool in part]
        self._extend([], 0.0)

    def _extend(self, path: list[int], weight: float) -> None:
        """Enumerates the paths that begin so, each as a list of its own."""
        pool = len(path)
        if pool == self._last:
            self._check()
            self.paths += 1
            if weight < self.least:
                self.best, self.least = path, weight
            return
        for node, own in self._steps[pool].get(tuple([path[p] for p in self._before[pool]]), ()):
            self._extend([*path, node], weight + own)


Steps = dict[tuple[int, ...], list[tuple[int, float]]]
"""By the nodes of the pools before a pool, its nodes that continue all of them, with the weight that they add."""


def _steps(
    pool: Pool, graph: GloriaGraph, allowed: dict[PoolPair, npt.NDArray[np.bool_]], check: Callable[[], None]
) -> Steps:
    steps: Steps = {}
    weights = graph.pools[pool.number].weights
    for before in product(*(range(len(graph.pools[pair.before.number].nodes)) for pair in pool.before)):
        check()
        entering = list(zip(before, pool.before, strict=True))
        steps[before] = [
            (node, float(own + sum(graph.edges[pair][n, node] for n, pair in entering)))
            for node, own in enumerate(weights)
            if all(allowed[pair][n, node] for n, pair in entering)
        ]
    return steps


def _parts(pools: Pools) -> list[list[Pool]]:
    """The pools that edges connect, directly or through others, each after those before it."""
    part_of: dict[int, int] = {}
    for pool in pools.pools:
        joined = {part_of[pair.before.number] for pair in pool.before}
        number = min(joined, default=pool.number)
        part_of[pool.number] = number
        part_of |= {p: number for p, part in part_of.items() if part in joined}
    parts: dict[int, list[Pool]] = {}
    for pool in pools.pools:
        parts.setdefault(part_of[pool.number], []).append(pool)
    return list(parts.values())


def _counted(
    part: list[Pool], snapshots: list[list[int]], allowed: dict[PoolPair, npt.NDArray[np.bool_]]
) -> tuple[int, int]:
    """The nodes and edges of some pools, with a start node for each first type and an end node for each last one."""
    starts, ends, nodes, edges = set[int](), set[int](), 0, 0
    for pool in part:
        here = len(snapshots[pool.number])
        starts |= set(pool.starts)
        last = {target for (_, target), _ in pool.ends}
        ends |= last
        nodes += here * _length(pool)
        edges += here * (_length(pool) - 1 + len(pool.starts) + len(last))
        edges += sum(int(np.count_nonzero(allowed[pair])) for pair in pool.before)
    return nodes + len(starts) + len(ends), edges


def _length(pool: Pool) -> int:
    """The nodes of a path in a pool: one for each transition."""
    return len(pool.transitions)
