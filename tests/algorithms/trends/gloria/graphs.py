"""Gloria graphs of patterns, as users write them and as tests read them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from cepbench.algorithms.trends.gloria.optimizer.costs import PaperCosts
from cepbench.algorithms.trends.gloria.optimizer.elimination import SearchLimits
from cepbench.algorithms.trends.gloria.optimizer.nodes import Node
from cepbench.algorithms.trends.gloria.optimizer.optimizer import Construction, SharingDecision, optimize, plan_of
from cepbench.algorithms.trends.gloria.optimizer.pools import Pools, pools_of
from cepbench.algorithms.trends.gloria.plan import QSet, WorkloadSharingPlan
from cepbench.algorithms.trends.gloria.template import GloriaTemplate, TypeState, TypeTransition, template_of
from cepbench.algorithms.trends.snapshots.members import SetMember, members_of
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from tests.contract.streams import batch

UNLIMITED = SearchLimits(math.inf, 10**9, 10**9)


def members(*patterns: str, types: str = "ABCDEFGH") -> list[SetMember]:
    """A member for each pattern."""
    schema = batch([{"time": 0, "type": name, "x": 1} for name in types]).schema
    queries = [parse_query(f"q{n}: RETURN COUNT(*) PATTERN {pattern}") for n, pattern in enumerate(patterns)]
    return members_of(compile_workload(queries, schema))


def template(*patterns: str, types: str = "ABCDEFGH") -> GloriaTemplate:
    """The template of some patterns."""
    return template_of(members(*patterns, types=types))


class Graph:
    """Pools of patterns with the frequencies of types in a window, or in windows of several lengths."""

    def __init__(
        self,
        patterns: Sequence[str],
        frequencies: Mapping[str, float],
        windows: Sequence[float] | None = None,
        costs: type[PaperCosts] = PaperCosts,
    ) -> None:
        self.template = template(*patterns, types="".join(frequencies))
        self.pools: Pools = pools_of(self.template)
        rates = [frequencies[state.type] for state in self.pools.states]
        count = len(self.template.states)
        lengths, overlaps = windows or [1.0] * count, [1 + m % 3 for m in range(count)]
        closings = [overlap / length for overlap, length in zip(overlaps, lengths, strict=False)]
        self.costs = costs(rates, lengths, overlaps, closings)

    def constructed(self, optimizer: str = "exact") -> Construction:
        """A construction of the graph."""
        return Construction(self.pools, self.costs, UNLIMITED, optimizer)

    def decision(self, optimizer: str = "gloria", choices: int = UNLIMITED.choices) -> SharingDecision:
        """The plan of an optimizer."""
        return optimize(self.pools, self.costs, optimizer, replace(UNLIMITED, choices=choices))

    def named(self, node: Node, number: int) -> str:
        """The plan of a pool as the paper writes it."""
        nodes: list[Node] = [()] * len(self.pools.pools)
        nodes[number] = node
        plan = plan_of(self.pools, nodes)
        return text(plan, self.pools.named(self.pools.pools[number].transitions[0]))


def text(plan: WorkloadSharingPlan, transition: TypeTransition) -> str:
    """The plan of a transition as the paper writes it."""
    return ",".join(map(str, sorted(plan.transitions[transition], key=lambda q: sorted(q.members))))


def transition(names: str) -> TypeTransition:
    """A transition such as `(A, B)`, or `AB`."""
    source, target = (c for c in names if c.isalpha())
    return TypeTransition(TypeState(source), TypeState(target))


def q_sets(plan: str) -> tuple[QSet, ...]:
    """The Q-sets of a plan such as `12A 3`: queries 1 and 2 with snapshots of A, query 3 alone."""
    q_sets = []
    for word in plan.split():
        numbers = frozenset(int(c) - 1 for c in word if c.isdigit())
        names = [c for c in word if c.isalpha()]
        q_sets.append(QSet(numbers, TypeState(names[0]) if names else None))
    return tuple(q_sets)


def sharing(**plans: str) -> WorkloadSharingPlan:
    """A sharing plan such as `AB="12A 3"`."""
    return WorkloadSharingPlan({transition(names): q_sets(plan) for names, plan in plans.items()})
