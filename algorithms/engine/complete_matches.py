"""Which queries for complete matches have an answer that is built without comparing matches (dissertation 3-8).

A match is complete if no other match of the window holds all its events and more (Definition 3.1). Where adjacent
events alone decide what a match is, the complete matches are the maximal paths of a graph: its edges lead from an event
to those that may follow it and that no longer way reaches (Algorithm 4).

A type may have several positions, as in `A{3,}`; then the vertices are events at a position, and a longer way to an
event may end at another of its positions. It counts if that position stands in for the first: all that completes a
match from the one completes it from the other. `A{3,}` has this property: where a third A can be, a fourth can be, too.
In `A{1,3}` it has not, since a longer way to an event uses up what may follow it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache

from cepbench.queries.analysis import analyse
from cepbench.queries.automaton import Automaton
from cepbench.queries.model import Query, Semantics

MOST_POSITIONS = 64
"""The maximum number of positions if a type has several: each event has a vertex per position of its type."""

Pairs = frozenset[tuple[int, int]]


@lru_cache(maxsize=1024)
def unsupported_complete(query: Query) -> str | None:
    """Why the complete matches of a query are not maximal paths, in words, or None."""
    analysis = analyse(query)
    if query.semantics is not Semantics.ANY:
        return f"complete matches are detected under skip-till-any-match, not {query.semantics}"
    if analysis.conjunction:
        return "AND returns pairs of matches, of which none is complete or not"
    [automaton] = analysis.automata
    if automaton.negations:
        return "a match without a negated event may be complete although a longer one exists"
    if automaton.pairwise:
        return "a predicate compares events that are not adjacent, so that complete matches are more than paths"
    return _unsupported_repetition(automaton)


def stand_ins(automaton: Automaton) -> list[list[int]]:
    """For each position, itself and the others of its type from which a match can continue in the same ways."""
    alike = _simulations(automaton)
    positions = range(len(automaton.positions))
    return [[p, *(q for q in positions if q != p and (q, p) in alike)] for p in positions]


def _unsupported_repetition(automaton: Automaton) -> str | None:
    types = [position.type for position in automaton.positions]
    repeated = next((name for name in types if types.count(name) > 1), None)
    if repeated is None:
        return None
    if len(types) > MOST_POSITIONS:
        return (
            f"complete matches with a repeated type take {MOST_POSITIONS} positions, and the pattern has {len(types)}"
        )
    successors = _successors(automaton)
    starts = [p for p, position in enumerate(automaton.positions) if position.start is not None]
    for following in (starts, *successors):
        if len({types[p] for p in following}) < len(following):
            return f"events of type {repeated} may bind in several ways; a complete match needs one"
    alike, containing = _simulations(automaton), _containing(automaton)
    for short, long in _detours(automaton, starts):
        if short != long and (long, short) in containing and (long, short) not in alike:
            return f"a longer match may bind the same events of type {types[short]} at other places of the pattern"
    return None


def _detours(automaton: Automaton, starts: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Two positions at which an event can be bound, after some event or at the start: directly, and on a longer way."""
    types, successors = [position.type for position in automaton.positions], _successors(automaton)
    reached = [_reached(automaton, following) for following in successors]
    for direct in (starts, *successors):
        later = {q for p in direct for q in reached[p]}
        yield from ((p, q) for p in direct for q in later if types[p] == types[q])


def _simulations(automaton: Automaton) -> Pairs:
    """The pairs (q, p) of positions of a type such that every way from p to the end has one from q with its events.

    A greatest fixpoint: pairs are dropped until every step of p has one of q to a pair that is left.
    """
    positions = automaton.positions
    steps: list[dict[int, frozenset[object]]] = [{} for _ in positions]
    for transition in automaton.transitions:
        steps[transition.source][transition.target] = frozenset(p.nameless for p in transition.predicates)
    conditions = [frozenset(position.predicates) for position in positions]
    left = {
        (q, p)
        for p, position in enumerate(positions)
        for q, stand_in in enumerate(positions)
        if position.type == stand_in.type and (position.end is None or stand_in.end is not None)
    }

    def follows(q: int, p: int) -> bool:
        return all(
            any(
                (r, s) in left and conditions[r] <= conditions[s] and weaker <= predicates
                for r, weaker in steps[q].items()
            )
            for s, predicates in steps[p].items()
        )

    while dropped := {(q, p) for q, p in left if q != p and not follows(q, p)}:
        left -= dropped
    return frozenset(left)


def _containing(automaton: Automaton) -> Pairs:
    """The pairs (q, p) such that some way from q to the end has all events of some way from p, by their types.

    A least fixpoint. Every position of a pattern has a way to the end.
    """
    types, successors = [position.type for position in automaton.positions], _successors(automaton)
    reached = [_reached(automaton, following) for following in successors]
    positions = range(len(types))
    contained = {(q, p) for p in positions for q in positions if automaton.positions[p].end is not None}
    while True:
        fresh = {
            (q, p)
            for p in positions
            for q in positions
            if (q, p) not in contained
            and any((r, s) in contained for s in successors[p] for r in reached[q] if types[r] == types[s])
        }
        if not fresh:
            return frozenset(contained)
        contained |= fresh


def _successors(automaton: Automaton) -> list[list[int]]:
    successors: list[list[int]] = [[] for _ in automaton.positions]
    for transition in automaton.transitions:
        successors[transition.source].append(transition.target)
    return successors


def _reached(automaton: Automaton, positions: Iterable[int]) -> set[int]:
    """The positions, and all that can come after them."""
    successors, reached = _successors(automaton), set(positions)
    pending = list(reached)
    while pending:
        fresh = set(successors[pending.pop()]) - reached
        reached |= fresh
        pending += fresh
    return reached
