"""The definition of a match (docs/semantics.md, rules 1 to 4), with answers derived by hand."""

import pytest

from cepbench.algorithms.oracle import answer
from cepbench.queries.parser import parse_query
from tests.streams import stream


def count(query: str, events: str) -> int:
    rows = answer(parse_query(f"RETURN COUNT(*) PATTERN {query}"), stream(events))
    return sum(row["COUNT(*)"] for row in rows)


@pytest.mark.parametrize(
    ("pattern", "events", "matches"),
    [
        ("A", "A1 B2 A3", 2),
        ("A?", "A1 A2", 2),
        ("A*", "A1 A2 A3", 7),
        ("(A+)+", "A1 A2 A3 A4", 15),  # a loop in a loop adds no path
        ("A{1,}", "A1 A2 A3", 7),
        ("A{3,}", "A1 A2 A3 A4 A5", 16),
        ("(SEQ(A, B)){2,}", "A1 B2 A3 B4", 1),
        ("SEQ(A?, A?)", "A1 A2", 5),  # four bindings of one event, one of both
        ("SEQ(A, A+)", "A1 A2 A3", 4),
        ("SEQ(A+, A+)", "A1 A2 A3", 5),  # three pairs, and the three events split in two ways
        ("SEQ(A, (B | C)+, D)", "A1 B2 C3 D4", 3),
        ("(SEQ(A, B?))+", "A1 B2 A3", 5),  # a1, a3, a1b2, a1a3, a1b2a3
    ],
)
def test_matches_are_paths_of_bound_events(pattern: str, events: str, matches: int) -> None:
    assert count(pattern, events) == matches


@pytest.mark.parametrize(
    ("pattern", "events", "matches"),
    [
        ("A+", "A1 A1 A1", 3),
        ("A+", "A1 A1 A2 A2", 8),
        ("SEQ(A, B)", "A1 B1", 0),
        ("SEQ(A, B, C)", "A1 B2 C2 B3 C3", 1),
        ("(SEQ(A, B))+", "A1 B2 A2 B3", 3),  # a1b2, a1b3, a2b3; b2 and a2 are simultaneous
    ],
)
def test_simultaneous_events_never_precede_one_another(pattern: str, events: str, matches: int) -> None:
    assert count(pattern, events) == matches


@pytest.mark.parametrize(
    ("query", "events", "matches"),
    [
        ("SEQ(A, B)", "A1 B2 B2 B3", 2),  # both events of the earliest time
        ("SEQ(A, B)", "A1 A1 B2", 2),
        ("SEQ(A, B) WHERE B.x = 1", "A1/0 B2/0 B3/1", 1),  # b2 cannot follow under any, so it is skipped
        ("SEQ(A, B) WHERE A.x < B.x", "A1/5 B2/3 B3/7", 1),
        ("SEQ(A, A?, B)", "A1 A2 B3", 2),  # a1a2b3, a2b3
        ("SEQ(A, B, C)", "A1 B2 B3 C4", 1),  # Definition 2.3 would add a1b3c4
        ("SEQ(A, B | C)", "A1 B2 C3", 1),
        ("SEQ(A, B) OR SEQ(A, C)", "A1 B2 C3", 2),  # each alternative has its own next event
        ("SEQ(A, C, B) WHERE A.x < B.x", "A1/5 C2/0 B3/3 B4/7", 0),  # pairwise predicates only filter matches
        ("SEQ(A, NOT N, B)", "A1 N2 B3 A4 B5", 1),
    ],
)
def test_next_takes_the_earliest_events_that_any_would_allow(query: str, events: str, matches: int) -> None:
    pattern, where, predicate = query.partition(" WHERE ")
    assert count(f"{pattern} SEMANTICS next {where}{predicate}", events) == matches


@pytest.mark.parametrize(
    ("query", "events", "matches"),
    [
        ("SEQ(A, B)", "A1 Z2 B3", 0),
        ("SEQ(A, B)", "A1 Z1 B2", 1),  # simultaneous with a1
        ("SEQ(A, B)", "A1 Z2 B2", 1),  # simultaneous with b2
        ("A+", "A1 A1 A2", 5),
        ("A+ WHERE A.x < NEXT(A).x", "A1/5 A2/3 A3/7", 4),  # a2 stands between a1 and a3
        ("SEQ(A, B) WHERE B.x = 1", "A1/0 B2/0 B3/1", 0),
    ],
)
def test_contiguous_lets_no_event_pass(query: str, events: str, matches: int) -> None:
    pattern, where, predicate = query.partition(" WHERE ")
    assert count(f"{pattern} SEMANTICS contiguous {where}{predicate}", events) == matches


def test_contiguous_sees_the_partition_only() -> None:
    assert count("SEQ(A, B) SEMANTICS cont WHERE [g]", "A1@u A2@v B3@u B4@v") == 2
    assert count("SEQ(A, B) SEMANTICS cont GROUP-BY g", "A1@u Z2@u B3@u") == 0


@pytest.mark.parametrize(
    ("pattern", "events", "matches"),
    [
        ("A+ OR SEQ(A, B*)", "A1 A2 B3", 5),  # 3 + 4 - 2
        ("SEQ(A, B) OR SEQ(A, B)", "A1 B2 B3", 2),
        ("A OR A OR A", "A1 A2", 2),
        ("A OR SEQ(A?, A?)", "A1 A2", 3),  # a1 and a2 of the left, a1a2 of the right
        ("SEQ(A?, A?) OR A", "A1 A2", 5),  # the left binds a1 and a2 in two ways each
    ],
)
def test_or_counts_each_trend_of_both_sides_once(pattern: str, events: str, matches: int) -> None:
    assert count(pattern, events) == matches


def test_or_compares_trends_under_the_predicates_of_each_side() -> None:
    query = parse_query("RETURN COUNT(*), COUNT(one), COUNT(two) PATTERN A one OR A two WHERE one.x = 1")
    [row] = answer(query, stream("A1/1 A2/2"))
    assert (row["COUNT(*)"], row["COUNT(one)"], row["COUNT(two)"]) == (2, 1, 1)


@pytest.mark.parametrize(
    ("pattern", "events", "matches"),
    [
        ("A AND B", "A1 B2 A3", 2),
        ("A AND A", "A1 A2 A3", 3),  # 9 - 3 - 3
        ("A+ AND A", "A1 A2", 3),  # 6 - 2 - 1
        ("SEQ(A, B) AND C", "C1 A2 B3 B4", 2),
        ("A AND B WITHIN 2 s", "A1 B2", 0),
        ("A AND B WITHIN 2 s SLIDE 1 s", "A1 B2", 1),
    ],
)
def test_and_counts_unordered_pairs_of_distinct_trends(pattern: str, events: str, matches: int) -> None:
    assert count(pattern, events) == matches


def test_and_reports_its_events_in_the_order_of_the_stream() -> None:
    query = parse_query("RETURN MATCHES PATTERN A AND B AND C WHERE A.x < B.x")
    rows = answer(query, stream("C1/0 B2/5 A3/3 A4/7"))
    assert [row["match"] for row in rows] == [[0, 1, 2]]


def test_predicates_of_and_hold_in_order_within_a_part_and_in_any_order_across() -> None:
    assert (
        count("SEQ(A, C, B)+ AND D WHERE A.x < B.x", "A1/1 C2/0 B3/2 A4/9 C5/0 B6/10 D7") == 5
    )  # a4 is not held against b3
    assert count("A AND B WHERE A.x < B.x", "B1/5 A2/3 A3/7") == 1
