"""COUNT(*) by products of counts, against counts per start in Python's integers."""

from __future__ import annotations

from random import Random

import pytest

from cepbench.algorithms.detection.core.automaton import SubsetAutomaton
from cepbench.algorithms.detection.core.counting import CountExecutor
from cepbench.algorithms.detection.core.kernels.automaton import Lack
from cepbench.algorithms.registry import make
from cepbench.events.batch import EventBatch
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import run
from cepbench.verification.random_cases import random_cuts, split
from tests.algorithms.detection.core.running import SCHEMA, uniform


def sequence_matches(types: str, kleene: set[int], events: EventBatch, span: int, counts: bool) -> int:
    """Matches of a SEQ of different types: for each event as the first one, the ways to go on within the span."""
    time, kind = events.time.tolist(), [SCHEMA.types[code] for code in events.type.tolist()]
    total = 0
    for first in range(len(time)):
        if kind[first] != types[0]:
            continue
        ways = [0] * len(types)
        fresh = [1] + [0] * (len(types) - 1)
        total += len(types) == 1
        now = time[first]
        for n in range(first + 1, len(time)):
            if (n - first >= span) if counts else (time[n] - time[first] > span):
                break
            if time[n] > now:
                ways, fresh, now = [a + b for a, b in zip(ways, fresh, strict=True)], [0] * len(types), time[n]
            elif time[n] == time[first]:
                continue
            for place, name in enumerate(types):
                if name == kind[n]:
                    more = (ways[place - 1] if place else 0) + (ways[place] if place in kleene else 0)
                    fresh[place] += more
                    total += more if place == len(types) - 1 else 0
    return total


def evaluator(text: str, arithmetic: str = "modular") -> CountExecutor:
    [query] = compile_workload([parse_query(f"RETURN COUNT(*) PATTERN {text} PER MATCH")], SCHEMA, arithmetic)
    return CountExecutor(query, SubsetAutomaton.of(query.parts[0]))


@pytest.mark.parametrize("unit", ["s", "events"])
@pytest.mark.parametrize(("types", "kleene"), [("ABC", {1}), ("ABC", {0, 2}), ("AB", {0}), ("CBA", set()), ("A", {0})])
def test_counts_of_long_streams_are_exact(types: str, kleene: set[int], unit: str) -> None:
    random = Random(f"{types} {kleene} {unit}")
    parts = [f"{name}+" if place in kleene else name for place, name in enumerate(types)]
    for ties in (1, 2, 5):
        span = random.choice((11, 16, 25))
        events = uniform(300, seed=random.randrange(100), ties=ties)
        query = parse_query(f"RETURN COUNT(*) PATTERN {', '.join(parts)} WITHIN {span} {unit} PER MATCH")
        expected = sequence_matches(types, kleene, events, span, unit == "events")
        cuts = random_cuts(random, len(events))
        frame = run(make("core"), query, split(events, cuts), promise=True, pickled=random.random() < 0.5)
        assert frame["COUNT(*)"].tolist() == [expected]
        assert not frame["overflow"].any()


def test_an_overflow_is_told_and_only_where_there_is_one() -> None:
    events = uniform(70, 1)
    assert run(make("core"), parse_query("RETURN COUNT(*) PATTERN A+ WITHIN 60 s PER MATCH"), [events])[
        "COUNT(*)"
    ].tolist() == [sequence_matches("A", {0}, events, 60, False)]
    for size, over in ((63, False), (64, False), (65, True)):
        frame = run(make("core"), parse_query("RETURN COUNT(*) PATTERN A+ WITHIN 100 s PER MATCH"), [uniform(size, 1)])
        assert frame["overflow"].tolist() == [over]
        assert over or frame["COUNT(*)"].tolist() == [2**size - 1]


def test_a_count_between_states_may_overflow_where_no_match_ends() -> None:
    """Ways from B to B are beyond 2^64, but nothing starts before them within the span."""
    events = uniform(90, 1)
    events.type[:] = 1
    events.type[[0, 87, 89]] = [0, 0, 2]
    query = parse_query("RETURN COUNT(*) PATTERN SEQ(A, B+, C) WITHIN 80 s PER MATCH")
    for pieces in ([events], split(events, tuple(range(1, 90)))):
        frame = run(make("core"), query, pieces)
        assert (frame["COUNT(*)"].tolist(), frame["overflow"].tolist()) == ([1], [False])


def test_float_counts() -> None:
    query = parse_query("RETURN COUNT(*) PATTERN A+ WITHIN 100 s PER MATCH")
    assert run(make("core"), query, [uniform(80, 1)], "float")["COUNT(*)"].tolist() == [2.0**80]


@pytest.mark.parametrize("unit", ["s", "events"])
def test_enumerating_counts_as_many(unit: str) -> None:
    query = parse_query(f"RETURN COUNT(*) PATTERN SEQ((A OR B)+ x, C) OR SEQ(C, A+) WITHIN 12 {unit} PER MATCH")
    events = uniform(2000, ties=2)
    both = [run(make(f"core[count={way}]"), query, [events])["COUNT(*)"].tolist() for way in ("products", "enumerate")]
    assert both[0] == both[1]
    assert both[0][0] > 2000


def test_steps_per_event_do_not_depend_on_the_span() -> None:
    counted = []
    for span in (100, 1000, 10_000):
        executor = evaluator(f"SEQ(A, B+, C) WITHIN {span} events")
        executor.process(uniform(60_000))
        mark = executor.products.arrays.counters[0]
        assert mark["seen"] == 60_000
        assert 60_000 // span - 2 <= mark["flips"] <= 60_000 // span
        assert span < mark["max_logged"] <= 2 * span + 1
        counted.append(mark["steps"] / 60_000)
    assert max(counted) < 1.2 * min(counted)


def test_the_state_is_that_of_two_spans() -> None:
    executor, sizes = evaluator("SEQ(A, B+, C) WITHIN 500 events"), []
    for start in range(0, 20_000, 1000):
        executor.process(uniform(20_000).slice(start, start + 1000))
        sizes.append(executor.state().bytes)
    assert max(sizes[1:]) < 1.2 * min(sizes[1:])
    assert executor.products.room(Lack.LOG) <= 1024
    mark = executor.products.arrays.counters[0]
    assert mark["logged"] / 4 < mark["starts"] < mark["logged"] / 2  # a third of the events may begin a match
