"""Verification must accept right answers and catch the mistakes that implementations of the papers make."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pandas as pd
import pytest

from algorithms.base import UnsupportedQuery
from algorithms.oracle import answer
from experiments.agreement import difference, frame_of
from experiments.evaluators import Evaluator
from experiments.random_cases import Case
from experiments.verify import verify_evaluator
from queries.model import (
    Aggregates,
    And,
    AtLeast,
    Event,
    Maybe,
    Not,
    Or,
    Pattern,
    Plus,
    Query,
    Semantics,
    Seq,
    Star,
    WindowClause,
)
from queries.parser import parse_query
from tests.streams import stream

Rows = list[dict[str, Any]]


def right(case: Case) -> pd.DataFrame:
    return frame_of(answer(case.query, case.events, modular=True, limit=50_000))


def rows_of(query: Query, events: Sequence[Any]) -> Rows:
    return answer(query, events, modular=True, limit=50_000)


def wrong(change: Callable[[Case], Rows]) -> Evaluator:
    return lambda case: frame_of(change(case))


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
            kept = tuple(_positive(part) for part in parts if not isinstance(part, Not))
            return Seq(kept) if len(kept) > 1 else kept[0]
        case Or(parts) | And(parts):
            return replace(pattern, parts=tuple(_positive(part) for part in parts))
        case Plus(part) | Star(part) | Maybe(part) | AtLeast(part, _) | Not(part):
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
    kept = tuple(predicate for predicate in case.query.predicates if not hasattr(predicate, "attributes"))
    return rows_of(replace(case.query, predicates=kept), case.events)


def crashes(case: Case) -> Rows:
    rows = rows_of(case.query, case.events)
    if len(rows) > 2:
        raise IndexError("list index out of range")
    return rows


def test_right_answers_are_accepted() -> None:
    done: list[int] = []
    report = verify_evaluator(right, "oracle", 150, 1, done.append)
    assert report.clean
    assert report.failure is None
    assert report.compared + sum(report.left_out.values()) == report.cases == 150
    assert report.with_rows > 50
    assert done == list(range(1, 151))
    assert "all answers are right" in str(report)


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
    report = verify_evaluator(wrong(mistake), mistake.__name__, 1500, 1)
    assert report.failure is not None
    assert not report.clean
    assert len(report.failure.case.events) <= 5
    assert "wrong answer" in str(report)


def test_the_smallest_failing_stream_can_be_pasted() -> None:
    report = verify_evaluator(wrong(bumped_at_once), "bumped", 500, 1)
    assert report.failure is not None
    text = str(report.failure)
    _, query, events, batches, expected = text.split("\n\n", 4)
    assert parse_query(query) == replace(report.failure.case.query, name=parse_query(query).name)
    assert events.startswith("time,type\n")
    assert len(events.splitlines()) == 3
    assert batches == "in one batch"
    assert expected.startswith("expected:\n")


def test_reasons_are_counted() -> None:
    def refuses(case: Case) -> pd.DataFrame:
        if case.query.semantics is not Semantics.ANY:
            raise UnsupportedQuery("any only")
        return right(case)

    report = verify_evaluator(refuses, "any", 100, 1)
    assert report.refused["any only"] > 20
    assert report.clean
    assert "refused: any only" in str(report)


def test_an_algorithm_that_refuses_everything_is_not_clean() -> None:
    def refuses(case: Case) -> pd.DataFrame:
        raise UnsupportedQuery("nothing")

    assert not verify_evaluator(refuses, "none", 20, 1).clean


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({}, None),
        ({"COUNT(*)": 4}, "row 0, COUNT(*): 3 expected, 4 answered"),
        ({"AVG(A.x)": 2.0 + 1e-12}, None),
        ({"AVG(A.x)": None}, "row 0, AVG(A.x): 2.0 expected, <NA> answered"),
        ({"overflow": True}, "row 0, overflow: False expected, True answered"),
        ({"more": 1}, "columns"),
    ],
)
def test_differences_are_named(changed: dict[str, Any], found: str | None) -> None:
    expected = answer(parse_query("RETURN COUNT(*), AVG(A.x) PATTERN A+"), stream("A1/1 A2/3"))
    assert isinstance(parse_query("RETURN COUNT(*) PATTERN A").returns, Aggregates)
    said = difference(expected, frame_of([{**expected[0], **changed}]))
    assert said == found if found is None else said is not None and said.startswith(found)


def test_missing_rows_are_a_difference() -> None:
    assert difference([{"query": "q"}], frame_of([])) == "1 rows expected, 0 answered"
