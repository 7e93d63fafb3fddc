"""Queries that share prefixes, middles and suffixes get the oracle's rows, whatever each of them aggregates."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from cepbench.algorithms.sequences.executor import sequence_operator
from cepbench.verification.evaluators import OneKey
from cepbench.verification.random_cases import split
from tests.algorithms.exact import Pattern
from tests.algorithms.sequences.sharon.plans import case_of, plan_for, wrong
from tests.contract.streams import batch
from tests.streams import stream

WINDOWS = ["", "WITHIN 9 s", "WITHIN 9 s SLIDE 2 s", "WITHIN 4 s SLIDE 6 s"]
SHARED = [(), ("AB",), ("BC",), ("BCD",), ("AB", "CD"), ("ABC", "D")]
SHARED_IDS = ["+".join(patterns) or "nothing" for patterns in SHARED]
ITEMS = (
    ("COUNT(*), SUM(A.x), MAX(D.y)", "A, B, C, D"),
    ("AVG(C.y), MIN(B.x)", "B, C, D"),
    ("COUNT(B), SUM(B.y), MIN(A.y)", "A, B, E"),
    ("SUM(C.x), AVG(A.x), COUNT(C)", "E, B, C, A"),
    ("MAX(A.x), COUNT(*), SUM(D.y)", "E, A, B, C, D"),
    ("COUNT(*)", "A, B, C"),
)


def events_of(seed: int, size: int, types: str = "ABCDE", ties: float = 0.3, step: int = 2) -> list[dict[str, Any]]:
    random, time = Random(seed), 0
    events = []
    for _ in range(size):
        x, y = random.randint(-3, 5), random.randint(-8, 8) / 4
        events.append({"time": time, "type": random.choice(types), "x": x, "y": y})
        time += 0 if random.random() < ties else random.randint(1, step)
    return events


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("shared", SHARED, ids=SHARED_IDS)
def test_every_query_has_its_own_aggregates(shared: tuple[str, ...], window: str) -> None:
    texts = [f"q{i}: RETURN {items} PATTERN SEQ({p}) {window}" for i, (items, p) in enumerate(ITEMS)]
    for seed in range(1):
        for cuts in ((), (3, 4, 17)):
            case = case_of(texts, events_of(seed, 36), cuts)
            assert wrong(case, plan_for(case, *shared)) is None, seed


def test_the_latest_of_two_windows_keeps_what_came_before() -> None:
    """The count of E A B before a C is combined from two parts, in each open window."""
    window = "WITHIN 12 s SLIDE 6 s"
    case = case_of(
        [
            f"q: RETURN COUNT(*) PATTERN SEQ(E, A, B, C, D) {window}",
            f"r: RETURN COUNT(*) PATTERN SEQ(A, B, C, D) {window}",
        ],
        stream("A1 E6 A7 B8 C9 D10"),
    )

    def rows(query: str, *counts: int) -> list[dict[str, Any]]:
        return [
            {"query": query, "window_start": 6 * i, "window_end": 6 * i + 12, "COUNT(*)": count, "overflow": False}
            for i, count in enumerate(counts)
        ]

    assert wrong(case, plan_for(case, "AB", "CD"), {"q": rows("q", 1, 1), "r": rows("r", 2, 1)}) is None


@pytest.mark.parametrize("window", WINDOWS)
def test_one_query_counts_and_another_one_sums(window: str) -> None:
    """They share the beginning of all their sequences."""
    items = ("COUNT(*)", "SUM(A.x), MIN(B.y)", "COUNT(*)")
    texts = [f"q{i}: RETURN {item} PATTERN SEQ(A, B, {'CDE'[i]}) {window}" for i, item in enumerate(items)]
    for seed in range(3):
        case = case_of(texts, events_of(seed, 36), (10, 11))
        assert wrong(case, plan_for(case, "AB")) is None, seed


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("shared", [(), ("AB",), ("CD",)], ids="+".join)
@pytest.mark.parametrize("items", ["COUNT(*)", "COUNT(*), SUM(B.x), MIN(A.y)"])
def test_negated_events_between_places(items: str, shared: tuple[str, ...], window: str) -> None:
    """An N clears what came before its time, but neither what comes at its time nor what that may follow."""
    places = ("A, B, C, NOT N, E", "A, B, E, NOT N, C, D", "E, NOT N, A, B, C, D", "B, NOT E, A, C, D", "A, B, D")
    texts = [f"q{i}: RETURN {items} PATTERN SEQ({p}) {window}" for i, p in enumerate(places)]
    for seed in range(3):
        case = case_of(texts, events_of(seed, 40, "ABCDEN", ties=0.5), (5, 11, 20))
        assert wrong(case, plan_for(case, *shared)) is None, seed


@pytest.mark.parametrize(
    ("events", "count"),
    [("A1 N2 B3", 0), ("A1 N1 B2", 1), ("A1 N2 B2", 1), ("A1 N2 A2 B3", 1), ("A1 A2 N2 B3", 1), ("A1 N2 B3 A4 B5", 1)],
)
@pytest.mark.parametrize("items", ["COUNT(*)", "COUNT(*), SUM(A.y)"])
def test_a_negated_event_at_the_time_of_its_neighbors(items: str, events: str, count: int) -> None:
    listed = [event | {"y": 1.0} for event in stream(events)]
    case = case_of([f"q: RETURN {items} PATTERN SEQ(A, NOT N, B)"], listed)
    names = {"query": "q", "window_start": 0, "window_end": None, "COUNT(*)": count}
    row = names | ({"SUM(A.y)": float(count)} if "SUM" in items else {}) | {"overflow": False}
    assert wrong(case, plan_for(case), {"q": [row] if count else []}) is None


@pytest.mark.parametrize("shared", [(), ("AB",), ("BC",), ("BCD",)], ids="+".join)
def test_start_events_come_and_go(shared: tuple[str, ...]) -> None:
    """Hundreds of START events, of which few are live at a time, take the places of others."""
    big = 2**62
    patterns = [Pattern("ABCD", "A", {}, 16, 4), Pattern("ABC", "B", {}, 16, 4), Pattern("EBCD", "C", {}, 16, 4)]
    texts = [pattern.text(f"q{i}") for i, pattern in enumerate(patterns)]
    random = Random(7)
    events = [event | {"x": random.choice((1, 2, -big, big))} for event in events_of(2, 600, ties=0.2, step=1)]
    case = case_of(texts, events, (100, 350))
    expected = {f"q{i}": pattern.rows(f"q{i}", events) for i, pattern in enumerate(patterns)}
    overflows = [row["overflow"] for rows in expected.values() for row in rows]
    assert 50 < sum(overflows) < len(overflows) - 50
    assert wrong(case, plan_for(case, *shared), expected) is None


@pytest.mark.parametrize("shared", [(), ("AB",), ("BC",), ("BCD",)], ids="+".join)
def test_more_start_events_than_there_was_room_for(shared: tuple[str, ...]) -> None:
    """Counters, results and snapshots so far stay what they were, overflowed or not."""
    events = [{"time": time, "type": "ABCD"[time % 4], "x": 2**59} for time in range(40)]
    events += [{"time": time, "type": name, "x": 1} for time in range(40, 160) for name in "AB"]
    events += [{"time": 160, "type": "C", "x": 3}, {"time": 161, "type": "D", "x": 3}]
    patterns = [
        Pattern("ABCD", "A", {}, 200, 100),
        Pattern("BCD", "C", {}, 200, 100),
        Pattern("ABC", "B", {}, 200, 100),
    ]
    expected = {f"q{i}": pattern.rows(f"q{i}", events) for i, pattern in enumerate(patterns)}
    assert any(row["overflow"] for rows in expected.values() for row in rows)
    case = case_of([pattern.text(f"q{i}") for i, pattern in enumerate(patterns)], events, (90,))
    assert wrong(case, plan_for(case, *shared), expected) is None


def test_one_batch_closes_windows_and_then_has_many_start_events() -> None:
    """Rows that were written when room for START events ran out are not lost."""
    listed = stream("A0 B1") + [{"time": 100 + i, "type": "AB"[i == 60]} for i in range(61)]
    case = case_of(["q: RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 80 s SLIDE 20 s"], listed)
    assert wrong(case, plan_for(case)) is None


@pytest.mark.parametrize("queries", [1, 3])
def test_one_batch_closes_more_windows_than_rows_are_written_at_once(queries: int) -> None:
    windows = 1500
    listed = [{"time": 2 * k + i, "type": "AB"[i]} for k in range(windows) for i in range(2)]
    texts = [f"q{i}: RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 2 s" for i in range(queries)]
    case = case_of(texts, listed)
    one = {"COUNT(*)": 1, "overflow": False}
    rows = [{"window_start": 2 * k, "window_end": 2 * k + 2} | one for k in range(windows)]
    expected = {f"q{i}": [{"query": f"q{i}"} | row for row in rows] for i in range(queries)}
    assert wrong(case, plan_for(case, "AB"), expected) is None


def test_windows_end_before_their_end_time() -> None:
    """The event at time 4 is in the second window only, and its batch closes the first one."""
    events = batch(stream("A1 B3 A4 B5"))
    case = case_of(["q: RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 4 s SLIDE 4 s"], stream("A1 B3 A4 B5"))
    executor = OneKey(sequence_operator(plan_for(case)))
    first, second = split(events, (2,))
    assert executor.process(first) == {}
    assert [len(rows) for rows in executor.process(second).values()] == [1]
    assert wrong(case, plan_for(case)) is None
