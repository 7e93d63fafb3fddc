"""Resolves names in RETURN and WHERE, and classifies comparisons (docs/query-language.md, WHERE)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from cepbench.algorithms.oracle.steps import Leaf, NegatedPattern, Steps, size, steps_of
from cepbench.queries.errors import QueryError
from cepbench.queries.model import (
    And,
    Comparison,
    Condition,
    Event,
    Local,
    Not,
    Op,
    Operand,
    Or,
    Pattern,
    Query,
    children,
)

Origins = frozenset[int]
POSITIVE = 0
"""The region of events that are not negated; each NOT is a separate region, without the NOTs inside it."""


@dataclass(frozen=True)
class Pair:
    """`left op right` for an event bound to one of `first` and an event bound to one of `second`."""

    first: Origins
    second: Origins
    left: Operand
    op: Op
    right: Operand


@dataclass(frozen=True, eq=False)
class Meaning:
    """A query with its names resolved.

    - `parts`: the parts of an AND (otherwise one part); each lists the alternatives of a top-level OR (otherwise one).
    - `types`, `regions`: event type and region of each origin.
    - `names`: the origins to which a name refers.
    - `locals`: conditions on single events, by origin.
    - `adjacent`, `pairwise`: predicates on transitions, and on pairs of events of a match.
    """

    query: Query
    parts: tuple[tuple[Steps, ...], ...]
    types: tuple[str, ...]
    regions: tuple[int, ...]
    names: dict[str, Origins]
    locals: dict[int, tuple[Condition, ...]]
    adjacent: tuple[Pair, ...]
    pairwise: tuple[Pair, ...]

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """All predicates on pairs."""
        return self.adjacent + self.pairwise

    @property
    def is_and(self) -> bool:
        """Whether matches combine trends of several parts."""
        return len(self.parts) > 1

    def positive(self, name: str) -> Origins:
        """The origins of a name that matches bind. Raises `QueryError` if it is negated."""
        origins = origins_of(name, self.names)
        if any(self.regions[origin] != POSITIVE for origin in origins):
            raise QueryError(f"{name} is negated and binds no event")
        return origins


@lru_cache(maxsize=1024)
def meaning_of(query: Query) -> Meaning:
    """Resolves a query. Raises `QueryError` for unknown names and for queries without a meaning.

    The result is cached, since several callers need the meaning of one query; it must not be changed.
    """
    occurrences = tuple(_occurrences(query.pattern, POSITIVE, iter(range(POSITIVE + 1, 10**6))))
    regions = tuple(region for _, region in occurrences)
    names = names_of([event for event, _ in occurrences])
    parts = _parts(query.pattern)
    locals_, pairs = predicates_of(query, names)
    adjacent: list[Pair] = []
    pairwise: list[Pair] = []
    for pair, is_next in pairs:
        _classify(pair, is_next, _steps_around(pair, parts, regions), regions, adjacent, pairwise)
    types = tuple(event.type for event, _ in occurrences)
    return Meaning(query, parts, types, regions, names, locals_, tuple(adjacent), tuple(pairwise))


@lru_cache(maxsize=1024)
def _parts(pattern: Pattern) -> tuple[tuple[Steps, ...], ...]:
    """For each part of an AND, the paths through each alternative of an OR; cached, as many queries share a pattern."""
    return tuple(
        tuple(steps_of(alternative, first) for alternative, first in _members(part, Or, first))
        for part, first in _members(pattern, And, 0)
    )


def _occurrences(pattern: Pattern, region: int, fresh: Iterator[int]) -> Iterator[tuple[Event, int]]:
    """All events from left to right, with their regions."""
    if isinstance(pattern, Event):
        yield pattern, region
    inner = next(fresh) if isinstance(pattern, Not) else region
    for child in children(pattern):
        yield from _occurrences(child, inner, fresh)


def _members(pattern: Pattern, kind: type[And] | type[Or], first: int) -> Iterator[tuple[Pattern, int]]:
    """The operands of a top-level operator, including those of equal operators below it, with their first origins."""
    if not isinstance(pattern, kind):
        yield pattern, first
        return
    for part in pattern.parts:
        yield from _members(part, kind, first)
        first += size(part)


def names_of(events: list[Event]) -> dict[str, Origins]:
    """Origins by alias, and by type if no alias has the same name."""
    names: dict[str, set[int]] = {}
    aliases = {event.alias for event in events if event.alias is not None}
    for origin, event in enumerate(events):
        if event.alias is not None:
            names.setdefault(event.alias, set()).add(origin)
        if event.type not in aliases:
            names.setdefault(event.type, set()).add(origin)
    return {name: frozenset(origins) for name, origins in names.items()}


def origins_of(name: str, names: dict[str, Origins]) -> Origins:
    """The origins of a name. Raises `QueryError`, which lists the existing names."""
    if name not in names:
        raise QueryError(f"unknown name {name!r}; the pattern has {', '.join(sorted(names))}")
    return names[name]


def predicates_of(
    query: Query, names: dict[str, Origins]
) -> tuple[dict[int, tuple[Condition, ...]], list[tuple[Pair, bool]]]:
    """The conditions on single events, by origin; the comparisons, each with whether its right side is the next one."""
    locals_: dict[int, tuple[Condition, ...]] = {}
    pairs: list[tuple[Pair, bool]] = []
    for predicate in query.predicates:
        if isinstance(predicate, Local):
            for origin in origins_of(predicate.name, names):
                locals_[origin] = (*locals_.get(origin, ()), predicate.condition)
        elif isinstance(predicate, Comparison):
            sides = origins_of(predicate.left.name, names), origins_of(predicate.right.name, names)
            pairs.append((Pair(*sides, predicate.left, predicate.op, predicate.right), predicate.next))
    return locals_, pairs


def _steps_around(pair: Pair, parts: tuple[tuple[Steps, ...], ...], regions: tuple[int, ...]) -> list[Steps]:
    """The patterns whose transitions a comparison can restrict: the positive ones, or copies of one negated pattern."""
    wanted = {regions[origin] for origin in pair.first | pair.second}
    if len(wanted) > 1:
        raise QueryError(f"{pair.left.name} and {pair.right.name} are on different sides of a NOT")
    everywhere = [inner for part in parts for steps in part for inner in _with_negated(steps)]
    return [steps for steps in everywhere if {regions[leaf.origin] for leaf in steps.after} == wanted]


def _with_negated(steps: Steps) -> Iterator[Steps]:
    yield steps
    for negation in negations_of(steps):
        yield from _with_negated(negation.steps)


def negations_of(steps: Steps) -> set[NegatedPattern]:
    """The negations directly inside a pattern."""
    junctions = [steps.begin, steps.end, *steps.after.values()]
    return {negation for junction in junctions for negations in junction.values() for negation in negations}


def _classify(
    pair: Pair,
    is_next: bool,
    around: list[Steps],
    regions: tuple[int, ...],
    adjacent: list[Pair],
    pairwise: list[Pair],
) -> None:
    """Adds a comparison to the adjacent or the pairwise predicates; exchanges its sides if necessary."""
    if _transition(pair, around):
        adjacent.append(pair)
        return
    if is_next:
        raise QueryError(f"{pair.right.name} never comes next after {pair.left.name}")
    if _before(pair.second, pair.first, around) and not _before(pair.first, pair.second, around):
        exchanged = Pair(pair.second, pair.first, pair.right, pair.op.flipped, pair.left)
        _classify(exchanged, False, around, regions, adjacent, pairwise)
        return
    if any(regions[origin] != POSITIVE for origin in pair.first):
        raise QueryError(f"{pair.left.name} and {pair.right.name} are negated and not adjacent")
    pairwise.append(pair)


def _transition(pair: Pair, around: list[Steps]) -> bool:
    return any(
        leaf.origin in pair.first and successor.origin in pair.second
        for steps in around
        for leaf, successors in steps.after.items()
        for successor in successors
    )


def _before(first: Origins, second: Origins, around: list[Steps]) -> bool:
    """Whether a leaf of `first` can come before one of `second` in a match."""
    leaves: list[tuple[Leaf, Steps]] = [(leaf, steps) for steps in around for leaf in steps.after]
    return any(
        later.origin in second for leaf, steps in leaves if leaf.origin in first for later in steps.reachable(leaf)
    )
