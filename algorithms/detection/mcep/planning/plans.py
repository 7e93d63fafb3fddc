"""Global plans: the multi-pattern tree and the multi-pattern multitree (MCEP, Sections 3.2 and 5)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import fsum

from cepbench.algorithms.detection.mcep.planning.costs import CostModel
from cepbench.algorithms.detection.mcep.planning.patterns import Interned

MAX_KEPT = 2**17
"""Maximum number of cached local plans; then the cache is emptied."""

SHARED = -1
"""The owner of a node that all patterns can use."""

BUFFER = -2
"""The owner of a leaf of an order that is not its first state: events are buffered there for later states."""

Join = tuple[int, int]
Joins = tuple[Join, ...]
"""A tree: the sets of operands that are joined, smaller trees first. An order: each prefix and its next operand."""


@dataclass(frozen=True)
class PlanNode:
    """A step of a plan: it makes the instances of sub-pattern `sub` from those of its two `children`; leaves have none.

    Nodes with the same fields are equal and shared (Section 3.2), unless their `owner` is a single pattern.
    """

    sub: int
    children: tuple[int, ...] = ()
    owner: int = SHARED


@dataclass(frozen=True, eq=False)
class LocalPlan:
    """The evaluation of one pattern: `steps` are the joins of its tree or, from prefix to prefix, of its order.

    `places` are the nodes with the set of operands that each one binds, children first; the last one is the final
    state. A node occurs in two places if the pattern contains a sub-pattern twice. `nodes`: those which are no buffers.
    """

    pattern: int
    steps: Joins
    places: tuple[tuple[int, int], ...]
    nodes: frozenset[int]

    @property
    def root(self) -> int:
        """The node whose instances are the pattern's matches, without checks of negation and window."""
        return self.places[-1][1]

    def parts(self, mask: int) -> tuple[int, ...]:
        """The operands that each child binds of the node that binds `mask`; none for a leaf."""
        return next((step for step in self.steps if step[0] | step[1] == mask), ())


class MultiPlan:
    """Local plans of patterns that share all equal nodes, with the cost of every node.

    With `orders` it is a multi-pattern tree, in which patterns share prefixes (Section 3.2): a step joins a prefix with
    the buffer of its next operand. Otherwise it is a multitree, in which patterns share subtrees (Section 5).

    The cost of a plan is the sum of the instances of its nodes, each in the largest window of the patterns that use it;
    buffers are not counted. Time of a change is O(m) for a pattern of m operands, regardless of the number of patterns.
    """

    def __init__(self, costs: CostModel, *, orders: bool = False) -> None:
        self.costs, self.table, self.orders = costs, costs.table, orders
        self.nodes: Interned[PlanNode] = Interned()
        self.plans: dict[int, LocalPlan] = {}
        self.windows: dict[int, dict[int, int]] = {}
        """By node in use: its users by their window."""
        self.prices: dict[int, float] = {}
        self._cached: dict[tuple[int, Joins, int], LocalPlan] = {}
        """By pattern, steps and owner."""
        self._sides: dict[int, tuple[int, int, int]] = {}
        """By node: the pattern for which it was made, and the operands that its two sides bind there."""

    def local(self, pattern: int, joins: Iterable[Join], owner: int = SHARED) -> LocalPlan:
        """The nodes of a tree or an order: a leaf per operand and a node per join. O(m), or O(1) if cached."""
        steps = tuple(joins) if self.orders else canonical_joins(joins)
        key = pattern, steps, owner
        plan = self._cached.get(key)
        if plan is None:
            node_of: dict[int, int] = {}
            leaves = [1 << operand for operand in range(len(self.table[pattern]))]
            buffers = {leaf for leaf in leaves if leaf != steps[0][0]} if self.orders and steps else set()
            for leaf in leaves:
                node_of[leaf] = self._node(pattern, 0, leaf, (), BUFFER if leaf in buffers else owner)
            for left, right in steps:
                a, b = node_of[left], node_of[right]
                children = (a, b) if a <= b else (b, a)
                node_of[left | right] = self._node(pattern, left, right, children, owner)
            if len(self._cached) >= MAX_KEPT:
                self._cached.clear()
            nodes = frozenset(node for mask, node in node_of.items() if mask not in buffers)
            plan = self._cached[key] = LocalPlan(pattern, steps, tuple(node_of.items()), nodes)
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
        patterns: dict[int, list[int]] = {}
        for pattern in sorted(self.plans):
            patterns.setdefault(self.plans[pattern].root, []).append(pattern)
        return patterns

    @property
    def inner_cost(self) -> float:
        """The cost without final nodes: the part that a plan can change, unless patterns are equal.

        In windows of many events, nearly all of the cost is that of the matches themselves.
        """
        finals = {plan.root for plan in self.plans.values()}
        return fsum(price for node, price in self.prices.items() if node not in finals)

    def first_places(self) -> dict[int, tuple[int, int]]:
        """By node in use or buffer: the first pattern that uses it, and the operands that it binds there.

        This pattern describes the node for an engine, since the node means the same to all of its users: the instances
        of a sub-pattern, by place (`SubPatternTable.places`).
        """
        places: dict[int, tuple[int, int]] = {}
        for pattern in sorted(self.plans):
            for mask, node in self.plans[pattern].places:
                places.setdefault(node, (pattern, mask))
        return places

    def in_order(self) -> list[int]:
        """The nodes in use, children before their parents."""
        return sorted(self.prices)

    def price(self, node: int, window: int) -> float:
        """The cost of a node in a window of given length, as in the pattern for which it was first made."""
        return self.costs.price(self.nodes.items[node].sub, window) + self.costs.pairs(*self._sides[node], window)

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

    def negated_at(self, plan: LocalPlan, mask: int) -> tuple[int, ...]:
        """The absences between two operands of a pattern that can be checked once some operands are bound.

        Those at an end of the pattern depend on its window and wait for the complete match.
        """
        pattern = self.table[plan.pattern]
        return tuple(
            index
            for index, absence in enumerate(pattern.negated)
            if 0 < absence.gap < len(pattern) and mask >> (absence.gap - 1) & 1 and mask >> absence.gap & 1
        )

    def _node(self, pattern: int, left: int, right: int, children: tuple[int, ...], owner: int) -> int:
        """The number of the node that makes operands `left` and `right` of a pattern; `left` is empty for events."""
        node = self.nodes.number(PlanNode(self.table.of(pattern, left | right), children, owner))
        self._sides.setdefault(node, (pattern, left, right))
        return node

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


def canonical_joins(joins: Iterable[Join]) -> Joins:
    """The same tree with its joins in a canonical order, smaller trees first; the left one has the least operand."""
    sides = [(a, b) if a & -a < b & -b else (b, a) for a, b in joins]
    return tuple(sorted(sides, key=lambda pair: ((pair[0] | pair[1]).bit_count(), pair)))
