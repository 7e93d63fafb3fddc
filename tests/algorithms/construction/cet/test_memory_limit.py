"""The whole state keeps within the limit, and what cannot is refused before trends are stored."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepbench.algorithms.base import NotEnoughMemory, StateSize
from cepbench.algorithms.construction.cet.algorithm import Cet
from cepbench.algorithms.construction.cet.detector import MemoryLimit
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey
from tests.algorithms.construction.cet.running import DETECTORS, PARTITIONERS, groups, watch
from tests.contract.streams import batch

EVENTS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3)), min_size=1, max_size=24)
WINDOWS = ("", " WITHIN 6 s", " WITHIN 9 s SLIDE 3 s", " WITHIN 8 s SLIDE 1 s")


@settings(deadline=None, derandomize=True, max_examples=300)
@given(
    steps=EVENTS,
    memory=st.integers(300, 8000),
    window=st.sampled_from(WINDOWS),
    detect=st.sampled_from(DETECTORS),
    partition=st.sampled_from(PARTITIONERS),
    cut=st.integers(1, 9),
)
@pytest.mark.full
def test_the_state_never_exceeds_the_limit(
    steps: list[tuple[int, int]], memory: int, window: str, detect: str, partition: str, cut: int
) -> None:
    times = np.cumsum([step for step, _ in steps])
    events = [{"time": int(t), "type": "A", "x": x} for t, (_, x) in zip(times, steps, strict=True)]
    text = f"RETURN COMPLETE MATCHES PATTERN A+ WHERE A.x != NEXT(A).x{window}"
    try:
        seen = watch(Cet(detect, partition, str(memory)), text, events, range(cut, len(events), cut))
    except NotEnoughMemory:
        unlimited = watch(Cet(detect, partition), text, events, range(cut, len(events), cut))
        assert detect == "hybrid" or unlimited.peak > memory
        return
    assert 0 < seen.peak <= memory


@pytest.mark.parametrize("detect", DETECTORS[1:])
def test_an_ample_limit_is_not_needed(detect: str) -> None:
    """What a run takes at its peak is enough for it to run again, and one byte less is not."""
    text = "RETURN COMPLETE MATCHES PATTERN A+ WITHIN 5 s SLIDE 5 s"
    events = groups(10, 3)
    wide = watch(Cet(detect), text, events)
    assert watch(Cet(detect, memory=str(wide.peak)), text, events).matches == wide.matches
    if detect == "hybrid":
        tight = watch(Cet(detect, memory=str(wide.peak - 1)), text, events)
        assert tight.details["graphlets_built"] > wide.details["graphlets_built"]
        assert sorted(tight.matches) == sorted(wide.matches)
    else:
        with pytest.raises(NotEnoughMemory):
            watch(Cet(detect, memory=str(wide.peak - 1)), text, events)


def test_less_memory_means_more_graphlets_and_the_same_trends() -> None:
    text, events = "RETURN COMPLETE MATCHES PATTERN A+", groups(8, 3)
    graphlets, peaks = [], []
    for memory in ("10MiB", "100KiB", "20KiB", "12KiB", "10KiB"):
        seen = watch(Cet(memory=memory), text, events)
        assert len({tuple(match) for match in seen.matches}) == 3**8
        graphlets.append(seen.details["graphlets_built"])
        peaks.append(seen.peak)
    assert graphlets == sorted(graphlets)
    assert peaks == sorted(peaks, reverse=True)
    assert graphlets[0] == 1 < graphlets[-1]


@pytest.mark.parametrize("detect", ["time", "baseline"])
def test_who_stores_all_trends_is_refused(detect: str) -> None:
    number = 40 if detect == "time" else 9  # 3^40 trends cannot be counted one by one
    with pytest.raises(NotEnoughMemory, match=r"trends .* bytes, but the memory limit is 65536 bytes"):
        watch(Cet(detect, memory="64KiB"), "RETURN COMPLETE MATCHES PATTERN A+", groups(number, 3))


def test_trends_beyond_all_counting_are_refused() -> None:
    with pytest.raises(NotEnoughMemory):
        watch(Cet("time"), "RETURN COMPLETE MATCHES PATTERN A+", groups(2000, 3))


def test_a_graph_beyond_the_limit_is_refused_as_it_grows() -> None:
    with pytest.raises(NotEnoughMemory, match=r"a graph of \d+ events and \d+ edges needs \d+ bytes"):
        watch(Cet("memory", memory="2KiB"), "RETURN COMPLETE MATCHES PATTERN A+", groups(100, 3))


def test_the_state_tells_graph_and_stored_trends() -> None:
    seen = watch(Cet("time"), "RETURN COMPLETE MATCHES PATTERN A+", groups(5, 3))
    assert seen.states[0].kinds == {"events": 15, "edges": 36, "trends": 0}
    assert seen.states[-1].kinds == {"events": 15, "edges": 36, "trends": 3**5}
    stored = 24 * (3 + 9 + 27 + 81 + 243)
    assert stored < seen.states[-1].bytes < stored + 15 * 300


def test_the_baseline_tells_the_trends_before_and_after_an_event() -> None:
    """With the third event, a trend of two events gives way to one of three: four bytes per word and length."""
    seen = watch(Cet("baseline"), "RETURN COMPLETE MATCHES PATTERN A+", groups(3, 1))
    assert seen.peak == 33 * 3 + 8 * 3 + 4 * (1 + 2) + 4 * (1 + 3)
    assert seen.states[-1].kinds == {"events": 3, "edges": 0, "trends": 1}


@pytest.mark.parametrize("detect", DETECTORS)
def test_each_query_has_its_share(detect: str) -> None:
    """What suffices for one query is twice as much for two, and no less will do."""
    given = batch(groups(6, 2))
    text = "RETURN COMPLETE MATCHES PATTERN A+"
    peak = watch(Cet(detect), text, groups(6, 2)).peak
    workload = compile_workload([parse_query(f"q{n}: {text}") for n in (1, 2)], given.schema)

    def run(memory: int) -> float:
        algorithm = Cet(detect, memory=str(memory))
        executor = OneKey(algorithm.operator(algorithm.plan(workload, Statistics())))
        executor.process(given)
        executor.finish()
        return executor.details().get("graphlets_built", 1.0)

    built = run(2 * peak)
    if detect == "hybrid":
        assert run(2 * peak - 1) > built
    else:
        with pytest.raises(NotEnoughMemory, match=f"limit is {peak - 1} bytes"):
            run(2 * peak - 1)


def test_queries_and_counted_windows_share_the_limit() -> None:
    given = batch(groups(6, 3))
    texts = (
        "q1: RETURN COMPLETE MATCHES PATTERN A+",
        "q2: RETURN COMPLETE MATCHES PATTERN A+ WITHIN 9 EVENTS SLIDE 3 EVENTS",
    )
    workload = compile_workload([parse_query(text) for text in texts], given.schema, summarised=True)
    algorithm = Cet("memory", memory="9KiB")
    executor = OneKey(algorithm.operator(algorithm.plan(workload, Statistics())))
    executor.process(given)
    assert executor.state().bytes <= 9 * 2**10
    executor.finish()
    alone = compile_workload([parse_query(texts[1])], given.schema)
    limited = OneKey(Cet("memory", memory="1536").operator(algorithm.plan(alone, Statistics())))
    with pytest.raises(NotEnoughMemory, match="memory limit is 512 bytes"):
        limited.process(given)


@pytest.mark.parametrize("detect", DETECTORS)
def test_windows_of_events_take_what_windows_of_time_take(detect: str) -> None:
    """Also where a window opens and closes inside one batch."""
    text, events = "RETURN COMPLETE MATCHES PATTERN A+ WITHIN", groups(24, 3 if detect != "baseline" else 1)
    timed = watch(Cet(detect), f"{text} 8 s", events)
    counted = watch(Cet(detect), f"{text} {len(events) // 3} EVENTS", events)
    assert counted.matches == timed.matches
    assert counted.peak == timed.peak
    assert counted.states[0].kinds == max(timed.states, key=lambda state: state.bytes).kinds


@pytest.mark.parametrize("detect", DETECTORS)
def test_overlapping_windows_of_events_keep_within_the_limit_together(detect: str) -> None:
    text, events = "RETURN COMPLETE MATCHES PATTERN A+ WITHIN 12 EVENTS SLIDE 3 EVENTS", groups(12, 2)
    cuts = range(5, len(events), 5)
    peak = watch(Cet(detect), text, events, cuts).peak
    alone = watch(Cet(detect), text.replace("SLIDE 3", "SLIDE 12"), events, cuts).peak
    assert alone < peak <= 4 * alone
    memory = 4 * alone
    assert watch(Cet(detect, memory=str(memory)), text, events, cuts).peak <= memory


def test_a_limit_tells_the_largest_state_once() -> None:
    limit = MemoryLimit(100)
    limit.hold(70, {"trends": 2}, "a test")
    limit.hold(40, {"trends": 1}, "a test")
    with pytest.raises(NotEnoughMemory, match="a test needs 101 bytes, but the memory limit is 100 bytes"):
        limit.hold(101, {}, "a test")
    assert limit.peak.report(StateSize(10)) == StateSize(70, {"trends": 2})
    assert limit.peak.report(StateSize(10)) == StateSize(10)


def test_a_refused_window_says_what_it_would_need() -> None:
    text, events = "RETURN COMPLETE MATCHES PATTERN A+", groups(8, 3)
    with pytest.raises(NotEnoughMemory) as refused:
        watch(Cet(memory="5400"), text, events)
    numbers = re.search(r"limit is (\d+) bytes, the graph takes (\d+), .* as possible take (\d+)$", str(refused.value))
    assert numbers
    limit, graph, finest = map(int, numbers.groups())
    assert limit == 5400 < graph + finest
    assert watch(Cet(memory=str(graph + finest)), text, events).peak <= graph + finest
