"""Flattened queries: a Kleene pattern becomes one pattern without loops per length, as Flink was run in the papers.

"We flatten our queries: for each Kleene query, we determine the length of the longest match and specify a set of
fixed-length event sequence queries that cover all possible lengths" (dissertation 13.1, 19.1).
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from cepbench.algorithms.engine.flattening import is_kleene, sequences_of
from cepbench.algorithms.options import Option, WrongOption
from cepbench.events.schema import Schema
from cepbench.queries.analysis import analyse
from cepbench.queries.automaton import Automaton
from cepbench.queries.compile import CompiledQuery, Part
from cepbench.queries.model import CompleteMatches, Query, Semantics
from cepbench.queries.tables import Columns, build_tables

KLEENE = ("native", "flatten")


def kleene_options(algorithm: str, kleene: str, max_length: int | str) -> tuple[bool, int | None]:
    """Whether Kleene patterns are flattened, and the length of the longest sequence, or None.

    Raises `WrongOption` for a length without flattening, and for unknown values.
    """
    flattens = Option(algorithm, "kleene", kleene).among(KLEENE) == "flatten"
    longest = Option(algorithm, "max_length", str(max_length)).whole("none")
    if longest is not None and not flattens:
        raise WrongOption(f"{algorithm}[max_length={longest}]: it bounds flattened patterns; add kleene=flatten")
    return flattens, longest


def unsupported_flattened(query: Query, max_length: int | None) -> str | None:
    """Why a query cannot be replaced by queries without loops, in words; None if it can."""
    if query.span is not None or isinstance(query.returns, CompleteMatches):
        return "only queries with windows for all matches are flattened"
    if query.semantics is Semantics.NEXT:
        return "under skip-till-next-match, an event that is next in the Kleene pattern may be skipped when flattened"
    analysis = analyse(query)
    if analysis.conjunction:
        return "AND counts pairs of trends, which lie in different flattened sequences"
    if any(automaton.pairwise for automaton in analysis.automata):
        return "the longest match is not known where predicates compare events that are not adjacent"
    if max_length is None and any(is_kleene(automaton) for automaton in analysis.automata):
        return "a Kleene pattern has sequences of every length; give max_length to bound them"
    return None


def flattened(query: CompiledQuery, schema: Schema, max_length: int | None) -> tuple[Part, ...]:
    """The accepting paths of a query's automaton, each as a separate automaton with the columns of the query.

    Their matches are disjoint; together they are the matches of the query with at most `max_length` events. Raises
    `TooManySequences`.
    """
    [part] = query.parts
    columns = Columns(schema)
    columns.ints, columns.reals, columns.flags = list(query.ints), list(query.reals), list(query.columns.flags)
    return tuple(
        _part(query, part, _path(part.automaton, sequence.positions), columns)
        for sequence in sequences_of(query, max_length)
    )


def _part(query: CompiledQuery, whole: Part, automaton: Automaton, columns: Columns) -> Part:
    tables = build_tables(automaton, query.layout, columns.schema, columns, query.analysis.names)
    return Part(automaton, tables, whole.negations)


def _path(automaton: Automaton, path: tuple[int, ...]) -> Automaton:
    """The automaton of one path."""
    steps = {(t.source, t.target): t for t in automaton.transitions}
    last = len(path) - 1
    positions = (automaton.positions[p] for p in path)
    return Automaton(
        tuple(
            replace(position, start=position.start if i == 0 else None, end=position.end if i == last else None)
            for i, position in enumerate(positions)
        ),
        tuple(replace(steps[step], source=i, target=i + 1) for i, step in enumerate(pairwise(path))),
        automaton.negations,
    )
