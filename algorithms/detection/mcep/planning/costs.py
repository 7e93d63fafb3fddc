"""The cost model: expected numbers of partial matches (MCEP, Section 3.3 and Appendix C)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import fsum

from cepbench.algorithms.detection.mcep.planning.patterns import PatternElement
from cepbench.algorithms.detection.mcep.planning.selectivities import Selectivities, TypeFilters, TypePair
from cepbench.algorithms.detection.mcep.planning.subpatterns import SubPatternTable
from cepbench.events.statistics import Statistics

MAX_DOUBLINGS = 40.0
"""Log2 of the maximum number of sets of a Kleene operand in estimates: beyond any memory, and costs stay comparable."""

MAX_INSTANCES = 1e290
"""Maximum number of instances of a sub-pattern in estimates: costs and their sums stay finite."""


class CostModel:
    """Expected numbers of instances of the sub-patterns of a table, in windows of given length.

    A window W contains W r events of a type of rate r (a count window: W times its share of all events), times the
    selectivity of the operand's own conditions; a Kleene operand with n events has 2^n sets (Kolchinsky and Schuster,
    VLDB 2018). The number of instances of a sub-pattern is the product over its operands, times the selectivities of
    the conditions between each two of them. As in the paper, the order in a SEQ and negation do not reduce it.
    """

    def __init__(
        self, table: SubPatternTable, statistics: Statistics, selectivities: Selectivities | None = None
    ) -> None:
        self.table, self.statistics = table, statistics
        self.selectivities = Selectivities() if selectivities is None else selectivities
        self.total_rate = fsum(statistics.rates.values())
        self._instances: dict[tuple[int, int], float] = {}
        self._between: dict[tuple[int, int, int], float] = {}

    def instances(self, sub: int, window: int) -> float:
        """Expected instances of a sub-pattern: C(N) of a node that detects it. O(1) if computed before."""
        found = self._instances.get((sub, window))
        if found is None:
            found = self._instances[sub, window] = self._computed(sub, window)
        return found

    def price(self, sub: int, window: int) -> float:
        """Cost of a node that does not depend on its children: its instances (C(N) of the paper)."""
        return self.instances(sub, window)

    def pairs(self, pattern: int, left: int, right: int, window: int) -> float:
        """Additional cost of making a node from two disjoint sets of operands; 0 in the paper."""
        del pattern, left, right, window
        return 0.0

    def of(self, pattern: int, mask: int) -> float:
        """Expected instances of the sub-pattern of some operands, in the window of their pattern."""
        return self.instances(self.table.of(pattern, mask), self.table[pattern].window)

    def events(self, element: PatternElement, window: int, counts_events: bool = False) -> float:
        """Expected instances of a single operand."""
        rate = self.statistics.rates.get(element.type, 0.0)
        if counts_events:
            rate = rate / self.total_rate if self.total_rate else 0.0
        found = window * rate * self.selectivities.of(TypeFilters(element.type, element.filters))
        return 2.0 ** min(found, MAX_DOUBLINGS) if element.kleene else found

    def _computed(self, sub: int, window: int) -> float:
        found = self.table.known.items[sub]
        counts = self.table.scopes.items[found.scope].counts_events
        instances = 1.0
        for element in found.elements:
            instances = min(MAX_INSTANCES, instances * self.events(self.table.elements.items[element], window, counts))
        for (p, q), relation in zip(combinations(found.elements, 2), found.relations, strict=True):
            instances *= self._selectivity(p, q, relation)
        return instances

    def _selectivity(self, left: int, right: int, relation: int) -> float:
        """Sel of Section 2: the selectivity of all conditions between two operands together."""
        found = self._between.get((left, right, relation))
        if found is None:
            types = self.table.elements.items[left].type, self.table.elements.items[right].type
            found = self.selectivities.of(TypePair(*types, self.table.relations.items[relation]))
            self._between[left, right, relation] = found
        return found


def order_cost(costs: CostModel, pattern: int, order: Sequence[int]) -> float:
    """Cost_ord: the instances of all prefixes of an order of the operands (Section 3.3)."""
    mask, parts = 0, []
    for operand in order:
        mask |= 1 << operand
        parts.append(costs.of(pattern, mask))
    return fsum(parts)


def tree_cost(costs: CostModel, pattern: int, joins: Sequence[tuple[int, int]]) -> float:
    """Cost_tree: the instances of all leaves and of all joins of two sets of operands (Appendix C)."""
    leaves = [costs.of(pattern, 1 << operand) for operand in range(len(costs.table[pattern]))]
    return fsum([*leaves, *(costs.of(pattern, left | right) for left, right in joins)])
