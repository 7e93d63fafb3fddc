"""A-Seq: the figures of the dissertation, what it keeps, and Kleene patterns of any length."""

from __future__ import annotations

import pickle
from random import Random
from typing import Any

import pytest

from cepbench.algorithms.base import Executor
from cepbench.algorithms.engine.flattening import TooManySequences
from cepbench.algorithms.oracle import answer
from cepbench.algorithms.registry import make
from cepbench.algorithms.rows import AggregateRows, Rows
from cepbench.algorithms.sequences.aseq.algorithm import ASeq
from cepbench.algorithms.sequences.kernels.stream import count_sequences
from cepbench.events.batch import EventBatch
from cepbench.events.errors import CepbenchError
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.queries.workloads import parse_workload
from cepbench.verification.agreement import difference
from cepbench.verification.evaluators import OneKey, run
from cepbench.verification.random_cases import random_cuts, split
from tests.contract.streams import batch
from tests.streams import stream


def executor_of(text: str, events: EventBatch, specification: str = "aseq") -> Executor:
    algorithm = make(specification)
    workload = compile_workload(parse_workload(text), events.schema)
    return OneKey(algorithm.operator(algorithm.plan(workload, Statistics())))


def counts(rows: Rows) -> dict[int, list[tuple[int, int]]]:
    """(window, COUNT(*)) by query."""
    found = {query: part for query, part in rows.items() if isinstance(part, AggregateRows)}
    return {q: list(zip(part.window.tolist(), part.ring[:, 0].tolist(), strict=True)) for q, part in found.items()}


def test_figure_22_2a_online_sequence_aggregation() -> None:
    """One counter per prefix: each event updates one of them."""
    events = batch(stream("A1 B2 A3 B4 B5"))
    executor = executor_of("RETURN COUNT(*) PATTERN SEQ(A, B)", events)
    executor.process(events)
    assert counts(executor.finish()) == {0: [(0, 5)]}
    assert executor.details()["updates"] == len(events)


def test_figure_22_2b_event_sequence_expiration() -> None:
    """Windows of four seconds that slide every second; when b5 arrives, a1 has expired."""
    events = batch(stream("A1 B2 A3 B4 B5"))
    executor = executor_of("RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 4 s SLIDE 1 s", events)
    rows = [executor.process(events.slice(i, i + 1)) for i in range(5)]
    assert executor.state().kinds["events"] == 2  # before b5 came
    assert executor.state().kinds["events"] == 1  # since: a1 has expired
    parts = [pair for part in [*rows, executor.finish()] for pair in counts(part).get(0, [])]
    assert dict(parts)[1] == 3
    assert dict(parts)[2] == 2
    assert executor.details()["updates"] == 1 + 1 + 1 + 2 + 1  # a1; b2 with a1; a3; b4 with a1, a3; b5 with a3


@pytest.mark.parametrize("within", ["", "WITHIN 50 s", "WITHIN 50 s SLIDE 10 s"])
def test_space_does_not_depend_on_events_but_for_starts(within: str) -> None:
    events = batch([{"time": t, "type": "ABCC"[t % 4]} for t in range(400)])
    executor = executor_of(f"RETURN COUNT(*) PATTERN SEQ(A, B, C) {within}", events)
    sizes = []
    for begin in range(0, 400, 50):
        executor.process(events.slice(begin, begin + 50))
        sizes.append(executor.state())
    if "SLIDE" in within:
        assert all(0 < state.kinds["events"] <= 14 for state in sizes)
    else:
        assert {(state.bytes, state.kinds["events"]) for state in sizes} == {(36, 0)}


def test_simultaneous_start_events_have_one_counter() -> None:
    events = batch(stream("A1 A1 A1 B2 B2 B3"))
    executor = executor_of("RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 4 s SLIDE 2 s", events)
    executor.process(events)
    assert executor.state().kinds["events"] == 1
    assert counts(executor.finish()) == {0: [(0, 9)]}
    assert executor.details()["updates"] == 3


def test_queries_of_a_workload_are_counted_side_by_side() -> None:
    texts = [
        "RETURN COUNT(*) PATTERN SEQ(A, B)",
        "RETURN SUM(B.x) PATTERN SEQ(A, B, A) WITHIN 6 s SLIDE 3 s",
        "RETURN COUNT(*) PATTERN SEQ(A+, B) WITHIN 6 s SLIDE 3 s",
        "RETURN COUNT(*) PATTERN SEQ(A, B) AND SEQ(B, A)",
        "RETURN MAX(A.x) PATTERN A WITHIN 3 EVENTS",
    ]
    events = stream("A1/1 B1/2 A2/3 B3/4 B4/5 A4/6 A6/7 B7/8 A9/9 B9/1")
    data = batch(events)
    workload = compile_workload([parse_query(text) for text in texts], data.schema)
    algorithm = ASeq()
    executor = OneKey(algorithm.operator(algorithm.plan(workload, Statistics())))
    parts = [executor.process(piece) for piece in split(data, (1, 4, 7))] + [executor.finish()]
    for index, text in enumerate(texts):
        found = sum(sum(count for _, count in counts(part).get(index, [])) for part in parts)
        alone = run(
            algorithm, parse_query(text.replace("SUM(B.x)", "COUNT(*)").replace("MAX(A.x)", "COUNT(*)")), [data]
        )
        assert found == alone["COUNT(*)"].sum()


KLEENE = (
    "A+",
    "SEQ(A+, B)",
    "SEQ(A, B+, A?)",
    "SEQ(A+, NOT C, B)",
    "(SEQ(A, B))+",
    "SEQ(A{2,}, NOT C, B*, A)",
    "SEQ(A+, B) OR SEQ(C, A+)",
)
ITEMS = "COUNT(*), COUNT(A), SUM(A.x), MIN(A.x), AVG(A.y), MAX(A.y)"
WITHIN = ("", "WITHIN 6 s", "WITHIN 6 s SLIDE 2 s", "WITHIN 9 EVENTS SLIDE 4 EVENTS", "WITHIN 3 s SLIDE 5 s")


def random_events(random: Random, types: str = "ABC", most: int = 11) -> list[dict[str, Any]]:
    time, events = 0, []
    for _ in range(random.randint(0, most)):
        time += random.choice((0, 1, 1, 2))
        x, y = random.randint(-3, 5), random.randint(-8, 8) / 4
        events.append({"time": time, "type": random.choice(types), "x": x, "y": y})
    return [*events, {"time": time + 30, "type": "C", "x": 0, "y": 0.0}]


@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("pattern", KLEENE)
def test_kleene_patterns_grow_with_the_stream(pattern: str, within: str) -> None:
    random = Random(f"{pattern} {within}")
    events = random_events(random)
    for items, pickled in ((ITEMS, True), ("COUNT(*)", False)):
        query = parse_query(f"RETURN {items} PATTERN {pattern} {within}")
        expected = answer(query, events, modular=True)
        for cuts in ((), tuple(range(1, len(events))), random_cuts(random, len(events))):
            frame = run(ASeq(), query, split(batch(events), cuts), pickled=pickled)
            assert difference(expected, frame) is None, cuts


@pytest.mark.parametrize("within", ["", "WITHIN 6 s", "WITHIN 8 s SLIDE 3 s"])
@pytest.mark.parametrize("pattern", ["A+", "SEQ(A+, B)", "SEQ(A+, NOT C, B)", "SEQ(A, B?)"])
def test_max_length_bounds_matches_or_raises(pattern: str, within: str) -> None:
    raised = 0
    for seed in range(8):
        events = random_events(Random(seed))
        matches = parse_query(f"RETURN MATCHES PATTERN {pattern} {within}")
        longest = max((len(row["match"]) for row in answer(matches, events)), default=0)
        query = parse_query(f"RETURN COUNT(*), SUM(A.x) PATTERN {pattern} {within}")
        for length in (1, 2, 3, 5):
            algorithm = make(f"aseq[max_length={length}]")
            if longest > length and pattern != "SEQ(A, B?)":
                with pytest.raises(CepbenchError, match=rf"{longest} events, more than max_length={length}"):
                    run(algorithm, query, [batch(events)])
                raised += 1
            else:
                expected = answer(query, events, modular=True)
                assert difference(expected, run(algorithm, query, [batch(events)])) is None
    assert raised or pattern == "SEQ(A, B?)"


def test_patterns_with_too_many_sequences_say_so() -> None:
    events = batch([{"time": t, "type": "AB"[t % 2]} for t in range(30)])
    with pytest.raises(TooManySequences, match="query q: the pattern has more than"):
        run(ASeq(), parse_query("RETURN COUNT(*) PATTERN (A OR B)+"), [events])


def test_counts_of_flattened_patterns_end_at_2_to_the_64() -> None:
    query = parse_query("RETURN COUNT(*) PATTERN A+")
    for size, count in ((64, 2**64 - 1), (65, None)):
        frame = run(ASeq(), query, split(batch([{"time": t, "type": "A"} for t in range(size)]), (40,)))
        assert frame["overflow"][0] == (count is None)
        assert count is None or frame["COUNT(*)"][0] == count


@pytest.mark.parametrize("within", ["", "WITHIN 40 s SLIDE 20 s"])
def test_longer_sequences_inherit_what_overflowed(within: str) -> None:
    """Sums over the As of the first batch are multiples of 2^64 for every length; the second batch needs more."""
    events = [{"time": time, "type": "A", "x": 2**62} for time in range(1, 5)]
    events += [{"time": time, "type": name, "x": 0} for time, name in ((6, "A"), (7, "A"), (8, "B"))]
    query = parse_query(f"RETURN COUNT(*), SUM(A.x) PATTERN SEQ(A+, B) {within}")
    expected = answer(query, events, modular=True)
    assert [row["overflow"] for row in expected] == [True]
    for cuts in ((), (4,), (4, 5), (2, 6)):
        assert difference(expected, run(ASeq(), query, split(batch(events), cuts), pickled=True)) is None


@pytest.mark.parametrize(("specification", "pattern"), [("aseq[max_length=4]", "SEQ(A+, B)"), ("aseq", "SEQ(A, B)")])
def test_workloads_of_several_queries_have_rows_for_each(specification: str, pattern: str) -> None:
    """Flattened patterns stand beside other queries, and rows carry the number of their query."""
    events = batch(stream("A1 A2 B3 C4 B5"))
    text = "\n\n".join(f"RETURN COUNT(*) PATTERN {p}" for p in ("SEQ(A, C)", pattern, "B WITHIN 4 s"))
    executor = executor_of(text, events, specification)
    parts = [counts(executor.process(events)), counts(executor.finish())]
    found = {query: [pair for part in parts for pair in part.get(query, [])] for query in range(3)}
    assert found == {0: [(0, 2)], 1: [(0, 6 if "+" in pattern else 4)], 2: [(0, 1), (1, 1)]}


def test_pickling_compiles_nothing() -> None:
    events = batch(stream("A1/1 B2/2 A3/3 B4/4"))
    executor = executor_of("RETURN SUM(A.x) PATTERN SEQ(A, B) WHERE B.x > 1 WITHIN 4 s SLIDE 2 s", events)
    executor.process(events.slice(0, 2))
    known = len(count_sequences.signatures)  # type: ignore[attr-defined]
    pickle.loads(pickle.dumps(executor)).process(events.slice(2, 4))
    assert len(count_sequences.signatures) == known  # type: ignore[attr-defined]
