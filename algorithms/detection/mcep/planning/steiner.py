"""SH-MDT: sharing by merging and decomposition, as a directed Steiner tree (MOTTO; MCEP, Section 6.2.2)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import fsum

from cepbench.algorithms.detection.mcep.planning.baselines import parts_around, runs_of, shared_runs
from cepbench.algorithms.detection.mcep.planning.costs import CostModel
from cepbench.algorithms.detection.mcep.planning.generators import Join, left_deep
from cepbench.algorithms.detection.mcep.planning.plans import MultiPlan
from cepbench.algorithms.detection.mcep.planning.subpatterns import SubPatternTable, mask_of

EVENTS = -1
"""The root of the Steiner tree: single events."""


@dataclass(frozen=True)
class SteinerGraph:
    """Which sub-patterns can be made from which: `weights[v][u]` are the instances of making v from u and events.

    `terminals` are the patterns, `runs[v][u]` the places of u in v. The graph has no cycles, so the cheapest tree over
    given vertices uses the cheapest edge into each of them.
    """

    terminals: frozenset[int]
    weights: dict[int, dict[int, float]]
    runs: dict[int, dict[int, tuple[int, int]]]

    def cost(self, chosen: Collection[int]) -> float:
        """The cost of the cheapest tree over the terminals and the chosen vertices."""
        given = self.terminals.union(chosen)
        return fsum(self.cheapest(v, given)[0] for v in given)

    def parents(self, chosen: Collection[int]) -> dict[int, int]:
        """The vertex from which each vertex is made in that tree; `EVENTS` for none."""
        given = self.terminals.union(chosen)
        return {v: self.cheapest(v, given)[1] for v in given}

    def cheapest(self, vertex: int, given: Collection[int]) -> tuple[float, int]:
        """The weight of the cheapest edge into a vertex, and its source."""
        return min((weight, u) for u, weight in self.weights[vertex].items() if u == EVENTS or u in given)


def steiner_graph(costs: CostModel, patterns: Sequence[int]) -> SteinerGraph:
    """The patterns and the runs of operands that several contain (merging), each made from a run (decomposition)."""
    table = costs.table
    vertices = {table.whole(pattern): (pattern, table[pattern].everything) for pattern in patterns}
    windows: dict[int, int] = {}
    for pattern in patterns:
        whole = table.whole(pattern)
        windows[whole] = max(windows.get(whole, 0), table[pattern].window)
    for sub, having in shared_runs(table, patterns).items():
        vertices.setdefault(sub, next(iter(having.items())))
        windows[sub] = max(table[pattern].window for pattern in having)
    weights: dict[int, dict[int, float]] = {}
    runs: dict[int, dict[int, tuple[int, int]]] = {}
    for sub, (pattern, mask) in vertices.items():
        weights[sub] = {EVENTS: _weight(costs, pattern, mask, 0, windows[sub])}
        runs[sub] = {}
        for run in runs_of(table, pattern, mask):
            part = table.of(pattern, run)
            if run != mask and part in vertices:
                weight = _weight(costs, pattern, mask, run, windows[sub])
                if weight < weights[sub].get(part, weight + 1):
                    weights[sub][part] = weight
                    places = [i for i, one in enumerate(table.places(pattern, mask)) if run >> one & 1]
                    runs[sub][part] = (places[0], places[-1] + 1)
    return SteinerGraph(frozenset(table.whole(pattern) for pattern in patterns), weights, runs)


def steiner_vertices(graph: SteinerGraph) -> frozenset[int]:
    """Non-terminal vertices of a tree of low cost: an approximation of the directed Steiner minimum tree.

    The vertex that saves most is added as long as one saves anything; then vertices that no longer save anything are
    removed. O(v^2 e) in the worst case for v vertices and e edges.
    """
    chosen: set[int] = set()
    users: dict[int, list[int]] = {}
    for v, ways in graph.weights.items():
        for u in ways:
            users.setdefault(u, []).append(v)
    candidates = [v for v in graph.weights if v not in graph.terminals and v in users]
    present = {v: graph.cheapest(v, graph.terminals)[0] for v in graph.weights}

    def saving(u: int) -> float:
        given = graph.terminals | chosen
        return fsum([*(max(0.0, present[v] - graph.weights[v][u]) for v in users[u] if v in given), -present[u]])

    while candidates:
        best = max(candidates, key=lambda u: (saving(u), -u))
        if saving(best) <= 0:
            break
        chosen.add(best)
        candidates.remove(best)
        for v in users[best]:
            present[v] = min(present[v], graph.weights[v][best])
    cost = graph.cost(chosen)
    for u in sorted(chosen):
        without = graph.cost(chosen - {u})
        if without <= cost:
            chosen.discard(u)
            cost = without
    return frozenset(chosen)


def shared_by_merging(costs: CostModel, patterns: Sequence[int]) -> MultiPlan:
    """SH-MDT: makes every pattern as in the Steiner tree of low cost, in its own order.

    A pattern is made from one run that it shares, this run possibly from another one, and from single events. Operator
    transformation (OTT) does not occur: a clause has one operator.
    """
    graph = steiner_graph(costs, patterns)
    parents = graph.parents(steiner_vertices(graph))
    plan = MultiPlan(costs)
    plan.exchange(
        plan.local(one, _joins(costs.table, graph, parents, one, costs.table[one].everything)) for one in patterns
    )
    return plan


def _joins(table: SubPatternTable, graph: SteinerGraph, parents: dict[int, int], pattern: int, mask: int) -> list[Join]:
    """The tree of some operands of a pattern according to the Steiner tree."""
    joins: list[Join] = []
    while True:
        sub = table.of(pattern, mask)
        parent = parents[sub]
        if parent == EVENTS:
            return [*joins, *left_deep(parts_around(table, pattern, mask, ()))]
        first, end = graph.runs[sub][parent]
        run = mask_of(table.places(pattern, mask)[first:end])
        joins += left_deep(parts_around(table, pattern, mask, (run,)))
        mask = run


def _weight(costs: CostModel, pattern: int, mask: int, run: int, window: int) -> float:
    """The instances of all joins in a left-deep tree around a run, if any, without those inside of it."""
    parts = parts_around(costs.table, pattern, mask, (run,) if run else ())
    return fsum(costs.instances(costs.table.of(pattern, a | b), window) for a, b in left_deep(parts))
