"""The Gloria graph (Definition 4.1): the nodes of each pool, the weights of their edges, and distances (Equation 5)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cepbench.algorithms.trends.gloria.optimizer.costs import Mask, PaperCosts
from cepbench.algorithms.trends.gloria.optimizer.nodes import NARROWED, Node, Profile, Shared, profile
from cepbench.algorithms.trends.gloria.optimizer.pools import Pool, PoolPair

MISSING = math.inf
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
    """The edges of a pair of pools before there are nodes in the second pool.

    Node i of the first pool has profile `profiles[of[i]]`, and edges that weigh at least `base[i]`; `nearest`: by
    profile, the least sum of that weight and the node's distance.
    """

    pair: PoolPair
    profiles: list[Profile]
    of: npt.NDArray[np.intp]
    base: Weights
    nearest: Weights


@dataclass(eq=False)
class GloriaGraph:
    """The nodes of each pool, in the pools' order; `edges[pair]`: weights, node before by node after."""

    pools: list[PoolNodes] = field(default_factory=list)
    edges: dict[PoolPair, Weights] = field(default_factory=dict)

    def weight(self, chosen: Sequence[int]) -> float:
        """The weight of a path (Lemma 4.4) that has one node of each pool; infinite where they are not consistent."""
        total = sum(float(here.weights[n]) for here, n in zip(self.pools, chosen, strict=True))
        for pair, weights in self.edges.items():
            total += float(weights[chosen[pair.before.number], chosen[pair.after.number]])
        return total

    def leave(self, pair: PoolPair, costs: PaperCosts, every: bool = False) -> Leaving:
        """The edges that leave the first pool of a pair: a set per profile of its nodes, or per node if `every`.

        The second pool has no nodes yet.
        """
        before = self.pools[pair.before.number]
        several = pair.common & (pair.common - 1)
        of_node: list[Profile] = [profile(node, pair) if several else () for node in before.nodes]
        numbers: dict[Profile, int] = {}
        of = np.array([n if every else numbers.setdefault(p, len(numbers)) for n, p in enumerate(of_node)], np.intp)
        base = _bases(before.nodes, pair, costs)
        profiles = of_node if every else list(numbers)
        nearest = np.full(len(profiles), MISSING)
        np.minimum.at(nearest, of, before.distances + base)
        return Leaving(pair, profiles, of, base, nearest)

    def enter(
        self, pool: Pool, nodes: list[Node], entering: Sequence[Leaving], costs: PaperCosts, splitting: bool = False
    ) -> PoolNodes:
        """Adds a pool with edges to its nodes; edges that split Q-sets only if `splitting` (Lemma 5.2)."""
        weights = np.array([_weight(node, pool, costs) for node in nodes], np.float64)
        here = PoolNodes(pool, nodes, weights, weights.copy())
        for leaving in entering:
            table = _savings(leaving, nodes, costs, splitting)
            here.distances += (leaving.nearest[:, None] + table).min(0)
            self.edges[leaving.pair] = table[leaving.of] + leaving.base[:, None]
        self.pools.append(here)
        return here

    def keep(self, p: int, kept: Numbers) -> None:
        """Keeps only the `kept` nodes of pool p."""
        here = self.pools[p]
        if len(kept) == len(here.nodes):
            return
        here.nodes = [here.nodes[n] for n in kept]
        here.weights, here.distances = here.weights[kept], here.distances[kept]
        for pair in here.pool.before:
            self.edges[pair] = self.edges[pair][:, kept]
        for pair in here.pool.after:
            if pair in self.edges:
                self.edges[pair] = self.edges[pair][kept]


def _bases(nodes: Sequence[Node], pair: PoolPair, costs: PaperCosts) -> Weights:
    """The weight of edges from each node as if no Q-set continued; each Q-set is weighed once."""

    def passed(node: Node) -> float:
        return sum(_cost(node, *step, pair.common, costs, costs.evaluation) for step in pair.steps)

    alone = passed(())
    extra = {q: passed((q,)) - alone for q in {q for node in nodes for q in node if q.members & pair.common}}
    return np.array([sum([extra[q] for q in node if q in extra], alone) for node in nodes], np.float64)


def _savings(leaving: Leaving, nodes: Sequence[Node], costs: PaperCosts, splitting: bool) -> Weights:
    """The weight of edges minus their base, by profile and node of the second pool: negative where Q-sets continue."""
    pair = leaving.pair
    table = []
    reusing = [[q for q in node if q.snapshot not in pair.after.sources and q.members & pair.common] for node in nodes]
    saved: dict[Shared, float] = {}
    for entries in leaving.profiles:
        row: list[float] = []
        whole = {e for e in entries if e.snapshot != NARROWED}
        several = [] if pair.after.kleene or splitting else [e.members for e in entries]
        for node, reused in zip(nodes, reusing, strict=True):
            if (reused and not whole.issuperset(reused)) or (several and not _holds(node, several)):
                row.append(MISSING)
                continue
            weight = 0.0
            for q in node if whole else ():
                if q in whole:
                    if q not in saved:
                        saved[q] = _saving(q, pair, costs)
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


def _saving(q: Shared, pair: PoolPair, costs: PaperCosts) -> float:
    """The cost that is saved if a Q-set keeps its snapshots: no evaluation."""
    evaluated, continued = (
        sum(_cost((q,), *step, q.members, costs, evaluation) for step in pair.steps)
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
    """The cost of events of `target` for members whose Q-sets end there (with an `evaluation`), or continue."""
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
