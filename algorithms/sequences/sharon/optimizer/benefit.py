"""The sharing benefit model (dissertation 22.2-22.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from math import prod

from cepbench.algorithms.engine.event_sequence import Sequence as EventSequence
from cepbench.algorithms.engine.event_sequence import Symbol
from cepbench.algorithms.sequences.candidates import Candidate


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
