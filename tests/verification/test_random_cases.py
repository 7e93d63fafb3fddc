from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pandas as pd
import pytest

from cepbench.algorithms.oracle import TooManyMatches, answer, plain_events
from cepbench.events.files import read_events
from cepbench.queries.model import Not, Pattern, Query, Semantics, children
from cepbench.queries.parser import parse_query
from cepbench.queries.printing import to_text
from cepbench.verification.features import Feature, query_features
from cepbench.verification.random_cases import (
    Case,
    batch_of,
    every_event,
    inside_time_stamps,
    random_case,
    split,
)
from cepbench.verification.shrinking import shrink

CONDITIONS = frozenset({Feature.REPETITION, Feature.TWO_ATTRIBUTES, Feature.LOGIC, Feature.OFFSET, Feature.TIME})


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    return [random_case(seed) for seed in range(400)]


def without_nulls(events: Sequence[Mapping[str, Any]], case: Case) -> list[dict[str, Any]]:
    """Events without the attributes that are null in the case."""
    return [
        {name: value for name, value in event.items() if original[name] is not None}
        for event, original in zip(events, case.events, strict=True)
    ]


def operators(pattern: Pattern) -> list[str]:
    return [type(pattern).__name__, *(name for child in children(pattern) for name in operators(child))]


def test_a_seed_gives_one_case() -> None:
    assert random_case(7) == random_case(7)
    assert random_case(7) != random_case(8)


def test_cases_cover_the_language(cases: list[Case]) -> None:
    counts = Counter(name for case in cases for name in set(operators(case.query.pattern)))
    assert set(counts) == {"Event", "Seq", "Plus", "Star", "Maybe", "Repeat", "Not", "Or", "And"}
    assert min(counts.values()) >= 5
    assert {case.query.semantics for case in cases} == set(Semantics)
    predicates = {type(predicate).__name__ for case in cases for predicate in case.query.predicates}
    assert predicates == {"Equivalence", "Local", "Comparison"}
    assert {type(case.query.returns).__name__ for case in cases} == {"Aggregates", "Matches", "CompleteMatches"}
    windows = [case.query.window for case in cases]
    assert {None if window is None else window.within.unit for window in windows} == {None, "s", "events"}
    assert any(case.query.group_by for case in cases)


def test_many_cases_have_an_answer_and_few_are_too_large(cases: list[Case]) -> None:
    counts = Counter(_kind(case) for case in cases)
    assert counts["rows"] > len(cases) / 3
    assert counts["too large"] < len(cases) / 20


def _kind(case: Case) -> str:
    try:
        return "rows" if answer(case.query, case.events, limit=20_000) else "none"
    except TooManyMatches:
        return "too large"


def test_streams_are_in_time_order_with_simultaneous_events(cases: list[Case]) -> None:
    times = [[event["time"] for event in case.events] for case in cases]
    assert all(stream == sorted(stream) for stream in times)
    assert sum(len(stream) != len(set(stream)) for stream in times) > len(cases) / 3


def test_queries_can_be_written_down(cases: list[Case]) -> None:
    assert all(parse_query(to_text(case.query)) == case.query for case in cases)


def test_a_batch_holds_the_events_of_the_case(cases: list[Case]) -> None:
    for case in cases[:50]:
        assert without_nulls(plain_events(batch_of(case.events)), case) == without_nulls(case.events, case)


def test_nulls_are_held_as_readers_hold_them() -> None:
    event = {"time": 1, "type": "A", "g": None, "h": 1, "x": None, "y": None, "s": None}
    [held] = plain_events(batch_of([event]))
    frame = pd.DataFrame([event]).astype({"g": "Int64", "x": "Int64", "y": "float64", "s": "string"})
    [read] = plain_events(read_events(frame).batch)
    assert {name: str(held[name]) for name in "gxys"} == {"g": "0", "x": "0", "y": "nan", "s": ""}
    assert {name: str(read[name]) for name in "gx"} == {"g": "0", "x": "0"}


def test_cuts_split_a_batch_without_loss(cases: list[Case]) -> None:
    for case in cases[:50]:
        batch = batch_of(case.events)
        for cuts in ((), case.cuts, every_event(case), inside_time_stamps(case)):
            pieces = split(batch, cuts)
            events = [event for piece in pieces for event in plain_events(piece)]
            assert without_nulls(events, case) == without_nulls(case.events, case)
            assert len(pieces) == len(cuts) + 1


def test_cuts_inside_time_stamps(cases: list[Case]) -> None:
    case = next(case for case in cases if inside_time_stamps(case))
    for left, right in pairwise(split(batch_of(case.events), inside_time_stamps(case))):
        assert left.time[-1] == right.time[0]


def test_shrinking_keeps_what_fails_only(cases: list[Case]) -> None:
    def has_two_of_the_first_type(case: Case) -> bool:
        kinds = Counter(event["type"] for event in case.events)
        return kinds["A"] >= 2

    case = next(case for case in cases if has_two_of_the_first_type(case) and case.query.predicates and case.cuts)
    small = shrink(case, has_two_of_the_first_type)
    assert [event["type"] for event in small.events] == ["A", "A"]
    assert small.cuts == ()
    assert not small.query.predicates
    assert not small.query.group_by
    assert small.query.window is None
    assert operators(small.query.pattern) == ["Event"]


def test_shrinking_keeps_a_negation_that_matters(cases: list[Case]) -> None:
    case = next(case for case in cases if _negated(case.query))
    small = shrink(case, lambda candidate: _negated(candidate.query))
    assert sorted(operators(small.query.pattern)) == ["Event", "Event", "Not", "Seq"]
    assert small.events == ()


def test_shrinking_simplifies_conditions_and_repetitions() -> None:
    text = """RETURN COUNT(*) PATTERN SEQ(A{2,4}, B)
        WHERE (NOT (A.x + 1 > 2 * A.y AND A.x IN (1, 2)) OR 2 * A.time + 1 < 9) AND A.x + 3 < B.x * 2"""
    case = Case(0, (parse_query(text),), ())
    small = shrink(case, lambda candidate: "A.time" in to_text(candidate.query))
    assert small.query.predicates == parse_query("PATTERN A WHERE A.time < 9").predicates
    assert operators(small.query.pattern) == ["Event"]
    small = shrink(case, lambda candidate: "{" in to_text(candidate.query) and "< B.x" in to_text(candidate.query))
    assert small.query.predicates == parse_query("PATTERN A, B WHERE A.x < B.x").predicates
    assert to_text(small.query).count("A{1}") == 1


def test_a_third_of_the_cases_has_conditions_and_repetitions(cases: list[Case]) -> None:
    drawn = [CONDITIONS & query_features(case.query) for case in cases]
    assert 0.25 < sum(map(bool, drawn)) / len(cases) < 0.45
    assert frozenset().union(*drawn) == CONDITIONS


def test_shrinking_moves_cuts_with_the_events() -> None:
    events = tuple({"time": time, "type": "A", "g": 1, "h": 1, "x": 0, "y": 0.0, "s": "u"} for time in (1, 1, 2, 2))
    case = Case(0, (parse_query("RETURN COUNT(*) PATTERN A"),), events, (1, 3))

    def is_cut_inside_time_two(case: Case) -> bool:
        times = [event["time"] for event in case.events]
        return any(times[cut - 1] == times[cut] for cut in case.cuts)

    small = shrink(case, is_cut_inside_time_two)
    assert (len(small.events), small.cuts) == (2, (1,))
    assert replace(case, cuts=()) != case


def _negated(query: Query) -> bool:
    return Not.__name__ in operators(query.pattern)
