"""The pruning and the path search as the paper has them (Sections 5.2 and 5.3, Algorithm 1).

They find a lightest path where pools are a chain, or several that meet. Where pools branch, they may miss it
(docs/findings.md); `elimination` does not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import numpy as np

from cepbench.algorithms.gloria.optimizer.costs import PaperCosts
from cepbench.algorithms.gloria.optimizer.graph import NONE, GloriaGraph, PoolNodes
from cepbench.algorithms.gloria.optimizer.pools import Link


def node_pruning(here: PoolNodes, costs: PaperCosts) -> list[int]:
    """The nodes of a pool that stay: one goes if a comparable one with fewer snapshots is nearer to all start nodes."""
    comparable: dict[tuple[int, ...], list[int]] = {}
    for n, node in enumerate(here.nodes):
        comparable.setdefault(tuple(q.members for q in node), []).append(n)
    return sorted(
        n
        for others in comparable.values()
        for n in others
        if not any(_better(here, other, n, costs) for other in others)
    )


def _better(here: PoolNodes, one: int, other: int, costs: PaperCosts) -> bool:
    both = zip(here.nodes[one], here.nodes[other], strict=True)
    apart = [(costs.rates[a.snapshot], costs.rates[b.snapshot]) for a, b in both if a != b]
    return bool(apart) and all(f < m for f, m in apart) and here.distances[one] < here.distances[other]


def path_search(graph: GloriaGraph) -> list[int]:
    """Algorithm 1: the node of each pool.

    The lightest of the paths that pass a node each; each continues by the edge that is pruned last. With one end node
    (Case 1), paths pass the nearest node of a pool that comes before it. If none is consistent, no members share.
    """
    search = _PathSearch(graph)
    ending = [here for here in graph.pools if here.pool.ends]
    if len({target for here in ending for (_, target), _ in here.pool.ends}) == 1:  # Case 1
        starts = [[(here.pool.number, search.nearest(here.pool.number)) for here in ending]]
    else:  # Cases 2 and 3
        starts = [[(p, n)] for p, here in enumerate(graph.pools) for n in range(len(here.nodes))]
    best, least = [here.nodes.index(()) for here in graph.pools], NONE
    for start in starts:
        path = search.through(start)
        weight = graph.weight(path)
        if weight < least:
            best, least = path, weight
    return best


class _PathSearch:
    """The edges that edge pruning leaves in: of each node, by link, the nearest node before it, and after it."""

    def __init__(self, graph: GloriaGraph) -> None:
        self.graph = graph
        weights = {edges.link: edges.matrix() for edges in graph.edges}
        to_end = [np.array(here.weights, np.float64) for here in graph.pools]
        self.before: dict[Link, list[int]] = {}
        self.after: dict[Link, list[int]] = {}
        for here in graph.pools:
            for link in here.pool.after:
                self.before[link] = (weights[link].T + here.distances).argmin(1).tolist()
        for here in reversed(graph.pools):
            for link in here.pool.after:
                onward = weights[link] + to_end[link.after.number]
                self.after[link] = onward.argmin(1).tolist()
                to_end[here.pool.number] += onward.min(1)

    def through(self, start: Iterable[tuple[int, int]]) -> list[int]:
        """A path by the kept edges of some nodes of pools, back and forth; later ones do not change earlier ones."""
        chosen = [-1] * len(self.graph.pools)
        waiting = deque(start)
        while waiting or -1 in chosen:
            p, n = waiting.popleft() if waiting else (chosen.index(-1), self.nearest(chosen.index(-1)))
            if chosen[p] >= 0:
                continue
            chosen[p] = n
            pool = self.graph.pools[p].pool
            waiting.extend((link.before.number, self.before[link][n]) for link in pool.before)
            waiting.extend((link.after.number, self.after[link][n]) for link in pool.after)
        return chosen

    def nearest(self, p: int) -> int:
        """The node of a pool with the least distance."""
        return int(np.argmin(self.graph.pools[p].distances))
