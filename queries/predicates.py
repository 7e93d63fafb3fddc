"""The place of predicates in the automaton (docs/query-language.md, WHERE)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from cepbench.queries.automaton import Automaton, Pairwise, build
from cepbench.queries.errors import QueryError
from cepbench.queries.model import Comparison, Condition, Local, Query
from cepbench.queries.names import Names
from cepbench.queries.printing import predicate_text


def apply_predicates(automaton: Automaton, query: Query, names: Names) -> Automaton:
    """The `automaton` of `query` with each predicate on the positions and transitions that it restricts.

    Local predicates are at positions, also of negated sub-patterns. A comparison is adjacent if its first name has a
    transition to its second, otherwise pairwise; sides are exchanged if only the reverse order can occur. `NEXT` must
    be adjacent. Raises `QueryError`.
    """
    for predicate in query.predicates:
        match predicate:
            case Local(name, condition):
                automaton = _apply_local(automaton, condition, names.indices(name))
            case Comparison(left, _, right):
                automaton = _apply_comparison(
                    automaton, predicate, names.indices(left.name), names.indices(right.name), names
                )
    return automaton


def _apply_local(automaton: Automaton, condition: Condition, targets: Sequence[int]) -> Automaton:
    wanted = automaton.at(targets)
    positions = tuple(
        replace(p, predicates=(*p.predicates, condition)) if i in wanted else p
        for i, p in enumerate(automaton.positions)
    )
    negations = tuple(_apply_local(n, condition, targets) for n in automaton.negations)
    return replace(automaton, positions=positions, negations=negations)


def _apply_comparison(
    automaton: Automaton, predicate: Comparison, left: Sequence[int], right: Sequence[int], names: Names
) -> Automaton:
    sides = {i in names.negated for i in (*left, *right)}
    if len(sides) == 2:
        raise QueryError(
            f"{predicate_text(predicate)} relates a negated event to a positive "
            "one; a comparison may use either only negated or only positive events"
        )
    if sides == {True}:
        negations = tuple(_within(n, predicate, left, right) for n in automaton.negations)
        return replace(automaton, negations=negations)
    return classify(automaton, predicate, automaton.at(left), automaton.at(right))


def _within(automaton: Automaton, predicate: Comparison, left: Sequence[int], right: Sequence[int]) -> Automaton:
    """A comparison of negated names, applied in the negated sub-pattern that contains both."""
    lefts, rights = automaton.at(left), automaton.at(right)
    if lefts and rights:
        automaton = classify(automaton, predicate, lefts, rights)
        if automaton.pairwise:
            raise QueryError("a negated pattern takes predicates on single and on adjacent events only")
        return automaton
    return replace(automaton, negations=tuple(_within(n, predicate, left, right) for n in automaton.negations))


def classify(automaton: Automaton, predicate: Comparison, left: frozenset[int], right: frozenset[int]) -> Automaton:
    """`automaton` with `predicate` as an adjacent or a pairwise one between two sets of positions."""
    edges = automaton.all_transitions
    adjacent = {(s, t) for s, t in edges if s in left and t in right}
    if not adjacent and predicate.next:
        raise QueryError(
            f"NEXT({predicate.right.name}) never directly follows {predicate.left.name} in the pattern; "
            "leave NEXT out to compare events that are not adjacent"
        )
    if not adjacent and not _before(edges, left, right) and _before(edges, right, left):
        return classify(automaton, predicate.exchanged, right, left)
    if not adjacent:
        return replace(automaton, pairwise=(*automaton.pairwise, Pairwise(predicate, left, right)))
    transitions = tuple(
        replace(t, predicates=(*t.predicates, predicate)) if (t.source, t.target) in adjacent else t
        for t in automaton.transitions
    )
    return replace(automaton, transitions=transitions)


def directions(query: Query) -> Iterator[str]:
    """A notice for each comparison of events that come in both orders, with the order that was taken."""
    compared = [p for p in query.predicates if isinstance(p, Comparison) and not p.next]
    if query.span is not None or not compared:  # a detection query compares in every order
        return
    names, automaton = Names.of(query.pattern), build(query.pattern)
    edges = automaton.all_transitions
    for predicate in compared:
        left, right = (automaton.at(names.indices(side.name)) for side in (predicate.left, predicate.right))
        if any((s, t) in edges for s in left for t in right):
            reversible = any((t, s) in edges for s in left for t in right)
        else:
            reversible = _before(edges, left, right) and _before(edges, right, left)
        if reversible:
            first, second, written = predicate.left.name, predicate.right.name, predicate_text(predicate)
            yield (
                f"{written} compares {first} with a later {second}; the pattern also has {second} before {first}, "
                "which is not compared"
            )


def compare_all(automaton: Automaton, query: Query, names: Names) -> Automaton:
    """The `automaton` of a detection query with its comparisons, which hold for all bound events of two operands.

    They are pairwise, also where a transition leads from one operand to the other, in every order that occurs.
    """
    edges, pairs = automaton.all_transitions, []
    for predicate in query.predicates:
        if isinstance(predicate, Comparison):
            left, right = (automaton.at(names.indices(side.name)) for side in (predicate.left, predicate.right))
            pairs += [Pairwise(predicate, left, right), Pairwise(predicate.exchanged, right, left)]
    return replace(automaton, pairwise=tuple(pair for pair in pairs if _before(edges, pair.left, pair.right)))


def _before(edges: frozenset[tuple[int, int]], sources: frozenset[int], targets: frozenset[int]) -> bool:
    """Whether some path of at least one transition leads from `sources` to `targets`."""
    reached: set[int] = set()
    frontier = set(sources)
    while frontier:
        frontier = {t for s, t in edges if s in frontier} - reached
        reached |= frontier
    return bool(reached & targets)
