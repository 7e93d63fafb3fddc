"""All plans of SEQ workloads that the generation principles allow, one by one: what the optimizer must not miss.

It knows nothing of the optimizer, and works on sets and names. Queries are strings of types, each once, and have
windows of one length.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise, product

Transition = tuple[str, str]
QSet = tuple[frozenset[int], str | None]
Plan = frozenset[QSet]
"""Of a transition: its Q-sets, with the type of their snapshots."""

MOST_NODES, MOST_PLANS = 300, 60_000


class BruteForce:
    """A workload with the frequencies of types; `allowed` is None if there are too many plans to try."""

    def __init__(self, queries: Sequence[str], frequencies: Mapping[str, float]) -> None:
        self.queries, self.frequencies = queries, frequencies
        self.members: dict[Transition, frozenset[int]] = {}
        for q, types in enumerate(queries):
            for t in pairwise(types):
                self.members[t] = self.members.get(t, frozenset()) | {q}
        self.order = self._ordered()
        self.allowed = self._generated() if self.order is not None else None

    def least(self) -> float:
        """The least weight of all plans."""
        assert self.order is not None
        return min(map(self.weight, self._plans(0, {})), default=math.inf)

    def weight(self, plan: Mapping[Transition, Plan]) -> float:
        """The sum of all edges of a path: Equations 2-4 for each two transitions that follow one another."""
        return sum(self._weight_at(t, plan) for t in plan)

    def before(self, t: Transition) -> list[Transition]:
        """The transitions that a query passes right before one."""
        return [u for u in self.members if u[1] == t[0] and self.members[u] & self.members[t]]

    def starting(self, t: Transition) -> frozenset[int]:
        """The queries that start with a transition."""
        return frozenset(q for q in self.members[t] if self.queries[q][0] == t[0])

    def _ordered(self) -> list[Transition] | None:
        order: list[Transition] = []
        while len(order) < len(self.members):
            free = [t for t in self.members if t not in order and all(u in order for u in self.before(t))]
            if not free:
                return None
            order += free
        return order

    def _weight_at(self, t: Transition, plan: Mapping[Transition, Plan]) -> float:
        (source, target), size = t, self.frequencies
        total = size[source] * len(self.starting(t))
        onward: list[tuple[frozenset[int], Plan]] = [
            (self.members[u] & self.members[t], plan[u]) for u in plan if t in self.before(u)
        ]
        onward.append((frozenset(q for q in self.members[t] if self.queries[q][-1] == target), frozenset()))
        for queries, after in onward:
            for members, snapshot in plan[t]:
                going = members & queries
                if not going:
                    continue
                if snapshot is None:
                    total += size[source] * size[target]
                    continue
                total += size[source] * (1 if snapshot == source else size[snapshot])
                if (members, snapshot) not in after:
                    total += len(going) * size[target] * size[snapshot]
        return total

    def _plans(self, n: int, plan: dict[Transition, Plan]) -> Iterator[dict[Transition, Plan]]:
        assert self.order is not None
        assert self.allowed is not None
        if n == len(self.order):
            yield dict(plan)
            return
        t = self.order[n]
        for candidate in self.allowed[t]:
            if all(self._fits(u, plan[u], t, candidate) for u in self.before(t)):
                plan[t] = candidate
                yield from self._plans(n + 1, plan)
                del plan[t]

    def _fits(self, u: Transition, before: Plan, t: Transition, after: Plan) -> bool:
        """Nothing is split (Lemma 5.2), and snapshots that are reused are there."""
        common = self.members[u] & self.members[t]
        if not all(any(members & common <= others for others, _ in after) for members, _ in before):
            return False
        reusing = [q for q in after if q[1] not in (None, t[0]) and q[0] & self.members[u]]
        return all(q in before for q in reusing)

    def _generated(self) -> dict[Transition, set[Plan]] | None:
        assert self.order is not None
        plans_of: dict[Transition, set[Plan]] = {}
        for t in self.order:
            before = self.before(t)
            plans_of[t] = set()
            for plans in product(*(sorted(plans_of[u], key=str) for u in before)):
                plans_of[t].update(self._from(t, dict(zip(before, plans, strict=True))))
            if len(plans_of[t]) > MOST_NODES or math.prod(map(len, plans_of.values())) > MOST_PLANS:
                return None
        return plans_of

    def _from(self, t: Transition, plans: Mapping[Transition, Plan]) -> Iterator[Plan]:
        """Every combination of parts: each pool before keeps, renews or merges its Q-sets; so does each start node."""
        here = self.members[t]
        groups = [members & here for plan in plans.values() for members, _ in plan if len(members & here) > 1]
        while pair := next(((a, b) for a, b in combinations(groups, 2) if a & b), None):
            groups = [g for g in groups if g not in pair] + [pair[0] | pair[1]]
        parts = [self.members[u] & here for u in plans] + [frozenset({q}) for q in self.starting(t)]
        for modes in product(("keep", "local", "merge"), repeat=len(parts)):
            merged = frozenset(q for part, mode in zip(parts, modes, strict=True) if mode == "merge" for q in part)
            merged = merged.union(*(g for g in groups if g & merged))
            q_sets: list[QSet] = [(merged, t[0])] if len(merged) > 1 else []
            for group in groups:
                if not group & merged:
                    renewed = any(part & group for part, mode in zip(parts, modes, strict=True) if mode == "local")
                    q_sets.append((group, self._snapshot(t, group, plans, renewed)))
            covered = frozenset(q for members, _ in q_sets for q in members)
            yield frozenset([*q_sets, *((frozenset({q}), None) for q in here - covered)])

    def _snapshot(self, t: Transition, group: frozenset[int], plans: Mapping[Transition, Plan], renewed: bool) -> str:
        """Those that the group has in all pools before it, if they can be reused and are not to be renewed by less."""
        into = [{s for members, s in plans[u] if members == group} for u in plans if self.members[u] & group]
        kept = [s for s in set.intersection(*into) if s is not None] if into else []
        if not kept or (self.starting(t) & group) not in (frozenset(), group):
            return t[0]
        return t[0] if renewed and self.frequencies[t[0]] < self.frequencies[kept[0]] else kept[0]
