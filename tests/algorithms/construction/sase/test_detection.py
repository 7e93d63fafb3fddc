"""SASE on queries with `WITHIN ... PER MATCH`."""

from itertools import pairwise
from math import comb

import numpy as np
import pytest

from cepbench.algorithms.base import Executor, StateSize
from cepbench.algorithms.construction.sase.algorithm import Sase
from cepbench.algorithms.construction.sase.detection import WRITTEN_SPANS
from cepbench.algorithms.engine.kernels.ticks import READABLE
from cepbench.algorithms.engine.window_stacks import FIRST_EVENTS
from cepbench.algorithms.oracle import answer
from cepbench.algorithms.rows import MatchRows, Rows
from cepbench.events.batch import EventBatch
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.agreement import difference
from cepbench.verification.evaluators import OneKey, answer_of, run
from cepbench.verification.random_cases import split
from tests.contract.streams import batch
from tests.streams import stream


def executor(text: str, events: EventBatch, summarised: bool = False) -> Executor:
    workload = compile_workload([parse_query(f"PATTERN {text} PER MATCH")], events.schema, summarised=summarised)
    algorithm = Sase()
    return OneKey(algorithm.operator(algorithm.plan(workload, Statistics())))


def matches(rows: Rows) -> list[list[int]]:
    """Sorted, of the only query."""
    if not rows:
        return []
    [found] = rows.values()
    assert isinstance(found, MatchRows)
    return sorted(found.positions[a:b].tolist() for a, b in pairwise(found.offsets.tolist()))


def told(text: str, events: str) -> list[list[list[int]]]:
    """The matches that are reported with each event, and those at the end."""
    given = batch(stream(events))
    made = executor(text, given)
    return [*(matches(made.process(given.slice(n, n + 1))) for n in range(len(given))), matches(made.finish())]


def test_matches_are_reported_with_their_last_event() -> None:
    assert told("SEQ(A, B) WITHIN 2 s", "A1 B2 B3 B4") == [[], [[0, 1]], [[0, 2]], [], []]
    assert told("A AND B WITHIN 1 s", "B1 A1 A2 B4") == [[], [[0, 1]], [[0, 2]], [], []]
    assert told("SEQ(NOT N, A, B) WITHIN 2 s", "N1 A2 B3 B4") == [[], [], [], [[1, 3]], []]


def test_matches_before_a_negated_event_are_reported_when_their_span_has_passed() -> None:
    assert told("SEQ(A, NOT N) WITHIN 2 s", "A1 B2 B3 B4 A5") == [[], [], [], [[0]], [], [[4]]]
    assert told("SEQ(A, NOT N) WITHIN 2 s", "A1 N2 A2 N4 A5") == [[], [], [], [], [], [[4]]]
    assert told("SEQ(A, NOT N) WITHIN 2 s", "A1 N4") == [[], [[0]], []]
    assert told("SEQ(A, NOT N) WITHIN 3 events", "A1 B2 B3 B4 A5") == [[], [], [[0]], [], [], [[4]]]
    assert told("SEQ(A, B, NOT N) WITHIN 3 s", "A1 A2 B3 B5 N5") == [[], [], [], [[0, 2]], [], [[1, 3]]]


@pytest.mark.parametrize(
    ("text", "events", "found"),
    [
        ("SEQ(A, NOT N, B) WITHIN 9 s", "A1 N1 B2", [[0, 2]]),
        ("SEQ(A, NOT N, B) WITHIN 9 s", "A1 N2 B2", [[0, 2]]),
        ("SEQ(A, NOT N, B) WITHIN 9 s", "A1 N2 B3", []),
        ("SEQ(A, NOT N, B) WITHIN 9 s", "A1 N2 N3 N3 B3", []),
        ("SEQ(A, NOT N, B) WITHIN 9 s", "A1 N2 A3 N4 N4 B4", [[2, 5]]),
        ("SEQ(NOT N, A, B) WITHIN 3 s", "N1 A2 B4", []),
        ("SEQ(NOT N, A, B) WITHIN 3 s", "N1 A2 B5", [[1, 2]]),
        ("SEQ(NOT N, A, B) WITHIN 3 s", "A2 N2 N2 B4", [[0, 3]]),
        ("SEQ(NOT N, A, B) WITHIN 3 events", "N2 A2 B4", [[1, 2]]),
        ("SEQ(A, B, NOT N) WITHIN 3 s", "A1 B2 N2 N5", [[0, 1]]),
        ("SEQ(A, B, NOT N) WITHIN 3 s", "A1 B2 N4", []),
        ("SEQ(A, B, NOT N) WITHIN 3 events", "A1 B2 N2 N3", [[0, 1]]),
        ("SEQ(A, B, NOT N) WITHIN 3 events", "A1 B2 N3", []),
        ("A+ AND B WITHIN 9 s", "A1 A1 B1", [[0, 2], [1, 2]]),
    ],
)
def test_borders_of_time(text: str, events: str, found: list[list[int]]) -> None:
    query, given = parse_query(f"PATTERN {text} PER MATCH"), stream(events)
    assert [row["match"] for row in answer(query, given)] == found
    assert sorted(match for matches in told(text, events) for match in matches) == found


def test_until_decides_without_later_events() -> None:
    events = batch(stream("A1 B2"))
    made = executor("SEQ(A, NOT N) WITHIN 2 s", events)
    assert not made.process(events.slice(0, 2, watermark=3))
    assert matches(made.process(events.slice(2, 2, watermark=4))) == [[0]]
    assert not made.finish()


def test_a_match_of_several_alternatives_is_reported_once_and_as_soon_as_one_decides() -> None:
    assert told("SEQ(A, B) OR A AND B WITHIN 2 s", "A1 B1 B2") == [[], [[0, 1]], [[0, 2]], []]
    assert told("SEQ(A, NOT N) OR A WITHIN 2 s", "A1 B2 B3 B4 B9 A9") == [[[0]], [], [], [], [], [[5]], []]
    text = "SEQ(A, NOT N) OR SEQ(A, NOT M) WITHIN 2 s"
    assert told(text, "A1 N2 B4 A5 N6 M6 B9") == [[], [], [[0]], [], [], [], [], []]
    assert told("SEQ(A, NOT N) OR A x WHERE x.x > 1 WITHIN 2 s", "A1/1 A2/2 A9/1") == [[], [[1]], [[0]], [[2]]]


def test_an_operand_that_is_an_or() -> None:
    assert told("SEQ((A OR B) x, C) WITHIN 2 s", "A1 B2 C3 D3 C5") == [[], [], [[0, 2], [1, 2]], [], [], []]
    assert told("SEQ((A a OR A b) x, B) WHERE a.x > 3 AND b.x < 5 WITHIN 3 s", "A1/4 A1/2 A1/6 B2/0") == [
        [], [], [], [[0, 3], [1, 3], [2, 3]], [],
    ]  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "SEQ(A, B+) WITHIN 5 s",
        "SEQ(A+, A) WITHIN 5 s",
        "SEQ(A, (B OR C) x, NOT A) WITHIN 3 events",
        "SEQ(A, NOT C) OR A WITHIN 4 s",
    ],
)
def test_counts(text: str) -> None:
    events = [{"time": n * 2 // 3, "type": "ABC"[n * n // 5 % 3], "g": n % 2} for n in range(60)]
    query = parse_query(f"RETURN COUNT(*) PATTERN {text} PER MATCH")
    [row] = answer(query, events)
    assert row["COUNT(*)"] > 5
    for cuts in ((), (30,), tuple(range(1, 60))):
        assert difference([row], run(Sase(), query, split(batch(events), cuts), promise=True, pickled=True)) is None


def test_more_matches_than_the_output_has_room_for() -> None:
    events = batch([{"time": time, "type": "A"} for time in range(17)])
    for text in ("A+", "SEQ(A+, NOT B)"):
        query = parse_query(f"PATTERN {text} WITHIN 20 s PER MATCH")
        frame = run(Sase(), query, split(events, (9,)))
        assert len(frame) == len({tuple(match) for match in frame["match"]}) == 2**17 - 1 > WRITTEN_SPANS
        plain, summarised = (answer_of(Sase(), query, [events], summarised=flag) for flag in (False, True))
        assert plain.digest() == summarised.digest()
        assert summarised.matches == 2**17 - 1


def test_digests_of_more_points_than_there_is_room_for() -> None:
    events = batch([{"time": time // 2, "type": "AB"[time % 2]} for time in range(5000)])
    query = parse_query("PATTERN A AND B WITHIN 1 s PER MATCH")
    plain, summarised = (answer_of(Sase(), query, [events], summarised=flag) for flag in (False, True))
    assert plain.digest() == summarised.digest()
    assert summarised.matches == 3 * 2500 - 2
    assert summarised.rows == 2500
    frame = summarised.frame()
    assert (frame["window_start"].tolist()[:2], frame["window_end"].tolist()[:2]) == ([-1, 0], [1, 2])


@pytest.mark.parametrize("joined", [", ", " AND "])
def test_more_events_than_the_stacks_have_room_for(joined: str) -> None:
    size = 3 * FIRST_EVENTS
    events = batch([{"time": time, "type": "ABC"[time % 3], "x": time % 7} for time in range(size)])
    text = f"PATTERN {joined.join('ABC')} WHERE A.x < C.x"
    wide = parse_query(f"{text} WITHIN {size} s PER MATCH")
    narrow = parse_query(f"{text} WITHIN 9 s PER MATCH")
    for query in (wide, narrow):
        answers = answer_of(Sase(), query, [events], summarised=True)
        again = answer_of(Sase(), query, split(events, tuple(range(100, size, 100))), summarised=True)
        assert answers.digest() == again.digest()
        plain = [(n % 3, n, n % 7) for n in range(size)]
        reach = size if query is wide else 9
        by_type = [[n for kind, n, _ in plain if kind == wanted] for wanted in range(3)]
        if joined == ", ":
            expected = sum(
                sum(a < b < c for b in by_type[1])
                for a in by_type[0]
                for c in by_type[2]
                if a < c <= a + reach and a % 7 < c % 7
            )
            assert answers.matches == expected
    if joined == " AND ":
        assert answer_of(Sase(), wide, [events], summarised=True).matches == sum(
            FIRST_EVENTS for a in by_type[0] for c in by_type[2] if a % 7 < c % 7
        )


@pytest.mark.full
def test_a_long_stream_agrees_with_the_oracle() -> None:
    events = [{"time": n // 3, "type": "ABCN"[(n * n // 5 + n // 7) % 4], "x": n * 13 % 11} for n in range(700)]
    for text in (
        "SEQ(A, B+, C) WHERE A.x < C.x WITHIN 2 s",
        "A AND B+ AND C WHERE A.x < B.x WITHIN 5 events",
        "SEQ(NOT N, A, NOT N, B, NOT N) WITHIN 3 s",
        "SEQ(A, NOT N, B, NOT N) OR B AND A WITHIN 6 events",
    ):
        query = parse_query(f"PATTERN {text} PER MATCH")
        expected = answer(query, events)
        assert expected
        for cuts in ((), (350,), tuple(range(1, 700))):
            assert difference(expected, run(Sase(), query, split(batch(events), cuts))) is None


@pytest.mark.parametrize("unordered", [False, True])
def test_pointers_follow_when_expired_events_are_dropped(unordered: bool) -> None:
    """Events come faster after some were dropped, so that live ones are overwritten where they were before."""
    size, reach = 6 * FIRST_EVENTS, FIRST_EVENTS // 3
    steps = [1 if n // FIRST_EVENTS % 2 == 0 else n % 8 == 0 for n in range(size)]
    time = np.cumsum(steps)
    plain = [{"time": int(time[n]), "type": "ABC"[n * n // 7 % 3], "x": n * 11 // 5 % 9} for n in range(size)]
    joined = "A AND B AND C" if unordered else "A, B, C"
    query = parse_query(f"PATTERN {joined} WHERE A.x = B.x AND B.x < C.x WITHIN {reach} s PER MATCH")
    x = np.array([event["x"] for event in plain])
    at = {name: np.array([n for n in range(size) if plain[n]["type"] == name]) for name in "ABC"}
    expected = 0
    for b in at["B"]:
        a, c = at["A"][x[at["A"]] == x[b]], at["C"][x[at["C"]] > x[b]]
        a, c = time[a][unordered | (time[a] < time[b])], time[c][unordered | (time[c] > time[b])]
        first = np.minimum(np.minimum(a[:, None], c), time[b])
        last = np.maximum(np.maximum(a[:, None], c), time[b])
        expected += int((last - first <= reach).sum())
    assert expected > size
    events = batch(plain)
    for cuts in ((), tuple(range(50, size, 50))):
        assert answer_of(Sase(), query, split(events, cuts), summarised=True).matches == expected


def test_events_out_of_reach_are_dropped() -> None:
    events = batch([{"time": time, "type": "A"} for time in range(20 * FIRST_EVENTS)])
    made = executor("SEQ(A, B) WITHIN 4 s", events)
    made.process(events.slice(0, 10))
    before = made.state()
    made.process(events.slice(10, 20 * FIRST_EVENTS))
    assert made.state() == before
    assert before.kinds == {"events": 5, "edges": 0, "trends": 0}


def test_the_state_holds_what_waits_for_the_end_of_its_span() -> None:
    events = batch(stream("A1 A2 B3 B9 A20 A30"))
    made = executor("SEQ(A, B, NOT N) WITHIN 4 s", events)
    made.process(events.slice(0, 3))
    waiting = made.state()
    assert waiting.kinds == {"events": 3, "edges": 1, "trends": 3}
    assert matches(made.process(events.slice(3, 4))) == [[0, 2], [1, 2]]
    assert made.state().bytes <= waiting.bytes + StateSize(8 * 8).bytes
    made.process(events.slice(4, 6))
    made.state()
    assert made.state().kinds == {"events": 1, "edges": 0, "trends": 1}


@pytest.mark.parametrize("summarised", [True, False])
def test_updates_are_the_events_of_all_matches(summarised: bool) -> None:
    events = batch([{"time": time, "type": "A"} for time in range(15)])
    made = executor("A+ WITHIN 20 s", events, summarised)
    made.process(events)
    told = made.details()
    assert told["updates"] == sum(n * comb(15, n) for n in range(16))
    if READABLE:
        assert told["delay_count"] == 2**15 - 1
        assert 0 < told["enumeration_seconds"] == pytest.approx(told["delay_mean"] * told["delay_count"])
        assert told["update_seconds"] > 0


def test_no_search_takes_time_where_no_last_event_comes() -> None:
    made = executor("SEQ(A, B) WITHIN 20 s", batch(stream("A1 A2 A3")))
    made.process(batch(stream("A1 A2 A3")))
    told = made.details()
    if READABLE:
        assert told["enumeration_seconds"] == 0 < told["update_seconds"]
    assert "delay_mean" not in told
