"""The update phase: counted operations, time and memory."""

import time
from math import inf

import pytest

from cepbench.algorithms.detection.core.kernels.automaton import Lack
from cepbench.algorithms.detection.core.runs import FIRST_NODES
from tests.algorithms.detection.core.running import feed, runs_of, steps, uniform

OPEN = ("SEQ(A, B, C, L)", "SEQ(A, B+, C+, L)", "SEQ((A OR B)+ x, C, L)", "SEQ(A+, B, L) OR SEQ(C, A, L)")


@pytest.mark.parametrize("pattern", OPEN)
@pytest.mark.parametrize("unit", ["s", "events"])
def test_steps_per_event_do_not_depend_on_the_span(pattern: str, unit: str) -> None:
    """From when every state has a run: an event finds each of them, however many runs it has."""
    events, counted = uniform(60_000), []
    for span in (100, 10_000, 1_000_000):
        runs = runs_of(f"{pattern} WITHIN {span} {unit}")
        feed(runs, events.slice(0, 200))
        before = steps(runs)
        assert feed(runs, events.slice(200, 60_000)) == 0
        counted.append(steps(runs) - before)
    assert counted[0] == counted[1] == counted[2] > 0


def test_an_event_costs_a_step_per_state_that_it_leads_on() -> None:
    for places in (3, 24):
        runs = runs_of(f"SEQ({', '.join(['A'] * places)}, L) WITHIN 100000 events")
        feed(runs, uniform(1000, 1))
        before = steps(runs)
        feed(runs, uniform(2000, 1).slice(1000, 2000))
        # An edge, a cell and its list, and a look at the lists of the state: one per state.
        assert steps(runs) - before == 3 * places * 1000


@pytest.mark.full
def test_the_time_of_an_event_does_not_depend_on_the_span_nor_that_of_a_state_on_their_number() -> None:
    def seconds(pattern: str, types: int, size: int) -> float:
        events, best = uniform(size, types), inf
        for _ in range(3):
            runs = runs_of(pattern)
            feed(runs, events.slice(0, size // 2))
            started = time.process_time()
            feed(runs, events.slice(size // 2, size))
            best = min(best, (time.process_time() - started) / (size - size // 2))
        return best

    short, long = (seconds(f"SEQ(A, B, C, L) WITHIN {span} events", 3, 3_000_000) for span in (100, 1_000_000))
    assert max(short, long) < 2.5 * min(short, long)
    few, many = (seconds(f"SEQ({', '.join(['A'] * n)}, L) WITHIN 10000 events", 1, 100_000) / n for n in (3, 24))
    assert max(few, many) < 2 * min(few, many)


@pytest.mark.parametrize("pattern", OPEN)
def test_memory_is_that_of_one_span(pattern: str) -> None:
    runs = runs_of(f"{pattern} WITHIN 5000 events")
    events, rooms, live = uniform(60_000), [], []
    for start in range(0, 60_000, 5000):
        feed(runs, events.slice(start, start + 5000))
        rooms.append(runs.set.room(Lack.NODES))
        live.append(runs.live_nodes)
    assert len(set(rooms[2:])) == 1
    assert max(live[1:]) < 1.1 * min(live[1:])
    assert rooms[-1] < 5 * max(live)
    assert max(runs.set.room(table) for table in runs.set.tables if table != Lack.NODES) <= 1024


def test_memory_is_that_of_one_span_while_matches_end() -> None:
    runs = runs_of("SEQ(A, B, C) WITHIN 50 events")
    assert feed(runs, uniform(100_000)) > 100_000
    assert runs.set.room(Lack.NODES) <= 4 * FIRST_NODES


def test_nodes_expire_with_the_time() -> None:
    runs = runs_of("SEQ(A, L) WITHIN 10 s")
    feed(runs, uniform(50, 1))
    assert runs.live_nodes == 11
    runs.advance(55)
    assert runs.live_nodes == 5
    runs.advance(59)
    assert runs.live_nodes == 1
    runs.advance(60)
    assert runs.live_nodes == 0
    assert runs.counters["nodes"] == 50


@pytest.mark.parametrize("ties", [2, 7, 500])
def test_simultaneous_events_extend_none_of_each_other(ties: int) -> None:
    size = 2000
    reported = feed(runs_of("SEQ(A, A) WITHIN 1 s"), uniform(size, 1, ties=ties))
    assert reported == ties * ties * (size // ties - 1) if size % ties == 0 else reported > 0
    assert feed(runs_of("SEQ(A, A) WITHIN 2000 events"), uniform(ties, 1, ties=ties)) == 0
