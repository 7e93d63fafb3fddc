"""Cuts sequences into segments that are counted separately (dissertation 22.3).

Each shared pattern is one segment for all of its occurrences. The places before, between and after the shared patterns
of a sequence are private segments. Without sharing, each sequence is one segment, as in A-Seq.
"""

from __future__ import annotations

from collections.abc import Sequence as Sequences
from dataclasses import dataclass

from cepbench.algorithms.engine.event_sequence import Sequence, Symbol
from cepbench.algorithms.sequences.plan import Candidate
from cepbench.events.errors import CepbenchError


class InvalidPlan(CepbenchError):
    """A sharing plan cannot be executed; the message says why."""


@dataclass(frozen=True)
class Use:
    """An occurrence of a segment in a sequence, from place `offset` on."""

    sequence: int
    offset: int
    segment: int


@dataclass(frozen=True)
class Segment:
    """A pattern that is counted separately, with the negated types between its places, and all of its uses."""

    symbols: tuple[Symbol, ...]
    negated: tuple[frozenset[Symbol], ...]
    uses: tuple[Use, ...]

    def __len__(self) -> int:
        return len(self.symbols)


@dataclass(frozen=True)
class Cut:
    """Segments, and for each sequence its uses of them in order."""

    segments: tuple[Segment, ...]
    chains: tuple[tuple[Use, ...], ...]


def cut(sequences: Sequences[Sequence], shared: Sequences[Candidate]) -> Cut:
    """The segments of a valid plan. Raises `InvalidPlan` for an invalid one."""
    pieces: list[dict[int, tuple[int, int]]] = [{} for _ in sequences]  # by offset: length, candidate
    for number, candidate in enumerate(shared):
        for index, offset in candidate.occurrences:
            _check(sequences, candidate, index, offset)
            pieces[index][offset] = (len(candidate.pattern), number)
    chains: list[tuple[Use, ...]] = []
    segments = len(shared)
    for index, sequence in enumerate(sequences):
        chain = []
        place = 0
        for offset, (length, number) in sorted(pieces[index].items()):
            if offset < place:
                raise InvalidPlan("two shared patterns of the sharing plan overlap in a sequence")
            if place < offset:
                chain.append(Use(index, place, segments))
                segments += 1
            chain.append(Use(index, offset, number))
            place = offset + length
        if place < len(sequence):
            chain.append(Use(index, place, segments))
            segments += 1
        chains.append(tuple(chain))
    return _numbered(sequences, shared, chains)


def _numbered(sequences: Sequences[Sequence], shared: Sequences[Candidate], chains: list[tuple[Use, ...]]) -> Cut:
    """The segments in use, numbered consecutively."""
    uses: dict[int, list[Use]] = {}
    ends: dict[Use, int] = {}
    for index, chain in enumerate(chains):
        for use, end in zip(chain, [u.offset for u in chain[1:]] + [len(sequences[index])], strict=True):
            uses.setdefault(use.segment, []).append(use)
            ends[use] = end
    number = {old: new for new, old in enumerate(sorted(uses))}
    segments = []
    for old in sorted(uses):
        first = uses[old][0]
        sequence = sequences[first.sequence]
        renumbered = tuple(Use(u.sequence, u.offset, number[old]) for u in uses[old])
        inside = slice(first.offset, ends[first])
        negated = sequence.negated[first.offset : ends[first] - 1]
        if old < len(shared):
            for use in uses[old]:
                if sequences[use.sequence].negated[use.offset : ends[use] - 1] != negated:
                    raise InvalidPlan("a shared pattern has other negations between its places in another sequence")
        segments.append(Segment(sequence.symbols[inside], negated, renumbered))
    renamed = tuple(tuple(Use(u.sequence, u.offset, number[u.segment]) for u in chain) for chain in chains)
    return Cut(tuple(segments), renamed)


def _check(sequences: Sequences[Sequence], candidate: Candidate, index: int, offset: int) -> None:
    """Checks that an occurrence matches the pattern, and that there is no negated type at its ends."""
    sequence, end = sequences[index], offset + len(candidate.pattern)
    if not candidate.pattern or sequence.symbols[offset:end] != candidate.pattern:
        raise InvalidPlan(f"the sharing plan has an occurrence that does not match its pattern, in sequence {index}")
    if (offset > 0 and sequence.negated[offset - 1]) or (end < len(sequence) and sequence.negated[end - 1]):
        raise InvalidPlan("a shared pattern must not begin or end next to a negated type")
