"""Baseline plans: without sharing, or with sharing but without a search (MCEP, Section 6.2).

`unshared` makes the trivial plan and RE, `shared` SH, `shared_by_redundancy` SH-RR (SPASS), and `shared_by_merging`
SH-MDT (MOTTO), which is a directed Steiner tree.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import fsum

from cepbench.algorithms.detection.mcep.planning.costs import CostModel, order_cost
from cepbench.algorithms.detection.mcep.planning.local_plans import greedy_order, left_deep
from cepbench.algorithms.detection.mcep.planning.patterns import SubPatternTable, mask_of, operands_of
from cepbench.algorithms.detection.mcep.planning.plans import Join, MultiPlan

Occurrences = dict[int, int]
"""The patterns that contain a sub-pattern, each with the operands that form it."""

Score = Callable[[int, Occurrences], float]


def unshared(costs: CostModel, patterns: Sequence[int], shape: str, *, reordered: bool) -> MultiPlan:
    """The trivial plan without sharing or rewriting; or RE, which reorders the operands of every pattern.

    RE greedily adds the operand that leaves the fewest instances (Kolchinsky and Schuster, VLDB 2018; Section 6.2.2
    says that it maximizes the cost). Each node belongs to one pattern only. Trees are left-deep.
    """
    plan = MultiPlan(costs, orders=shape == "orders")
    for pattern in patterns:
        leaves = [1 << operand for operand in range(len(costs.table[pattern]))]
        joins = greedy_order(partial(costs.of, pattern), (0, *leaves)) if reordered else left_deep(leaves)
        plan.exchange([plan.local(pattern, joins, pattern)])
    return plan


def shared(costs: CostModel, patterns: Sequence[int], shape: str) -> MultiPlan:
    """SH: shares everything that patterns have in common without reordering (Sections 3.2 and 6.2.2).

    Orders share all prefixes. Trees share runs of operands that do not overlap: the longest first; of equally long
    ones, those of most patterns.
    """
    if shape == "orders":
        plan = MultiPlan(costs, orders=True)
        plan.exchange(plan.local(pattern, joins_around(costs.table, pattern, ())) for pattern in patterns)
        return plan
    return covered(costs, patterns, lambda sub, having: len(costs.table.sub_patterns.items[sub]) + 1 - 1 / len(having))


def shared_by_redundancy(costs: CostModel, patterns: Sequence[int]) -> MultiPlan:
    """SH-RR: shares runs of operands in the order of their redundancy ratio, as in SPASS (Section 6.2.2).

    R(p) = (k - 1) cost(p) / sum of cost(q) over the k patterns q that contain p: the share of their work that repeats
    the construction of p. Costs are those of orders without reordering.
    """
    whole = {pattern: order_cost(costs, pattern, _written(costs.table, pattern)) for pattern in patterns}

    def ratio(sub: int, having: Occurrences) -> float:
        pattern, mask = next(iter(having.items()))
        total = sum(whole[user] for user in having)
        work = order_cost(costs, pattern, costs.table.places(pattern, mask))
        return (len(having) - 1) * work / total if total else 0.0

    return covered(costs, patterns, ratio)


def covered(costs: CostModel, patterns: Sequence[int], score: Score) -> MultiPlan:
    """Shares runs of operands greedily by score, without overlaps in a pattern; runs without a score are not shared."""
    occurrences = {sub: dict(having) for sub, having in shared_runs(costs.table, patterns).items()}
    scores = {sub: score(sub, having) for sub, having in occurrences.items()}
    chosen: dict[int, list[int]] = {pattern: [] for pattern in patterns}
    while scores:
        best = max(scores, key=lambda sub: (scores[sub], -sub))
        if scores.pop(best) <= 0:
            break
        taken = occurrences.pop(best)
        for pattern, mask in taken.items():
            chosen[pattern].append(mask)
        for sub, having in list(occurrences.items()):
            left = {user: mask for user, mask in having.items() if not mask & taken.get(user, 0)}
            if len(left) < 2:
                del occurrences[sub], scores[sub]
            elif len(left) < len(having):
                occurrences[sub], scores[sub] = left, score(sub, left)
    plan = MultiPlan(costs)
    plan.exchange(plan.local(pattern, joins_around(costs.table, pattern, masks)) for pattern, masks in chosen.items())
    return plan


def shared_runs(table: SubPatternTable, patterns: Sequence[int]) -> dict[int, Occurrences]:
    """Runs of at least two operands that several patterns contain; in each pattern, the first occurrence."""
    occurrences: dict[int, Occurrences] = {}
    for pattern in patterns:
        for mask in runs_of(table, pattern, table[pattern].everything):
            occurrences.setdefault(table.of(pattern, mask), {}).setdefault(pattern, mask)
    return {sub: having for sub, having in occurrences.items() if len(having) > 1}


def runs_of(table: SubPatternTable, pattern: int, mask: int) -> Iterator[int]:
    """The runs of at least two operands, in the canonical order of the sub-pattern `mask`, including itself."""
    places = table.places(pattern, mask)
    for first in range(len(places)):
        for end in range(first + 2, len(places) + 1):
            yield mask_of(places[first:end])


def joins_around(table: SubPatternTable, pattern: int, runs: Sequence[int]) -> list[Join]:
    """A left-deep tree of a pattern in its own order, around left-deep trees of disjoint runs."""
    joins = [join for run in runs for join in left_deep([1 << operand for operand in table.places(pattern, run)])]
    return [*joins, *left_deep(parts_around(table, pattern, table[pattern].everything, runs))]


def parts_around(table: SubPatternTable, pattern: int, mask: int, runs: Sequence[int]) -> list[int]:
    """The operands `mask` in their canonical order; each run is one part, at the place of its first operand."""
    within = {operand: run for run in runs for operand in operands_of(run)}
    return list(dict.fromkeys(within.get(operand, 1 << operand) for operand in table.places(pattern, mask)))


def _written(table: SubPatternTable, pattern: int) -> tuple[int, ...]:
    return table.places(pattern, table[pattern].everything)


EVENTS = -1
"""The root of the Steiner tree: single events."""


@dataclass(frozen=True)
class SteinerGraph:
    """Ways to make sub-patterns from one another: `weights[v][u]` are the instances of making v from u and events.

    `terminals` are the patterns, `runs[v][u]` the places of u in v. The graph has no cycles, so the cheapest tree over
    given vertices uses the cheapest edge into each of them.
    """

    terminals: frozenset[int]
    weights: dict[int, dict[int, float]]
    runs: dict[int, dict[int, tuple[int, int]]]

    def cost(self, chosen: Collection[int]) -> float:
        """The cost of the cheapest tree over the terminals and the chosen vertices."""
        vertices = self.terminals.union(chosen)
        return fsum(self.cheapest(v, vertices)[0] for v in vertices)

    def parents(self, chosen: Collection[int]) -> dict[int, int]:
        """The vertex from which each vertex is made in that tree; `EVENTS` for none."""
        vertices = self.terminals.union(chosen)
        return {v: self.cheapest(v, vertices)[1] for v in vertices}

    def cheapest(self, vertex: int, vertices: Collection[int]) -> tuple[float, int]:
        """The weight of the cheapest edge into a vertex, and its source."""
        return min((weight, u) for u, weight in self.weights[vertex].items() if u == EVENTS or u in vertices)


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
                    places = [i for i, operand in enumerate(table.places(pattern, mask)) if run >> operand & 1]
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
        vertices = graph.terminals | chosen
        return fsum([*(max(0.0, present[v] - graph.weights[v][u]) for v in users[u] if v in vertices), -present[u]])

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
        plan.local(pattern, _joins(costs.table, graph, parents, pattern, costs.table[pattern].everything))
        for pattern in patterns
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
