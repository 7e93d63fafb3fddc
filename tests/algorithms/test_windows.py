"""Windows at their limits: gaps, long silence, late times, and counts of events."""

import pytest

from cepbench.queries.compile import compile_workload
from cepbench.queries.errors import QueryError
from cepbench.queries.parser import parse_query
from tests.algorithms.cases import agree
from tests.contract.streams import batch


def starts(text: str, events: str) -> list[int]:
    return [row["window_start"] for row in agree(text, events)]


def test_events_between_windows_that_leave_gaps_belong_to_none() -> None:
    query = "RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 3 s SLIDE 7 s"
    assert starts(query, "A0 B1 A3 B4 A5 A7 B9 B10 A13 A14 B16 B30") == [0, 7, 14]


@pytest.mark.parametrize("pattern", ["SEQ(A+, NOT C, B)", "SEQ(NOT C, A+, B)", "SEQ(A+, B, NOT C)"])
@pytest.mark.parametrize("window", ["WITHIN 3 s SLIDE 7 s", "WITHIN 7 s SLIDE 3 s", "WITHIN 5 s", "WITHIN 4 events"])
def test_negation_sees_its_window_only(pattern: str, window: str) -> None:
    events = "A0 C0 B1 C2 A3 C4 B4 A5 A7 B9 C9 B10 C10 A13 C13 A14 B16 C17 C21 A21 B22 B40"
    agree(f"RETURN COUNT(*), COUNT(A) PATTERN {pattern} {window}", events)


@pytest.mark.parametrize("semantics", ["any", "next", "cont"])
def test_a_window_ends_before_the_events_at_its_end(semantics: str) -> None:
    query = f"RETURN COUNT(*) PATTERN SEQ(A, B) SEMANTICS {semantics} WITHIN 4 s SLIDE 2 s"
    assert starts(query, "A2 A3 A3 B4 B4 B6 B6")[0] == 2


def test_long_silence_costs_nothing() -> None:
    text = "RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 10 s SLIDE 1 s"
    late = 2**62 - 20
    times = (0, 10**17, late)
    rows = agree(text, [{"time": t + d, "type": name} for t in times for d, name in ((0, "A"), (9, "B"))])
    assert [row["window_start"] for row in rows] == [0, 10**17, late]


def test_windows_that_count_events_cut_simultaneous_ones() -> None:
    rows = agree("RETURN COUNT(*) PATTERN A+ WITHIN 2 EVENTS SLIDE 1 EVENTS", "A1 A1 A1 A2")
    assert [(row["window_start"], row["COUNT(*)"]) for row in rows] == [(0, 2), (1, 2), (2, 3), (3, 1)]


@pytest.mark.parametrize(
    ("window", "problem"),
    [
        ("WITHIN 1000000000000000000 days", "at most 2\\*\\*62 s"),
        ("WITHIN 1 s SLIDE 1000000000000000000 days", "at most 2\\*\\*62 s"),
        ("WITHIN 1000 days SLIDE 1 s", "an event would lie in 86400000 windows"),
        ("WITHIN 2000000 EVENTS SLIDE 1 EVENTS", "an event would lie in 2000000 windows"),
    ],
)
def test_windows_that_no_algorithm_can_keep_are_refused(window: str, problem: str) -> None:
    with pytest.raises(QueryError, match=problem):
        compile_workload([parse_query(f"RETURN COUNT(*) PATTERN A {window}")], batch([]).schema)
