"""From a query to the automata that algorithms run (the Query Analyzer of GRETA and COGRA)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

from cepbench.queries.automaton import Automaton, build
from cepbench.queries.combination import ambiguous, overlap, product, restrict, unite, without
from cepbench.queries.detection_rules import alternatives
from cepbench.queries.errors import QueryError
from cepbench.queries.model import And, Event, Local, Or, Pattern, Query, Semantics, children, occurrences
from cepbench.queries.names import Names
from cepbench.queries.predicates import apply_predicates, compare_all


@dataclass(frozen=True)
class Analysis:
    """The automata of a query's pattern.

    `automata` holds one automaton whose paths are the query's matches; for `P1 AND P2` those of P1, of P2 and of the
    trends that both match, and `conjunction` is set. For a detection query, it has no paths for alternatives of its OR
    that are an AND, and there is none if all are: `queries.detection` has the clauses of all.
    """

    automata: tuple[Automaton, ...]
    conjunction: bool
    names: Names


def analyse(query: Query) -> Analysis:
    """Automata of `query` with its predicates; raises `QueryError` when the query has no exact meaning here."""
    names = Names.of(query.pattern)
    if query.span is not None:
        return Analysis(_detected(query, names), False, names)
    whole = apply_predicates(build(query.pattern), query, names)
    pattern = query.pattern
    decided = query.semantics is not Semantics.NEXT
    tops = pattern.parts if isinstance(pattern, And) else (pattern,)
    _check_nested_or(tops)
    sides = []
    owned = []
    offset = 0
    for top in tops:
        sides.append(_disjoint_union(whole, top, offset, decided))
        owned.append(whole.at(range(offset, offset + _count(top))))
        offset += _count(top)
    if not isinstance(pattern, And):
        return Analysis(tuple(sides), False, names)
    if len(sides) != 2:
        raise QueryError("AND joins exactly two patterns here")
    if any(ambiguous(side) for side in sides):
        raise QueryError("a side of AND binds some events in two ways; its trends cannot be counted as pairs")
    if any(not any(p.left | p.right <= side_positions for side_positions in owned) for p in whole.pairwise):
        raise QueryError("a predicate compares events of both sides of AND; its pairs need constructed trends")
    shared = product(sides[0], sides[1])
    if shared.positions and any(side.pairwise for side in sides):
        raise QueryError("the sides of AND may match the same events but compare events that are not adjacent")
    if shared.positions and not decided:
        raise QueryError("the sides of AND may match the same events, which skip-till-next-match does not count")
    return Analysis((sides[0], sides[1], shared), True, names)


def _detected(query: Query, names: Names) -> tuple[Automaton, ...]:
    """The automaton of SEQ and OR within a span. AND has none: its automaton would have a state per set of operands."""
    single = tuple(predicate for predicate in query.predicates if isinstance(predicate, Local))
    whole = apply_predicates(build(query.pattern), replace(query, predicates=single), names)
    ordered: list[int] = []
    first = 0
    for part, _ in alternatives(query.pattern):
        after = first + _count(part)
        ordered += () if isinstance(part, And) else range(first, after)
        first = after
    automaton = compare_all(restrict(whole, whole.at(ordered)), query, names)
    return (automaton,) if automaton.positions else ()


def _disjoint_union(whole: Automaton, pattern: Pattern, offset: int, decided: bool) -> Automaton:
    """The part of `whole` for `pattern`; alternatives of a top-level OR lose what earlier ones match."""
    parts = pattern.parts if isinstance(pattern, Or) else (pattern,)
    alternatives = []
    for part in parts:
        positions = whole.at(range(offset, offset + _count(part)))
        alternatives.append(restrict(whole, positions))
        offset += _count(part)

    union = alternatives[0]
    for i, alternative in enumerate(alternatives[1:], start=1):
        earlier = reduce(unite, alternatives[:i])
        fresh = without(alternative, earlier, decided) if overlap(earlier, alternative) else alternative
        union = unite(union, fresh)
    return union


def _check_nested_or(tops: tuple[Pattern, ...]) -> None:
    frontier = [child for top in tops for child in children(top)]
    while frontier:
        pattern = frontier.pop()
        frontier.extend(children(pattern))
        if isinstance(pattern, Or):
            automata = [build(part) for part in pattern.parts]
            if any(overlap(a, b) for i, a in enumerate(automata) for b in automata[i + 1 :]):
                raise QueryError(
                    "alternatives of an OR inside another pattern may match the same events; make them disjoint or "
                    "put the OR at the top of the pattern"
                )


def _count(pattern: Pattern) -> int:
    return 1 if isinstance(pattern, Event) else sum(1 for _ in occurrences(pattern))
