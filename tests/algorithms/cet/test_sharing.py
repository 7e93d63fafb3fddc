"""Graphlets that overlapping windows share (7.3) change the work, never the answer."""

from random import Random
from typing import Any

import numpy as np
import pytest

from algorithms.base import NotEnoughMemory
from algorithms.cet.algorithm import Cet
from algorithms.cet.sharing import Graphlet, stretches
from algorithms.cet.stored import Stored
from algorithms.kernels.window_graph import WindowGraph
from algorithms.oracle import TooManyMatches, answer
from queries.parser import parse_query
from tests.algorithms.cet.running import groups, watch, window_graph
from tests.streams import stream

SLIDING = "RETURN COMPLETE MATCHES PATTERN A+ WITHIN 6 s SLIDE 2 s"


def unshared(monkeypatch: pytest.MonkeyPatch, text: str, events: list[dict[str, Any]], memory: str) -> Any:
    with monkeypatch.context() as patch:
        patch.setattr(Stored, "_shared", lambda *_: None)
        return watch(Cet(memory=memory), text, events)


def graphlet(graph: WindowGraph, low: int, high: int) -> Graphlet:
    return Graphlet(graph.place[low:high].copy(), 0, 8, 1, 1)


@pytest.mark.parametrize("memory", ["5000", "64MB"])
def test_graphlets_of_the_window_before_are_not_constructed_again(monkeypatch: pytest.MonkeyPatch, memory: str) -> None:
    """In ample memory, the first window is one graphlet, which expires in part; then each slide brings a new one."""
    events = groups(20, 3)
    shared, again = watch(Cet(memory=memory), SLIDING, events), unshared(monkeypatch, SLIDING, events, memory)
    assert shared.details["graphlets_shared"] > 10
    assert again.details["graphlets_shared"] == 0
    assert shared.details["graphlets_shared"] + shared.details["graphlets_built"] >= 2 * 8
    assert memory == "64MB" or shared.details["graphlets_built"] < again.details["graphlets_built"]
    assert shared.matches == again.matches


@pytest.mark.parametrize("seed", range(150))
def test_random_overlapping_windows(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    random = Random(seed)
    pattern, types = random.choice((("A+", "A"), ("SEQ(A, B*)", "ABB"), ("SEQ(A+, B)", "AB"), ("(SEQ(A+, B))+", "AB")))
    slide = random.randint(1, 3)
    where = random.choice(("", " WHERE A.x != NEXT(A).y")) if "A+" in pattern else ""
    text = f"RETURN COMPLETE MATCHES PATTERN {pattern}{where} WITHIN {slide * random.randint(2, 4)} s SLIDE {slide} s"
    events, time = [], 0
    for _ in range(random.randint(10, 30)):
        values = {"x": random.randint(0, 2), "y": random.randint(0, 2)}
        events.append({"time": time, "type": random.choice(types), **values})
        time += random.choice((0, 1, 1, 2))
    try:
        expected = answer(parse_query(text), events, limit=2000)
    except TooManyMatches:
        return
    for memory in (random.randint(1200, 5000), 1 << 16):
        try:
            seen = watch(Cet(memory=str(memory)), text, events, sorted(random.sample(range(1, len(events)), 4)))
        except NotEnoughMemory:
            continue
        assert [row["match"] for row in expected] == seen.matches
        assert seen.peak <= memory


def test_random_windows_did_share() -> None:
    """Guards the test above: in tight memory, some graphlets are shared, some expire in part, some are new."""
    seen = watch(Cet(memory="5000"), SLIDING, groups(40, 3), range(5, 120, 5))
    assert seen.details["graphlets_shared"] > 4
    assert seen.details["graphlets_built"] > seen.details["graphlets_shared"] / 4


def test_a_graphlet_is_the_same_only_if_all_its_vertices_are() -> None:
    text = "RETURN COMPLETE MATCHES PATTERN A+"
    graph = window_graph(text, groups(4, 2))
    whole = [(low, high) for low, high, _ in stretches(graph, [graphlet(graph, 2, 4), graphlet(graph, 6, 8)], -1)]
    assert whole == [(0, 2), (2, 4), (4, 6), (6, 8)]
    part = window_graph(text, [event for place, event in enumerate(groups(4, 2)) if place != 3])
    renamed = part._replace(place=np.array([0, 1, 2, 4, 5, 6, 7]))
    found = stretches(renamed, [graphlet(graph, 2, 4), graphlet(graph, 6, 8)], -1)
    assert [(low, high, same is None) for low, high, same in found] == [(0, 5, True), (5, 7, False)]


def test_a_graphlet_ends_where_the_new_window_can_be_cut() -> None:
    """The new last event follows an event in the middle of the old graphlet: its end is no cut any more."""
    text = "RETURN COMPLETE MATCHES PATTERN A+ WHERE A.x <= NEXT(A).x"
    old = window_graph(text, stream("A1/1 A2/9"))
    new = window_graph(text, stream("A1/1 A2/9 A3/2"))
    assert stretches(old, [graphlet(old, 0, 2)], -1)[0][2] is not None
    assert stretches(new, [graphlet(old, 0, 2)], -1) == [(0, 3, None)]


def test_what_is_left_of_an_expired_graphlet_stays_one() -> None:
    graph = window_graph("RETURN COMPLETE MATCHES PATTERN A+", groups(4, 2))
    assert stretches(graph, [], 3) == [(0, 4, None), (4, 8, None)]
    assert stretches(graph, [], 2) == [(0, 8, None)], "the cut would be inside a time stamp"


def test_sharing_gives_way_to_the_graph() -> None:
    """A burst in the next window needs the memory that kept trends take."""
    calm, burst = groups(6, 3), [{"time": 6, "type": "A"}] * 20
    kept = watch(Cet(memory="10KB"), SLIDING, calm, (17,))
    before = watch(Cet(memory="10KB"), SLIDING, [*calm, burst[0]]).states[0]
    assert before.kinds["trends"] > 0
    seen = watch(Cet(memory="10KB"), SLIDING, calm + burst, range(3, 38, 3))
    assert kept.peak <= seen.peak <= 10 * 2**10
    assert len(seen.matches) == trends(calm + burst)


def trends(events: list[dict[str, Any]]) -> int:
    """Complete trends in all windows of SLIDING: products of the sizes of groups."""
    found = 0
    for start in range(0, events[-1]["time"] + 1, 2):
        times = [event["time"] for event in events if start <= event["time"] < start + 6]
        found += int(np.prod(np.unique(times, return_counts=True)[1]))
    return found
