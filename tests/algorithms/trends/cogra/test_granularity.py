"""Which granularity COGRA selects (Table 14.1), and which negation it keeps."""

import pytest

from cepbench.algorithms.base import Plan, StateSize
from cepbench.algorithms.trends.cogra.algorithm import Cogra
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey
from tests.algorithms.cases import agree
from tests.contract.streams import batch
from tests.streams import stream

EVENTS = "A1/5 A2/3 B3/4 A4/7 A5/6 B6/9"


def state(text: str, events: str = EVENTS) -> StateSize:
    """The state after all events, before the last windows close."""
    given = batch(stream(events))
    executor = OneKey(Cogra().operator(Plan(compile_workload([parse_query(f"RETURN {text}")], given.schema))))
    executor.process(given)
    executor.state()  # the largest so far
    return executor.state()


@pytest.mark.parametrize(
    ("text", "events"),
    [
        ("COUNT(*) PATTERN (SEQ(A+, B))+", 0),
        ("COUNT(*) PATTERN SEQ(A+, A)", 0),
        ("COUNT(*) PATTERN A+ WHERE A.x > 1", 0),
        ("SUM(A.x) PATTERN A+", 0),
        ("COUNT(*) PATTERN SEQ(A, NOT C, B)", 0),
        ("COUNT(*) PATTERN A+ WHERE A.x < NEXT(A).x", 4),
        ("COUNT(*) PATTERN SEQ(A+, B+) WHERE A.x < B.x", 4),  # nothing is compared with a B
        ("COUNT(*) PATTERN SEQ(A+, B+) WHERE B.x < NEXT(B).x", 2),
        ("COUNT(*) PATTERN A+ SEMANTICS next", 0),
        ("COUNT(*) PATTERN A+ SEMANTICS cont", 0),
        ("COUNT(*) PATTERN A+ SEMANTICS next WHERE A.x < NEXT(A).x", 2),  # a4 extended a1 and a2
        ("COUNT(*) PATTERN A+ SEMANTICS cont WHERE A.x < NEXT(A).x", 1),  # a5, just before b6
    ],
)
def test_the_coarsest_granularity_that_is_exact(text: str, events: int) -> None:
    """It keeps the events that it needs, and no others."""
    assert state(text).kinds.get("events", 0) == events


@pytest.mark.parametrize(
    "text",
    [
        "COUNT(*) PATTERN SEQ(A+, B)",
        "SUM(A.x) PATTERN SEQ(A+, B)",
        "COUNT(*) PATTERN SEQ(A+, B) SEMANTICS next",
        "COUNT(*) PATTERN SEQ(A+, B) SEMANTICS cont",
    ],
)
def test_aggregates_of_types_do_not_grow_with_the_stream(text: str) -> None:
    few, many = (state(text, " ".join(f"{'AB'[time % 2]}{time}/1" for time in range(size))) for size in (10, 100))
    assert few == many


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SEQ(A, NOT C, B)", None),
        ("SEQ(A, NOT SEQ(C, B), B)", "a negated sequence between events"),
        ("SEQ(A, B, NOT SEQ(C, B))", "a negated sequence at the end"),
        ("SEQ(NOT SEQ(C, B), A, B)", None),
        ("SEQ(A, NOT C, B) SEMANTICS next", "not kept at pattern granularity"),
        ("SEQ(A, NOT SEQ(C, B), B) SEMANTICS cont", None),
        ("SEQ(A, B, NOT C) SEMANTICS next", None),
    ],
)
def test_negation_that_needs_the_times_of_aggregated_events_is_refused(text: str, reason: str | None) -> None:
    query = f"RETURN COUNT(*) PATTERN {text}"
    refusal = Cogra().unsupported(parse_query(query))
    assert refusal is None if reason is None else refusal is not None and reason in refusal
    agree(query, "C0 A1 B1 C2 B3 A3 A4 C5 B5 B6 A7 C7 B8 C8 B9 C9 B9")


@pytest.mark.parametrize(
    ("query", "events"),
    [
        ("RETURN COUNT(*) PATTERN SEQ(A, B) SEMANTICS next", "A1 A2 B3"),
        ("RETURN COUNT(*) PATTERN A+ SEMANTICS next WHERE A.x < NEXT(A).x", "A1/5 A2/3 A3/7"),
    ],
)
def test_several_partial_trends_may_wait(query: str, events: str) -> None:
    """Algorithm 9, which keeps one last event, undercounts here."""
    [row] = agree(query, events)
    assert row["COUNT(*)"] >= 2


def test_an_event_that_extends_nothing_ends_contiguous_trends() -> None:
    """Of events that are alone at their times: only A8 B9 C10 follow each other."""
    query = "RETURN COUNT(*) PATTERN SEQ(A+, B, C) SEMANTICS contiguous"
    [row] = agree(query, "A1 B2 A3 C4 B5 B6 C7 A8 B9 C10 D11")
    assert row["COUNT(*)"] == 1


@pytest.mark.parametrize("events", ["A1/0 B1/0 A2/0", "A1/0 B1/0 A2/0 A9/0"])
def test_the_most_counts_that_waited_at_once_are_reported(events: str) -> None:
    """Two positions wait at time 1, one at a time after it; a window that ends does not hide them."""
    given = batch(stream(events))
    executor = OneKey(
        Cogra().operator(
            Plan(compile_workload([parse_query("RETURN COUNT(*) PATTERN SEQ(A+, B) WITHIN 5 seconds")], given.schema))
        )
    )
    executor.process(given)
    assert executor.state().kinds["aggregates"] == 2 + 2
