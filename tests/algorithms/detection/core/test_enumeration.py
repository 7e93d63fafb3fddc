"""The enumeration phase: what lies between two matches, room, and a limit."""

from math import comb

import pytest

from cepbench.algorithms.detection.core.algorithm import Core
from cepbench.algorithms.detection.core.kernels.automaton import Lack
from cepbench.algorithms.detection.core.kernels.enumeration import DELAYS, delay_of
from cepbench.algorithms.detection.core.runs import FIRST_DEPTH, OUTPUT_MATCHES
from cepbench.algorithms.engine.kernels.ticks import READABLE
from cepbench.algorithms.oracle import answer
from cepbench.algorithms.registry import make
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey, answer_of, run, subject_of
from cepbench.verification.random_cases import split
from cepbench.verification.verify import verify_subject
from tests.algorithms.detection.core.running import feed, runs_of, uniform
from tests.contract.streams import batch
from tests.streams import stream

STEPS_PER_EVENT = 2
"""Between two matches, of the later one: a union and a cell."""


@pytest.mark.parametrize(
    ("pattern", "least"),
    [
        ("SEQ(A, B, C) WITHIN 300 events", 10**6),
        ("SEQ(A+, B, C) WITHIN 40 events", 10**6),
        ("SEQ((A OR B)+ x, C, A) WITHIN 18 s", 10**5),
        ("SEQ(A, B+, C) OR SEQ(B, A+, C) OR SEQ(A+, A) WITHIN 30 events", 10**5),
        ("A+ WITHIN 2 s", 10),
    ],
)
def test_steps_between_two_matches_are_at_most_twice_the_events_of_one(pattern: str, least: int) -> None:
    runs = runs_of(pattern)
    assert feed(runs, uniform(1500)) > least
    counters = runs.search.arrays.counters[0]
    assert 0 < counters["max_ratio"] <= 1000 * STEPS_PER_EVENT
    assert counters["max_steps"] <= STEPS_PER_EVENT * counters["longest"]


def test_matches_longer_than_there_is_room_for() -> None:
    runs, size = runs_of(f"SEQ({', '.join(['A'] * 63)}, A+) WITHIN 100 s"), FIRST_DEPTH + 3
    assert feed(runs, uniform(size, 1)) == sum(comb(size, length) for length in range(64, size + 1))
    assert runs.search.arrays.counters[0]["longest"] == size < runs.search.room(Lack.PATH)


def test_more_matches_than_the_output_has_room_for() -> None:
    query = parse_query("PATTERN SEQ(A, B+, C) WITHIN 400 s PER MATCH")
    events = batch([{"time": n, "type": "ABC"[min(n, 1) + (n == 15)]} for n in range(16)])
    whole = answer_of(Core(), query, [events])
    assert whole.matches == 2**14 - 1 > OUTPUT_MATCHES
    assert whole.digest() == answer_of(Core(), query, split(events, (5, 15)), summarised=True).digest()


@pytest.mark.parametrize("limit", [1, 3, 1000])
def test_a_limit_bounds_the_matches_per_last_event(limit: int) -> None:
    text = "PATTERN SEQ(A, B+, C) OR SEQ(B, C) WITHIN 9 s PER MATCH"
    query, events = parse_query(text), [{"time": n // 2, "type": "ABC"[n * n // 3 % 3]} for n in range(60)]
    every = [tuple(row["match"]) for row in answer(query, events)]
    for cuts in ((), (20, 41)):
        frame = run(make(f"core[limit={limit}]"), query, split(batch(events), cuts))
        told = [tuple(match) for match in frame["match"]]
        assert set(told) <= set(every)
        assert len(set(told)) == len(told)
        for last in range(60):
            wanted = min(limit, sum(match[-1] == last for match in every))
            assert sum(match[-1] == last for match in told) == wanted


def test_an_answer_with_a_limit_is_marked() -> None:
    events = batch(stream("A1 B2"))
    workload = compile_workload([parse_query("PATTERN A, B WITHIN 9 s PER MATCH")], events.schema)
    plan = make("core[limit=2]").plan(workload, Statistics())
    assert plan.cut_off
    assert "cut off" in plan.notices[0]
    assert not Core().plan(workload, Statistics()).cut_off
    reason = make("core[limit=2]").unsupported(parse_query("RETURN COUNT(*) PATTERN A, B WITHIN 9 s PER MATCH"))
    assert reason is not None
    assert "nothing to count" in reason


def test_an_answer_with_a_limit_is_not_compared() -> None:
    report = verify_subject(subject_of(make("core[limit=1]")), 3, seed=1, thorough=False)
    assert report.failure is None
    assert report.compared == 0
    assert "compared with none" in " ".join(report.refused)


def test_what_a_run_says_of_its_phases() -> None:
    events = batch([{"time": n, "type": "ABC"[n % 3]} for n in range(300)])
    workload = compile_workload([parse_query("PATTERN A, B, C WITHIN 30 s PER MATCH")], events.schema)
    executor = OneKey(Core().operator(Core().plan(workload, Statistics())))
    executor.process(events)
    told = executor.details()
    assert told["states_peak"] == 4
    assert told["updates"] == 3 * told["delay_count"] > 0
    assert told["delay_ratio_max"] <= STEPS_PER_EVENT
    assert told["delay_mean"] * told["delay_count"] == pytest.approx(told["enumeration_seconds"])
    assert told["update_seconds"] > 0
    assert ("delay_max" in told) == READABLE
    if READABLE:
        assert told["delay_mean"] <= told["delay_max"] <= told["enumeration_seconds"]
        assert 0 < told["delay_p999_max"] <= told["delay_max"]
    assert told["steps_per_event_mean"] * 300 == pytest.approx(told["update_steps"])


def test_delays_are_counted_by_size() -> None:
    least = [delay_of(bucket) for bucket in range(DELAYS // 2)]
    assert least[:18] == [*range(16), 16, 18]
    assert least == sorted(set(least))
