"""Flattening: the event sequences of a query, which A-Seq, Sharon and SPASS evaluate (dissertation Chapters 21, 22).

A query is flattened into the accepting paths of its position automaton. Distinct paths are distinct bindings, so sums
over the sequences of a query are exact: alternatives, optional parts and repeated types need no special treatment. A
Kleene pattern has a sequence for every length up to a bound, as in the evaluation of the papers.
"""

from __future__ import annotations

from collections import deque
from itertools import pairwise

from cepbench.algorithms.base import NO_DETECTION, UnsupportedQuery
from cepbench.algorithms.engine.event_sequence import Sequence, Symbol
from cepbench.queries.analysis import analyse
from cepbench.queries.automaton import Automaton, Position
from cepbench.queries.compile import CompiledQuery, Part
from cepbench.queries.model import Aggregates, Query, Semantics

MAX_SEQUENCES = 10_000
"""Maximum number of sequences of one query."""
NO_PATH = 2**30
"""Number of transitions to an END position if there is no path to one."""


class TooManySequences(UnsupportedQuery):
    """A query has more sequences than the limit."""


def unsupported_as_sequences(query: Query, kleene: bool) -> str | None:
    """Why a query is not a set of event sequences, in words; None if it is. `kleene`: Kleene patterns are allowed."""
    if query.span is not None:
        return NO_DETECTION
    if not isinstance(query.returns, Aggregates):
        return "event sequences are aggregated without constructing them, so matches cannot be returned"
    if query.semantics is not Semantics.ANY:
        return f"event sequences are aggregated under skip-till-any-match, not {query.semantics}"
    for automaton in analyse(query).automata:
        if automaton.pairwise or any(t.predicates for t in automaton.transitions):
            return "predicates that compare two events of a sequence need single events"
        if any(p.start or p.end for p in automaton.positions):
            return "negation before the first or after the last event of a sequence is not supported"
        if any(len(negation.positions) > 1 for negation in automaton.negations):
            return "only single event types may be negated in a sequence, not patterns of several events"
        if not kleene and is_kleene(automaton):
            return "a Kleene pattern has sequences of every length; give max_length to bound them"
    return None


def is_kleene(automaton: Automaton) -> bool:
    """Whether matches can have any length."""
    waiting = [0] * len(automaton.positions)
    for t in automaton.transitions:
        waiting[t.target] += 1
    free = deque(p for p, sources in enumerate(waiting) if sources == 0)
    ordered = 0
    while free:
        p = free.popleft()
        ordered += 1
        for t in automaton.transitions:
            if t.source == p:
                waiting[t.target] -= 1
                if waiting[t.target] == 0:
                    free.append(t.target)
    return ordered < len(automaton.positions)


def sequences_of(query: CompiledQuery, max_length: int | None) -> tuple[Sequence, ...]:
    """The sequences of a query that is not a conjunction; `max_length` limits those of a Kleene pattern.

    Raises `TooManySequences` with the query's name.
    """
    return sequences_of_part(query, query.parts[0], max_length)


def sequences_of_part(query: CompiledQuery, part: Part, max_length: int | None) -> tuple[Sequence, ...]:
    """The sequences of one automaton of a query, by length and positions."""
    automaton = part.automaton
    if max_length is None and is_kleene(automaton):
        raise UnsupportedQuery(f"query {query.query.name}: {unsupported_as_sequences(query.query, False)}")
    bound = max_length if max_length is not None and is_kleene(automaton) else len(automaton.positions)
    paths = _accepting_paths(automaton, bound)
    if paths is None:
        raise TooManySequences(
            f"query {query.query.name}: the pattern has more than {MAX_SEQUENCES} event sequences"
            + (f" of up to {bound} events" if is_kleene(automaton) else "")
        )
    symbols, negations = symbols_of(automaton)
    gaps = {(t.source, t.target): frozenset(negations[n] for n in t.negations) for t in automaton.transitions}
    return tuple(
        Sequence(
            query.index,
            path,
            tuple(symbols[p] for p in path),
            tuple(gaps[step] for step in pairwise(path)),
        )
        for path in sorted(paths, key=lambda path: (len(path), path))
    )


def symbols_of(automaton: Automaton) -> tuple[list[Symbol], list[Symbol]]:
    """The symbols of the positions, and of the negated single event types."""
    positions = [_symbol(position) for position in automaton.positions]
    return positions, [_symbol(negation.positions[0]) for negation in automaton.negations]


def _accepting_paths(automaton: Automaton, bound: int) -> list[tuple[int, ...]] | None:
    """Paths of at most `bound` positions from a START to an END position; None if there are too many."""
    needed = steps_to_end(automaton)
    follow: list[list[int]] = [[] for _ in automaton.positions]
    for t in automaton.transitions:
        follow[t.source].append(t.target)
    found: list[tuple[int, ...]] = []
    stack: list[tuple[int, ...]] = [
        (p,) for p, position in enumerate(automaton.positions) if position.start is not None
    ]
    while stack:
        path = stack.pop()
        if len(path) + needed[path[-1]] > bound:
            continue
        if automaton.positions[path[-1]].end is not None:
            if len(found) == MAX_SEQUENCES:
                return None
            found.append(path)
        stack.extend((*path, target) for target in follow[path[-1]])
    return found


def steps_to_end(automaton: Automaton) -> list[int]:
    """For each position, the fewest transitions to an END position, or `NO_PATH`."""
    least = [0 if position.end is not None else NO_PATH for position in automaton.positions]
    changed = True
    while changed:
        changed = False
        for t in automaton.transitions:
            if least[t.target] + 1 < least[t.source]:
                least[t.source] = least[t.target] + 1
                changed = True
    return least


def _symbol(position: Position) -> Symbol:
    return Symbol(position.type, frozenset(position.predicates))
