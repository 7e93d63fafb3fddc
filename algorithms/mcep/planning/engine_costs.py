"""What a plan costs the engines as they are built here: rows that are made, pairs that are looked at, and visits of
nodes; not in the paper.
"""

from __future__ import annotations

from math import exp, lgamma

from cepbench.algorithms.mcep.engine.indices import GUESSED, GUESSED_EQUAL, MOST_SHARE, USUAL_SORTING
from cepbench.algorithms.mcep.planning.costs import MOST_INSTANCES, CostModel
from cepbench.algorithms.mcep.planning.patterns import PatternElement
from cepbench.algorithms.mcep.planning.selectivities import Selectivities, TypePair
from cepbench.algorithms.mcep.planning.subpatterns import SubPatternTable, operands_of
from cepbench.events.statistics import Statistics
from cepbench.queries.model import Number, Op

ROW, VISIT = 5.0, 20.0
"""What a row that is made, and an event that visits a node, cost: so many times a pair that is looked at.

Plans for 100 patterns on streams of stocks and traffic take the same time, but for a tenth, with rows of 1 to 20 pairs,
visits of 2 to 60, and `ENTERED` of 2 to 40.
"""

ENTERED = 10.0
"""Pairs that are looked at per row that an index ever gets, before it is sorted."""


class EngineCosts(CostModel):
    """Costs in pairs that are looked at while a window passes.

    A row is made when its last event comes: W^k r_1 ... r_k s / (k - 1)! rows of k operands of a SEQ while a window W
    passes, since one order of the others is right, and k W^k r_1 ... r_k s of an AND, any operand of which may be last.
    A join looks, for every fresh row of the side that has the current event, at the older rows of the other: in a SEQ
    at those that ended before the operand that comes next, and where an index is looked up (`engine.indices`), at those
    in the range of one value's conditions, and at the latest rows, which are not sorted yet: half a block of them, few
    where they have to come before another operand. Conditions between different operands are taken to be independent;
    a Kleene operand has as many sets as in the paper.
    """

    def __init__(
        self, table: SubPatternTable, statistics: Statistics, selectivities: Selectivities | None = None
    ) -> None:
        super().__init__(table, statistics, selectivities)
        self._pairs: dict[tuple[int, int, int, int], float] = {}

    def made(self, sub: int, window: int) -> float:
        """Rows of a sub-pattern that are made while a window passes."""
        found = self.table.known.items[sub]
        size = len(found)
        return self.instances(sub, window) * (exp(-lgamma(size)) if found.ordered else size)

    def price(self, sub: int, window: int) -> float:
        """The rows of a node, and the events that visit it: those of a SEQ's last operand, or of any."""
        found = self.table.known.items[sub]
        elements = [self.table.elements.items[number] for number in found.elements]
        last = {element.type for element in (elements[-1:] if found.ordered else elements)}
        counts = self.table.scopes.items[found.scope].counts_events
        visits = sum(self.events(PatternElement(name), window, counts) for name in sorted(last))
        return ROW * self.made(sub, window) + VISIT * visits

    def pairs(self, pattern: int, left: int, right: int, window: int) -> float:
        """The pairs that a join looks at, where the current event is in one side, or in the other. O(1) if known."""
        if not left or not right:
            return 0.0
        key = pattern, left, right, window
        found = self._pairs.get(key)
        if found is None:
            ways = [(left, right), (right, left)]
            if self.table[pattern].ordered:
                ways = [ways[left < right]]
            found = self._pairs[key] = sum(self._looked(pattern, *way, window) for way in ways)
        return found

    def _looked(self, pattern: int, mine: int, theirs: int, window: int) -> float:
        """The pairs of fresh rows of one side and older ones of the other."""
        fresh = self.made(self.table.of(pattern, mine), window)
        older = self.made(self.table.of(pattern, theirs), window)
        reached = self._reached(mine, theirs) if self.table[pattern].ordered else 1.0
        passed = reached * min(MOST_INSTANCES, fresh * older)
        share = self._share(pattern, mine, theirs)
        if share > MOST_SHARE:
            return passed
        latest = USUAL_SORTING.block / 2
        if reached < 1:
            latest *= min(1.0, latest / max(latest, 2 * older))
        return min(passed, share * passed + max(latest * fresh, ENTERED * older))

    def _reached(self, mine: int, theirs: int) -> float:
        """The share of the older rows that ended before the operand of the fresh row that follows their last one.

        Of n operands that end a SEQ in a window, the i-th one is i/n of the window behind its beginning.
        """
        later = mine & ~((1 << theirs.bit_length()) - 1)
        size = mine.bit_count()
        return (size - later.bit_count() + 1) / size

    def _share(self, pattern: int, mine: int, theirs: int) -> float:
        """The least share of older rows in the range of conditions on one value of them, 1 without any."""
        found: dict[tuple[int, str, Number], float] = {}
        types = [element.type for element in self.table[pattern].elements]
        for b in operands_of(theirs):
            for a in operands_of(mine):
                for one in self.table.relations.items[self.table.relation(pattern, a, b)]:
                    if one.op is not Op.NE:
                        share = self.selectivities.of(TypePair(types[a], types[b], frozenset({one})))
                        guessed = GUESSED_EQUAL if one.op is Op.EQ else GUESSED
                        value = b, one.right_attribute, one.right_factor
                        found[value] = found.get(value, 1.0) * (share if share < 1 else guessed)
        return min(found.values(), default=1.0)
