"""Local plans within a global plan: the best ones, and those that share a sub-pattern (MCEP, Sections 4.2, 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from random import Random

from cepbench.algorithms.detection.mcep.planning.costs import CostModel
from cepbench.algorithms.detection.mcep.planning.generators import (
    Instances,
    Join,
    Joins,
    Pairs,
    cheapest_joins,
    cheapest_order,
    greedy_joins,
    greedy_order,
)
from cepbench.algorithms.detection.mcep.planning.graph import SharedChoice
from cepbench.algorithms.detection.mcep.planning.plans import MAX_KEPT, LocalPlan, MultiPlan
from cepbench.algorithms.detection.mcep.planning.subpatterns import mask_of, operands_of
from cepbench.events.errors import CepbenchError

GENERATORS = ("dp", "greedy")
SHAPES = ("orders", "trees")
_GENERATE: dict[tuple[str, str], Callable[[Instances, Sequence[int], Pairs], Joins]] = {
    ("orders", "dp"): cheapest_order,
    ("orders", "greedy"): greedy_order,
    ("trees", "dp"): cheapest_joins,
    ("trees", "greedy"): greedy_joins,
}


class LocalPlanner:
    """Makes local plans for the patterns of one global plan: orders share prefixes, trees share subtrees.

    Local plans are cached, since a search reuses them. `least`: the minimum number of operands of a sub-pattern worth
    sharing; all trees share single events. Raises `CepbenchError` for an unknown shape or generator.
    """

    def __init__(self, costs: CostModel, shape: str, generator: str = "dp") -> None:
        if shape not in SHAPES:
            raise CepbenchError(f"unknown shape of plans {shape!r}; choose {' or '.join(SHAPES)}")
        if generator not in GENERATORS:
            raise CepbenchError(f"unknown plan generator {generator!r}; choose {' or '.join(GENERATORS)}")
        self.costs, self.table, self.generate = costs, costs.table, _GENERATE[shape, generator]
        self.plan = MultiPlan(costs, orders=shape == "orders")
        self.least = 1 if self.plan.orders else 2
        self._joins: dict[tuple[int, tuple[int, ...]], Joins] = {}
        self._shared: dict[tuple[int, int], Joins] = {}

    def start(self, patterns: Sequence[int]) -> MultiPlan:
        """The first plan of a search: the best local plan of every pattern (end of Section 4.2)."""
        self.plan.exchange(self.containing(pattern, (), ()) for pattern in patterns)
        return self.plan

    def containing(self, pattern: int, given: Sequence[int], within: Sequence[Join]) -> LocalPlan:
        """The cheapest plan of a pattern (functionality 1 of the generator) with a given prefix, or given subtrees.

        `given`: their operands; `within`: all joins in them.
        """
        key = pattern, tuple(given)
        joins = self._joins.get(key)
        if joins is None:
            left = [1 << operand for operand in operands_of(self.table[pattern].everything & ~sum(given))]
            parts = [sum(given), *left] if self.plan.orders else sorted([*given, *left])
            joins = self._joins[key] = self._generated(pattern, parts, self.table[pattern].window)
        return self.plan.local(pattern, (*within, *joins))

    def sharing(self, choice: SharedChoice, random: Random) -> list[LocalPlan]:
        """Local plans of the chosen patterns that share the chosen sub-pattern: functionality 2 of the generator.

        They share the cheapest plan of the sub-pattern in the shortest window of the patterns (W_ij of Section 4.1).
        A tree keeps subtrees that it already shares, or not, at random (Section 5), unless they overlap with the chosen
        sub-pattern. The empty sub-pattern undoes sharing.
        """
        joins = () if choice.sub < 0 else self._tree(choice)
        found = []
        for pattern, mask in choice.masks:
            given = [mask] if mask else []
            within = list(_renamed(joins, self.table.places(pattern, mask))) if mask else []
            if not self.plan.orders and random.random() < 0.5:
                for kept in self._shared_subtrees(pattern, mask):
                    given.append(kept)
                    within += [(a, b) for a, b in self.plan.plans[pattern].steps if (a | b) & ~kept == 0]
            found.append(self.containing(pattern, given, within))
        return found

    def _generated(self, pattern: int, parts: Sequence[int], window: int) -> Joins:
        """Joins of some sets of operands of a pattern, at the least cost in a window."""
        return self.generate(
            lambda mask: self.costs.price(self.table.of(pattern, mask), window),
            parts,
            lambda left, right: self.costs.pairs(pattern, left, right, window),
        )

    def _tree(self, choice: SharedChoice) -> Joins:
        """The cheapest plan of a sub-pattern, with sets of its places instead of operands."""
        window = min(self.table[pattern].window for pattern, _ in choice.masks)
        found = self._shared.get((choice.sub, window))
        if found is None:
            pattern, mask = choice.masks[0]
            leaves = [1 << operand for operand in operands_of(mask)]
            joins = self._generated(pattern, [0, *leaves] if self.plan.orders else leaves, window)
            places = self.table.places(pattern, mask)
            new = tuple(places.index(one) if one in places else 0 for one in range(len(self.table[pattern])))
            found = self._shared[choice.sub, window] = _renamed(joins, new)
        return found

    def _shared_subtrees(self, pattern: int, mask: int) -> list[int]:
        """The largest subtrees of a pattern's plan that others use, too, and that contain no operand of `mask`."""
        found: list[int] = []
        taken = mask
        for bound, node in reversed(self.plan.plans[pattern].places):
            if bound & taken == 0 and bound & (bound - 1) and self.plan.users(node) > 1:
                found.append(bound)
                taken |= bound
        return found


@lru_cache(maxsize=MAX_KEPT)
def _renamed(joins: Joins, new: tuple[int, ...]) -> Joins:
    """The same joins with operand `new[i]` instead of i."""

    def renamed(mask: int) -> int:
        return mask_of([new[one] for one in operands_of(mask)])

    return tuple((renamed(a), renamed(b)) for a, b in joins)
