"""On random queries without a match: what an explanation names is what a match lacks, and its numbers are right."""

import os
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pytest

from cepbench.algorithms.oracle import TooManyMatches, answer
from cepbench.algorithms.oracle.comparing import holds_pair, passes, without_units
from cepbench.algorithms.oracle.names import meaning_of
from cepbench.algorithms.oracle.stream import StreamEvent, stream_of
from cepbench.queries.model import (
    Comparison,
    Equivalence,
    Length,
    Local,
    Matches,
    Query,
    Semantics,
    WindowClause,
    occurrences,
)
from cepbench.queries.parser import parse_query
from cepbench.queries.printing import predicate_text, to_text
from cepbench.queries.workloads import parse_with_sources
from cepbench.verification.agreement import LIMIT
from cepbench.verification.explaining.clauses import clauses_of, without
from cepbench.verification.explaining.explain import Explanation, Remedy, explained
from cepbench.verification.features import Feature
from cepbench.verification.random_cases import Case, batch_of, random_case

CASES = int(os.environ.get("CEPBENCH_EXPLAINED", "40"))
"""Queries that lack a clause; 200 by hand."""


def has_match(query: Query, case: Case) -> bool:
    """The oracle's answer, which no part of an explanation computes."""
    return bool(answer(query, case.events, limit=LIMIT))


def random_cases() -> Iterator[Case]:
    """Random cases without an answer; a quarter of the queries detects."""
    for seed in range(10_000):
        case = random_case(seed, frozenset({Feature.PER_MATCH} if seed % 4 == 0 else ()))
        try:
            if not has_match(case.query, case):
                yield case
        except TooManyMatches:
            continue


def explanation_of(case: Case) -> Explanation:
    [(query, source)] = parse_with_sources(to_text(case.query))
    return explained(query, source, stream_of(case.events), batch_of(case.events).schema)


@pytest.fixture(scope="module")
def explanations() -> list[tuple[Case, Explanation]]:
    """Explanations of which `CASES` name a clause."""
    pairs = []
    for case in random_cases():
        pairs.append((case, explanation_of(case)))
        if sum(bool(explanation.remedies) for _, explanation in pairs) == CASES:
            break
    return pairs


def test_there_is_a_match_without_the_named_clauses(explanations: list[tuple[Case, Explanation]]) -> None:
    for case, explanation in explanations:
        assert not explanation.matches
        for remedy in explanation.remedies:
            try:
                assert has_match(remedy.query, case), (case.seed, remedy.changes)
            except TooManyMatches:
                assert has_match(remedy.query, only(case, remedy)), (case.seed, remedy.changes)


def only(case: Case, remedy: Remedy) -> Case:
    """The case with the events of the match, and those that could prevent it."""
    assert remedy.query.semantics is Semantics.ANY
    numbers = {event.number for event in remedy.match}
    negated = {event.type for event in occurrences(remedy.query.pattern, negated=True)}
    kept = [event for number, event in enumerate(case.events) if number in numbers or event["type"] in negated]
    return replace(case, events=tuple(kept))


def test_named_clauses_are_all_that_is_left_out(explanations: list[tuple[Case, Explanation]]) -> None:
    for case, explanation in explanations:
        for remedy in explanation.remedies:
            relaxed, query = remedy.query, replace(case.query, returns=Matches())
            for text, change in zip(remedy.clauses, remedy.changes, strict=True):
                if text.startswith("SEMANTICS"):
                    query = replace(query, semantics=relaxed.semantics)
                elif text.startswith("GROUP-BY"):
                    query = replace(query, group_by=())
                elif text.startswith("WITHIN"):
                    query = replace(query, window=relaxed.window, span=relaxed.span)
                    assert change.startswith("without") or twice(case.query, relaxed)
                elif text.startswith("NOT") and text not in map(predicate_text, query.predicates):
                    query = replace(query, pattern=relaxed.pattern, predicates=relaxed.predicates)
                    assert negations(relaxed) < negations(case.query)
                else:
                    query = replace(query, predicates=tuple(p for p in query.predicates if predicate_text(p) != text))
            assert parse_query(to_text(query)) == parse_query(to_text(relaxed)), case.seed


def twice(query: Query, relaxed: Query) -> bool:
    if query.span is not None and relaxed.span is not None:
        return relaxed.span.amount == 2 * query.span.amount
    assert query.window is not None
    assert relaxed.window is not None
    return relaxed.window == WindowClause(
        replace(query.window.within, amount=2 * query.window.within.amount), query.window.slide
    )


def negations(query: Query) -> int:
    return to_text(query).partition("SEMANTICS")[0].count("NOT ")


def test_each_predicate_that_is_enough_is_named(explanations: list[tuple[Case, Explanation]]) -> None:
    for case, explanation in explanations:
        query = replace(case.query, returns=Matches())
        named = {remedy.clauses[0] for remedy in explanation.remedies if len(remedy.clauses) == 1}
        for index, predicate in enumerate(query.predicates):
            fewer = replace(query, predicates=query.predicates[:index] + query.predicates[index + 1 :])
            try:
                assert has_match(fewer, case) == (predicate_text(predicate) in named), case.seed
            except TooManyMatches:
                continue


def test_without_a_remedy_the_pattern_alone_has_no_match(explanations: list[tuple[Case, Explanation]]) -> None:
    patterns = [case for case, explanation in explanations if not explanation.remedies]
    assert patterns
    for case in patterns:
        [(query, source)] = parse_with_sources(to_text(case.query))
        long = Length(Fraction(1000), "s" if query.span is None else query.span.unit)
        bare = without(replace(query, returns=Matches()), clauses_of(query, source), long)
        assert (bare.predicates, bare.window, negations(bare)) == ((), None, 0)
        assert not has_match(bare, case), case.seed


def test_a_condition_ends_every_partial_match(explanations: list[tuple[Case, Explanation]]) -> None:
    for case, explanation in explanations:
        for beginning in explanation.beginnings:
            assert beginning.lacks, case.seed
            assert all(lack.counts[-1][1] == 0 for lack in beginning.lacks), case.seed


def test_events_are_counted_as_by_enumeration(explanations: list[tuple[Case, Explanation]]) -> None:
    compared = 0
    for case, explanation in explanations:
        if case.query.span is not None:
            continue
        stream = stream_of(case.events)
        types = [event.type for event in occurrences(case.query.pattern)]
        for origin, position in enumerate(explanation.positions):
            able = [event for event in stream if event.type == types[origin]]
            assert position.events == len(able)
            passing = dict(position.passing)
            for predicate in case.query.predicates:
                number = enumerated(case.query, predicate, origin, able, stream)
                if number is not None:
                    assert passing[predicate_text(predicate)] == number, (case.seed, predicate)
                    compared += 1
    assert compared > CASES / 2


def enumerated(
    query: Query, predicate: object, origin: int, able: list[StreamEvent], stream: list[StreamEvent]
) -> int | None:
    """The number of events that pass a predicate at a position; None if it says nothing about the position."""
    if isinstance(predicate, Equivalence):
        return None
    assert isinstance(predicate, Local | Comparison)
    meaning = meaning_of(without_units(replace(query, predicates=(predicate,)), "s"))
    if origin in meaning.locals:
        return sum(all(passes(condition, event) for condition in meaning.locals[origin]) for event in able)
    for pair in meaning.pairs:
        if origin in pair.second:
            types = {meaning.types[first] for first in pair.first}
            return sum(
                any(
                    earlier.time < event.time
                    and earlier.type in types
                    and all(earlier.attributes[name] == event.attributes[name] for name in query.partition)
                    and holds_pair(pair, earlier, event)
                    for earlier in stream
                )
                for event in able
            )
    return None
