"""The Gloria graph: nodes of each pool, weights of nodes and edges, and distances (Definition 4.1, Equation 5)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cepbench.algorithms.trends.gloria.optimizer.costs import Mask, PaperCosts
from cepbench.algorithms.trends.gloria.optimizer.nodes import NARROWED, Node, Profile, Shared, profile
from cepbench.algorithms.trends.gloria.optimizer.pools import Link, Pool

NONE = math.inf
"""The weight of a missing edge."""

Weights = npt.NDArray[np.float64]
Numbers = Sequence[int] | npt.NDArray[np.intp]
"""Numbers of nodes."""


@dataclass(eq=False)
class PoolNodes:
    """The nodes of a pool.

    `weights[n]`: of its edges from start nodes, to end nodes, and in a Kleene sub-graph; `distances[n]`: to all start
    nodes (Equation 5), the sum of the least over each pool before it.
    """

    pool: Pool
    nodes: list[Node]
    weights: Weights
    distances: Weights


class Leaving(NamedTuple):
    """What is known of a link's edges before there are nodes after it.

    Node i before it has profile `profiles[of[i]]`, and edges that weigh at least `base[i]`; `nearest`: by profile, the
    least sum of that and the node's distance.
    """

    link: Link
    profiles: list[Profile]
    of: npt.NDArray[np.intp]
    base: Weights
    nearest: Weights


@dataclass(eq=False)
class GloriaGraph:
    """The nodes of each pool, in the pools' order; `edges[link]`: weights, node before by node after."""

    pools: list[PoolNodes] = field(default_factory=list)
    edges: dict[Link, Weights] = field(default_factory=dict)

    def weight(self, chosen: Sequence[int]) -> float:
        """The weight of a path (Lemma 4.4) that has one node of each pool; infinite where they are not consistent."""
        total = sum(float(here.weights[n]) for here, n in zip(self.pools, chosen, strict=True))
        for link, weights in self.edges.items():
            total += float(weights[chosen[link.before.number], chosen[link.after.number]])
        return total

    def leave(self, link: Link, costs: PaperCosts, every: bool = False) -> Leaving:
        """The nodes before a link; those of one profile have it in common, unless `every` one is to have its own."""
        before = self.pools[link.before.number]
        several = link.common & (link.common - 1)
        found: list[Profile] = [profile(node, link) if several else () for node in before.nodes]
        numbers: dict[Profile, int] = {}
        of = np.array([n if every else numbers.setdefault(one, len(numbers)) for n, one in enumerate(found)], np.intp)
        base = _bases(before.nodes, link, costs)
        profiles = found if every else list(numbers)
        nearest = np.full(len(profiles), NONE)
        np.minimum.at(nearest, of, before.distances + base)
        return Leaving(link, profiles, of, base, nearest)

    def enter(
        self, pool: Pool, nodes: list[Node], entering: Sequence[Leaving], costs: PaperCosts, splitting: bool = False
    ) -> PoolNodes:
        """Adds a pool with edges to its nodes, those that split Q-sets only if `splitting`."""
        weights = np.array([_weight(node, pool, costs) for node in nodes], np.float64)
        here = PoolNodes(pool, nodes, weights, weights.copy())
        for leaving in entering:
            table = _savings(leaving, nodes, costs, splitting)
            here.distances += (leaving.nearest[:, None] + table).min(0)
            self.edges[leaving.link] = table[leaving.of] + leaving.base[:, None]
        self.pools.append(here)
        return here

    def keep(self, p: int, kept: Numbers) -> None:
        """Keeps only some nodes of pool p."""
        here = self.pools[p]
        if len(kept) == len(here.nodes):
            return
        here.nodes = [here.nodes[n] for n in kept]
        here.weights, here.distances = here.weights[kept], here.distances[kept]
        for link in here.pool.before:
            self.edges[link] = self.edges[link][:, kept]
        for link in here.pool.after:
            if link in self.edges:
                self.edges[link] = self.edges[link][kept]


def _bases(nodes: Sequence[Node], link: Link, costs: PaperCosts) -> Weights:
    """What the events at a link cost the members of each node, as if no Q-set continued; each Q-set is weighed once."""

    def passed(node: Node) -> float:
        return sum(_cost(node, *step, link.common, costs, costs.evaluation) for step in link.steps)

    alone = passed(())
    more = {q: passed((q,)) - alone for q in {q for node in nodes for q in node if q.members & link.common}}
    return np.array([sum([more[q] for q in node if q in more], alone) for node in nodes], np.float64)


def _savings(leaving: Leaving, nodes: Sequence[Node], costs: PaperCosts, splitting: bool) -> Weights:
    """What edges weigh more than their base, which is less where Q-sets continue: by profile and node after it."""
    link = leaving.link
    table = []
    reusing = [[q for q in node if q.snapshot not in link.after.sources and q.members & link.common] for node in nodes]
    saved: dict[Shared, float] = {}
    for entries in leaving.profiles:
        row: list[float] = []
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
    return np.array(table, np.float64)


def _holds(node: Node, several: Sequence[Mask]) -> bool:
    """Lemma 5.2: no Q-set is split."""
    for going in several:
        for q in node:
            if not going & ~q.members:
                break
        else:
            return False
    return True


def _saving(q: Shared, link: Link, costs: PaperCosts) -> float:
    """What it saves that a Q-set continues with the same snapshots."""
    evaluated, continued = (
        sum(_cost((q,), *step, q.members, costs, evaluation) for step in link.steps)
        for evaluation in (costs.evaluation, None)
    )
    return evaluated - continued


def _weight(node: Node, pool: Pool, costs: PaperCosts) -> float:
    """The weight of the edges from start nodes to a node, to end nodes, and within a Kleene sub-graph."""
    total = sum(costs.making(q.snapshot, q.members) for q in node if q.snapshot in pool.sources)
    for source, _ in pool.transitions:
        if source in pool.starts:
            total += costs.start(source, pool.starts[source])
    for edge, members in pool.ends:
        total += _cost(node, *edge, members, costs, costs.ending)
    if pool.kleene:
        for edge in pool.transitions:
            following = sum(source == edge[1] for source, _ in pool.transitions)
            total += following * _cost(node, *edge, pool.members, costs, None)
    return total


def _cost(
    node: Node, source: int, target: int, members: Mask, costs: PaperCosts,
    evaluation: Callable[[int, int, Mask], float] | None,
) -> float:  # fmt: skip
    """What events of `target` cost some members whose Q-sets end there, with an `evaluation`, or continue, without."""
    total, alone = 0.0, members
    for q in node:
        going = q.members & members
        if not going:
            continue
        alone &= ~going
        if evaluation is None and target == q.snapshot:
            total += costs.renewed(source, target, q.members)
            continue
        total += costs.shared(source, target, q.members, q.snapshot)
        if evaluation is not None:
            total += evaluation(target, q.snapshot, going)
    return total + costs.alone(source, target, alone) if alone else total
