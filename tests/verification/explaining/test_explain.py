"""Explanations of small queries, as printed."""

from pathlib import Path

import pandas as pd
import pytest

from cepbench import explain
from cepbench.events.errors import CepbenchError, InputError
from cepbench.queries.errors import QueryError

EVENTS = pd.DataFrame(
    {"time": [1, 2, 9, 12, 13], "type": list("ABBNA"), "x": [5, 4, 7, 1, 1], "g": [1, 1, 2, 2, 2]},
)


def text_of(query: str, events: pd.DataFrame | Path = EVENTS, **options: int) -> str:
    [explanation] = explain(query, events, **options)
    return str(explanation)


def test_each_clause_that_is_enough_is_named_as_written() -> None:
    assert text_of("PATTERN SEQ(A a, B b)\n  where a.x<b.x -- rising\n within 5 sec") == "\n".join(
        [
            "q1: no match in 5 events; there is one",
            "  without a.x<b.x: A a = event 0 (time 1, x 5), B b = event 1 (time 2, x 4)",
            "  with WITHIN 10 s SLIDE 5 s instead of within 5 sec: "
            "A a = event 0 (time 1, x 5), B b = event 2 (time 9, x 7)",
            "Furthest partial match: A a = event 0 (time 1, x 5)",
            "  next B b: 2 events, 1 with within 5 sec (0 to 5), 0 with a.x<b.x",
            "Events by position",
            "  1 A a: 2 events, 2 in partial matches",
            "  2 B b: 2 events, 0 in partial matches, 1 with a.x<b.x",
        ]
    )


def test_clauses_that_are_not_enough_alone_are_named_together() -> None:
    [explanation] = explain("PATTERN SEQ(A a, B b) WHERE [g] AND b.x < 5 AND a.x < b.x - 1", EVENTS)
    assert [remedy.clauses for remedy in explanation.remedies] == [("a.x < b.x - 1",)]
    [explanation] = explain("PATTERN SEQ(A a, B b) WHERE [g] AND a.x > 9 AND b.x > 9 SEMANTICS next", EVENTS)
    [remedy] = explanation.remedies
    assert remedy.clauses == ("a.x > 9", "b.x > 9")
    assert "  without a.x > 9 and without b.x > 9: A a = event 0 (" in str(explanation)


@pytest.mark.parametrize(
    ("query", "clause", "lack"),
    [
        ("PATTERN SEQ(B+, NOT N, A a)", "without NOT N", "next A a: 2 events, 1 later, 0 with NOT N"),
        ("PATTERN SEQ(B b, N, NOT A) WHERE b.x = 7", "without NOT A", "complete, but 0 with NOT A"),
        ("PATTERN SEQ(NOT A, B b) WHERE b.x > 4", "without NOT A", "first B b: 2 events, 1 with b.x > 4, 0 with NOT A"),
        (
            "PATTERN A, B b SEMANTICS cont WHERE b.x = 7",
            "without SEMANTICS cont",
            "next B b: 2 events, 1 with b.x = 7, 0 with SEMANTICS cont",
        ),
        ("PATTERN A a, A GROUP-BY g", "without GROUP-BY g", "next A: 2 events, 1 later, 0 with GROUP-BY g"),
        ("PATTERN A, A WHERE [g]", "without [g]", "next A: 2 events, 1 later, 0 with [g]"),
        ("PATTERN A, A WITHIN 5 EVENTS SLIDE 2 EVENTS", None, None),
        (
            "PATTERN A, A WITHIN 4 EVENTS SLIDE 2 EVENTS",
            "with WITHIN 8 events SLIDE 2 events instead of WITHIN 4 EVENTS SLIDE 2 EVENTS",
            "next A: 2 events, 1 later, 0 with WITHIN 4 EVENTS SLIDE 2 EVENTS (events 0 to 3)",
        ),
        (
            "PATTERN A a, A b WHERE b.time - a.time < 5 s",
            "without b.time - a.time < 5 s",
            "next A b: 2 events, 1 later, 0 with b.time - a.time < 5 s",
        ),
        ("PATTERN A a, B, N n WHERE a.x < n.x", "without a.x < n.x", "next N n: 1 event, 0 with a.x < n.x"),
        ("PATTERN SEQ(A{2} a, B) OR SEQ(N n, B)", None, "next B: 2 events, 0 later"),
        (
            "PATTERN A{2} a WHERE a.x < NEXT(a).x",
            "without a.x < NEXT(a).x",
            "next A a: 2 events, 1 later, 0 with a.x < NEXT(a).x",
        ),
        ("PATTERN SEQ(A, A) AND SEQ(B b, N) WHERE b.x = 0", "without b.x = 0", "first B b: 2 events, 0 with b.x = 0"),
        (
            "PATTERN A AND A WITHIN 3 s PER MATCH",
            "without WITHIN 3 s PER MATCH",
            "next A: 2 events, 1 not bound, 0 with WITHIN 3 s PER MATCH",
        ),
        (
            "PATTERN A, A WITHIN 6 s PER MATCH",
            "with WITHIN 12 s PER MATCH instead of WITHIN 6 s PER MATCH",
            "next A: 2 events, 1 later, 0 with WITHIN 6 s PER MATCH",
        ),
        ("PATTERN A a, B+ b, NOT N WHERE b.x > 4 WITHIN 12 s PER MATCH", "without NOT N", "complete, but 0 with NOT N"),
        (
            "PATTERN A a, (B OR N) b WHERE a.x + 9 < b.x WITHIN 12 s PER MATCH",
            "without a.x + 9 < b.x",
            "next B: 3 events, 0 with a.x + 9 < b.x",
        ),
    ],
)
def test_what_ends_partial_matches(query: str, clause: str | None, lack: str | None) -> None:
    text = text_of(query)
    assert clause is None or f"\n  {clause}: " in text, text
    assert lack is None or f"\n  {lack}\n" in text, text


def test_a_pattern_whose_events_do_not_come() -> None:
    assert text_of("PATTERN SEQ(B+, A a, C) WITHIN 20 s").splitlines()[:3] == [
        "q1: no match in 5 events, with or without its conditions",
        "Furthest partial match: B = event 2 (time 9), A a = event 4 (time 13)",
        "  next C: 0 events",
    ]


def test_both_sides_of_and_match_the_same_events() -> None:
    text = text_of("PATTERN N AND N n")
    assert "Each side of AND has a match, but no two of them go together" in text


def test_matches() -> None:
    assert text_of("q: RETURN COUNT(*) PATTERN SEQ(A a, B+ b) WHERE a.x > 2") == "\n".join(
        [
            "q has matches",
            "  A a = event 0 (time 1, x 5), B b = event 1 (time 2)",
            "  A a = event 0 (time 1, x 5), B b = event 1 (time 2), B b = event 2 (time 9)",
            "  A a = event 0 (time 1, x 5), B b = event 2 (time 9)",
        ]
    )
    complete = "RETURN COMPLETE MATCHES PATTERN SEQ(A a, B+ b) WHERE a.x > 2"
    [explanation] = explain(complete, EVENTS)
    assert [[event.number for event in match] for match in explanation.matches] == [[0, 1, 2]]
    [explanation] = explain("PATTERN A+", pd.DataFrame({"time": range(40), "type": "A"}))
    assert explanation.more
    assert len(explanation.matches) == 5
    assert str(explanation).startswith("q1 has matches, such as\n  A = event ")


def test_times_are_shown_as_in_answers() -> None:
    events = EVENTS.assign(time=pd.to_datetime(["2024-01-01 10:00"] * 5))
    assert "no match in 5 events" in text_of("PATTERN A, B", events)
    assert "A a = event 0 (time 2024-01-01 10:00:00, x 5)" in text_of("PATTERN A a, B WHERE a.x = 5", events)


def test_times_beyond_the_calendar_are_numbers() -> None:
    events = pd.DataFrame({"time": pd.to_datetime(["2024-01-01", "2300-01-01"]).astype("datetime64[s]"), "type": "A"})
    assert "event 1 (time 10413792000)" in text_of("PATTERN A, A", events)


def test_long_streams_are_searched_in_part_and_counted_as_a_whole() -> None:
    events = pd.DataFrame({"time": range(3000), "type": ["A", "Z", "B"] * 1000, "x": 1})
    text = text_of("PATTERN A a, B b WHERE a.x < b.x", events, first=100)
    assert text.startswith("q1: no match in the first 100 of its events (3000 events in all); there is one\n")
    assert "\n  2 B b: 1000 events, 0 in partial matches, 0 with a.x < b.x" in text
    assert "event 147 (" in text  # the hundredth event of type A or B is number 149


def test_a_search_of_too_many_partial_matches_stops_and_says_so() -> None:
    events = pd.DataFrame({"time": range(60), "type": ["A"] * 58 + ["B", "C"], "x": 1})
    [explanation] = explain("PATTERN A+ a, B, C c WHERE a.x < c.x", events)
    assert explanation.stopped
    text = str(explanation)
    assert text.startswith("q1: no match was found in 60 events; there is one\n  without a.x < c.x: ")
    assert "\nThe search stopped after many partial matches; it sees all of fewer events\n" in text


def test_many_queries_have_an_explanation_each() -> None:
    names = [explanation.query for explanation in explain("PATTERN A\n\nsecond: PATTERN C", EVENTS)]
    assert names == ["q1", "second"]


def test_no_events() -> None:
    text = text_of("PATTERN A a WHERE a.x > 1 WITHIN 5 s PER MATCH", EVENTS[:0])
    assert text.startswith("q1: no match in 0 events, with or without its conditions\n")
    assert "0 events" in text_of("PATTERN A a, B WHERE a.x > 1 WITHIN 5 s", EVENTS[:0])


def test_bad_input_is_refused() -> None:
    with pytest.raises(QueryError, match="unknown name"):
        explain("PATTERN A WHERE b.x > 1", EVENTS)
    with pytest.raises(CepbenchError, match="y"):
        explain("PATTERN A a WHERE a.y > 1", EVENTS)
    with pytest.raises(CepbenchError, match="null"):
        explain("PATTERN A a WHERE a.x > 1", EVENTS.assign(x=[None, 1, 2, 3, 4]))
    with pytest.raises(InputError, match="at least 1 event, not 0"):
        explain("PATTERN A", EVENTS, first=0)
    with pytest.raises(InputError, match="whole number"):
        explain("PATTERN A WITHIN 5 ms", EVENTS)
