"""The automaton of a pattern, with its negative sub-patterns (dissertation Section 2.2; docs/semantics.md, rule 1).

Algorithms 1 and 2 of the dissertation build a template with one state per event type. This is the same construction for
patterns in which a type may occur many times and sub-patterns may be optional, i.e. Glushkov's: one position per
occurrence, a transition wherever one position may directly follow another. A negative sub-pattern is cut out (Algorithm
2) and labels the junctions where it occurs: transitions, the START and the END positions.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace

from cepbench.queries.errors import QueryError
from cepbench.queries.model import (
    And,
    Comparison,
    Condition,
    Event,
    Maybe,
    Not,
    Or,
    Pattern,
    Plus,
    Repeat,
    Seq,
    Star,
    occurrences,
)

MOST_POSITIONS = 1024

Negations = frozenset[int]
"""Indices into `Automaton.negations`: none of them may have a match on the junction."""


@dataclass(frozen=True)
class Position:
    """A state: events of `type` that pass `predicates` may bind to it.

    `occurrences` are the pattern's `Event`s (numbered from left to right, negated ones included) of this state: one, or
    one of each side in a product of patterns. `start` (`end`) is None unless a match may start (end) here; then it
    contains the leading (trailing) negations.
    """

    type: str
    occurrences: tuple[int, ...]
    start: Negations | None = None
    end: Negations | None = None
    predicates: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class Transition:
    """`target` may directly follow `source` if `predicates` hold and no negation matches in between."""

    source: int
    target: int
    negations: Negations = frozenset()
    predicates: tuple[Comparison, ...] = ()


@dataclass(frozen=True)
class Pairwise:
    """A predicate on every pair of bound events, the first at a `left` position and earlier in the match."""

    predicate: Comparison
    left: frozenset[int]
    right: frozenset[int]


@dataclass(frozen=True)
class Automaton:
    """Positions, transitions sorted by (target, source), automata of the negated sub-patterns, pairwise predicates."""

    positions: tuple[Position, ...]
    transitions: tuple[Transition, ...]
    negations: tuple[Automaton, ...] = ()
    pairwise: tuple[Pairwise, ...] = ()

    def at(self, occurrence_indices: Iterable[int]) -> frozenset[int]:
        """The positions of some occurrences."""
        wanted = set(occurrence_indices)
        return frozenset(i for i, p in enumerate(self.positions) if wanted.intersection(p.occurrences))

    def avoidable(self, positions: Set[int]) -> bool:
        """Whether a match may bind no event to any of `positions`, predicates and negations aside."""
        reached: set[int] = set()
        frontier = {i for i, p in enumerate(self.positions) if p.start is not None} - positions
        while frontier:
            reached |= frontier
            frontier = {t.target for t in self.transitions if t.source in frontier} - positions - reached
        return any(self.positions[i].end is not None for i in reached)

    @property
    def all_transitions(self) -> frozenset[tuple[int, int]]:
        """All (source, target)."""
        return frozenset((t.source, t.target) for t in self.transitions)


@dataclass
class _Fragment:
    """A sub-pattern under construction; `skip` has the negations of its empty match, or is None if it has none."""

    first: dict[int, Negations] = field(default_factory=dict)
    last: dict[int, Negations] = field(default_factory=dict)
    skip: Negations | None = frozenset()


class _Glushkov:
    """Collects positions and junctions of one positive pattern."""

    def __init__(self) -> None:
        self.positions: list[tuple[str, int]] = []
        self.follow: dict[tuple[int, int], Negations] = {}
        self.negated: dict[int, Automaton] = {}

    def fragment(self, pattern: Pattern, offset: int) -> _Fragment:
        """Positions of `pattern`, whose first occurrence has number `offset`."""
        match pattern:
            case Event(type=name):
                if len(self.positions) == MOST_POSITIONS:
                    raise QueryError(f"the pattern has more than {MOST_POSITIONS} positions; make it shorter")
                self.positions.append((name, offset))
                position = len(self.positions) - 1
                return _Fragment({position: frozenset()}, {position: frozenset()}, None)
            case Seq(parts):
                return self._sequence(parts, offset)
            case Plus(part):
                return self._loop(self.fragment(part, offset))
            case Star(part):
                return replace(self._loop(self.fragment(part, offset)), skip=frozenset())
            case Maybe(part):
                return replace(self.fragment(part, offset), skip=frozenset())
            case Repeat(part, least, most):
                copies = [self.fragment(part, offset) for _ in range(least if most is None else most)]
                if most is None:
                    copies[-1] = self._loop(copies[-1])
                whole = copies.pop()
                while copies:
                    optional = len(copies) >= least
                    whole = self._append(copies.pop(), replace(whole, skip=frozenset()) if optional else whole)
                return whole
            case Or(parts) | And(parts):
                return self._union(parts, offset)
            case Not():
                raise QueryError("NOT is allowed inside SEQ only, beside a positive pattern")

    def _sequence(self, parts: tuple[Pattern, ...], offset: int) -> _Fragment:
        whole = _Fragment()
        for part in parts:
            if isinstance(part, Not):
                negation = self._negation(part.part, offset)
                whole.last = {p: n | {negation} for p, n in whole.last.items()}
                whole.skip = None if whole.skip is None else whole.skip | {negation}
            else:
                whole = self._append(whole, self.fragment(part, offset))
            offset += sum(1 for _ in occurrences(part))
        return whole

    def _append(self, whole: _Fragment, piece: _Fragment) -> _Fragment:
        self._join(whole.last, piece.first)
        first = dict(whole.first)
        if whole.skip is not None:
            first |= {p: n | whole.skip for p, n in piece.first.items()}
        last = dict(piece.last)
        if piece.skip is not None:
            last |= {p: n | piece.skip for p, n in whole.last.items()}
        skip = None if whole.skip is None or piece.skip is None else whole.skip | piece.skip
        return _Fragment(first, last, skip)

    def _loop(self, piece: _Fragment) -> _Fragment:
        self._join(piece.last, piece.first)
        return piece

    def _union(self, parts: tuple[Pattern, ...], offset: int) -> _Fragment:
        whole = _Fragment(skip=None)
        for part in parts:
            piece = self.fragment(part, offset)
            whole.first |= piece.first
            whole.last |= piece.last
            if piece.skip is not None:
                whole.skip = piece.skip if whole.skip is None else self._weaker(whole.skip, piece.skip)
            offset += sum(1 for _ in occurrences(part))
        return whole

    def _join(self, last: Mapping[int, Negations], first: Mapping[int, Negations]) -> None:
        for source, after in last.items():
            for target, before in first.items():
                label = after | before
                previous = self.follow.get((source, target))
                self.follow[source, target] = label if previous is None else self._weaker(previous, label)

    def _weaker(self, first: Negations, second: Negations) -> Negations:
        if first <= second:
            return first
        if second <= first:
            return second
        raise QueryError("two events may follow each other with different NOTs between them; split the pattern by OR")

    def _negation(self, pattern: Pattern, offset: int) -> int:
        if offset not in self.negated:
            automaton = build(pattern, offset)
            if any(p.start or p.end for p in automaton.positions):
                raise QueryError("NOT may not begin or end a negated SEQ; put it between two positive parts")
            self.negated[offset] = automaton
        return list(self.negated).index(offset)


def build(pattern: Pattern, offset: int = 0) -> Automaton:
    """The automaton of a pattern without its predicates; OR and AND at the top are united.

    Raises `QueryError` if the pattern matches only the empty sequence, or a NOT is misplaced.
    """
    builder = _Glushkov()
    fragment = builder.fragment(pattern, offset)
    if not builder.positions:
        raise QueryError("the pattern has no positive event")
    if offset and fragment.skip is not None:
        raise QueryError("a negated pattern must not match the empty sequence; use + instead of * or ?")
    positions = tuple(
        Position(name, (occurrence,), fragment.first.get(i), fragment.last.get(i))
        for i, (name, occurrence) in enumerate(builder.positions)
    )
    ordered = sorted(builder.follow.items(), key=lambda item: (item[0][1], item[0][0]))
    transitions = tuple(Transition(source, target, label) for (source, target), label in ordered)
    return Automaton(positions, transitions, tuple(builder.negated.values()))
