"""What the Sharon optimiser decides and the Sharon executor carries out (dissertation 22.1, 23.1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from algorithms.base import Plan
from algorithms.sequences import Sequence, Symbol


@dataclass(frozen=True)
class Candidate:
    """A sharing candidate (p, Q_p): `pattern` is counted once for all of its occurrences (Definition 22.1).

    `occurrences` are pairs (index of a sequence, offset in it), sorted. The occurrences in one sequence do not overlap.
    A sequence of a workload stands for a query of the paper: a query without alternatives has one.
    """

    pattern: tuple[Symbol, ...]
    occurrences: tuple[tuple[int, int], ...]

    @property
    def sequences(self) -> tuple[int, ...]:
        """Q_p: indices of the sequences that share the pattern, each once, sorted."""
        return tuple(sorted({sequence for sequence, _ in self.occurrences}))

    @cached_property
    def places(self) -> frozenset[tuple[int, int]]:
        """(index of a sequence, place in it) of every place that the occurrences cover."""
        length = len(self.pattern)
        return frozenset((sequence, offset + i) for sequence, offset in self.occurrences for i in range(length))

    def overlaps(self, other: Candidate) -> bool:
        """Whether the two are in sharing conflict: some sequence has a place of both (Definition 23.1).

        Any overlap counts, a pattern inside the other included: the executor counts a pattern as a whole.
        """
        return not self.places.isdisjoint(other.places)

    def restricted(self, sequences: frozenset[int]) -> Candidate:
        """The candidate for some of its sequences only: an option of it (Section 24.1)."""
        return Candidate(self.pattern, tuple(o for o in self.occurrences if o[0] in sequences))


@dataclass(frozen=True)
class SharonPlan(Plan):
    """A valid sharing plan: no two candidates of `shared` overlap (Definition 23.2).

    `sequences` are those of all queries. Places outside of every shared occurrence are private to their sequence. With
    nothing shared, each sequence is counted on its own: A-Seq. `max_length` bounds the length of Kleene matches, or is
    None where no query has any.
    """

    sequences: tuple[Sequence, ...]
    shared: tuple[Candidate, ...]
    max_length: int | None = field(default=None, kw_only=True)
