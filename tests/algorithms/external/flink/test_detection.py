"""Detection on Flink: each match once, with its last event; orders of an AND; and refused patterns."""

import re

import pytest

from cepbench.algorithms.external.flink.algorithm import Flink
from cepbench.algorithms.external.flink.orders import MAX_FLOWS, PatternPlace, orders
from cepbench.algorithms.registry import make
from cepbench.queries.analysis import analyse
from cepbench.queries.detection import DetectionClause, clauses_of
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import answer_of
from cepbench.verification.random_cases import split
from tests.algorithms.construction.sase.test_detection import matches
from tests.algorithms.external.flink.test_flink import agree, details_of, executor_of
from tests.contract.streams import batch
from tests.streams import stream


def clause_of(pattern: str) -> DetectionClause:
    query = parse_query(f"PATTERN {pattern} WITHIN 3 s PER MATCH")
    [clause] = clauses_of(query, analyse(query).names)
    return clause


def test_matches_are_reported_with_their_last_event() -> None:
    events = batch(stream("A1 B2 B2 A3 B4 B5 B6"))
    executor = executor_of("PATTERN A AND B WITHIN 2 s PER MATCH", events)
    reported = [matches(executor.process(events.slice(n, n + 1))) for n in range(len(events))]
    assert reported == [[], [[0, 1]], [[0, 2]], [[1, 3], [2, 3]], [[3, 4]], [[3, 5]], []]
    assert not executor.finish()


def test_conditions_hold_for_all_pairs_of_events() -> None:
    text = "PATTERN A+ a, B b, C+ c WHERE a.x < c.x AND b.x > 1 WITHIN 20 s PER MATCH"
    assert [0, 3, 4] in agree(text, "A1/1 A2/4 B3/1 B4/2 C5/3 C6/5 C6/9 A7/1 C8/1")


def test_conditions_on_one_type_of_an_or() -> None:
    text = "PATTERN SEQ((A OR B)+ x, C) WHERE A.x > 2 AND (B.x < 2 OR B.x > 8) WITHIN 20 s PER MATCH"
    assert agree(text, "A1/1 A2/3 B3/1 B4/5 B5/9 C6/0") == [
        [1, 2, 4, 5], [1, 2, 5], [1, 4, 5], [1, 5], [2, 4, 5], [2, 5], [4, 5],
    ]  # fmt: skip


def test_offsets() -> None:
    text = "PATTERN A AND B WHERE A.x + 2 <= B.x AND B.time - A.time <= 2 s WITHIN 20 s PER MATCH"
    assert agree(text, "B1/5 A2/3 A3/4 B4/5 B5/6 B6/9") == [[0, 1], [1, 3], [2, 4]]


def test_ties_are_bound_together_by_an_and_only() -> None:
    assert agree("PATTERN A AND B AND C+ WITHIN 2 s PER MATCH", "C1 A1 B1 C2 C2 A2") != []
    assert agree("PATTERN SEQ(A, B) WITHIN 2 s PER MATCH", "A1 B1 A2 B2") == [[0, 3]]


def test_two_loops_of_an_and() -> None:
    assert len(agree("PATTERN A+ AND B+ WITHIN 3 s PER MATCH", "A1 A2 B4 A5 C6 A9 A9")) == 5


def test_the_same_events_are_one_match() -> None:
    text = "PATTERN SEQ(A, B+) OR A AND B OR A AND A AND B WITHIN 3 s PER MATCH"
    events = "A1 B2 A2 A3 B4 B5"
    agree(text, events)
    details = details_of(text, batch(stream(events)))
    assert details["duplicates"] > 0
    sequence = details_of("PATTERN SEQ(A, B) WITHIN 3 s PER MATCH", batch(stream(events)))
    assert (sequence["matches_reported"], sequence["duplicates"]) == (6, 0)


@pytest.mark.parametrize("span", ["3 events", "4 s"])
def test_windows_of_digests_are_those_of_sase(span: str) -> None:
    query = parse_query(f"PATTERN A AND B+ WITHIN {span} PER MATCH")
    events = batch(stream("A0 B1 A2 A2 B4 B5 B5 A8 C9 B9 A12 B16 A16 B21"))
    batches = split(events, tuple(range(1, len(events))))
    digests = [
        answer_of(make(name), query, batches, pickled=True, summarised=True).digest() for name in ("flink", "sase")
    ]
    assert digests[0] == digests[1]


def test_state_is_that_of_a_span() -> None:
    events = batch(stream("A1 A2 C3 B3 B9 A9"))
    executor = executor_of("PATTERN SEQ(A, B) WITHIN 3 s PER MATCH", events)
    executor.process(events.slice(0, 2))
    assert executor.state().kinds == {"partial matches": 2, "events": 2}
    executor.process(events.slice(2, 6))
    executor.state()
    assert executor.state().kinds == {"partial matches": 1, "events": 2}
    executor.finish()
    executor.state()
    assert executor.state().kinds == {"partial matches": 0, "events": 0}


def test_an_and_has_a_pattern_for_each_order() -> None:
    assert list(orders(clause_of("A+, B"))) == [(PatternPlace((0,), True), PatternPlace((1,), False))]
    assert len(list(orders(clause_of("A AND B AND C")))) == 6
    assert [tuple(place.operands for place in order) for order in orders(clause_of("A AND B+"))] == [
        ((0,), (1,)),
        ((1,), (0,)),
        ((1,), (0,), (1,)),
    ]
    assert list(orders(clause_of("A+ AND B+"))) == [(PatternPlace((0, 1), True),)]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("PATTERN A, NOT N, B WITHIN 3 s PER MATCH", "NOT is not supported"),
        ("PATTERN A+ a AND A+ b WITHIN 3 s PER MATCH", "bind the same type"),
        ("PATTERN A AND B AND C AND D AND E WITHIN 3 s PER MATCH", f"120 here, but .* at most {MAX_FLOWS}"),
        ("PATTERN A AND B AND C AND D+ WITHIN 3 s PER MATCH", "90 here"),
    ],
)
def test_what_is_refused(text: str, reason: str) -> None:
    assert re.search(reason, str(Flink().unsupported(parse_query(text))))
