"""Baseline plans: without sharing, or with sharing but without a search (MCEP, Section 6.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from cepbench.algorithms.detection.mcep.planning.costs import CostModel, order_cost
from cepbench.algorithms.detection.mcep.planning.generators import Join, greedy_order, left_deep
from cepbench.algorithms.detection.mcep.planning.plans import MultiPlan
from cepbench.algorithms.detection.mcep.planning.subpatterns import SubPatternTable, mask_of, operands_of

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
    return covered(costs, patterns, lambda sub, having: len(costs.table.known.items[sub]) + 1 - 1 / len(having))


def shared_by_redundancy(costs: CostModel, patterns: Sequence[int]) -> MultiPlan:
    """SH-RR: shares runs of operands in the order of their redundancy ratio, as in SPASS (Section 6.2.2).

    R(p) = (k - 1) cost(p) / sum of cost(q) over the k patterns q that contain p: the share of their work that repeats
    the construction of p. Costs are those of orders without reordering.
    """
    whole = {pattern: order_cost(costs, pattern, _written(costs.table, pattern)) for pattern in patterns}

    def ratio(sub: int, having: Occurrences) -> float:
        pattern, mask = next(iter(having.items()))
        total = sum(whole[one] for one in having)
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
            left = {one: mask for one, mask in having.items() if not mask & taken.get(one, 0)}
            if len(left) < 2:
                del occurrences[sub], scores[sub]
            elif len(left) < len(having):
                occurrences[sub], scores[sub] = left, score(sub, left)
    plan = MultiPlan(costs)
    plan.exchange(plan.local(one, joins_around(costs.table, one, masks)) for one, masks in chosen.items())
    return plan


def shared_runs(table: SubPatternTable, patterns: Sequence[int]) -> dict[int, Occurrences]:
    """Runs of at least two operands that several patterns contain; in each pattern, the first occurrence."""
    found: dict[int, Occurrences] = {}
    for pattern in patterns:
        for mask in runs_of(table, pattern, table[pattern].everything):
            found.setdefault(table.of(pattern, mask), {}).setdefault(pattern, mask)
    return {sub: having for sub, having in found.items() if len(having) > 1}


def runs_of(table: SubPatternTable, pattern: int, mask: int) -> Iterator[int]:
    """The runs of at least two operands, in the canonical order of the sub-pattern `mask`, including itself."""
    places = table.places(pattern, mask)
    for first in range(len(places)):
        for end in range(first + 2, len(places) + 1):
            yield mask_of(places[first:end])


def joins_around(table: SubPatternTable, pattern: int, runs: Sequence[int]) -> list[Join]:
    """A left-deep tree of a pattern in its own order, around left-deep trees of disjoint runs."""
    joins = [join for run in runs for join in left_deep([1 << one for one in table.places(pattern, run)])]
    return [*joins, *left_deep(parts_around(table, pattern, table[pattern].everything, runs))]


def parts_around(table: SubPatternTable, pattern: int, mask: int, runs: Sequence[int]) -> list[int]:
    """The operands `mask` in their canonical order; each run is one part, at the place of its first operand."""
    within = {operand: run for run in runs for operand in operands_of(run)}
    return list(dict.fromkeys(within.get(operand, 1 << operand) for operand in table.places(pattern, mask)))


def _written(table: SubPatternTable, pattern: int) -> tuple[int, ...]:
    return table.places(pattern, table[pattern].everything)
