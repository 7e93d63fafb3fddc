"""Flink's patterns, beside SASE's answers: repeated matches, lost matches, and emulated clauses."""

from collections.abc import Mapping
from typing import Any

import pytest

from cepbench.algorithms.base import Executor
from cepbench.algorithms.engine.longest_match import LongerMatch
from cepbench.algorithms.external.flink.algorithm import Flink
from cepbench.algorithms.registry import make
from cepbench.events.batch import EventBatch
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey, run
from cepbench.verification.random_cases import split
from tests.contract.streams import batch
from tests.streams import stream

FIGURE_2_3 = "A1 B2 A3 A4 C5 B6 A7 B8"


def executor_of(text: str, events: EventBatch, algorithm: Flink | None = None) -> Executor:
    flink = algorithm or Flink()
    return OneKey(flink.operator(flink.plan(compile_workload([parse_query(text)], events.schema), Statistics())))


def details_of(text: str, events: EventBatch, algorithm: Flink | None = None) -> Mapping[str, float]:
    executor = executor_of(text, events, algorithm)
    executor.process(events)
    executor.finish()
    return executor.details()


def agree(text: str, events: str, specification: str = "flink") -> list[Any]:
    """The answer of Flink, which is that of SASE, however the stream is cut."""
    query, event_batch = parse_query(text), batch(stream(events))
    expected = run(make("sase"), query, [event_batch])
    for cuts in ((), tuple(range(1, len(event_batch)))):
        assert run(make(specification), query, split(event_batch, cuts), promise=bool(cuts)).equals(expected)
    answers: list[Any] = expected[expected.columns[3]].tolist()
    return answers


def test_relaxed_contiguity_is_not_skip_till_next_match() -> None:
    text = "RETURN COUNT(*) PATTERN (SEQ(A+, B))+ SEMANTICS skip-till-next-match"
    assert agree(text, FIGURE_2_3) == [8]


@pytest.mark.parametrize("semantics", ["any", "next", "contiguous"])
@pytest.mark.parametrize(
    "pattern", ["SEQ(A, B)", "A+", "SEQ(A+, B)", "SEQ(A, B+, A)", "(SEQ(A+, B))+", "(SEQ(A, B+))+"]
)
def test_ties(pattern: str, semantics: str) -> None:
    text = f"RETURN COUNT(*) PATTERN {pattern} SEMANTICS {semantics} WITHIN 8 s SLIDE 4 s"
    assert agree(text, "A1 A1 B2 B2 A3 B4 A4 C5 B6 B6 A7 A9 B9 B10")


def test_a_tie_after_events_without_one_sends_them_again() -> None:
    text = "RETURN COUNT(*) PATTERN SEQ(A+, B) SEMANTICS contiguous WITHIN 10 s SLIDE 5 s"
    assert agree(text, "A0 B1 A2 A6 A7 B8 B8 A9 B11") == [1 + 3 * 2, 2 * 2 + 1]


@pytest.mark.parametrize("semantics", ["any", "next", "contiguous"])
def test_predicates_on_adjacent_events(semantics: str) -> None:
    text = f"RETURN COUNT(*) PATTERN SEQ(A+, B) SEMANTICS {semantics} WHERE A.x <= NEXT(A).x AND A.x < B.x AND B.x > 1"
    assert agree(text, "A1/1 A2/0 A3/2 B3/3 A4/4 B5/1 B6/5 A7/1 A8/2 B9/3")


def test_conditions_of_one_event() -> None:
    text = "RETURN COUNT(*) PATTERN SEQ(A+, B) WHERE (A.x > 4 OR A.x = 1 AND A.time >= 3 s) AND NOT B.x IN (1, 2)"
    assert agree(text, "A1/1 A2/5 A3/1 A4/3 B5/2 B6/3") == [3]
    many = " AND ".join(f"(A.x != {n} OR A.x > 90)" for n in range(4, 14))
    assert agree(f"RETURN COUNT(*) PATTERN A WHERE {many} AND A.x < 20", "A1/1 A2/5 A3/13 A4/14 A5/30") == [2]


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("A.x + 2 < B.x", 2),
        ("A.x - 1 = B.x", 1),
        ("0.5 * A.x + 0.5 >= B.x - 2", 3),
        ("B.time - A.time <= 3 s", 4),
        ("A.time + 5 <= B.time", 1),
    ],
)
def test_offsets(condition: str, count: int) -> None:
    text = f"RETURN COUNT(*) PATTERN SEQ(A, B) WHERE {condition}"
    assert agree(text, "A1/1 A3/4 A4/2 B5/3 B6/5") == [count]


@pytest.mark.parametrize(
    ("condition", "count"),
    [("A.x + 1 > B.x", 4), ("A.x < B.x + 1", 4), ("A.x - 2 < B.x", 4), ("A.x + 1 = B.x", 0), ("A.x != B.x - 1", 4)],
)
def test_sums_beyond_64_bits_are_larger_or_smaller_than_every_integer(condition: str, count: int) -> None:
    text = f"RETURN COUNT(*) PATTERN SEQ(A, B) WHERE {condition}"
    greatest, least = 2**63 - 1, -(2**63)
    for x in (greatest, least):
        assert agree(text, f"A1/{x} A2/{x} B3/{x} B4/{x}") == ([count] if count else [])


@pytest.mark.parametrize("semantics", ["any", "next", "contiguous"])
@pytest.mark.parametrize(
    "pattern",
    [
        "A{2}", "A{2,}", "A{1,3}", "SEQ(A{2,3}, B)", "SEQ(A, B{0,2}, A)", "(SEQ(A, B)){1,3}", "(SEQ(A+, B)){2}",
        "(SEQ(A{1,2}, B))+", "A{1,101}", "SEQ(A, (SEQ(A, B)){2,})", "SEQ(A*, B)", "SEQ(A, B?, A?)", "(SEQ(A, B*))+",
    ],
)  # fmt: skip
def test_repetitions_and_optional_parts(pattern: str, semantics: str) -> None:
    events = "A1/1 A2/2 B3/0 A4/3 B5/4 B5/1 A6/1 A7/5 B8/3"
    for condition in ("", " WHERE A.x < 5"):
        assert agree(f"RETURN COUNT(*), SUM(A.x) PATTERN {pattern} SEMANTICS {semantics}{condition}", events)


def test_events_of_one_type_bind_in_one_way() -> None:
    assert agree("RETURN COUNT(*) PATTERN A{1,3}", "A1 A2") == [3]
    assert agree("RETURN COUNT(*) PATTERN A{2,3} WHERE A.x < NEXT(A).x + 1", "A1/1 A2/2 A3/1 A4/3") == [4 + 2 + 1]


def test_matches_are_returned_in_order() -> None:
    text = "RETURN MATCHES PATTERN SEQ(B, A+, B) WITHIN 6 s SLIDE 3 s"
    assert [0, 2, 3] in agree(text, "B1 B2 A3 B4 A5 B6")


@pytest.mark.parametrize(
    ("pattern", "condition"),
    [
        ("A+", "A.x <= NEXT(A).x"),
        ("SEQ(A+, B)", "A.x <= NEXT(A).x"),
        ("(SEQ(A, B+))+", "B.x <= NEXT(A).x"),
        ("SEQ((SEQ(A, B))+, C)", "A.x <= B.x"),
    ],
)
def test_complete_matches_are_those_that_no_other_holds(pattern: str, condition: str) -> None:
    text = f"RETURN COMPLETE MATCHES PATTERN {pattern} WHERE {condition} WITHIN 8 s SLIDE 4 s"
    assert agree(text, "A1/1 A1/2 B2/1 A3/2 B4/1 A4/1 C5/1 B6/1 B6/2 A7/1 A9/3 B9/1 C10/1")


@pytest.mark.parametrize("semantics", ["any", "next", "contiguous"])
@pytest.mark.parametrize("pattern", ["A{1,3}", "A{2,}", "SEQ(A, B*, A)", "SEQ(A+ a, A+ b)", "(SEQ(A{1,2}, B?))+"])
def test_bindings_of_the_same_events_are_one_complete_match(pattern: str, semantics: str) -> None:
    text = f"RETURN COMPLETE MATCHES PATTERN {pattern} SEMANTICS {semantics} WHERE A.x < 5 WITHIN 8 s SLIDE 4 s"
    assert agree(text, "A1/1 A2/2 B3/0 A4/3 A5/1 B6/4 B6/1 A7/5 A8/3")


def test_what_flink_repeats_counts_once_and_is_told() -> None:
    text = "RETURN COUNT(*) PATTERN SEQ((SEQ(A+, B))+, C)"
    events = "A1 A2 B3 A4 B5 C6 C7"
    [count] = agree(text, events)
    details = details_of(text, batch(stream(events)))
    assert details["duplicates"] == 25
    assert details["matches_reported"] == count + 25


def test_sequences_are_not_repeated() -> None:
    details = details_of("RETURN COUNT(*) PATTERN SEQ(A, B)", batch(stream("A1 A2 B3 B4")))
    assert (details["matches_reported"], details["duplicates"]) == (4, 0)


def test_flattened() -> None:
    flat = "flink[kleene=flatten, max_length=4]"
    assert agree("RETURN COUNT(*) PATTERN SEQ(A+, B) WHERE A.x < NEXT(A).x", "A1/1 A2/2 A3/1 A4/3 B5/0", flat) == [
        4 + 5
    ]
    with pytest.raises(LongerMatch):
        agree("RETURN COUNT(*) PATTERN A+", "A1 A2 A3 A4 A5", flat)
    assert details_of("RETURN COUNT(*) PATTERN A+", batch(stream("A1 A2")), Flink("flatten", 4))["duplicates"] == 0


@pytest.mark.parametrize("semantics", ["any", "contiguous"])
def test_no_sequence_is_short_enough(semantics: str) -> None:
    text = f"RETURN COUNT(*) PATTERN SEQ(A+, B, C) SEMANTICS {semantics}"
    assert agree(text, "A1 B2 A3 B4", "flink[kleene=flatten, max_length=2]") == []
    with pytest.raises(LongerMatch):
        agree(text, "A1 B2 C3", "flink[kleene=flatten, max_length=2]")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("RETURN COUNT(*) PATTERN SEQ(A, NOT C, B)", "NOT is not supported"),
        ("RETURN COUNT(*) PATTERN A OR B", "OR is not supported"),
        ("RETURN COUNT(*) PATTERN A AND B", "AND is not supported"),
        ("RETURN COUNT(*) PATTERN (SEQ(SEQ(A, B)+, C))+", "part of another Kleene pattern"),
        ("RETURN COUNT(*) PATTERN ((SEQ(A, B)){2,})+", "part of another Kleene pattern"),
        ("RETURN COUNT(*) PATTERN SEQ((SEQ(A, B))*, C)", "optional part of several events"),
        ("RETURN COUNT(*) PATTERN (A+){1,3}", "optional part of several events"),
        ("RETURN COUNT(*) PATTERN (SEQ(A{0,2}, B))+", "optional part of several events"),
        ("RETURN COUNT(*) PATTERN A{100,201}", "101 here; at most 100"),
        ("RETURN COUNT(*) PATTERN SEQ((A?)+, B)", "may be empty itself"),
        ("RETURN COUNT(*) PATTERN SEQ((A?){1,2}, B)", "may be empty itself"),
        ("RETURN COUNT(*) PATTERN SEQ(A, B, C) WHERE A.x < C.x", "not adjacent"),
    ],
)
def test_what_is_refused(text: str, reason: str) -> None:
    refusal = Flink().unsupported(parse_query(text))
    assert refusal is not None
    assert reason in refusal


def test_state_is_that_of_open_windows_and_partial_matches() -> None:
    events = batch(stream("A1 A2 B3 B9 A9"))
    executor = executor_of("RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 4 s", events)
    executor.process(events.slice(0, 2))
    assert executor.state().kinds == {"partial matches": 2, "events": 2}
    executor.process(events.slice(2, 4))
    executor.state()
    assert executor.state().kinds == {"partial matches": 0, "events": 1}


@pytest.mark.parametrize("semantics", ["any", "next"])
def test_events_that_no_match_may_bind_do_not_reach_the_operator(semantics: str) -> None:
    events = batch(stream("A1/1 A2/5 B3/2 A4/7 A5/2 C6/9 B7/8"))
    text = f"RETURN COUNT(*) PATTERN SEQ(A+, B) SEMANTICS {semantics} WHERE A.x > 3"
    executor = executor_of(text, events)
    executor.process(events)
    assert executor.state().kinds["events"] == 4
    executor.process(events.slice(7, 7))
    assert agree(text, "A1/1 A2/5 B3/2 A4/7 A5/2 C6/9 B7/8") == [4 if semantics == "any" else 2]
