"""Constructed sequences are aggregated as the oracle does it: ties, negation, windows, overflow, growing stores."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

import pytest

from cepbench.algorithms.oracle import answer
from cepbench.queries.parser import parse_query
from cepbench.verification.agreement import difference
from tests.algorithms.exact import Pattern
from tests.algorithms.sequences.spass.workloads import planned, run_all
from tests.streams import stream

BIG = 2**62
WINDOWS = ("", "WITHIN 9 s", "WITHIN 9 s SLIDE 2 s", "WITHIN 4 s SLIDE 6 s", "WITHIN 12 EVENTS SLIDE 5 EVENTS")
ITEMS = (
    ("COUNT(*), SUM(A.x), MAX(D.y)", "A, B, C, D"),
    ("AVG(C.y), MIN(B.x)", "B, C, D"),
    ("COUNT(B), SUM(B.y), MIN(A.y)", "A, B, C, NOT N, E"),
    ("SUM(C.x), AVG(A.x), COUNT(C)", "E, NOT N, B, C, D, A"),
    ("MAX(A.x), SUM(D.y), MIN(D.x)", "E, A, B, C, NOT E, D"),
    ("SUM(B.x), AVG(B.y)", "B, C"),
)


def wrong(texts: Sequence[str], events: Sequence[dict[str, Any]], random: Random | None = None) -> str | None:
    """The difference of the answer of SPASS's own plan from the oracle's; with `random`, batches are cut."""
    queries = [parse_query(text) for text in texts]
    plan = planned(queries, events)
    assert plan.shared
    frames, _ = run_all(plan, events, random)
    reasons = [difference(answer(q, events, modular=True), frame) for q, frame in zip(queries, frames, strict=True)]
    return next((f"{texts[i]}: {reason}" for i, reason in enumerate(reasons) if reason is not None), None)


def events_of(seed: int, size: int, types: str, xs: Sequence[int] = range(-3, 6)) -> list[dict[str, Any]]:
    random, time = Random(seed), 0
    events = []
    for _ in range(size):
        y = random.randint(-8, 8) / 4
        events.append({"time": time, "type": random.choice(types), "x": random.choice(xs), "y": y})
        time += random.choice((0, 0, 1, 2))
    return events


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.full
def test_every_query_has_its_own_aggregates(window: str) -> None:
    texts = [f"q{i}: RETURN {items} PATTERN SEQ({pattern}) {window}" for i, (items, pattern) in enumerate(ITEMS)]
    for seed in range(6):
        events = events_of(seed, 40, "AABBCCDDEN")
        assert wrong(texts, events) is None, seed
        assert wrong(texts, events, Random(seed)) is None, seed


@pytest.mark.parametrize(
    ("events", "count"),
    [("A1 N2 B3", 0), ("A1 N1 B2", 1), ("A1 N2 B2", 1), ("A1 N2 A2 B3", 1), ("A1 A2 N2 B3", 1), ("A1 N2 B3 A4 B5", 1)],
)
def test_a_negated_event_at_the_time_of_its_neighbours(events: str, count: int) -> None:
    query = parse_query("RETURN COUNT(*) PATTERN SEQ(A, NOT N, B)")
    [frame], _ = run_all(planned([query], stream(events)), stream(events))
    assert frame["COUNT(*)"].tolist() == [count] * bool(count)


@pytest.mark.parametrize("start", ["A1 N2 B3", "A1 M2 B3", "A1 B2", "A1 N2 A3 M4 A5 B6", "A1 C2 M3 N3 B4", "A1 C2 B3"])
def test_two_types_that_are_negated_in_one_gap(start: str) -> None:
    texts = ["p: RETURN COUNT(*) PATTERN SEQ(A, NOT N, C?, NOT M, B, D, E)", "q: RETURN COUNT(*) PATTERN SEQ(C, D, E)"]
    assert wrong(texts, stream(f"{start} D7 E8 C20 D21 E22")) is None


@pytest.mark.parametrize("window", ["", "WITHIN 12 s SLIDE 3 s"])
@pytest.mark.parametrize("overflowing", "ABC")
def test_each_sum_has_an_overflow_of_its_own(overflowing: str, window: str) -> None:
    """The sums over all four events of one type are multiples of 2^64, and 0 in the ring."""
    events = [
        {"time": 4 * place + i, "type": name, "x": BIG if name == overflowing else 1}
        for place, name in enumerate("ABC")
        for i in range(4)
    ]
    events += [{"time": 30 + i, "type": name, "x": 1} for i, name in enumerate("ABC")]
    items = ("COUNT(*)", "SUM(A.x)", "SUM(B.x), COUNT(B)", "SUM(C.x), SUM(A.x)", "AVG(C.x), SUM(B.x)")
    texts = [f"q{i}: RETURN {item} PATTERN SEQ(A, B, C) {window}" for i, item in enumerate(items)]
    assert wrong(texts, events) is None


@pytest.mark.parametrize("slide", [20, 120])
@pytest.mark.full
def test_what_is_kept_of_many_events(slide: int) -> None:
    """Stores grow while windows open and close; each row keeps its time, its window and what is negated before it."""
    random = Random(slide)
    events = [{"time": t // 3, "type": random.choice("AAABBBBNC"), "x": random.randint(-9, 9)} for t in range(900)]
    patterns = [Pattern("AB", of, {1: "N"} if of == "A" else {}, 120, slide) for of in "ABB"]
    patterns += [Pattern("ABC", "C", {1: "N"}, 120, slide)]
    queries = [parse_query(pattern.text(f"q{i}")) for i, pattern in enumerate(patterns)]
    frames, executor = run_all(planned(queries, events), events, random)
    for i, (pattern, frame) in enumerate(zip(patterns, frames, strict=True)):
        assert difference(pattern.rows(f"q{i}", events), frame) is None
    assert executor.details()["constructed"] > 10_000


def test_events_at_the_end_of_a_window_belong_to_the_next() -> None:
    events = stream("A0 B3 A4 B5 A7 B8 A10 B11")
    line = "RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 4 s SLIDE"
    texts = [f"q{i}: {line} {slide} s" for i, slide in enumerate((4, 4, 1, 1, 2, 2))]
    assert wrong(texts, events) is None
    apart = [text.replace("4 s SLIDE 4 s", "4 s SLIDE 6 s") for text in texts]
    assert wrong(apart, events) is None
