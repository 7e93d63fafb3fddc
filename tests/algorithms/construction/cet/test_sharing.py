"""Graphlets that overlapping windows share (7.3) change the work, never the answer."""

from random import Random
from typing import Any

import numpy as np
import pytest

from cepbench.algorithms.base import NotEnoughMemory, StateSize
from cepbench.algorithms.construction.cet.algorithm import Cet
from cepbench.algorithms.construction.cet.kernels.graph import WindowGraph
from cepbench.algorithms.construction.cet.stored import Graphlet, stretches
from cepbench.algorithms.oracle import TooManyMatches, answer
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import answer_of
from cepbench.verification.random_cases import split
from tests.algorithms.construction.cet.running import groups, watch, window_graph
from tests.contract.streams import batch
from tests.streams import stream

WHOLE = "RETURN COMPLETE MATCHES PATTERN A+"
SLIDING = f"{WHOLE} WITHIN 6 s SLIDE 2 s"


def windows_alone(events: list[dict[str, Any]], memory: str) -> tuple[list[list[int]], float]:
    """The matches of the windows of SLIDING, each in a run of its own, and the graphlets that were built for them."""
    matches, built = [], 0.0
    for start in range(0, events[-1]["time"] + 1, 2):
        places = [place for place, event in enumerate(events) if start <= event["time"] < start + 6]
        seen = watch(Cet(memory=memory), WHOLE, [events[place] for place in places])
        matches += [[places[place] for place in match] for match in seen.matches]
        built += seen.details["graphlets_built"]
    return matches, built


def groups_of(sizes: str) -> list[dict[str, Any]]:
    """Groups of simultaneous events, one per second."""
    return [{"time": time, "type": "A"} for time, size in enumerate(sizes) for _ in range(int(size))]


def graphlet(graph: WindowGraph, low: int, high: int) -> Graphlet:
    return Graphlet(graph.place[low:high].copy(), 0, 2, 1)


@pytest.mark.parametrize("memory", ["5000", "64MiB"])
def test_graphlets_of_the_window_before_are_not_constructed_again(memory: str) -> None:
    """In ample memory, the first window is one graphlet, which expires in part; then each slide brings a new one."""
    events = groups(20, 3)
    shared, (matches, built) = watch(Cet(memory=memory), SLIDING, events), windows_alone(events, memory)
    assert shared.details["graphlets_shared"] > 10
    assert shared.details["graphlets_shared"] + shared.details["graphlets_built"] >= 2 * 8
    assert memory == "64MiB" or shared.details["graphlets_built"] < built
    assert shared.matches == matches


def test_each_slide_brings_its_own_graphlets_and_takes_all_others_over() -> None:
    """Three graphlets of two groups at first, then one per new group: all that lie whole in a window are there already.

    The ten windows take over 0, 2, 3, 4, 4, 4, 4, 4, 4 and 2 and build 3, seven times 2, 0 and 0.
    """
    details = watch(Cet(graphlets="3"), SLIDING, groups(20, 3)).details
    assert (details["graphlets_shared"], details["graphlets_built"]) == (31, 17)


def test_graphlets_of_intervals_slide_with_the_window() -> None:
    """Three intervals of two seconds, as long as the slide: the ten windows build one graphlet each but for the first
    three of the first window and none for the last two, and share all others."""
    shared = watch(Cet(intervals="3"), SLIDING, groups(20, 3))
    assert (shared.details["graphlets_built"], shared.details["graphlets_shared"]) == (3 + 7, 7 * 2 + 2 + 1)
    alone = watch(Cet(intervals="3", sharing="never"), SLIDING, groups(20, 3))
    assert (alone.details["graphlets_built"], alone.details["graphlets_shared"]) == (8 * 3 + 2 + 1, 0)
    assert shared.matches == alone.matches == watch(Cet(), SLIDING, groups(20, 3)).matches
    stitched = 8 * 3 * 3**6 + 2 * 3**4
    assert shared.details["updates"] == 10 * 12 + stitched
    assert alone.details["updates"] == 27 * 12 + stitched


def test_without_sharing_nothing_is_kept() -> None:
    seen = watch(Cet(sharing="never", memory="5000"), SLIDING, groups(20, 3), range(1, 60, 7))
    assert seen.details["graphlets_shared"] == 0
    assert seen.matches == windows_alone(groups(20, 3), "5000")[0]


def test_intervals_that_do_not_fit_the_slide_are_cut_where_they_lie() -> None:
    """Two intervals of three seconds per window, which slides by two: every other window begins inside one."""
    events = groups(20, 2)
    seen = watch(Cet(intervals="2"), SLIDING, events, (5, 11, 30))
    assert seen.matches == windows_alone(events, "64MiB")[0]
    assert seen.details["graphlets_shared"] > 5


def test_what_is_left_of_a_graphlet_is_constructed_as_one() -> None:
    """Though two graphlets are wanted: after 0-2 and 3-5 come 1-2 anew, 3-5, and 6 anew; then 2 anew, and so on."""
    text = SLIDING.replace("SLIDE 2", "SLIDE 1")
    details = watch(Cet(graphlets="2"), text, groups(7, 3)).details
    assert details["graphlets_built"] == 2 + 2 + 1 + 0 + 1 + 1 + 0
    assert details["graphlets_shared"] == 0 + 1 + 2 + 2 + 1 + 1 + 1


def test_windows_that_do_not_overlap_keep_nothing() -> None:
    seen = watch(Cet(graphlets="3"), SLIDING.replace("SLIDE 2", "SLIDE 6"), groups(14, 3), range(1, 42))
    assert seen.details["graphlets_shared"] == 0
    assert {state.kinds["trends"] for state in seen.states} == {0, 3 * 9, 3 + 3}


def test_the_state_holds_the_trends_that_are_kept_for_the_next_window() -> None:
    """Two graphlets of nine trends of two events, which share three of one event, and of six places, and the graph.

    Nine edges lead from expired events.
    """
    late = [{"time": 6, "type": "A"}, {"time": 6, "type": "A"}, {"time": 100, "type": "A"}, {"time": 101, "type": "A"}]
    states = watch(Cet(graphlets="3"), SLIDING, groups(6, 3) + late, (18, 19, 20, 21)).states
    kept = 2 * (24 * (3 + 9) + 6 * 8)
    assert states[2] == StateSize(33 * 14 + 8 * (4 * 9 + 2 * 3) + kept, {"events": 14, "edges": 42, "trends": 18})
    assert states[4] == StateSize(33 * 2 + 8, {"events": 2, "edges": 1, "trends": 0})


@pytest.mark.parametrize("sizes", ["1133336111", "2222225522", "11114444"])
def test_sharing_refuses_nothing_that_windows_on_their_own_have_room_for(sizes: str) -> None:
    """Bursts need more memory than shared graphlets leave: they give way to new ones."""
    events = groups_of(sizes)
    fit = 0
    for memory in map(str, range(4700, 7000, 200)):
        try:
            matches, _ = windows_alone(events, memory)
        except NotEnoughMemory:
            continue
        fit += 1
        assert watch(Cet(memory=memory), SLIDING, events).matches == matches
    assert fit > 5


def test_trends_that_are_kept_survive_their_move_over_themselves() -> None:
    """The first graphlet leaves four nodes, and the second moves down by as many with its six."""
    events = [*groups_of("2122"), {"time": 6, "type": "A"}]
    seen = watch(Cet(graphlets="2"), SLIDING, events)
    assert seen.details["graphlets_shared"] == 3, "the second one, and that of the last event twice"
    assert seen.matches == windows_alone(events, "64MiB")[0]


@pytest.mark.parametrize("sizes", ["3333331", 14 * "3"], ids=["once", "often"])
def test_pickled_trends_are_found_again(sizes: str) -> None:
    query, events = parse_query(SLIDING), groups_of(sizes)
    pieces = split(batch(events), range(6, len(events), 6))
    plain = answer_of(Cet(graphlets="3"), query, pieces)
    copied = answer_of(Cet(graphlets="3"), query, pieces, pickled=True, summarised=True)
    assert copied.digest() == plain.digest()
    assert copied.matches == plain.rows == trends(events)


@pytest.mark.parametrize("seed", range(50))
def test_random_overlapping_windows(seed: int) -> None:
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
    parts = stretches(renamed, [graphlet(graph, 2, 4), graphlet(graph, 6, 8)], -1)
    assert [(low, high, same is None) for low, high, same in parts] == [(0, 5, True), (5, 7, False)]
    chain = window_graph(text, groups(4, 1))
    without = window_graph(text, groups(3, 1))._replace(place=np.array([0, 1, 3]))
    assert [same is None for *_, same in stretches(chain, [graphlet(chain, 1, 3)], -1)] == [True, False, True]
    assert stretches(without, [graphlet(chain, 1, 3)], -1) == [(0, 3, None)], "it could be cut there"


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
    kept = watch(Cet(memory="10KiB"), SLIDING, calm, (17,))
    before = watch(Cet(memory="10KiB"), SLIDING, [*calm, burst[0]]).states[0]
    assert before.kinds["trends"] > 0
    seen = watch(Cet(memory="10KiB"), SLIDING, calm + burst, range(3, 38, 3))
    assert kept.peak <= seen.peak <= 10 * 2**10
    assert len(seen.matches) == trends(calm + burst)


def test_kept_trends_are_forgotten_when_the_graph_needs_their_memory() -> None:
    """Kept trends take 115 KB of 130; the next 400 events, which follow none, leave room for the graph only.

    Eight edges lead from an expired event.
    """
    text = f"{WHOLE} WHERE A.x <= NEXT(A).x WITHIN 8 s SLIDE 4 s"
    calm = [{**event, "x": 1} for event in groups_of("000011118888")]
    burst = [{"time": 12, "type": "A", "x": 0}] * 400
    seen = watch(Cet(memory="130000"), text, calm + burst, (36, 37, 38, 437))
    assert seen.states[2].kinds == {"events": 34, "edges": 3 * 64 + 8, "trends": 8**4}
    assert seen.states[3].kinds["trends"] == 8**4  # at the peak, before they are forgotten
    assert seen.states[4] == StateSize(41 * 432 + 8 * (3 * 64 + 8), {"events": 432, "edges": 3 * 64 + 8, "trends": 0})
    assert len(seen.matches) == 1 + 8**4 + (8**4 + 400) + 400
    assert seen.peak <= 130_000


def trends(events: list[dict[str, Any]]) -> int:
    """Complete trends in all windows of SLIDING: products of the sizes of groups."""
    found = 0
    for start in range(0, events[-1]["time"] + 1, 2):
        times = [event["time"] for event in events if start <= event["time"] < start + 6]
        found += int(np.prod(np.unique(times, return_counts=True)[1]))
    return found
