"""The sharing benefit model (dissertation 22.2-22.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import expm1, prod

from cepbench.algorithms.engine.event_sequence import Sequence as EventSequence
from cepbench.algorithms.engine.event_sequence import Symbol
from cepbench.algorithms.sequences.plan import Candidate


class BenefitModel:
    """BValue of sharing candidates: operations per window that sharing saves (Equations 22.1-22.11).

    `rates` are events per time unit by type, and `windows[i]` is the window length of sequence i; their product is the
    number of events of a type in one window, on which the equations depend. Predicates are assumed to hold. Without
    rates, every type is assumed to have one event per window.

    Departures. Rate(P) sums over the places of P, so a type that occurs k times counts k times (Section 24.3). A part
    that a sequence does not have (prefix, suffix) is left out of the products, which would be 0 otherwise. If a
    sequence has several occurrences of p, the parts between them are treated like prefix and suffix.
    """

    def __init__(
        self, sequences: Sequence[EventSequence], windows: Sequence[float], rates: Mapping[str, float]
    ) -> None:
        self.sequences, self.windows, self.rates = sequences, windows, rates
        self._gains: dict[tuple[tuple[Symbol, ...], int], float] = {}

    def benefit(self, candidate: Candidate) -> float:
        """BValue(p, Q_p), Equation 22.11."""
        return sum(self.gain(candidate, s) for s in candidate.sequences) - self.pattern_cost(candidate)

    def pattern_cost(self, candidate: Candidate) -> float:
        """Rate(E_m) x Rate(p): counting p once per START event of p, first term of Equation 22.9."""
        return self._count(candidate.pattern, candidate.occurrences[0][0])

    def gain(self, candidate: Candidate, sequence: int) -> float:
        """The saving for a sequence of Q_p: NotShared(p, q) - Shared(p, q), Equations 22.2 and 22.8."""
        key = candidate.pattern, sequence
        if key not in self._gains:
            shared = self.computation(candidate, sequence) + self.combination(candidate, sequence)
            self._gains[key] = self.not_shared(sequence) - shared
        return self._gains[key]

    def not_shared(self, sequence: int) -> float:
        """Rate(E_1) x Rate(P): every matched event updates one count per START event, Equation 22.2."""
        return self._count(self.sequences[sequence].symbols, sequence)

    def computation(self, candidate: Candidate, sequence: int) -> float:
        """Counting the parts of a sequence outside of p, Equation 22.6."""
        parts = self._parts(candidate, sequence)
        offsets = candidate.offsets[sequence]
        return sum(self._count(part, sequence) for start, part in parts if start not in offsets)

    def combination(self, candidate: Candidate, sequence: int) -> float:
        """The product of the numbers of counts of all parts, Equation 22.7; 0 if p is the only part."""
        parts = self._parts(candidate, sequence)
        return prod(self._rate(part[0], sequence) for _, part in parts) if len(parts) > 1 else 0.0

    def _count(self, part: Sequence[Symbol], sequence: int) -> float:
        """Rate of the START type times the rate of all places, Equations 22.1 and 22.2."""
        return self._rate(part[0], sequence) * sum(self._rate(symbol, sequence) for symbol in part)

    def _rate(self, symbol: Symbol, sequence: int) -> float:
        """Events per window."""
        return self.rates.get(symbol.type, 0.0) * self.windows[sequence] if self.rates else 1.0

    def _parts(self, candidate: Candidate, sequence: int) -> list[tuple[int, tuple[Symbol, ...]]]:
        """The sequence cut at the occurrences of p, with offsets; without empty parts."""
        symbols, length = self.sequences[sequence].symbols, len(candidate.pattern)
        offsets = candidate.offsets[sequence]
        cuts = sorted({0, len(symbols), *offsets, *(offset + length for offset in offsets)})
        return [(start, symbols[start:stop]) for start, stop in pairwise(cuts)]


SNAPSHOT, COMBINATION = 40.0, 1.0
"""Costs of a snapshot of one window, and of the product of a snapshot and a counter, in counter updates.

Measured on workloads of 20 and 120 queries: an update takes about 1.2 ns, the others 30 to 70 ns and 1 to 3 ns.
"""


class ExecutorBenefit(BenefitModel):
    """Operations of `algorithms.sequences.executor` per window length, in units of a counter update.

    The executor has a counter per place and *slot*. A slot serves all START events of one time stamp, and events that
    match a place at one time stamp update its counters together. If events of type E occur at stamps(E) time stamps, a
    part costs live slots x sum of stamps over its places after the first. The number of live slots is stamps(START)
    minus half a slide's share, since START events live until their last window ends. A part that begins a sequence
    needs only one slot, which serves all START events, if windows do not overlap or the part has one place. A part that
    continues a single sequence has a slot per window instead. A shared part that continues a sequence stores the counts
    before it in a snapshot per slot and window. To compute the count of a shared part that is not the first takes one
    combination per slot of that part: for the next part at each START event, and for the result of a window.
    `overlaps[i]` is the number of windows that contain one event of sequence i.

    As in the paper's model, the benefit of a plan is the sum over its candidates. If a sequence uses several, this
    ignores that the snapshots of one can require the counts of another.
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
        offsets, windows = candidate.offsets[sequence], self.overlaps[sequence]
        return sum(
            self._part(part, sequence, True) if start == 0 else windows * sum(self._stamps(e, sequence) for e in part)
            for start, part in parts
            if start not in offsets
        )

    def combination(self, candidate: Candidate, sequence: int) -> float:
        """Reading the counts of earlier parts for every part but the first, and the result of the last part."""
        cost = asked = 0.0  # `asked`: combinations to compute the counts so far
        for start, part in self._parts(candidate, sequence):
            begun = self._stamps(part[0], sequence)
            if start > 0:
                cost += begun * (SNAPSHOT + COMBINATION * asked)
                asked = begun if start in candidate.offsets[sequence] else 0.0
        return self.overlaps[sequence] * (cost + COMBINATION * asked)

    def _part(self, part: Sequence[Symbol], sequence: int, first: bool) -> float:
        overlap = self.overlaps[sequence]
        alone = first and (overlap == 1 or len(part) == 1)
        begun = self._stamps(part[0], sequence)
        live = 1.0 if alone else begun * (1 - 0.5 / overlap)
        return begun + live * sum(self._stamps(symbol, sequence) for symbol in part[1:])

    def _stamps(self, symbol: Symbol, sequence: int) -> float:
        """Number of time stamps in a window with an event of the type, if events are independent."""
        if not self.rates:
            return 1.0
        return self.windows[sequence] * -expm1(-self.rates.get(symbol.type, 0.0))
