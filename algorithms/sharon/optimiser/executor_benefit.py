"""The benefit of sharing for the executor as it is built here: a variant that is not in the papers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import expm1

from algorithms.sequences import Sequence as EventSequence
from algorithms.sequences import Symbol
from algorithms.sharon.optimiser.benefit import BenefitModel
from algorithms.sharon.plan import Candidate

COMBINATION = 1.0
"""Updates of a counter that take as long as one combination."""


class ExecutorBenefit(BenefitModel):
    """Operations of `algorithms.sharon.executor` in the time of one window, in updates of one counter.

    It keeps a counter per place and *slot*, and a slot serves all START events of one time stamp. So a part costs
    slots(START) x Rate(part), and Rate(part) alone if it begins a sequence and windows do not overlap or it has one
    place, where one slot serves all START events. A part that continues a sequence keeps what was counted before in a
    snapshot per slot and window; taking it is one combination if the part before is the first, else one per slot of
    that part, and the result of a window combines each slot once more. `overlaps[i]` is the number of windows that
    hold one event of sequence i.
    """

    def __init__(
        self,
        sequences: Sequence[EventSequence],
        windows: Sequence[float],
        rates: Mapping[str, float],
        overlaps: Sequence[int],
    ) -> None:
        super().__init__(sequences, windows, rates)
        self.overlaps = overlaps

    def pattern_cost(self, candidate: Candidate) -> float:
        """Counting p once; per slot if any query has it in its middle."""
        sequence = candidate.occurrences[0][0]
        first = all(offset == 0 for _, offset in candidate.occurrences)
        return self._part(candidate.pattern, sequence, first)

    def not_shared(self, sequence: int) -> float:
        """Counting the sequence as one part."""
        return self._part(self.sequences[sequence].symbols, sequence, True)

    def computation(self, candidate: Candidate, sequence: int) -> float:
        """Counting the parts of a sequence outside of p."""
        parts = self._parts(candidate, sequence)
        own = [(start, part) for start, part in parts if (sequence, start) not in candidate.occurrences]
        return sum(self._part(part, sequence, start == 0) for start, part in own)

    def combination(self, candidate: Candidate, sequence: int) -> float:
        """Snapshots of every part but the first, and the result of the last one."""
        slots = [self._slots(part[0], sequence) for _, part in self._parts(candidate, sequence)]
        if len(slots) == 1:
            return 0.0
        before = [1.0, *slots[1:]]
        taken = sum(own * earlier for own, earlier in zip(slots[1:], before, strict=False))
        return COMBINATION * self.overlaps[sequence] * (taken + slots[-1])

    def _part(self, part: Sequence[Symbol], sequence: int, first: bool) -> float:
        alone = first and (self.overlaps[sequence] == 1 or len(part) == 1)
        slots = 1.0 if alone else self._slots(part[0], sequence)
        return slots * sum(self._rate(symbol, sequence) for symbol in part)

    def _slots(self, symbol: Symbol, sequence: int) -> float:
        """Time stamps of a window with an event of the type, events being independent of one another."""
        if not self.rates:
            return 1.0
        return self.windows[sequence] * -expm1(-self.rates.get(symbol.type, 0.0))
