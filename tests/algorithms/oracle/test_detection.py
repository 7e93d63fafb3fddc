"""Detection by the oracle, against answers that were worked out by hand."""

from typing import Any

import pytest

from cepbench.algorithms.oracle import CannotTally, TooManyMatches, answer, detection_meaning, needed_attributes, tally
from cepbench.events.errors import InputError
from cepbench.queries.errors import QueryError
from cepbench.queries.parser import parse_query
from tests.streams import golden_detection, stream

EVENTS, CASES = golden_detection()


def matches_of(text: str, events: str) -> list[list[int]]:
    return [row["match"] for row in answer(parse_query(f"PATTERN {text} PER MATCH"), stream(events))]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_worked_examples(case: dict[str, Any]) -> None:
    rows = answer(parse_query(case["query"]), EVENTS)
    assert [row["match"] for row in rows] == case["matches"]
    times = [event["time"] for event in EVENTS]
    for row in rows:
        assert (row["window_start"], row["window_end"]) == (times[row["match"][0]], times[row["match"][-1]])
        assert list(row) == ["query", "window_start", "window_end", "match"]


@pytest.mark.parametrize(
    ("text", "events", "matches"),
    [
        ("A WITHIN 1 s", "A1 B2 A2", [[0], [2]]),
        ("A+ WITHIN 1 s", "A1 A2 A2 A3", [[0], [0, 1], [0, 2], [1], [1, 3], [2], [2, 3], [3]]),
        ("A AND A WITHIN 1 s", "A1 A1 A2", [[0, 1], [0, 2], [1, 2]]),
        ("A p AND A q WHERE p.x < q.x WITHIN 1 s", "A1/1 A1/1 A2/0", [[0, 2], [1, 2]]),
        ("A+ AND B WITHIN 1 s", "B1 A1 A1 A2", [[0, 1], [0, 1, 3], [0, 2], [0, 2, 3], [0, 3]]),
        ("SEQ(A, B) OR A AND B WITHIN 2 s", "A1 B1 B2", [[0, 1], [0, 2]]),
        ("SEQ(A+, A) WITHIN 3 s", "A1 A2 A3", [[0, 1], [0, 1, 2], [0, 2], [1, 2]]),
        ("SEQ(NOT N, A) WITHIN 2 s", "N1 A3 A4 N5 A5", [[2], [4]]),
        ("SEQ(NOT N, A, B) WITHIN 3 s", "N1 A3 B4 B5", [[1, 3]]),
        ("SEQ(A, NOT N) WITHIN 2 s", "A1 A2 A3 N4 A4", [[0], [4]]),
        ("SEQ(A, NOT N, NOT M, B) WITHIN 9 s", "A1 N2 B2 A3 M4 B4 B5", [[0, 2], [3, 5]]),
        ("SEQ(A, NOT N, B+) WITHIN 9 s", "A1 B2 N3 B4", [[0, 1], [0, 1, 3]]),
        ("SEQ(NOT N, A, B) WITHIN 3 events", "N0 A1 B2 C3 A4 B5", [[4, 5]]),
        ("SEQ(NOT N, A, B) WITHIN 2 events", "N0 A1 B2 N2 A2", [[1, 2]]),
        ("SEQ(A, NOT N) WITHIN 2 events", "A0 A1 N2 A2 N2", [[0], [3]]),
        ("SEQ((A OR B) x, C) WITHIN 3 s", "A1 B2 C3 D3 C5", [[0, 2], [1, 2], [1, 4]]),
        ("SEQ(C, (A OR B)+ x) WITHIN 3 s", "C1 A2 B2 B3", [[0, 1], [0, 1, 3], [0, 2], [0, 2, 3], [0, 3]]),
        ("SEQ(A a, (A OR B) x) WHERE a.x < x.x WITHIN 3 s", "A1/1 A2/2 B3/1 B3/3", [[0, 1], [0, 3], [1, 3]]),
        ("SEQ((A a OR A b) x, B) WHERE a.x > 3 AND b.x < 2 WITHIN 3 s", "A1/1 A1/2 A1/4 B2", [[0, 3], [2, 3]]),
        ("(A OR B) x WHERE x.x > 1 WITHIN 3 s", "A1/1 B1/2 C1/2", [[1]]),
    ],
)
def test_small_streams(text: str, events: str, matches: list[list[int]]) -> None:
    assert matches_of(text, events) == matches


def test_groups_and_equivalence_split_the_stream() -> None:
    events = [{**event, "h": n % 2} for n, event in enumerate(stream("A1@u A1@u A1@v B2@u B2@v B3@u B3@u B3@v"))]
    query = parse_query("PATTERN A, B WHERE [h] GROUP-BY g WITHIN 3 events PER MATCH")
    assert [(row["g"], row["match"]) for row in answer(query, events)] == [("u", [0, 6]), ("u", [1, 3]),
                                                                           ("u", [1, 5]), ("v", [2, 4])]  # fmt: skip


def test_a_count_has_one_row_per_group() -> None:
    query = parse_query("RETURN g, COUNT(*) PATTERN SEQ(A+, B) OR B AND A GROUP-BY g WITHIN 2 s PER MATCH")
    rows = answer(query, stream("A1@u A2@u A2@v B3@u B9@v A9@w"))
    assert rows == [
        {"query": "q", "g": "u", "window_start": 0, "window_end": None, "COUNT(*)": 3, "overflow": False},
    ]  # fmt: skip


def test_what_has_no_meaning() -> None:
    text = "PATTERN A+, NOT N n, B WHERE A.x < B.y AND n.z = 1 WITHIN 3 s PER MATCH"
    assert needed_attributes(detection_meaning(parse_query(text))) == {("A", "x"), ("B", "y"), ("N", "z")}
    with pytest.raises(InputError, match="attribute 'y' is missing"):
        answer(parse_query(text), stream("A1/1 B2/2"))
    with pytest.raises(CannotTally):
        tally(parse_query(text), [])
    with pytest.raises(QueryError):
        detection_meaning(parse_query("PATTERN A"))
    with pytest.raises(TooManyMatches):
        answer(
            parse_query("PATTERN A+ WITHIN 30 s PER MATCH"), stream(" ".join(f"A{t}" for t in range(12))), limit=1000
        )
