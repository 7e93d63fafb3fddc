"""Negation (docs/semantics.md, rule 5): between, before and after, on junctions of nested patterns."""

import pytest

from cepbench.algorithms.oracle import answer
from cepbench.queries.errors import QueryError
from cepbench.queries.parser import parse_query
from tests.streams import stream


def counts(query: str, events: str) -> dict[int, int]:
    """COUNT(*) by the start of the window."""
    rows = answer(parse_query(f"RETURN COUNT(*) PATTERN {query}"), stream(events))
    return {row["window_start"]: row["COUNT(*)"] for row in rows}


def count(query: str, events: str) -> int:
    return counts(query, events).get(0, 0)


@pytest.mark.parametrize(
    ("events", "matches"),
    [("A1 N2 B3", 0), ("A1 N1 B2", 1), ("A1 N2 B2", 1), ("A1 N2 A3 B4", 1), ("A1 B2 N3 B4", 1)],
)
def test_between_is_strictly_between(events: str, matches: int) -> None:
    assert count("SEQ(A, NOT N, B)", events) == matches


@pytest.mark.parametrize(
    ("pattern", "events", "matches"),
    [
        ("SEQ(A, NOT N, B?, C)", "A1 B2 N3 C4", 1),  # b -> c may pass the N, a -> c may not
        ("SEQ(SEQ(A, NOT N, B?), C)", "A1 B2 N3 C4", 1),
        ("SEQ(A, SEQ(B?, NOT N, C), D)", "A1 N2 B3 C4 D5", 1),  # a -> b carries no N, b -> c and a -> c do
        ("SEQ(SEQ(A, NOT M), SEQ(NOT N, B))", "A1 M2 B3 A4 N5 B6 A7 B8", 1),  # a junction unites both sides
        ("(SEQ(NOT N, A, B))+", "A1 B2 N3 A4 B5", 2),  # a1b2, a1b5; the loop carries the N
        ("(SEQ(A, B, NOT N))+", "A1 B2 N3 A4 B5", 2),  # a1b5, a4b5; n3 trails a1b2 and stands in the loop
        ("SEQ(X?, NOT N, A)", "N1 X2 A3", 1),  # x2a3; n1 leads a3
        ("SEQ(A, SEQ(B?, NOT N, C?), D)", "A1 N2 D3", 0),
        ("SEQ(A, SEQ(B?, NOT N, C?)?, D)", "A1 N2 D3", 1),  # the smallest set of negations wins
        ("SEQ(A, NOT M, NOT N, B)", "A1 M2 B3 A4 N5 B6 A7 B8", 1),
    ],
)
def test_junctions_of_nested_patterns(pattern: str, events: str, matches: int) -> None:
    assert count(pattern, events) == matches


@pytest.mark.parametrize(
    ("events", "matches"),
    [("A1 C2 D3 B4", 0), ("A1 C2 E3 D4 B5", 1), ("A1 C2 E2 D3 B4", 0), ("A1 C2 E3 D4 C5 D6 B7", 0), ("A1 C1 D2 B3", 1)],
)
def test_negation_within_negation(events: str, matches: int) -> None:
    assert count("SEQ(A, NOT SEQ(C, NOT E, D), B)", events) == matches


def test_negated_patterns_match_under_any() -> None:
    assert count("SEQ(A, NOT SEQ(C, D), B) SEMANTICS next", "A1 C2 C3 D4 B5") == 0
    assert count("SEQ(A, NOT SEQ(C, D), B) SEMANTICS next", "A1 D2 C3 B5") == 1


def test_negated_patterns_have_predicates_of_their_own() -> None:
    assert count("SEQ(A, NOT SEQ(C, D), B) WHERE C.x < D.x", "A1 C2/5 D3/4 B4") == 1
    assert count("SEQ(A, NOT SEQ(C, D), B) WHERE C.x < D.x", "A1 C2/3 D3/4 B4") == 0
    assert count("SEQ(A, NOT N, B) WHERE N.x > 1", "A1 N2/1 B3") == 1
    assert count("SEQ(A, NOT N+, B) WHERE N.x < NEXT(N).x", "A1 N2/1 B3") == 0


def test_leading() -> None:
    assert count("SEQ(NOT N, A)", "A1 N2 A2 A3") == 2
    assert count("SEQ(NOT SEQ(C, D), A)", "C1 A2 D3 A4") == 1  # d3 is not before a2


def test_trailing() -> None:
    assert count("SEQ(A, NOT N)", "A1 A2 N2 A3") == 2
    assert count("SEQ(A, NOT SEQ(C, D))", "A1 C2 A2 D3") == 1  # c2 does not follow a2


def test_leading_and_trailing_see_the_window_only() -> None:
    assert counts("SEQ(NOT N, A) WITHIN 4 s SLIDE 2 s", "N1 A3 A5") == {2: 2, 4: 1}
    assert counts("SEQ(A, NOT N) WITHIN 4 s SLIDE 2 s", "A1 N3 A4") == {2: 1, 4: 1}
    assert counts("SEQ(NOT SEQ(C, D), A) WITHIN 4 s SLIDE 2 s", "C1 D2 A3") == {2: 1}
    assert counts("SEQ(A, NOT N) WITHIN 2 s", "A1 N2 A2") == {0: 1, 2: 1}


def test_negation_stays_in_the_partition() -> None:
    assert count("SEQ(A, NOT N, B) WHERE [g]", "A1@u N2@v B3@u") == 1
    assert count("SEQ(A, NOT N) GROUP-BY g", "A1@u N2@v") == 1


@pytest.mark.parametrize(
    "pattern",
    [
        "SEQ(A, NOT SEQ(NOT C, D), B)",
        "SEQ(A, NOT SEQ(C, NOT D), B)",
        "SEQ(NOT A, NOT B)",
        "SEQ(A, (SEQ(B?, NOT M, C?) | SEQ(D?, NOT N, E?)), F)",  # a -> f past an M or past an N
    ],
)
def test_negations_that_mean_nothing(pattern: str) -> None:
    with pytest.raises(QueryError):
        count(pattern, "A1")


def test_the_first_to_end_of_negated_matches_that_start_together() -> None:
    query = parse_query("RETURN COUNT(*) PATTERN SEQ(A, NOT SEQ(C, D), B)")
    rows = answer(query, stream("A0 C1 D2 B3 D4 B5"))
    assert rows == []
    [row] = answer(query, stream("A0 C1 B2 D3 B4 D5"))
    assert row["COUNT(*)"] == 1
