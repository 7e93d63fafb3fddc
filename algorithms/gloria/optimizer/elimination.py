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
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from cepbench.algorithms.gloria.optimizer.graph import GloriaGraph

Weights = npt.NDArray[np.float64]
MOST_ENTRIES = 2**22
"""Maximum number of entries of a table: 32 MiB."""
LARGE = 2**18
"""Number of entries from which removing nodes before takes less time than the table."""
MOST_COMPARED = 2**6
"""Maximum number of nodes of a pool that are compared with one another."""


class SearchLimitReached(Exception):
    """The search reached its limit of time or of table entries; the message says which."""


class TablesTooLarge(SearchLimitReached):
    """The pools depend on one another too much for the tables of elimination."""


@dataclass(frozen=True)
class SearchLimits:
    """Seconds after the limits are created; the most combinations of plans of the pools before a pool; and the most
    entries of the tables of edges that come to one pool.
    """

    seconds: float
    combinations: int = 2**10
    entries: int = 2**21
    started: float = field(default_factory=time.perf_counter)

    def check(self) -> None:
        """Raises `SearchLimitReached` after `seconds`."""
        if time.perf_counter() - self.started > self.seconds:
            raise SearchLimitReached(f"{self.seconds:g} s")


def lightest(graph: GloriaGraph, check: Callable[[], None], most: int = MOST_ENTRIES) -> list[int]:
    """The node of each pool on a path of least weight. Raises `TablesTooLarge`; `check` is called from time to time.

    If tables would be large, nodes that another node of their pool replaces at no cost are removed first.
    """
    try:
        return _Elimination(graph, check, min(most, LARGE)).path()
    except TablesTooLarge:
        elimination = _Elimination(graph, check, most)
        elimination.reduce()
        return elimination.path()


class _Elimination:
    """`own[p]`: the weights of the nodes of pool p; `near[p]`: the tables with an axis of pool p, by their pools.

    A table has an axis per pool, in ascending order.
    """

    def __init__(self, graph: GloriaGraph, check: Callable[[], None], most: int) -> None:
        self.check, self.most = check, most
        self.nodes = [np.arange(len(here.nodes)) for here in graph.pools]
        self.own: list[Weights] = [np.array(here.weights, np.float64) for here in graph.pools]
        self.near: list[dict[tuple[int, ...], Weights]] = [{} for _ in graph.pools]
        for edges in graph.edges:
            self._add((edges.link.before.number, edges.link.after.number), edges.matrix())

    def path(self) -> list[int]:
        left = {p for p, nodes in enumerate(self.nodes) if len(nodes) > 1}
        sizes = {p: self._entries(p) for p in left}
        eliminated: list[tuple[int, tuple[int, ...], npt.NDArray[np.intp]]] = []
        while left:
            self.check()
            p = min(left, key=lambda q: (sizes[q], q))
            if sizes[p] > self.most:
                raise TablesTooLarge("its room")
            left.discard(p)
            others = self._others(p)
            total = self.own[p].reshape((1,) * len(others) + (-1,))
            for scope, table in list(self.near[p].items()):
                total = total + _spread(table, scope, (*others, p))
                self._drop(scope)
            eliminated.append((p, others, total.argmin(-1)))
            if others:
                self._add(others, total.min(-1))
            sizes |= {q: self._entries(q) for q in others}
        chosen = [0] * len(self.nodes)
        for p, others, best in reversed(eliminated):
            chosen[p] = int(best[tuple(chosen[q] for q in others)])
        return [int(nodes[n]) for nodes, n in zip(self.nodes, chosen, strict=True)]

    def reduce(self) -> None:
        """Removes nodes that another one of their pool replaces, for any choice of nodes elsewhere."""
        waiting = set(range(len(self.nodes)))
        while waiting:
            self.check()
            p = min(waiting, key=lambda q: (len(self.nodes[q]), q))
            waiting.discard(p)
            if 1 < len(self.nodes[p]) <= MOST_COMPARED:
                kept = self._not_replaced(p)
                if len(kept) < len(self.nodes[p]):
                    waiting |= {p, *self._others(p)}
                    self._keep(p, kept)

    def _not_replaced(self, p: int) -> npt.NDArray[np.intp]:
        excess = self.own[p][None, :] - self.own[p][:, None]
        """At [a, b]: the maximum extra cost of node b over node a."""
        apart: set[int] = set()
        for scope, table in self.near[p].items():
            rows = np.moveaxis(table, scope.index(p), 0).reshape(len(self.nodes[p]), -1)
            for a, row in enumerate(rows):
                there = row < np.inf
                if there.any():
                    excess[a] += (rows[:, there] - row[there]).max(1)
                else:
                    apart.add(a)
        excess[list(apart)] = -np.inf
        kept = np.ones(len(excess), bool)
        for a in range(len(excess)):
            kept[a] = not any(kept[b] and excess[a, b] <= 0 for b in range(len(excess)) if b != a)
        return np.flatnonzero(kept)

    def _keep(self, p: int, kept: npt.NDArray[np.intp]) -> None:
        self.nodes[p], self.own[p] = self.nodes[p][kept], self.own[p][kept]
        for scope, table in list(self.near[p].items()):
            self._drop(scope)
            self._add(scope, table.take(kept, scope.index(p)))

    def _add(self, scope: tuple[int, ...], table: Weights) -> None:
        """Adds a table; axes of pools with one node are left out."""
        chosen = tuple(0 if len(self.nodes[q]) == 1 else slice(None) for q in scope)
        table, scope = table[chosen], tuple(q for q in scope if len(self.nodes[q]) > 1)
        if len(scope) == 1:
            self.own[scope[0]] = self.own[scope[0]] + table
        elif scope:
            known = self.near[scope[0]].get(scope)
            for q in scope:
                self.near[q][scope] = table if known is None else known + table

    def _drop(self, scope: tuple[int, ...]) -> None:
        for q in scope:
            del self.near[q][scope]

    def _others(self, p: int) -> tuple[int, ...]:
        return tuple(sorted({q for scope in self.near[p] for q in scope} - {p}))

    def _entries(self, p: int) -> int:
        """The number of entries of the table that eliminates a pool, before the minimum over its nodes."""
        found = len(self.nodes[p])
        for q in self._others(p):
            found *= len(self.nodes[q])
        return found


def _spread(table: Weights, scope: tuple[int, ...], wanted: Sequence[int]) -> Weights:
    """A table with axes of the pools `wanted`, in this order; axes of pools that are not in `scope` have length 1."""
    present = [q for q in wanted if q in scope]
    moved = table.transpose([scope.index(q) for q in present])
    return moved.reshape([moved.shape[present.index(q)] if q in scope else 1 for q in wanted])
