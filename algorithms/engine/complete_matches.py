"""Which queries for complete matches have an answer that is built without comparing matches (dissertation 3-8).

A match is complete if no other match of the window holds all its events and more (Definition 3.1). Where an event binds
to one position only and adjacent events alone decide what a match is, the complete matches are the maximal paths of a
graph: its edges lead from an event to those that may follow it and that no longer way reaches (Algorithm 4).
"""

from __future__ import annotations

from cepbench.queries.analysis import analyse
from cepbench.queries.model import Query, Semantics


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
    types = [position.type for position in automaton.positions]
    repeated = next((name for name in types if types.count(name) > 1), None)
    if repeated is not None:
        return f"events of type {repeated} may bind in several ways; a complete match needs one"
    return None
