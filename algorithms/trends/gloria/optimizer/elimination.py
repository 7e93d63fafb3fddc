"""The lightest path through a Gloria graph of any shape: exact, by eliminating one pool after the other.

A path has one node of each pool, so that two pools that follow the same pool agree on its node. If pools branch and
join again, distances to the start nodes count the common part of branches twice (Equation 5), and the edge that is
lightest for one branch may not be so for all. Here a pool is eliminated with all of its edges at once. The result is
a table of the least weight for each choice of nodes in the pools next to it. In a tree of pools the tables are those of
edges, so that it is Algorithm 1 with its edge pruning.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np
import numpy.typing as npt

from cepbench.algorithms.trends.gloria.optimizer.graph import GloriaGraph, Weights

Scope = tuple[int, ...]
"""The pools that a table has axes of, in ascending order."""
MOST_ENTRIES = 2**22
"""Maximum number of entries of a table: 32 MiB."""
LARGE = 2**18
"""Number of entries from which removing nodes before takes less time than the table."""
MOST_COMPARED = 2**6
"""Maximum number of nodes of a pool that are compared with one another."""
HUGE = 1e300
"""More than any weight, for a missing edge that is compared with another one."""


class SearchLimitReached(Exception):
    """The search reached its limit of time or of table entries; the message says which."""


class TablesTooLarge(SearchLimitReached):
    """The pools depend on one another too much for the tables of elimination."""


@dataclass(frozen=True)
class SearchLimits:
    """Seconds after the limits are created; the most combinations of plans of the pools before a pool; the most
    entries of the tables of edges that come to one pool; and the most combinations of how its parts continue.
    """

    seconds: float
    combinations: int = 2**10
    entries: int = 2**21
    choices: int = 2**5
    started: float = field(default_factory=time.perf_counter)

    def check(self) -> None:
        """Raises `SearchLimitReached` after `seconds`."""
        if time.perf_counter() - self.started > self.seconds:
            raise SearchLimitReached(f"{self.seconds:g} s")


def lightest(graph: GloriaGraph, check: Callable[[], None], limit: int = MOST_ENTRIES) -> list[int]:
    """The node of each pool on a path of least weight. Raises `TablesTooLarge`; `check` is called from time to time.

    If tables would be large, nodes that another node of their pool replaces at no cost are removed first.
    """
    try:
        return _Tables(graph).path(check, min(limit, LARGE))
    except TablesTooLarge:
        smaller = _reduced(graph, check)
        chosen = _Tables(smaller).path(check, limit)
        pools = zip(graph.pools, smaller.pools, chosen, strict=True)
        return [here.nodes.index(reduced.nodes[n]) for here, reduced, n in pools]


class _Tables:
    """`near[p]`: the tables with an axis of pool p. Pools with one node have no axes."""

    def __init__(self, graph: GloriaGraph) -> None:
        self.sizes = [len(here.nodes) for here in graph.pools]
        self.near: list[dict[Scope, Weights]] = [{} for _ in graph.pools]
        for here in graph.pools:
            self._add((here.pool.number,), here.weights)
        for pair, weights in graph.edges.items():
            self._add((pair.before.number, pair.after.number), weights)

    def path(self, check: Callable[[], None], limit: int) -> list[int]:
        left = {p for p, size in enumerate(self.sizes) if size > 1}
        entries = {p: self._entries(p) for p in left}
        eliminated: list[tuple[int, Scope, npt.NDArray[np.intp]]] = []
        while left:
            check()
            p = min(left, key=lambda q: (entries[q], q))
            if entries[p] > limit:
                raise TablesTooLarge("its room")
            left.discard(p)
            neighbors, total = self._neighbors(p), np.zeros(1)
            for scope, table in list(self.near[p].items()):
                total = total + _spread(table, scope, (*neighbors, p))
                for q in scope:
                    del self.near[q][scope]
            eliminated.append((p, neighbors, total.argmin(-1)))
            self._add(neighbors, total.min(-1))
            entries |= {q: self._entries(q) for q in neighbors}
        chosen = [0] * len(self.sizes)
        for p, neighbors, best in reversed(eliminated):
            chosen[p] = int(best[tuple(chosen[q] for q in neighbors)])
        return chosen

    def _add(self, scope: Scope, table: Weights) -> None:
        table = table[tuple(0 if self.sizes[q] == 1 else slice(None) for q in scope)]
        scope = tuple(q for q in scope if self.sizes[q] > 1)
        if scope:
            table = self.near[scope[0]].get(scope, 0.0) + table
        for q in scope:
            self.near[q][scope] = table

    def _neighbors(self, p: int) -> Scope:
        return tuple(sorted({q for scope in self.near[p] for q in scope} - {p}))

    def _entries(self, p: int) -> int:
        """The number of entries of the table that eliminates a pool, before the minimum over its nodes."""
        return prod(self.sizes[q] for q in (p, *self._neighbors(p)))


def _spread(table: Weights, scope: Scope, wanted: Sequence[int]) -> Weights:
    """A table with axes of the pools `wanted`, in this order; axes of pools that are not in `scope` have length 1."""
    present = [q for q in wanted if q in scope]
    moved = table.transpose([scope.index(q) for q in present])
    return moved.reshape([moved.shape[present.index(q)] if q in scope else 1 for q in wanted])


def _reduced(graph: GloriaGraph, check: Callable[[], None]) -> GloriaGraph:
    """A copy without nodes that another one of their pool replaces, for any choice of nodes elsewhere."""
    reduced = GloriaGraph([replace(here) for here in graph.pools], dict(graph.edges))
    waiting = set(range(len(reduced.pools)))
    while waiting:
        check()
        p = min(waiting, key=lambda q: (len(reduced.pools[q].nodes), q))
        waiting.discard(p)
        if 1 < len(reduced.pools[p].nodes) <= MOST_COMPARED:
            kept = _not_replaced(p, reduced)
            if len(kept) < len(reduced.pools[p].nodes):
                reduced.keep(p, kept)
                pool = reduced.pools[p].pool
                waiting |= {
                    p,
                    *(pair.before.number for pair in pool.before),
                    *(pair.after.number for pair in pool.after),
                }
    return reduced


def _not_replaced(p: int, graph: GloriaGraph) -> npt.NDArray[np.intp]:
    here = graph.pools[p]
    tables = [graph.edges[pair] for pair in here.pool.after] + [graph.edges[pair].T for pair in here.pool.before]
    single = here.weights + sum(table[:, 0] for table in tables if table.shape[1] == 1)
    excess = np.minimum(single, HUGE)[None, :] - single[:, None]
    """At [a, b]: the maximum extra cost of node b over node a."""
    for table in tables:
        if table.shape[1] > 1:
            finite = np.minimum(table, HUGE)
            for a, row in enumerate(table):
                excess[a] += (finite - row).max(1)
    kept = np.ones(len(excess), bool)
    for a in range(len(excess)):
        kept[a] = not any(kept[b] and excess[a, b] <= 0 for b in range(len(excess)) if b != a)
    return np.flatnonzero(kept)
