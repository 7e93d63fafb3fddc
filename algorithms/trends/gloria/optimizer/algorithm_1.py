"""The pruning and the path search as the paper has them (Sections 5.2 and 5.3, Algorithm 1).

They find a lightest path where pools are a chain, or several that meet. Where pools branch, they may miss it
(docs/findings.md); `elimination` does not.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from cepbench.algorithms.trends.gloria.optimizer.costs import PaperCosts
from cepbench.algorithms.trends.gloria.optimizer.graph import MISSING, GloriaGraph, Numbers, PoolNodes
from cepbench.algorithms.trends.gloria.optimizer.pools import PoolPair


def node_pruning(here: PoolNodes, costs: PaperCosts) -> list[int]:
    """The nodes of a pool that are kept: all but those of which a comparable node with fewer snapshots is nearer to all
    start nodes.
    """
    comparable: dict[tuple[int, ...], list[int]] = {}
    for n, node in enumerate(here.nodes):
        comparable.setdefault(tuple(q.members for q in node), []).append(n)
    return sorted(
        n
        for nodes in comparable.values()
        for n in nodes
        if not any(_better(here, better, n, costs) for better in nodes)
    )


def _better(here: PoolNodes, better: int, n: int, costs: PaperCosts) -> bool:
    """Whether a node with the same Q-sets as node n has fewer snapshots and is nearer."""
    q_sets = zip(here.nodes[better], here.nodes[n], strict=True)
    rates = [(costs.rates[a.snapshot], costs.rates[b.snapshot]) for a, b in q_sets if a != b]
    return bool(rates) and all(a < b for a, b in rates) and here.distances[better] < here.distances[n]


def path_search(graph: GloriaGraph) -> list[int]:
    """Algorithm 1: the node of each pool.

    The lightest of the paths that pass a node each; each continues, at every node, by the one edge that pruning keeps.
    With one end node (Case 1), paths pass the nearest node of a pool that comes before it. If none is consistent, no
    members share.
    """
    nearest = [int(here.distances.argmin()) for here in graph.pools]
    kept = _kept_edges(graph)
    ending = [here.pool for here in graph.pools if here.pool.ends]
    if len({target for pool in ending for (_, target), _ in pool.ends}) == 1:  # Case 1
        starts = [[(pool.number, nearest[pool.number]) for pool in ending]]
    else:  # Cases 2 and 3
        starts = [[(here.pool.number, n)] for here in graph.pools for n in range(len(here.nodes))]
    best, least = [here.nodes.index(()) for here in graph.pools], MISSING
    for start in starts:
        path = _path(start, graph, nearest, kept)
        weight = graph.weight(path)
        if weight < least:
            best, least = path, weight
    return best


Kept = dict[PoolPair, tuple[Numbers, Numbers]]
"""By pair, of each node after it the nearest one before, and of each before it the one on its way to the end."""


def _kept_edges(graph: GloriaGraph) -> Kept:
    """The edges that edge pruning keeps."""
    kept: Kept = {}
    to_end = [here.weights.copy() for here in graph.pools]
    for here in reversed(graph.pools):
        for pair in here.pool.after:
            onward = graph.edges[pair] + to_end[pair.after.number]
            back = graph.edges[pair] + here.distances[:, None]
            kept[pair] = back.argmin(0), onward.argmin(1)
            to_end[here.pool.number] += onward.min(1)
    return kept


def _path(start: Iterable[tuple[int, int]], graph: GloriaGraph, nearest: Numbers, kept: Kept) -> list[int]:
    """A path by the kept edges of some nodes of pools, back and forth; later ones do not change earlier ones."""
    chosen = [-1] * len(graph.pools)
    waiting = deque(start)
    while waiting or -1 in chosen:
        p, n = waiting.popleft() if waiting else (chosen.index(-1), nearest[chosen.index(-1)])
        if chosen[p] < 0:
            chosen[p] = int(n)
            pool = graph.pools[p].pool
            waiting.extend((pair.before.number, kept[pair][0][n]) for pair in pool.before)
            waiting.extend((pair.after.number, kept[pair][1][n]) for pair in pool.after)
    return chosen
