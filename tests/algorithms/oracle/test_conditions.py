"""Conditions on one event, offsets, times and repetitions, with answers derived by hand."""

from typing import Any

import pytest

from cepbench.algorithms.oracle import answer, needed_attributes, tally
from cepbench.algorithms.oracle.names import meaning_of
from cepbench.events.errors import InputError
from cepbench.queries.errors import QueryError
from cepbench.queries.parser import parse_query
from tests.streams import stream

LARGEST, LEAST = 2**63 - 1, -(2**63)


def count(query: str, events: str, **options: Any) -> int:
    return sum(
        row["COUNT(*)"] for row in answer(parse_query(f"RETURN COUNT(*) PATTERN {query}"), stream(events), **options)
    )


def matches(query: str, events: str) -> list[list[int]]:
    return [row["match"] for row in answer(parse_query(f"PATTERN {query}"), stream(events))]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("A.x > A.y", [[2]]),
        ("A.x >= A.y", [[1], [2]]),
        ("A.x + 1 > A.y", [[1], [2]]),
        ("A.x - A.y <= -1", [[0]]),
        ("A.x < A.x + 1", [[0], [1], [2]]),
        ("2 * A.x = A.y", [[0]]),
        ("A.x = 1 OR A.x = 3", [[0], [2]]),
        ("NOT A.x = 1", [[1], [2]]),
        ("NOT (A.x = 1 OR A.x = 3)", [[1]]),
        ("A.x IN (1, 3, 9)", [[0], [2]]),
        ("A.x NOT IN (1, 3)", [[1]]),
        ("A.x IN (2.0, 3.5)", [[1]]),
        ("A.y IN (1)", [[2]]),
        ("A.time > 5", [[1], [2]]),
        ("A.time <= 6 s", [[0], [1]]),
        ("A.time + 1 >= 100 s", [[2]]),
        ("A.time = A.x", [[0]]),
        ("(A.x > 1 AND A.y < 2) OR A.time < 3", [[0], [2]]),
    ],
)
def test_conditions_on_one_event(condition: str, expected: list[list[int]]) -> None:
    assert matches(f"A WHERE {condition}", "A1/1,2 A6/2,2 A99/3,1") == expected


def test_conditions_apply_to_each_occurrence_of_a_type_by_itself() -> None:
    assert matches("SEQ(A, B, A z) WHERE A.x > A.y", "A1/3,1 B2 A3/1,3 A4/5,1") == [[0, 1, 3]]
    assert matches("SEQ(A, B, A z) WHERE z.x > z.y", "A1/3,3 B2 A3/1,3 A4/5,1") == [[0, 1, 3]]


def test_conditions_apply_to_negated_events_and_under_per_match() -> None:
    events = "A1/1,1 E2/5,1 B3/1,1 A4/1,1 E5/1,5 B6/1,1"
    assert matches("SEQ(A, NOT E, B) WHERE E.x > E.y OR E.x IN (9)", events) == [[3, 5]]
    assert matches("SEQ(A, NOT E, B) WHERE E.x > E.y WITHIN 3 s PER MATCH", events) == [[3, 5]]
    assert matches("SEQ(A, B) WHERE B.time - A.time < 2 s WITHIN 9 s PER MATCH", "A1 A4 B5") == [[1, 2]]


def test_offsets_are_added_on_their_own_side() -> None:
    events = "A1/1 B2/3"
    assert count("SEQ(A, B) WHERE A.x + 2 < B.x", events) == 0
    assert count("SEQ(A, B) WHERE A.x + 2 <= B.x", events) == 1
    assert count("SEQ(A, B) WHERE A.x < B.x - 1", events) == 1
    assert count("SEQ(A, B) WHERE A.x + 1.5 < B.x - 0.5", events) == 0
    assert count("SEQ(A, B) WHERE B.x - A.x = 2", events) == 1
    assert count("SEQ(A, B) WHERE A.x - B.x = -2", events) == 1
    assert count("SEQ(A, B) WHERE 2 * A.x + 1 >= B.x", events) == 1


def test_a_difference_has_its_subtrahend_first() -> None:
    assert count("A+ WHERE NEXT(A).time - A.time <= 1", "A1 A2 A4") == 4
    assert count("SEQ(A, B) WHERE B.time - A.time <= 2", "A1 A4 B5") == 1


def test_integers_with_offsets_compare_exactly_beyond_64_bits() -> None:
    events = f"A1/{LARGEST} B2/{LEAST}"
    assert count("SEQ(A, B) WHERE A.x + 1 > B.x", events) == 1
    assert count("SEQ(A, B) WHERE A.x + 1 = B.x", events) == 0
    assert count(f"A WHERE A.x + 1 > {LARGEST}", events) == 1
    assert count(f"B WHERE B.x - 1 < {LEAST}", events) == 1
    assert count(f"A WHERE A.x IN ({LARGEST - 1})", events) == 0
    assert count(f"A WHERE A.x IN ({LARGEST})", events) == 1
    assert count(f"A WHERE A.x IN ({float(2**63)})", events) == 1  # as floats both are 2**63
    assert count(f"A WHERE A.x + 0.0 = {LARGEST - 1}", events) == 1


def test_lengths_are_units_of_the_stream() -> None:
    query = "SEQ(A, B) WHERE B.time - A.time <= 2 s"
    assert count(query, "A1000 B2500", time_unit="ms") == 1
    assert count(query, "A1000 B3001", time_unit="ms") == 0
    assert count("A WHERE A.time IN (1 min, 90 s)", "A60 A90 A91") == 2
    with pytest.raises(InputError, match="not a whole number"):
        count("A WHERE A.time > 1500 ms", "A1")
    tallied = tally(parse_query(f"RETURN COUNT(*) PATTERN {query}"), stream("A1000 B2500"), "ms")
    assert [row["COUNT(*)"] for row in tallied] == [1]


def test_time_is_no_attribute_that_events_need() -> None:
    query = parse_query("PATTERN SEQ(A, B) WHERE A.time + 1 < B.time AND A.x < A.y AND A.time > 1")
    assert needed_attributes(meaning_of(query)) == {("A", "x"), ("A", "y")}


def test_texts_compare_with_texts() -> None:
    assert count("A WHERE A.g IN ('u', 'w')", "A1@u A2@v") == 1
    with pytest.raises(QueryError):
        count("A WHERE A.g IN (1)", "A1@u")
    with pytest.raises(QueryError):
        count("A WHERE A.g < A.x", "A1/3@u")


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("A{3}", 4),
        ("A{2,}", 11),
        ("A{1,2}", 10),
        ("A{1,3}", 14),
        ("A{2,3}", 10),
        ("A{0,2}", 10),
        ("(A{2}){2}", 1),
        ("SEQ(A{1,2}, A z)", 10),
    ],
)
def test_repetitions_bind_events_of_one_type_in_one_way(pattern: str, expected: int) -> None:
    assert count(pattern, "A1 A2 A3 A4") == expected


def test_a_repeated_part_that_may_be_empty_counts_ways_to_bind() -> None:
    assert count("SEQ((E?){2,}, Y)", "E1 E2 Y3") == count("SEQ(E?, (E?)+, Y)", "E1 E2 Y3")


def test_conditions_of_a_repetition_hold_for_every_copy() -> None:
    assert count("A{2,3} WHERE A.x < NEXT(A).x", "A1/1 A2/3 A3/2 A4/4") == 5 + 2
    assert count("A{2} WHERE A.x > 1", "A1/1 A2/3 A3/2 A4/4") == 3


def test_complete_matches_of_repetitions() -> None:
    def complete(pattern: str, events: str) -> list[list[int]]:
        return [
            row["match"] for row in answer(parse_query(f"RETURN COMPLETE MATCHES PATTERN {pattern}"), stream(events))
        ]

    assert complete("A{2,}", "A1 A2 A3") == [[0, 1, 2]]
    assert complete("SEQ(A{2,}, B)", "A1 B2 A3 A4 B5") == [[0, 2, 3, 4]]
    assert complete("A{1,2}", "A1 A2 A3") == [[0, 1], [0, 2], [1, 2]]
    assert complete("SEQ(A+ x, A+ y)", "A1 A2 A3") == [[0, 1, 2]]  # in two ways
