"""Estimated costs of a plan in these engines: rows created, pairs examined, and node visits; not in the paper."""

from __future__ import annotations

from math import exp, lgamma

from cepbench.algorithms.detection.mcep.engine.indices import ASSUMED, ASSUMED_EQUAL, DEFAULT_SORTING, MAX_SHARE
from cepbench.algorithms.detection.mcep.planning.costs import MAX_INSTANCES, CostModel
from cepbench.algorithms.detection.mcep.planning.patterns import PatternElement
from cepbench.algorithms.detection.mcep.planning.selectivities import Selectivities, TypePair
from cepbench.algorithms.detection.mcep.planning.subpatterns import SubPatternTable, operands_of
from cepbench.events.statistics import Statistics
from cepbench.queries.model import Number, Op

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
        found = self.table.known.items[sub]
        size = len(found)
        return self.instances(sub, window) * (exp(-lgamma(size)) if found.ordered else size)

    def price(self, sub: int, window: int) -> float:
        """Cost of a node's rows and of the visiting events: those of a SEQ's last operand, or of any operand."""
        found = self.table.known.items[sub]
        elements = [self.table.elements.items[number] for number in found.elements]
        last = {element.type for element in (elements[-1:] if found.ordered else elements)}
        counts = self.table.scopes.items[found.scope].counts_events
        visits = sum(self.events(PatternElement(name), window, counts) for name in sorted(last))
        return ROW * self.made(sub, window) + VISIT * visits

    def pairs(self, pattern: int, left: int, right: int, window: int) -> float:
        """Pairs that a join examines, with the current event in one side or the other. O(1) if computed before."""
        if not left or not right:
            return 0.0
        key = pattern, left, right, window
        found = self._pairs.get(key)
        if found is None:
            ways = [(left, right), (right, left)]
            if self.table[pattern].ordered:
                ways = [ways[left < right]]
            found = self._pairs[key] = sum(self._examined(pattern, *way, window) for way in ways)
        return found

    def _examined(self, pattern: int, mine: int, theirs: int, window: int) -> float:
        """Pairs of fresh rows of one side and older ones of the other."""
        fresh = self.made(self.table.of(pattern, mine), window)
        older = self.made(self.table.of(pattern, theirs), window)
        reached = self._reached(mine, theirs) if self.table[pattern].ordered else 1.0
        passed = reached * min(MAX_INSTANCES, fresh * older)
        share = self._share(pattern, mine, theirs)
        if share > MAX_SHARE:
            return passed
        latest = DEFAULT_SORTING.block / 2
        if reached < 1:
            latest *= min(1.0, latest / max(latest, 2 * older))
        return min(passed, share * passed + max(latest * fresh, ENTERED * older))

    def _reached(self, mine: int, theirs: int) -> float:
        """The share of the older rows that ended before the fresh row's operand that follows their last one.

        Of n operands that end a SEQ in a window, the i-th one is on average i/n of the window after its beginning.
        """
        later = mine & ~((1 << theirs.bit_length()) - 1)
        size = mine.bit_count()
        return (size - later.bit_count() + 1) / size

    def _share(self, pattern: int, mine: int, theirs: int) -> float:
        """The least share of older rows in the range of conditions on one of their values; 1 without conditions."""
        found: dict[tuple[int, str, Number], float] = {}
        types = [element.type for element in self.table[pattern].elements]
        for b in operands_of(theirs):
            for a in operands_of(mine):
                for one in self.table.relations.items[self.table.relation(pattern, a, b)]:
                    if one.op is not Op.NE:
                        share = self.selectivities.of(TypePair(types[a], types[b], frozenset({one})))
                        assumed = ASSUMED_EQUAL if one.op is Op.EQ else ASSUMED
                        value = b, one.right.attribute, one.right.factor
                        found[value] = found.get(value, 1.0) * (share if share < 1 else assumed)
        return min(found.values(), default=1.0)
