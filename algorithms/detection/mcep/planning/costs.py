"""The cost model: expected numbers of partial matches (MCEP, Section 3.3 and Appendix C)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import exp, fsum, lgamma

from cepbench.algorithms.detection.mcep.engine.indices import ASSUMED, ASSUMED_EQUAL, DEFAULT_SORTING, MAX_SHARE
from cepbench.algorithms.detection.mcep.planning.patterns import PatternElement, SubPatternTable, operands_of
from cepbench.algorithms.detection.mcep.planning.selectivities import Selectivities, TypeFilters, TypePair
from cepbench.events.statistics import Statistics
from cepbench.queries.model import Number, Op

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
        instances = self._instances.get((sub, window))
        if instances is None:
            instances = self._instances[sub, window] = self._computed(sub, window)
        return instances

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
        expected = window * rate * self.selectivities.of(TypeFilters(element.type, element.filters))
        return 2.0 ** min(expected, MAX_DOUBLINGS) if element.kleene else expected

    def _computed(self, sub: int, window: int) -> float:
        sub_pattern = self.table.sub_patterns.items[sub]
        counts = self.table.scopes.items[sub_pattern.scope].counts_events
        instances = 1.0
        for element in sub_pattern.elements:
            instances = min(MAX_INSTANCES, instances * self.events(self.table.elements.items[element], window, counts))
        for (p, q), relation in zip(combinations(sub_pattern.elements, 2), sub_pattern.relations, strict=True):
            instances *= self._selectivity(p, q, relation)
        return instances

    def _selectivity(self, left: int, right: int, relation: int) -> float:
        """Sel of Section 2: the selectivity of all conditions between two operands together."""
        selectivity = self._between.get((left, right, relation))
        if selectivity is None:
            types = self.table.elements.items[left].type, self.table.elements.items[right].type
            selectivity = self.selectivities.of(TypePair(*types, self.table.relations.items[relation]))
            self._between[left, right, relation] = selectivity
        return selectivity


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


ROW, VISIT = 5.0, 20.0
"""Costs of creating a row, and of an event's visit to a node, in units of an examined pair.

The choice is not critical: plans for 100 patterns on streams of stocks and traffic take the same time within a tenth if
rows cost 1 to 20 pairs, visits 2 to 60, and `ENTERED` is 2 to 40.
"""

ENTERED = 10.0
"""Cost of adding a row to an index, in examined pairs, before it is sorted."""


class EngineCosts(CostModel):
    """Costs in units of examined pairs per window length.

    A row is created when its last event arrives: per window length W, W^k r_1 ... r_k s / (k - 1)! rows of k operands
    of a SEQ, since one order of the others is correct, and k W^k r_1 ... r_k s of an AND, in which any operand can be
    last. For every fresh row of the side with the current event, a join examines older rows of the other side: in a SEQ
    those that ended before the next operand. With an index (`engine.indices`) it examines those in the range of one
    value's conditions, and the latest rows, which are not sorted yet: half a block of them, or few if they have to
    precede another operand. Conditions between different operands are assumed to be independent; a Kleene operand has
    as many sets as in the paper.
    """

    def __init__(
        self, table: SubPatternTable, statistics: Statistics, selectivities: Selectivities | None = None
    ) -> None:
        super().__init__(table, statistics, selectivities)
        self._pairs: dict[tuple[int, int, int, int], float] = {}

    def made(self, sub: int, window: int) -> float:
        """Number of rows of a sub-pattern that are created per window length."""
        sub_pattern = self.table.sub_patterns.items[sub]
        size = len(sub_pattern)
        return self.instances(sub, window) * (exp(-lgamma(size)) if sub_pattern.ordered else size)

    def price(self, sub: int, window: int) -> float:
        """Cost of a node's rows and of the visiting events: those of a SEQ's last operand, or of any operand."""
        sub_pattern = self.table.sub_patterns.items[sub]
        elements = [self.table.elements.items[number] for number in sub_pattern.elements]
        last = {element.type for element in (elements[-1:] if sub_pattern.ordered else elements)}
        counts = self.table.scopes.items[sub_pattern.scope].counts_events
        visits = sum(self.events(PatternElement(name), window, counts) for name in sorted(last))
        return ROW * self.made(sub, window) + VISIT * visits

    def pairs(self, pattern: int, left: int, right: int, window: int) -> float:
        """Pairs that a join examines, with the current event in one side or the other. O(1) if computed before."""
        if not left or not right:
            return 0.0
        key = pattern, left, right, window
        examined = self._pairs.get(key)
        if examined is None:
            ways = [(left, right), (right, left)]
            if self.table[pattern].ordered:
                ways = [ways[left < right]]
            examined = self._pairs[key] = sum(self._examined(pattern, *way, window) for way in ways)
        return examined

    def _examined(self, pattern: int, fresh_side: int, older_side: int, window: int) -> float:
        """Pairs of fresh rows of one side and older ones of the other."""
        fresh = self.made(self.table.of(pattern, fresh_side), window)
        older = self.made(self.table.of(pattern, older_side), window)
        reached = self._reached(fresh_side, older_side) if self.table[pattern].ordered else 1.0
        passed = reached * min(MAX_INSTANCES, fresh * older)
        share = self._share(pattern, fresh_side, older_side)
        if share > MAX_SHARE:
            return passed
        latest = DEFAULT_SORTING.block / 2
        if reached < 1:
            latest *= min(1.0, latest / max(latest, 2 * older))
        return min(passed, share * passed + max(latest * fresh, ENTERED * older))

    def _reached(self, fresh_side: int, older_side: int) -> float:
        """The share of the older rows that ended before the fresh row's operand that follows their last one.

        Of n operands that end a SEQ in a window, the i-th one is on average i/n of the window after its beginning.
        """
        later = fresh_side & ~((1 << older_side.bit_length()) - 1)
        size = fresh_side.bit_count()
        return (size - later.bit_count() + 1) / size

    def _share(self, pattern: int, fresh_side: int, older_side: int) -> float:
        """The least share of older rows in the range of conditions on one of their values; 1 without conditions."""
        shares: dict[tuple[int, str, Number], float] = {}
        types = [element.type for element in self.table[pattern].elements]
        for b in operands_of(older_side):
            for a in operands_of(fresh_side):
                for comparison in self.table.relations.items[self.table.relation(pattern, a, b)]:
                    if comparison.op is not Op.NE:
                        share = self.selectivities.of(TypePair(types[a], types[b], frozenset({comparison})))
                        assumed = ASSUMED_EQUAL if comparison.op is Op.EQ else ASSUMED
                        value = b, comparison.right.attribute, comparison.right.factor
                        shares[value] = shares.get(value, 1.0) * (share if share < 1 else assumed)
        return min(shares.values(), default=1.0)
