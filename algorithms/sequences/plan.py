"""Sharing candidates and sharing plans (dissertation 22.1, 23.1).

`sharing_candidates` are the sharable patterns of a workload, the hash table that is the input of Algorithm 10;
`SharingPlan` is the plan that an optimizer makes and an executor executes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from operator import itemgetter

from cepbench.algorithms.base import Plan
from cepbench.algorithms.engine.event_sequence import Sequence as EventSequence
from cepbench.algorithms.engine.event_sequence import Symbol


@dataclass(frozen=True)
class Candidate:
    """A sharing candidate (p, Q_p): `pattern` is counted once for all of its occurrences (Definition 22.1).

    `occurrences` are pairs (index of a sequence, offset in it), sorted. The occurrences in one sequence do not overlap.
    A sequence corresponds to a query of the paper: a query without alternatives has one.
    """

    pattern: tuple[Symbol, ...]
    occurrences: tuple[tuple[int, int], ...]

    @cached_property
    def offsets(self) -> Mapping[int, tuple[int, ...]]:
        """The offsets of the occurrences by the index of their sequence, both ascending."""
        return {
            sequence: tuple(offset for _, offset in occurrences)
            for sequence, occurrences in groupby(self.occurrences, itemgetter(0))
        }

    @property
    def sequences(self) -> tuple[int, ...]:
        """Q_p: indices of the sequences that share the pattern, without duplicates, sorted."""
        return tuple(self.offsets)

    @cached_property
    def places(self) -> frozenset[tuple[int, int]]:
        """Pairs (index of a sequence, place in it) of all places that the occurrences cover."""
        length = len(self.pattern)
        return frozenset((sequence, offset + i) for sequence, offset in self.occurrences for i in range(length))

    def overlaps(self, candidate: Candidate) -> bool:
        """Whether the two are in sharing conflict: some sequence has a place that both cover (Definition 23.1).

        Any overlap counts, even if one pattern contains the other: the executor counts a pattern as a whole.
        """
        return not self.places.isdisjoint(candidate.places)

    def restricted(self, sequences: frozenset[int]) -> Candidate:
        """The candidate for some of its sequences only: an option of it (Section 24.1)."""
        return Candidate(self.pattern, tuple(o for o in self.occurrences if o[0] in sequences))


def sharing_candidates(sequences: Sequence[EventSequence], families: Sequence[Hashable]) -> tuple[Candidate, ...]:
    """All (p, Q_p) where p has at least two places and at least two sequences of a family contain it.

    `families[i]` is what sequence i must have in common with others for sharing (Section 24.2): its window and its
    partition attributes. A sequence that contains p several times counts as one, with its leftmost occurrences that do
    not overlap (Section 24.3). A pattern neither contains nor touches a gap with a negation, which clears counts that
    other sequences still need. O(sum of squared lengths) patterns; longer patterns first, then in the order of their
    first occurrence.
    """
    codes: dict[Symbol, int] = {}
    occurrences_of: dict[tuple[Hashable, tuple[int, ...]], list[tuple[int, int]]] = {}
    for index, sequence in enumerate(sequences):
        coded = tuple(codes.setdefault(symbol, len(codes)) for symbol in sequence.symbols)
        for start, stop in _slices(sequence):
            occurrences = occurrences_of.setdefault((families[index], coded[start:stop]), [])
            if not occurrences or occurrences[-1][0] < index or occurrences[-1][1] + stop - start <= start:
                occurrences.append((index, start))
    symbols = tuple(codes)
    shared = [
        Candidate(tuple(symbols[code] for code in pattern), tuple(occurrences))
        for (_, pattern), occurrences in occurrences_of.items()
        if len({index for index, _ in occurrences}) > 1
    ]
    return tuple(sorted(shared, key=lambda candidate: -len(candidate.pattern)))


def _slices(sequence: EventSequence) -> Iterable[tuple[int, int]]:
    """(start, stop) of every run of at least two places that can become a segment, ordered by start."""
    size = len(sequence.symbols)
    cut = [True, *(not negated for negated in sequence.negated), True]
    for start in range(size):
        if not cut[start]:
            continue
        for stop in range(start + 2, size + 1):
            if not cut[stop - 1]:
                break
            if cut[stop]:
                yield start, stop


@dataclass(frozen=True)
class SharingPlan(Plan):
    """A valid sharing plan: no two candidates of `shared` overlap (Definition 23.2).

    `sequences` are those of all queries. Places outside of all shared occurrences are private to their sequence. If
    nothing is shared, each sequence is counted separately: A-Seq. `max_length` limits the length of Kleene matches;
    None if no query has a Kleene pattern.
    """

    sequences: tuple[EventSequence, ...]
    shared: tuple[Candidate, ...]
    max_length: int | None = field(default=None, kw_only=True)
