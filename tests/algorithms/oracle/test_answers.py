"""Predicates, names, windows, groups, aggregates and matches, with answers derived by hand."""

from typing import Any

import pytest

from cepbench.algorithms.oracle import TooManyMatches, answer
from cepbench.events.errors import InputError
from cepbench.queries.errors import QueryError
from cepbench.queries.parser import parse_query
from tests.streams import stream


def rows(query: str, events: str, **options: Any) -> list[dict[str, Any]]:
    return answer(parse_query(query), stream(events), **options)


def count(query: str, events: str) -> int:
    return sum(row["COUNT(*)"] for row in rows(f"RETURN COUNT(*) PATTERN {query}", events))


# --- predicates -----------------------------------------------------------------------------------------------------


def test_an_adjacent_predicate_restricts_only_its_transitions() -> None:
    # a1b2, a1b4, a3b4 and a1b2a3b4; a1a3b4 falls
    assert count("(SEQ(A+, B))+ WHERE A.x < NEXT(A).x", "A1/5 B2/0 A3/3 B4/0") == 4


def test_a_comparison_is_turned_around_where_only_that_has_a_transition() -> None:
    for predicate in ("A.x < B.x", "B.x > A.x", "A.x < NEXT(B).x"):
        assert count(f"SEQ(A, B) SEMANTICS next WHERE {predicate}", "A1/5 B2/3 B3/7") == 1


def test_pairwise_predicates_hold_for_every_pair_in_the_order_of_the_match() -> None:
    assert count("SEQ(A+, C, B) WHERE A.x < B.x", "A1/5 A2/1 C3/0 B4/3") == 1
    assert count("SEQ(A a, B, A z) WHERE a.x < z.x", "A1/1 B2/0 A3/2 B4/0 A5/0") == 1


def test_next_needs_a_transition() -> None:
    with pytest.raises(QueryError):
        count("SEQ(A, B, C) WHERE A.x < NEXT(C).x", "A1/0")


def test_whole_numbers_compare_exactly_and_factors_in_float64() -> None:
    events = f"A1/{2**53} A2/{2**53 + 1}"
    assert count("A+ WHERE A.x < NEXT(A).x", events) == 3
    assert count("A+ WHERE 2 * A.x < 2 * NEXT(A).x", events) == 2
    assert count(f"A WHERE A.x > {2**53}", events) == 1
    assert count("SEQ(A, B) WHERE A.x * 1.1 < B.x", "A1/10 B2/11 B3/12") == 1  # 1.1 * 10.0 is above 11


def test_strings_are_equal_or_not() -> None:
    assert count("A WHERE A.g = 'u'", "A1@u A2@v") == 1
    assert count("A+ WHERE A.g != NEXT(A).g", "A1@u A2@u A3@v") == 5
    with pytest.raises(QueryError):
        count("A WHERE A.g < 3", "A1@u")


# --- names ----------------------------------------------------------------------------------------------------------


def test_an_alias_means_its_occurrence_and_a_type_all_of_them() -> None:
    [row] = rows(
        "RETURN COUNT(one), COUNT(A), SUM(A.x), MAX(two.x) PATTERN SEQ(A one, B, A two)", "A1/1 B2/0 A3/2 A4/5"
    )
    assert (row["COUNT(one)"], row["COUNT(A)"], row["SUM(A.x)"], row["MAX(two.x)"]) == (2, 4, 9, 5)


def test_an_alias_hides_a_type_of_its_name() -> None:
    [row] = rows("RETURN COUNT(B), SUM(B.x) PATTERN SEQ(A B, B C)", "A1/1 B2/5 B3/5")
    assert (row["COUNT(B)"], row["SUM(B.x)"]) == (2, 2)


def test_an_alias_covers_all_copies() -> None:
    [row] = rows("RETURN COUNT(S) PATTERN A S{2,} WHERE S.x < NEXT(S).x", "A1/1 A2/2 A3/3")
    assert row["COUNT(S)"] == 9  # three pairs and all three


# --- windows and groups ---------------------------------------------------------------------------------------------


def windows(clause: str, events: str, unit: str = "s") -> list[tuple[int, int | None, int]]:
    answers = rows(f"RETURN COUNT(*) PATTERN SEQ(A, B) {clause}", events, time_unit=unit)
    return [(row["window_start"], row["window_end"], row["COUNT(*)"]) for row in answers]


def test_a_match_belongs_to_every_window_that_holds_it() -> None:
    assert windows("WITHIN 4 s SLIDE 2 s", "A2 B3 B5") == [(0, 4, 1), (2, 6, 2)]
    assert windows("WITHIN 4 s", "A3 B4") == []
    assert windows("WITHIN 2 s SLIDE 5 s", "A1 B2 A5 B6 A7 B8") == [(5, 7, 1)]
    assert windows("", "A1 B900") == [(0, None, 1)]


def test_lengths_are_in_the_units_of_the_stream() -> None:
    assert windows("WITHIN 1 minute", "A1 B59 B60") == [(0, 60, 1)]
    assert windows("WITHIN 1 s", "A1 B999 B1000", "ms") == [(0, 1000, 1)]
    with pytest.raises(InputError):
        windows("WITHIN 500 ms", "A1 B2")


def test_count_windows_cover_consecutive_events_of_the_substream() -> None:
    assert windows("WITHIN 3 EVENTS SLIDE 1 EVENTS", "A1 B2 A3 B4") == [(0, 3, 1), (1, 4, 1), (2, 5, 1)]
    assert windows("WITHIN 2 EVENTS", "A1 A1 B2 B2") == []
    assert windows("WHERE [g] WITHIN 2 EVENTS", "A1@u A1@v B2@v B3@u A4@u A5@v") == [(0, 2, 2)]


def test_rows_of_groups_sum_over_equivalence() -> None:
    starts = [(1, "A", "v", 1), (1, "A", "u", 1), (1, "A", "u", 2)]
    ends = [(2, "B", "u", 2), (3, "B", "u", 1), (4, "B", "v", 1), (5, "B", "v", 2)]
    events = [{"time": time, "type": kind, "g": group, "h": driver} for time, kind, group, driver in (*starts, *ends)]
    query = parse_query("RETURN g, COUNT(*) PATTERN SEQ(A, B) WHERE [h] GROUP-BY g")
    common = {"query": query.name, "window_start": 0, "window_end": None, "overflow": False}
    assert answer(query, events) == [{"g": "u", "COUNT(*)": 2, **common}, {"g": "v", "COUNT(*)": 1, **common}]
    assert list(answer(query, events)[0]) == ["query", "g", "window_start", "window_end", "COUNT(*)", "overflow"]


# --- aggregates -----------------------------------------------------------------------------------------------------

ALL = "COUNT(*), COUNT(B), MIN(B.x), MAX(B.x), SUM(B.x), AVG(B.x)"


def test_aggregates_over_events_that_are_not_bound() -> None:
    [row] = rows(f"RETURN {ALL} PATTERN SEQ(A, B?)", "A1/7")
    assert [row[name] for name in ALL.split(", ")] == [1, 0, None, None, 0, None]
    assert row["overflow"] is False


def test_the_sum_of_no_float_is_a_float() -> None:
    first, second = rows("RETURN SUM(B.x) PATTERN A OR B WITHIN 2 s", "A1 B2/0.5")
    assert (first["SUM(B.x)"], second["SUM(B.x)"]) == (0.0, 0.5)
    assert isinstance(first["SUM(B.x)"], float)


def test_aggregates_count_with_multiplicity() -> None:
    [row] = rows(f"RETURN {ALL} PATTERN SEQ(A+, B)", "A1/0 A2/0 B3/4 B4/-1")
    assert [row[name] for name in ALL.split(", ")] == [6, 6, -1, 4, 9, 1.5]


def test_float_attributes() -> None:
    [row] = rows(f"RETURN {ALL} PATTERN B+", "B1/0.5 B2/1")
    assert [row[name] for name in ALL.split(", ")] == [3, 4, 0.5, 1.0, 3.0, 0.75]
    assert isinstance(row["MAX(B.x)"], float)


def test_a_sum_overflows_by_magnitudes_whatever_the_order() -> None:
    query = "RETURN COUNT(*), SUM(A.x), AVG(A.x), MIN(A.x) PATTERN A"
    events = f"A1/{2**62} A2/-{2**62}"
    [exact] = rows(query, events)
    assert (exact["SUM(A.x)"], exact["AVG(A.x)"], exact["overflow"]) == (0, 0.0, True)
    [shown] = rows(query, events, modular=True)
    assert (shown["COUNT(*)"], shown["SUM(A.x)"], shown["AVG(A.x)"]) == (2, None, None)
    assert (shown["MIN(A.x)"], shown["overflow"]) == (-(2**62), True)
    [below] = rows(query, f"A1/{2**62} A2/-{2**62 - 1}")
    assert below["overflow"] is False


def test_a_float_sum_overflows_past_its_range() -> None:
    query = parse_query("RETURN SUM(A.x) PATTERN A")
    [row] = answer(query, [{"time": time, "type": "A", "x": 1.7e308} for time in (1, 2)])
    assert row["overflow"] is True


# --- matches --------------------------------------------------------------------------------------------------------


def test_matches_are_positions_in_time_order() -> None:
    answers = rows("RETURN MATCHES PATTERN SEQ(A, B)", "B4 A1 B2 A1")
    assert [row["match"] for row in answers] == [[0, 2], [0, 3], [1, 2], [1, 3]]
    assert list(answers[0]) == ["query", "window_start", "window_end", "match"]


def test_every_binding_is_a_match() -> None:
    assert [row["match"] for row in rows("PATTERN SEQ(A?, A?)", "A1")] == [[0], [0]]


def test_complete_matches_are_part_of_no_other() -> None:
    answers = rows("RETURN COMPLETE MATCHES PATTERN A+ WITHIN 3 s SLIDE 1 s", "A1 A1 A2 A3")
    assert [(row["window_start"], row["match"]) for row in answers] == [
        (0, [0, 2]),
        (0, [1, 2]),
        (1, [0, 2, 3]),
        (1, [1, 2, 3]),
        (2, [2, 3]),
        (3, [3]),
    ]


# --- refusals -------------------------------------------------------------------------------------------------------


def test_the_search_is_bounded() -> None:
    with pytest.raises(TooManyMatches):
        rows("RETURN COUNT(*) PATTERN A+", " ".join(f"A{time}" for time in range(10)), limit=1000)


@pytest.mark.parametrize("query", ["A+ WHERE A.x > 1", "A GROUP-BY x", "SEQ(B, NOT A) WHERE A.x > 1"])
def test_events_must_have_what_the_query_needs(query: str) -> None:
    with pytest.raises(InputError):
        count(query, "A1")


def test_other_types_may_lack_it() -> None:
    assert count("A+ WHERE A.x > 1", "A1/2 B2") == 1


@pytest.mark.parametrize("event", [{"time": -1, "type": "A"}, {"time": 1.5, "type": "A"}, {"type": "A"}, {"time": 1}])
def test_events_must_have_a_time_and_a_type(event: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        answer(parse_query("PATTERN A"), [event])


@pytest.mark.parametrize(
    "query",
    [
        "RETURN COUNT(*) PATTERN (A+ | SEQ(A, A))+",
        "RETURN COUNT(A) PATTERN A AND B",
        "RETURN COUNT(*) PATTERN A AND B AND C",
        "RETURN COUNT(N) PATTERN SEQ(A, NOT N, B)",
        "RETURN COUNT(*) PATTERN SEQ(A, NOT N, B) WHERE A.x < N.x",
        "RETURN COUNT(X) PATTERN A",
    ],
)
def test_queries_that_mean_nothing(query: str) -> None:
    with pytest.raises(QueryError):
        rows(query, "")
