"""Verification must accept right answers and catch the mistakes that implementations of the papers make."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pandas as pd
import pytest

from cepbench.algorithms.oracle import answer
from cepbench.algorithms.registry import make
from cepbench.queries.model import (
    Aggregates,
    And,
    Event,
    Maybe,
    Not,
    Or,
    Pattern,
    Plus,
    Query,
    Repeat,
    Semantics,
    Seq,
    Star,
    WindowClause,
)
from cepbench.queries.parser import parse_query
from cepbench.queries.printing import to_text
from cepbench.verification.agreement import difference, expected_rows, frame_of
from cepbench.verification.evaluators import OnlyPlans, Subject, subject_of
from cepbench.verification.features import Feature
from cepbench.verification.random_cases import Case, Rows, pairs_of, random_case
from cepbench.verification.verify import verify_subject, wrong
from tests.streams import stream


def subject(change: Callable[[Case], Rows], unsupported: Callable[[Query], str | None] = lambda _: None) -> Subject:
    """Answers each query of a case with the rows of a function; it lists matches, as the oracle does."""

    def frame(case: Case) -> pd.DataFrame:
        return frame_of([row for query in case.queries for row in change(replace(case, queries=(query,)))])

    return Subject(change.__name__, unsupported, frame, enumerates=True)


def right(case: Case) -> Rows:
    return rows_of(case.query, case.events)


def rows_of(query: Query, events: Sequence[Any]) -> Rows:
    return answer(query, events, modular=True, limit=50_000)


def bumped_at_once(case: Case) -> Rows:
    """Counters updated event by event let simultaneous events precede one another."""
    scale = 1000
    events = [{**event, "time": event["time"] * scale + index} for index, event in enumerate(case.events)]
    window = case.query.window
    if window is None or window.within.unit == "events":
        return rows_of(case.query, events)
    within = replace(window.within, amount=window.within.amount * scale)
    slide = replace(window.slide, amount=window.slide.amount * scale)
    rows = rows_of(replace(case.query, window=WindowClause(within, slide)), events)
    return [
        {**row, "window_start": row["window_start"] // scale, "window_end": row["window_end"] // scale} for row in rows
    ]


def forgets_between_batches(case: Case) -> Rows:
    ends = (0, *case.cuts, len(case.events))
    pieces = [case.events[start:stop] for start, stop in pairwise(ends)]
    return [row for piece in pieces for row in rows_of(case.query, piece)]


def flushes_the_last_time_stamp_early(case: Case) -> Rows:
    """Right unless a batch ends inside a time stamp: the events that follow then look later."""
    events = [dict(event) for event in case.events]
    if case.query.window is not None:
        return rows_of(case.query, events)
    for cut in case.cuts:
        if 0 < cut < len(events) and case.events[cut - 1]["time"] == case.events[cut]["time"]:
            for event in events[cut:]:
                event["time"] += 1
    return rows_of(case.query, events)


def as_any(case: Case) -> Rows:
    return rows_of(replace(case.query, semantics=Semantics.ANY), case.events)


def contiguous_as_next(case: Case) -> Rows:
    semantics = Semantics.ANY if case.query.semantics is Semantics.ANY else Semantics.NEXT
    return rows_of(replace(case.query, semantics=semantics), case.events)


def without_negation(case: Case) -> Rows:
    return rows_of(replace(case.query, pattern=_positive(case.query.pattern)), case.events)


def _positive(pattern: Pattern) -> Pattern:
    match pattern:
        case Event():
            return pattern
        case Seq(parts):
            remaining = tuple(_positive(part) for part in parts if not isinstance(part, Not))
            return Seq(remaining) if len(remaining) > 1 else remaining[0]
        case Or(parts) | And(parts):
            return replace(pattern, parts=tuple(_positive(part) for part in parts))
        case Plus(part) | Star(part) | Maybe(part) | Repeat(part) | Not(part):
            return replace(pattern, part=_positive(part))


def one_window_too_few(case: Case) -> Rows:
    return rows_of(case.query, case.events)[:-1]


def wraps_silently(case: Case) -> Rows:
    rows = answer(case.query, case.events, limit=50_000)
    return [{**row, "overflow": False} if "overflow" in row else row for row in rows]


def zero_for_nothing(case: Case) -> Rows:
    rows = rows_of(case.query, case.events)
    nothing = [name for name in (rows[0] if rows else {}) if name.startswith(("MIN", "MAX", "AVG"))]
    return [{**row, **{name: row[name] or 0 for name in nothing if not row["overflow"]}} for row in rows]


def per_partition(case: Case) -> Rows:
    """Splits by GROUP-BY alone, and so combines events that equivalence predicates keep apart."""
    remaining = tuple(predicate for predicate in case.query.predicates if not hasattr(predicate, "attributes"))
    return rows_of(replace(case.query, predicates=remaining), case.events)


def crashes(case: Case) -> Rows:
    rows = rows_of(case.query, case.events)
    if len(rows) > 2:
        raise IndexError("list index out of range")
    return rows


def test_right_answers_are_accepted() -> None:
    done: list[int] = []
    report = verify_subject(subject(right), 150, 1, done.append)
    assert report.clean
    assert report.failure is None
    assert report.compared == 150
    assert report.drawn == report.compared + sum(report.left_out.values()) + report.missed
    assert report.with_rows > 50
    assert (done[0], done[-1]) == (1, 150)
    assert done == sorted(done)
    assert "all answers are right" in str(report)


@pytest.mark.full
def test_it_goes_on_until_every_pair_was_compared_often_enough() -> None:
    report = verify_subject(subject(right, any_aggregates), 10, 1, times=3, thorough=False)
    assert report.compared > 10
    assert report.coverage.least() >= 3
    assert report.coverage.banned() >= {Feature.NEXT, Feature.CONTIGUOUS, Feature.MATCHES, Feature.COMPLETE}
    assert not report.coverage.banned() & {Feature.WORKLOAD, Feature.NULLS, Feature.NOT_NESTED, Feature.SUM_OVERFLOW}


@pytest.mark.parametrize(
    "mistake",
    [
        bumped_at_once,
        forgets_between_batches,
        flushes_the_last_time_stamp_early,
        as_any,
        contiguous_as_next,
        without_negation,
        one_window_too_few,
        wraps_silently,
        zero_for_nothing,
        per_partition,
        crashes,
    ],
    ids=lambda mistake: str(mistake.__name__),
)
def test_mistakes_are_caught(mistake: Callable[[Case], Rows]) -> None:
    report = verify_subject(subject(mistake), 1500, 1)
    assert report.failure is not None
    assert not report.clean
    assert len(report.failure.case.queries) == 1
    assert len(report.failure.case.events) <= 5
    assert "wrong answer" in str(report)


def test_mistakes_that_several_queries_make_together_are_caught() -> None:
    def forgets_the_last_query(case: Case) -> pd.DataFrame:
        remaining = case.queries[:-1] if len(case.queries) > 2 else case.queries
        return frame_of([row for query in remaining for row in rows_of(query, case.events)])

    report = verify_subject(Subject("forgets", lambda _: None, forgets_the_last_query, enumerates=True), 1500, 1)
    assert report.failure is not None
    assert len(report.failure.case.queries) == 3
    assert report.failure.reason.startswith("query q")


def test_counts_that_nobody_can_list_are_compared() -> None:
    def wraps(case: Case) -> pd.DataFrame:
        rows = [row for rows in expected_rows(case, modular=False) for row in rows]
        return frame_of([{name: _residue(value) for name, value in row.items()} for row in rows])

    cases = [random_case(seed, frozenset({Feature.COUNT_OVERFLOW, Feature.COUNT_OF})) for seed in range(12)]
    overflows = [frozenset({Feature.COUNT_OVERFLOW}) in pairs_of(case, expected_rows(case)) for case in cases]
    caught = [wrong(case, Subject("wraps", lambda _: None, wraps)) is not None for case in cases]
    assert sum(overflows) >= 2
    assert all(is_caught for is_caught, over in zip(caught, overflows, strict=True) if over)


def reads_times(query: Query) -> str | None:
    """Whether the answer changes if all times are a thousand times larger."""
    return "times" if query.span is not None or ".time" in to_text(query) else None


def test_the_smallest_failing_stream_can_be_pasted() -> None:
    report = verify_subject(subject(bumped_at_once, reads_times), 500, 3)
    assert report.failure is not None
    text = str(report.failure)
    _, query, events, batches, expected, answered = text.split("\n\n", 5)
    assert parse_query(query) == replace(report.failure.case.query, name=parse_query(query).name)
    assert events.startswith("time,type\n")
    assert len(events.splitlines()) == 3
    assert batches == "in one batch"
    assert expected.startswith("expected:\n")
    assert answered.startswith("answered:\n")
    assert answered != expected.replace("expected", "answered")


@pytest.mark.full
def test_reasons_are_counted() -> None:
    report = verify_subject(subject(right, any_aggregates), 100, 1)
    assert report.refused["any only"] > 20
    assert report.clean
    assert "refused: any only" in str(report)


@pytest.mark.full
def test_an_algorithm_that_refuses_everything_is_not_clean() -> None:
    assert not verify_subject(subject(right, lambda _: "nothing"), 1, 1, patience=5).clean


def any_aggregates(query: Query) -> str | None:
    if query.semantics is not Semantics.ANY:
        return "any only"
    return None if isinstance(query.returns, Aggregates) else "aggregates only"


def _residue(value: Any) -> Any:
    return value % 2**64 if isinstance(value, int) and not isinstance(value, bool) and value >= 2**64 else value


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({}, None),
        ({"COUNT(*)": 4}, "row 0, COUNT(*): 3 expected, 4 answered"),
        ({"AVG(A.x)": 2.0 + 1e-12}, None),
        ({"AVG(A.x)": None}, "row 0, AVG(A.x): 2.0 expected, <NA> answered"),
        ({"overflow": True}, "row 0, overflow: False expected, True answered"),
        ({"more": 1}, "columns"),
    ],
)
def test_differences_are_named(changed: dict[str, Any], reason: str | None) -> None:
    expected = answer(parse_query("RETURN COUNT(*), AVG(A.x) PATTERN A+"), stream("A1/1 A2/3"))
    assert isinstance(parse_query("RETURN COUNT(*) PATTERN A").returns, Aggregates)
    actual = difference(expected, frame_of([{**expected[0], **changed}]))
    assert actual == reason if reason is None else actual is not None and actual.startswith(reason)


def test_missing_rows_are_a_difference() -> None:
    assert difference([{"query": "q"}], frame_of([])) == "1 rows expected, 0 answered"


def test_an_interrupt_is_no_wrong_answer() -> None:
    def interrupted(case: Case) -> Rows:
        raise RuntimeError("the compiler stopped") from KeyboardInterrupt()

    with pytest.raises(RuntimeError, match="the compiler stopped"):
        wrong(random_case(1), subject(interrupted))
    with pytest.raises(RuntimeError, match="the compiler stopped"):
        verify_subject(subject(interrupted), 10, 1)


@pytest.mark.parametrize("name", ["cet[detect=plan]", "mcep[detect=plan]"])
def test_a_mode_that_only_plans_is_compared_with_nothing(name: str) -> None:
    with pytest.raises(OnlyPlans, match="only plans: its answers are empty, and compared with none"):
        verify_subject(subject_of(make(name)), cases=2, seed=1)
