"""Combinators of operators: several queries, AND, windows of events."""

from collections.abc import Sequence

import numpy as np
import pytest

from cepbench.algorithms.base import Executor, KeyedBatch, OutOfOrder, Plan, StateSize
from cepbench.algorithms.compose import CountWindows, pairs
from cepbench.algorithms.rows import AggregateRows, joined
from cepbench.algorithms.trends.greta import Greta
from cepbench.events.batch import EventBatch
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey
from tests.contract.streams import batch
from tests.streams import stream

EVENTS = batch(stream("A1 B2 A3 B4 A5 B6"))


def started(*texts: str, events: EventBatch = EVENTS) -> Executor:
    queries = [parse_query(f"q{number}: RETURN COUNT(*) PATTERN {text}") for number, text in enumerate(texts)]
    return OneKey(Greta().operator(Plan(compile_workload(queries, events.schema))))


def states(executor: Executor, batches: Sequence[EventBatch]) -> list[StateSize]:
    sizes = []
    for events in batches:
        executor.process(events)
        sizes.append(executor.state())
    return sizes


def test_the_state_of_a_workload_is_that_of_its_queries() -> None:
    texts = ("SEQ(A, B) WITHIN 100 s", "A+ WITHIN 100 s", "B WITHIN 100 s")
    [whole] = states(started(*texts), [EVENTS])
    parts = [states(started(text), [EVENTS])[0] for text in texts]
    assert whole == StateSize(
        sum(part.bytes for part in parts),
        {kind: sum(part.kinds[kind] for part in parts) for kind in whole.kinds},
        sum(part.reserved for part in parts),
    )
    assert whole.kinds["events"] == 6 + 3 + 3


def test_time_that_has_passed_does_not_come_back() -> None:
    executor = started("SEQ(A, B) WITHIN 4 s")
    executor.process(EVENTS.slice(0, 2, watermark=4))
    with pytest.raises(OutOfOrder):
        executor.process(EVENTS.slice(2, 3))


def test_events_of_a_batch_are_in_order() -> None:
    with pytest.raises(OutOfOrder):
        started("SEQ(A, B)").process(EVENTS.take(np.array([1, 0])))


def test_windows_of_events_tell_the_largest_state_inside_a_batch() -> None:
    text = "A+ WITHIN 4 EVENTS"
    alone = max(state.bytes for state in states(started(text), [EVENTS.slice(n, n + 1) for n in range(6)]))
    [first, last] = states(started(text), [EVENTS.slice(0, 5), EVENTS.slice(5, 6)])
    assert first.bytes >= alone > last.bytes


@pytest.mark.parametrize("arithmetic", ["modular", "float"])
def test_pairs_are_exact_and_overflow_where_they_exceed_the_range(arithmetic: str) -> None:
    sides = [
        (3, 4, 2), (1, 1, 1), (2**32, 2**32 - 1, 5), (2**32, 2**32, 0), (2**32, 2**32, 2**31), (2**63, 1, 1),
        (2**63, 2, 3), (2**64 - 1, 2**64 - 1, 2**64 - 1), (2**64 - 1, 1, 1), (7, 9, 0),
    ]  # fmt: skip
    window, key = np.arange(len(sides)) % 3, np.arange(len(sides)) // 3
    dtype = np.uint64 if arithmetic == "modular" else np.float64
    rows: list[AggregateRows | None] = [
        AggregateRows.counting(window, np.array(counts, dtype), np.zeros(len(sides), np.bool_), key).take(
            np.random.default_rng(number).permutation(len(sides))
        )
        for number, counts in enumerate(zip(*sides, strict=True))
    ]
    products = pairs(rows, arithmetic)
    assert products is not None
    columns = (products.keys, products.window, products.ring[:, 0], products.overflow)
    answers = {(k, w): (count, bool(over)) for k, w, count, over in zip(*columns, strict=True)}
    for place, (left, right, shared) in enumerate(sides):
        exact = left * right - shared * (shared + 1) // 2
        answer = answers.pop((place // 3, place % 3), None)
        if exact == 0:
            assert answer is None
        elif arithmetic == "modular":
            assert answer == (exact % 2**64, exact >= 2**64)
        else:
            assert answer == (pytest.approx(float(exact)), False)
    assert not answers


def test_pairs_of_counts_that_overflowed_overflow() -> None:
    over = AggregateRows.counting(np.zeros(1, np.int64), np.array([5], np.uint64), np.array([True]))
    fine = AggregateRows.counting(np.zeros(1, np.int64), np.array([2], np.uint64), np.array([False]))
    products = pairs([over, fine, None], "modular")
    assert products is not None
    assert (products.ring[0, 0], products.overflow[0]) == (0, 1)
    assert pairs([over, None, None], "modular") is None


def test_windows_of_events_are_evaluated_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer is that of one portion; keys of a portion begin anew at times before those of the portion before."""
    events = batch([{"time": time // 3, "type": "AB"[time * 7 % 5 % 2]} for time in range(120)])
    order = np.argsort(np.arange(120) % 4, kind="stable")
    keyed = KeyedBatch(events.take(order), np.arange(4), np.arange(5) * 30, 4)
    text = "RETURN COUNT(*) PATTERN SEQ(A, NOT B, A) WITHIN 7 EVENTS SLIDE 2 EVENTS"
    workload = compile_workload([parse_query(text)], events.schema)
    answers = []
    for lanes, most in ((1 << 12, 1 << 16), (3, 1 << 16), (1, 1), (1 << 12, 20)):
        monkeypatch.setattr(CountWindows, "LANES", lanes)
        monkeypatch.setattr(CountWindows, "EVENTS", most)
        operator = Greta().operator(Plan(workload))
        rows = joined([operator.process(keyed), operator.finish()])[0]
        assert isinstance(rows, AggregateRows)
        answers.append(sorted(zip(rows.keys.tolist(), rows.window.tolist(), rows.ring[:, 0].tolist(), strict=True)))
    assert answers[0]
    assert all(answer == answers[0] for answer in answers)
