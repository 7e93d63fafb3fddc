"""Local plans within a global plan: the best ones, and those that share a sub-pattern (MCEP, Sections 4.2, 5)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from random import Random
from typing import ClassVar

from cepbench.algorithms.mcep.planning.costs import CostModel
from cepbench.algorithms.mcep.planning.generators import (
    Instances,
    Join,
    Joins,
    Order,
    Pairs,
    canonical_joins,
    cheapest_joins,
    cheapest_order,
    greedy_joins,
    greedy_order,
)
from cepbench.algorithms.mcep.planning.graph import SharedChoice
from cepbench.algorithms.mcep.planning.plans import (
    LocalPlan,
    MultiPatternMultitree,
    MultiPatternTree,
    MultiPlan,
)
from cepbench.algorithms.mcep.planning.subpatterns import mask_of, operands_of
from cepbench.events.errors import CepbenchError

GENERATORS = ("dp", "greedy")
SHAPES = ("orders", "trees")


class LocalPlanner(ABC):
    """Makes local plans for the patterns of a global plan. Local plans are cached, since a search reuses them.

    `least`: the minimum number of operands of a sub-pattern worth sharing; all trees share single events.
    """

    least: ClassVar[int]

    def __init__(self, costs: CostModel, generator: str = "dp") -> None:
        if generator not in GENERATORS:
            raise CepbenchError(f"unknown plan generator {generator!r}; choose {' or '.join(GENERATORS)}")
        self.costs, self.table, self.exhaustive = costs, costs.table, generator == "dp"

    @abstractmethod
    def empty(self) -> MultiPlan:
        """A global plan of no patterns."""

    @abstractmethod
    def best(self, pattern: int) -> LocalPlan:
        """The cheapest local plan of a pattern: functionality 1 of the generator."""

    @abstractmethod
    def sharing(self, plan: MultiPlan, choice: SharedChoice, random: Random) -> list[LocalPlan]:
        """Local plans of the chosen patterns that share the chosen sub-pattern: functionality 2 of the generator.

        They share the cheapest plan of the sub-pattern in the shortest window of the patterns (W_ij of Section 4.1).
        """

    def start(self, patterns: Sequence[int]) -> MultiPlan:
        """The first plan of a search: the best local plan of every pattern (end of Section 4.2)."""
        plan = self.empty()
        plan.exchange(self.best(pattern) for pattern in patterns)
        return plan

    def instances(self, pattern: int, window: int | None = None) -> Instances:
        """The instances, or the price, of a set of operands of a pattern, in its own window or another one."""
        length = self.table[pattern].window if window is None else window
        return lambda mask: self.costs.price(self.table.of(pattern, mask), length)

    def pairs(self, pattern: int, window: int | None = None) -> Pairs:
        """The cost of joining two sets of operands of a pattern, in its own window or another one."""
        length = self.table[pattern].window if window is None else window
        return lambda left, right: self.costs.pairs(pattern, left, right, length)

    def shortest(self, choice: SharedChoice) -> int:
        """The shortest window of the chosen patterns."""
        return min(self.table[pattern].window for pattern, _ in choice.masks)


class OrderPlanner(LocalPlanner):
    """Orders, which share prefixes."""

    least: ClassVar[int] = 1

    def __init__(self, costs: CostModel, generator: str = "dp") -> None:
        super().__init__(costs, generator)
        self.generate = cheapest_order if self.exhaustive else greedy_order
        self.tree = MultiPatternTree(costs)
        self._orders: dict[tuple[int, Order], Order] = {}
        self._shared: dict[tuple[int, int], Order] = {}

    def empty(self) -> MultiPatternTree:
        return self.tree.fresh()

    def best(self, pattern: int) -> LocalPlan:
        return self.completed(pattern, ())

    def completed(self, pattern: int, prefix: Order) -> LocalPlan:
        """The cheapest order of a pattern that begins with the operands `prefix`."""
        found = self._orders.get((pattern, prefix))
        if found is None:
            everything = self.table[pattern].everything
            found = self.generate(self.instances(pattern), prefix, everything, self.pairs(pattern))
            self._orders[pattern, prefix] = found
        return self.tree.local(pattern, found)

    def sharing(self, plan: MultiPlan, choice: SharedChoice, random: Random) -> list[LocalPlan]:
        if choice.sub < 0:
            return [self.best(pattern) for pattern, _ in choice.masks]
        order = self._order(choice)
        return [
            self.completed(pattern, tuple(self.table.places(pattern, mask)[place] for place in order))
            for pattern, mask in choice.masks
        ]

    def _order(self, choice: SharedChoice) -> Order:
        """The cheapest order of a sub-pattern, as its places."""
        window = self.shortest(choice)
        found = self._shared.get((choice.sub, window))
        if found is None:
            pattern, mask = choice.masks[0]
            places = self.table.places(pattern, mask)
            order = self.generate(self.instances(pattern, window), (), mask, self.pairs(pattern, window))
            found = self._shared[choice.sub, window] = tuple(places.index(operand) for operand in order)
        return found


class TreePlanner(LocalPlanner):
    """Binary trees, which share subtrees."""

    least: ClassVar[int] = 2

    def __init__(self, costs: CostModel, generator: str = "dp") -> None:
        super().__init__(costs, generator)
        self.generate: Callable[[Instances, Sequence[int], Pairs], Joins]
        self.generate = cheapest_joins if self.exhaustive else greedy_joins
        self.tree = MultiPatternMultitree(costs)
        self._joins: dict[tuple[int, tuple[int, ...]], Joins] = {}
        self._shared: dict[tuple[int, int], Joins] = {}

    def empty(self) -> MultiPatternMultitree:
        return self.tree.fresh()

    def best(self, pattern: int) -> LocalPlan:
        return self.containing(pattern, (), ())

    def containing(self, pattern: int, subtrees: Sequence[int], within: Sequence[Join]) -> LocalPlan:
        """The cheapest tree of a pattern with the given disjoint subtrees: their operands, and all joins in them."""
        left = self.table[pattern].everything & ~sum(subtrees)
        parts = tuple(sorted([*subtrees, *(1 << operand for operand in operands_of(left))]))
        joins = self._joins.get((pattern, parts))
        if joins is None:
            joins = self._joins[pattern, parts] = self.generate(self.instances(pattern), parts, self.pairs(pattern))
        return self.tree.local(pattern, (*within, *joins))

    def sharing(self, plan: MultiPlan, choice: SharedChoice, random: Random) -> list[LocalPlan]:
        """Local trees that share the sub-pattern; each keeps subtrees that it already shares, or not, at random
        (Section 5).

        Subtrees that overlap with the chosen sub-pattern cannot be kept.
        """
        joins = () if choice.sub < 0 else self._tree(choice)
        found = []
        for pattern, mask in choice.masks:
            subtrees, within = ([mask], self._placed(pattern, mask, joins)) if mask else ([], [])
            if random.random() < 0.5:
                for kept in self._shared_subtrees(plan, pattern, mask):
                    subtrees.append(kept)
                    within += _inside(plan.plans[pattern], kept)
            found.append(self.containing(pattern, subtrees, within))
        return found

    def _tree(self, choice: SharedChoice) -> Joins:
        """The cheapest tree of a sub-pattern, with sets of its places."""
        window = self.shortest(choice)
        found = self._shared.get((choice.sub, window))
        if found is None:
            pattern, mask = choice.masks[0]
            place = {operand: i for i, operand in enumerate(self.table.places(pattern, mask))}
            leaves = [1 << operand for operand in operands_of(mask)]
            joins = self.generate(self.instances(pattern, window), leaves, self.pairs(pattern, window))
            translated = [
                (mask_of([place[one] for one in operands_of(a)]), mask_of([place[one] for one in operands_of(b)]))
                for a, b in joins
            ]
            found = self._shared[choice.sub, window] = canonical_joins(translated)
        return found

    def _placed(self, pattern: int, mask: int, joins: Joins) -> list[Join]:
        """A tree of places, converted to the operands at these places."""
        places = self.table.places(pattern, mask)
        return [
            (mask_of([places[one] for one in operands_of(a)]), mask_of([places[one] for one in operands_of(b)]))
            for a, b in joins
        ]

    def _shared_subtrees(self, plan: MultiPlan, pattern: int, mask: int) -> list[int]:
        """The largest subtrees of a pattern's plan that others use, too, and that contain no operand of `mask`."""
        found: list[int] = []
        taken = mask
        for bound, node in reversed(plan.plans[pattern].places):
            if bound & taken == 0 and bound & (bound - 1) and plan.users(node) > 1:
                found.append(bound)
                taken |= bound
        return found


def _inside(plan: LocalPlan, mask: int) -> list[Join]:
    """The joins of a subtree."""
    found = []
    for step in plan.steps:
        assert isinstance(step, tuple)
        if (step[0] | step[1]) & ~mask == 0:
            found.append(step)
    return found


def planner_of(shape: str, costs: CostModel, generator: str = "dp") -> LocalPlanner:
    """The planner of `orders` or `trees`. Raises `CepbenchError` for an unknown name."""
    if shape not in SHAPES:
        raise CepbenchError(f"unknown shape of plans {shape!r}; choose {' or '.join(SHAPES)}")
    return OrderPlanner(costs, generator) if shape == "orders" else TreePlanner(costs, generator)
