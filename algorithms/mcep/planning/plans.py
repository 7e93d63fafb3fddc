"""Global plans: the multi-pattern tree and the multi-pattern multitree (MCEP, Sections 3.2 and 5)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import Self

from cepbench.algorithms.mcep.planning.costs import CostModel
from cepbench.algorithms.mcep.planning.generators import Join, canonical_joins
from cepbench.algorithms.mcep.planning.subpatterns import Interned
from cepbench.events.errors import CepbenchError

MAX_KEPT = 2**17
"""Maximum number of cached local plans; then the cache is emptied."""

SHARED = -1
"""The owner of a node that all patterns can use."""


class BrokenMultiPlan(CepbenchError):
    """A global plan does not evaluate a pattern; the message names it and the reason."""


@dataclass(frozen=True)
class PlanNode:
    """A step of a plan: it makes the instances of sub-pattern `sub` from those of its `children` and single events.

    In orders, the only child of a node is its prefix, if any; in trees, a node has two children, and a leaf has none.
    Nodes with the same fields are equal and shared (Section 3.2), unless their `owner` is a single pattern.
    """

    sub: int
    children: tuple[int, ...] = ()
    owner: int = SHARED


@dataclass(frozen=True, eq=False)
class LocalPlan:
    """How one pattern is evaluated: `steps` are its order, or the joins of its tree.

    `places` are the nodes with the set of operands that each one binds, children first; the last one is the final
    state. A node occurs in two places if the pattern contains a sub-pattern twice.
    """

    pattern: int
    steps: tuple[int, ...] | tuple[Join, ...]
    places: tuple[tuple[int, int], ...]

    @property
    def root(self) -> int:
        """The node whose instances are the pattern's matches, without checks of negation and window."""
        return self.places[-1][1]

    @cached_property
    def nodes(self) -> frozenset[int]:
        """The nodes in all places."""
        return frozenset(node for _, node in self.places)


PlanKey = tuple[int, tuple[int, ...] | tuple[Join, ...], int]
"""Identifies a local plan: its pattern, its steps, and its owner."""


class MultiPlan(ABC):
    """Local plans of patterns that share all equal nodes, with the cost of every node.

    The cost of a plan is the sum of the instances of its nodes, each in the largest window of the patterns that use it.
    Time of a change is O(m) for a pattern of m operands, regardless of the number of patterns.
    """

    def __init__(self, costs: CostModel) -> None:
        self.costs, self.table = costs, costs.table
        self.nodes: Interned[PlanNode] = Interned()
        self.plans: dict[int, LocalPlan] = {}
        self.windows: dict[int, dict[int, int]] = {}
        """By node in use: its users by their window."""
        self.prices: dict[int, float] = {}
        self._made: dict[PlanKey, LocalPlan] = {}
        self._sides: dict[int, tuple[int, int, int]] = {}
        """By node: the pattern for which it was made, and the operands that its two sides bind there."""

    def fresh(self) -> Self:
        """A plan without patterns that reuses the nodes and the local plans of this one."""
        plan = type(self)(self.costs)
        plan.nodes, plan._made, plan._sides = self.nodes, self._made, self._sides
        return plan

    @property
    def cost(self) -> float:
        """Cost_ord^multi or Cost_tree^multi: the correctly rounded sum over all nodes. O(nodes)."""
        return fsum(self.prices.values())

    def __len__(self) -> int:
        """The number of nodes in use."""
        return len(self.prices)

    def window(self, node: int) -> int:
        """The largest window of the patterns that use a node (Section 3.1)."""
        return max(self.windows[node])

    def users(self, node: int) -> int:
        """Number of patterns that use a node; 0 for one that is not in the plan."""
        return sum(self.windows.get(node, {}).values())

    def finals(self) -> dict[int, list[int]]:
        """The patterns that each final node detects."""
        found: dict[int, list[int]] = {}
        for pattern in sorted(self.plans):
            found.setdefault(self.plans[pattern].root, []).append(pattern)
        return found

    @property
    def inner_cost(self) -> float:
        """The cost without final nodes: the part that a plan can change, unless patterns are equal.

        In windows of many events, nearly all of the cost is that of the matches themselves.
        """
        finals = {plan.root for plan in self.plans.values()}
        return fsum(price for node, price in self.prices.items() if node not in finals)

    def first_places(self) -> dict[int, tuple[int, int]]:
        """By node in use: the first pattern that uses it, and the operands that it binds there.

        This pattern describes the node for an engine, since the node means the same to all of its users: the instances
        of a sub-pattern, by place (`SubPatternTable.places`).
        """
        found: dict[int, tuple[int, int]] = {}
        for pattern in sorted(self.plans):
            for mask, node in self.plans[pattern].places:
                found.setdefault(node, (pattern, mask))
        return found

    def in_order(self) -> list[int]:
        """The nodes in use, children before their parents."""
        return sorted(self.prices)

    def price(self, node: int, window: int) -> float:
        """The cost of a node in a window of given length, as in the pattern for which it was first made."""
        sides = self._sides.get(node, (0, 0, 0))
        return self.costs.price(self.nodes.items[node].sub, window) + self.costs.pairs(*sides, window)

    def exchange(self, fresh: Iterable[LocalPlan]) -> float:
        """Replaces or adds the plans of some patterns, and returns the increase of the cost."""
        before: dict[int, float] = {}
        for plan in fresh:
            old = self.plans.get(plan.pattern)
            if old is plan:
                continue
            had = frozenset() if old is None else old.nodes
            self._change(plan.pattern, had - plan.nodes, plan.nodes - had, before)
            self.plans[plan.pattern] = plan
        return self._increase(before)

    def remove(self, pattern: int) -> float:
        """Removes a pattern from the plan, and returns the increase of the cost."""
        before: dict[int, float] = {}
        self._change(pattern, self.plans.pop(pattern).nodes, frozenset(), before)
        return self._increase(before)

    def check(self, patterns: Iterable[int]) -> None:
        """Raises `BrokenMultiPlan` unless exactly these patterns are evaluated by valid local plans."""
        expected = set(patterns)
        if expected != set(self.plans):
            raise BrokenMultiPlan(f"the plan evaluates patterns {sorted(self.plans)} instead of {sorted(expected)}")
        for pattern, plan in self.plans.items():
            if plan.pattern != pattern:
                raise BrokenMultiPlan(f"pattern {pattern} is given the plan of pattern {plan.pattern}")
            self._check(plan)

    def negated_at(self, plan: LocalPlan, mask: int) -> tuple[int, ...]:
        """The absences between two operands of a pattern that can be checked once some operands are bound.

        Those at an end of the pattern depend on its window and wait for the complete match.
        """
        pattern = self.table[plan.pattern]
        return tuple(
            index
            for index, one in enumerate(pattern.negated)
            if 0 < one.gap < len(pattern) and mask >> (one.gap - 1) & 1 and mask >> one.gap & 1
        )

    def _check(self, plan: LocalPlan) -> None:
        """Checks that nodes bind their operands, the last one binds all, and all are in use with sufficient windows."""
        pattern = plan.pattern
        if plan.places[-1][0] != self.table[pattern].everything:
            raise BrokenMultiPlan(f"the final node of pattern {pattern} does not bind all operands")
        for mask, number in plan.places:
            node = self.nodes.items[number]
            if node.owner not in (SHARED, pattern):
                raise BrokenMultiPlan(f"pattern {pattern} uses a node that belongs to pattern {node.owner}")
            if node.sub != self.table.of(pattern, mask):
                raise BrokenMultiPlan(f"a node of pattern {pattern} detects another sub-pattern than operands {mask:b}")
            if number not in self.prices or self.window(number) < self.table[pattern].window:
                raise BrokenMultiPlan(f"a node of pattern {pattern} is not in use, or its window is too short")
        self._check_shape(plan)

    @abstractmethod
    def parts(self, plan: LocalPlan, mask: int) -> tuple[int, ...]:
        """The operands that each child binds of the node that binds `mask` in a local plan; the rest are events."""

    @abstractmethod
    def _check_shape(self, plan: LocalPlan) -> None:
        """Raises `BrokenMultiPlan` unless every node consists of the nodes of smaller places."""

    def _node(self, pattern: int, left: int, right: int, children: tuple[int, ...], owner: int) -> int:
        """The number of the node that makes operands `left` and `right` of a pattern; `left` is empty for events."""
        node = self.nodes.number(PlanNode(self.table.of(pattern, left | right), children, owner))
        self._sides.setdefault(node, (pattern, left, right))
        return node

    def _keep(self, key: PlanKey, plan: LocalPlan) -> LocalPlan:
        if len(self._made) >= MAX_KEPT:
            self._made.clear()
        self._made[key] = plan
        return plan

    def _change(self, pattern: int, gone: frozenset[int], come: frozenset[int], before: dict[int, float]) -> None:
        window = self.table[pattern].window
        for node in gone:
            before.setdefault(node, self.prices[node])
            users = self.windows[node]
            if users[window] > 1:
                users[window] -= 1
                continue
            del users[window]
            if users:
                self.prices[node] = self.price(node, max(users))
            else:
                del self.windows[node], self.prices[node]
        for node in come:
            before.setdefault(node, self.prices.get(node, 0.0))
            users = self.windows.setdefault(node, {})
            users[window] = users.get(window, 0) + 1
            if users[window] == 1:
                self.prices[node] = self.price(node, max(users))

    def _increase(self, before: dict[int, float]) -> float:
        return fsum(self.prices.get(node, 0.0) - price for node, price in before.items())


class MultiPatternTree(MultiPlan):
    """Orders that share all common prefixes (Section 3.2)."""

    def local(self, pattern: int, order: Sequence[int], owner: int = SHARED) -> LocalPlan:
        """The nodes of an order: one per prefix. O(m), or O(1) if cached."""
        key = pattern, tuple(order), owner
        found = self._made.get(key)
        if found is None:
            places: list[tuple[int, int]] = []
            mask = 0
            children: tuple[int, ...] = ()
            for operand in order:
                mask |= 1 << operand
                node = self._node(pattern, mask ^ 1 << operand, 1 << operand, children, owner)
                places.append((mask, node))
                children = (node,)
            found = self._keep(key, LocalPlan(pattern, key[1], tuple(places)))
        return found

    def parts(self, plan: LocalPlan, mask: int) -> tuple[int, ...]:
        smaller = [bound for bound, _ in plan.places if bound != mask and bound & ~mask == 0]
        return (smaller[-1],) if smaller else ()

    def _check_shape(self, plan: LocalPlan) -> None:
        prefix = 0
        children: tuple[int, ...] = ()
        for mask, number in plan.places:
            if mask & prefix != prefix or (mask ^ prefix).bit_count() != 1:
                raise BrokenMultiPlan(f"a node of pattern {plan.pattern} does not bind one operand more than the last")
            if self.nodes.items[number].children != children:
                raise BrokenMultiPlan(f"a node of pattern {plan.pattern} does not continue its prefix")
            prefix, children = mask, (number,)


class MultiPatternMultitree(MultiPlan):
    """Binary trees that share all common subtrees (Section 5)."""

    def local(self, pattern: int, joins: Sequence[Join], owner: int = SHARED) -> LocalPlan:
        """The nodes of a tree: a leaf per operand and a node per join. O(m), or O(1) if cached."""
        key = pattern, canonical_joins(joins), owner
        found = self._made.get(key)
        if found is None:
            made: dict[int, int] = {}
            for operand in range(len(self.table[pattern])):
                made[1 << operand] = self._node(pattern, 0, 1 << operand, (), owner)
            for left, right in key[1]:
                children = (made[left], made[right]) if made[left] <= made[right] else (made[right], made[left])
                made[left | right] = self._node(pattern, left, right, children, owner)
            found = self._keep(key, LocalPlan(pattern, key[1], tuple(made.items())))
        return found

    def parts(self, plan: LocalPlan, mask: int) -> tuple[int, ...]:
        return next((step for step in plan.steps if isinstance(step, tuple) and step[0] | step[1] == mask), ())

    def _check_shape(self, plan: LocalPlan) -> None:
        made = dict(plan.places)
        for mask, number in plan.places:
            children = self.nodes.items[number].children
            if mask.bit_count() == 1:
                if children:
                    raise BrokenMultiPlan(f"a leaf of pattern {plan.pattern} has children")
                continue
            halves = [
                (part, mask ^ part)
                for part in made
                if part & mask == part and part != mask and mask ^ part in made
            ]  # fmt: skip
            if not any(sorted((made[a], made[b])) == list(children) for a, b in halves):
                raise BrokenMultiPlan(f"a node of pattern {plan.pattern} does not join two of its nodes")
        if len(plan.places) != 2 * len(self.table[plan.pattern]) - 1:
            raise BrokenMultiPlan(f"the plan of pattern {plan.pattern} is not a binary tree over its operands")
