"""The Gloria graph: nodes of each pool, weights of nodes and edges, and distances (Definition 4.1, Equation 5)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from cepbench.algorithms.gloria.optimizer.costs import Mask, PaperCosts
from cepbench.algorithms.gloria.optimizer.nodes import NARROWED, Node, Profile, Shared, profile
from cepbench.algorithms.gloria.optimizer.pools import Link, Pool

NONE = math.inf
"""The weight of a missing edge."""


@dataclass(eq=False)
class Edges:
    """The edges of a link.

    The weight from node i of the pool before to node j of the pool after is `base[i] + table[profile_of[i]][j]`.
    """

    before: PoolNodes
    link: Link
    profiles: list[Profile]
    profile_of: list[int]
    base: list[float]
    table: list[list[float]] = field(default_factory=list)

    def weight(self, i: int, j: int) -> float:
        """The weight of one edge; infinite where the plans are not consistent."""
        return self.base[i] + self.table[self.profile_of[i]][j]

    def matrix(self) -> npt.NDArray[np.float64]:
        """All weights, node before by node after."""
        table: npt.NDArray[np.float64] = np.array(self.table, np.float64)[np.array(self.profile_of)]
        return table + np.array(self.base, np.float64)[:, None]

    def nearest(self) -> list[float]:
        """By profile, the least sum of a previous node's distance and its base."""
        found = [NONE] * len(self.profiles)
        for p, base, distance in zip(self.profile_of, self.base, self.before.distances, strict=True):
            found[p] = min(found[p], distance + base)
        return found

    def __len__(self) -> int:
        """Number of edges."""
        having = [len(row) - row.count(NONE) for row in self.table]
        return sum(having[p] for p in self.profile_of)


@dataclass(eq=False)
class PoolNodes:
    """The nodes of a pool; `weights[n]`: of its edges from start nodes, to end nodes, and in a Kleene sub-graph."""

    pool: Pool
    nodes: list[Node]
    weights: list[float]
    entering: list[Edges]
    leaving: dict[Link, Edges] = field(default_factory=dict)

    @cached_property
    def distances(self) -> list[float]:
        """The distance of each node to all start nodes (Equation 5): the sum of the least over each pool before it."""
        found = list(self.weights)
        for edges in self.entering:
            nearest = edges.nearest()
            for n in range(len(found)):
                found[n] += min(d + row[n] for d, row in zip(nearest, edges.table, strict=True))
        return found

    def reached(self) -> list[int]:
        """The nodes that have an edge from each pool before."""
        least = [[min(column) for column in zip(*edges.table, strict=True)] for edges in self.entering]
        return [n for n in range(len(self.nodes)) if all(weights[n] < NONE for weights in least)]

    def keep(self, kept: Sequence[int]) -> None:
        """Keeps only the nodes `kept`; to be called before edges to later pools are made."""
        self.nodes = [self.nodes[n] for n in kept]
        self.weights = [self.weights[n] for n in kept]
        if "distances" in self.__dict__:
            self.distances = [self.distances[n] for n in kept]
        for edges in self.entering:
            edges.table = [[row[n] for n in kept] for row in edges.table]


@dataclass(eq=False)
class GloriaGraph:
    """The nodes of each pool, in the pools' order."""

    pools: list[PoolNodes]

    @property
    def edges(self) -> list[Edges]:
        """The edges of all links."""
        return [edges for nodes in self.pools for edges in nodes.entering]

    def weight(self, chosen: Sequence[int]) -> float:
        """The weight of a path (Lemma 4.4) that has one node of each pool; infinite where they are not consistent."""
        total = sum(nodes.weights[n] for nodes, n in zip(self.pools, chosen, strict=True))
        for edges in self.edges:
            total += edges.weight(chosen[edges.link.before.number], chosen[edges.link.after.number])
        return total


def leave(before: PoolNodes, link: Link, costs: PaperCosts, every: bool = False) -> Edges:
    """The part of a link's edges that does not depend on the nodes after it.

    Nodes of one profile share one row of the table, since all but the nearest of them are pruned; with `every`, each
    node has its own row.
    """
    several = link.common & (link.common - 1)
    found: list[Profile] = [profile(node, link) if several else () for node in before.nodes]
    base = _bases(before.nodes, link, costs)
    if every:
        return Edges(before, link, found, list(range(len(found))), base)
    numbers: dict[Profile, int] = {}
    profile_of = [numbers.setdefault(one, len(numbers)) for one in found]
    return Edges(before, link, list(numbers), profile_of, base)


def enter(edges: Edges, nodes: Sequence[Node], costs: PaperCosts, splitting: bool = False) -> list[list[float]]:
    """The table of the edges of a link to some nodes after it; edges that split Q-sets only if `splitting`."""
    link = edges.link
    table = []
    reusing = [[q for q in node if q.snapshot not in link.after.sources and q.members & link.common] for node in nodes]
    saved: dict[Shared, float] = {}
    for entries in edges.profiles:
        row = []
        whole = {e for e in entries if e.snapshot != NARROWED}
        several = [] if link.after.kleene or splitting else [e.members for e in entries]
        for node, reused in zip(nodes, reusing, strict=True):
            if (reused and not whole.issuperset(reused)) or (several and not _holds(node, several)):
                row.append(NONE)
                continue
            weight = 0.0
            for q in node if whole else ():
                if q in whole:
                    if q not in saved:
                        saved[q] = _saving(q, link, costs)
                    weight -= saved[q]
            row.append(weight)
        table.append(row)
    return table


def weight_of(node: Node, pool: Pool, costs: PaperCosts) -> float:
    """The weight of the edges from start nodes to a node, to end nodes, and within a Kleene sub-graph."""
    total = sum(costs.making(q.snapshot, q.members) for q in node if q.snapshot in pool.sources)
    for source, _ in pool.transitions:
        if source in pool.starts:
            total += costs.start(source, pool.starts[source])
    for (source, target), members in pool.ends:
        total += _passed(node, source, target, members, costs, ending=True)
    if pool.kleene:
        for source, target in pool.transitions:
            following = sum(s == target for s, _ in pool.transitions)
            total += following * _round(node, source, target, pool.members, costs)
    return total


def _holds(node: Node, several: Sequence[Mask]) -> bool:
    """Lemma 5.2: no Q-set is split."""
    for going in several:
        for q in node:
            if not going & ~q.members:
                break
        else:
            return False
    return True


def _bases(nodes: Sequence[Node], link: Link, costs: PaperCosts) -> list[float]:
    """What the events at a link cost the members of each node, as if no Q-set continued; each Q-set is weighed once."""

    def passed(node: Node) -> float:
        return sum(_passed(node, source, target, link.common, costs) for source, target in link.steps)

    alone = passed(())
    more: dict[Shared, float] = {}
    found = []
    for node in nodes:
        total = alone
        for q in node:
            if q.members & link.common:
                if q not in more:
                    more[q] = passed((q,)) - alone
                total += more[q]
        found.append(total)
    return found


def _passed(node: Node, source: int, target: int, members: Mask, costs: PaperCosts, ending: bool = False) -> float:
    """What events of `target` cost some members whose Q-sets end there, or with `ending`, whose paths do."""
    total = 0.0
    alone = members
    for q in node:
        going = q.members & members
        if going:
            alone &= ~going
            total += costs.shared(source, target, q.members, q.snapshot)
            evaluation = costs.ending if ending else costs.evaluation
            total += evaluation(target, q.snapshot, going)
    return total + costs.alone(source, target, alone) if alone else total


def _saving(entry: Shared, link: Link, costs: PaperCosts) -> float:
    """What it saves that a Q-set continues with the same snapshots."""
    total = 0.0
    for source, target in link.steps:
        evaluation = costs.evaluation(target, entry.snapshot, entry.members)
        if target == entry.snapshot:
            shared = costs.shared(source, target, entry.members, entry.snapshot)
            total += shared + evaluation - costs.renewed(source, target, entry.members)
        else:
            total += evaluation
    return total


def _round(node: Node, source: int, target: int, members: Mask, costs: PaperCosts) -> float:
    """The weight of an edge within a Kleene sub-graph, all of whose nodes have the same plan."""
    total = 0.0
    alone = members
    for members_, snapshot in node:
        alone &= ~members_
        if target == snapshot:
            total += costs.renewed(source, target, members_)
        else:
            total += costs.shared(source, target, members_, snapshot)
    return total + costs.alone(source, target, alone) if alone else total


def nodes_of(
    pool: Pool, nodes: Sequence[Node], entering: list[Edges], costs: PaperCosts, splitting: bool = False
) -> PoolNodes:
    """The nodes of a pool with weights of the edges that come to them, as `enter`."""
    for edges in entering:
        edges.table = enter(edges, nodes, costs, splitting)
    return PoolNodes(pool, list(nodes), [weight_of(node, pool, costs) for node in nodes], entering)
