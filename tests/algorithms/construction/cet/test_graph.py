"""The CET graph: vertices and edges of Algorithm 4, and what of them is live in a window."""

from itertools import combinations
from random import Random

import pytest

from cepbench.algorithms.construction.cet.algorithm import Cet
from cepbench.algorithms.construction.cet.graph import restricted
from cepbench.algorithms.engine.kernels.stacks import drop_before
from tests.algorithms.construction.cet.running import DETECTORS, edges, graph_of, watch, window_graph
from tests.contract.streams import batch
from tests.streams import golden_plans, stream

CHECKS = "RETURN COMPLETE MATCHES PATTERN Check+ C WHERE C.destination = NEXT(C).source"


def test_the_graph_of_figure_5_1() -> None:
    events = golden_plans()["cet"]["checks"]["events"]
    assert list(edges(window_graph(CHECKS, events))) == [(0, 1), (0, 2), (2, 3)]


def test_an_edge_that_a_longer_way_replaces_is_left_out() -> None:
    graph = window_graph("RETURN COMPLETE MATCHES PATTERN A+", stream("A1 A2 A2 A3"))
    assert list(edges(graph)) == [(0, 1), (0, 2), (1, 3), (2, 3)]


def test_a_longer_way_may_be_interrupted() -> None:
    """The last event may follow the first and the third, but the first may not precede the third."""
    text = "RETURN COMPLETE MATCHES PATTERN A+ WHERE A.x < NEXT(A).x"
    assert list(edges(window_graph(text, stream("A1/1 A2/9 A3/0 A4/2")))) == [(0, 1), (0, 3), (2, 3)]


@pytest.mark.parametrize("seed", range(40))
def test_the_graph_is_the_transitive_reduction(seed: int) -> None:
    random = Random(seed)
    events = [
        {"time": random.randint(0, 9), "type": "A", "x": random.randint(0, 3), "y": random.randint(0, 3)}
        for _ in range(random.randint(0, 24))
    ]
    events.sort(key=lambda event: int(event["time"]))
    text = "RETURN COMPLETE MATCHES PATTERN A+ WHERE A.x != NEXT(A).y"
    given = [{"time": 0, "type": "Z", "x": 0, "y": 0}, *events]
    places = range(1, len(given))
    before = {
        (u, v)
        for u, v in combinations(places, 2)
        if given[u]["time"] < given[v]["time"] and given[u]["x"] != given[v]["y"]
    }
    reached = set(before)
    for v in places:
        reached |= {(u, w) for u, m in list(reached) if m == v for w in places if (v, w) in before}
    longer = {(u, v) for u, v in reached if any((u, m) in reached and (m, v) in reached for m in places)}
    assert set(edges(window_graph(text, given))) == before - longer


def test_in_edges_and_out_edges_are_the_same() -> None:
    text = "RETURN COMPLETE MATCHES PATTERN A+ WHERE A.x < NEXT(A).x"
    graph = window_graph(text, stream("A1/1 A2/9 A2/2 A3/0 A4/2 A4/3 A6/4"))
    backwards = {
        (int(graph.into[at]), v) for v in range(len(graph.time)) for at in range(graph.in_ptr[v], graph.in_ptr[v + 1])
    }
    forwards = {
        (v, int(graph.out[at])) for v in range(len(graph.time)) for at in range(graph.out_ptr[v], graph.out_ptr[v + 1])
    }
    assert backwards == forwards
    assert len(forwards) == len(graph.out) == len(graph.into)


def test_only_vertices_between_start_and_end_are_live() -> None:
    graph, live = graph_of("RETURN COMPLETE MATCHES PATTERN SEQ(A+, B)", batch(stream("B1 A2 A3 B4 A5 C6")))
    assert graph.vertices == 4  # the first B has no predecessor
    assert live.place.tolist() == [1, 2, 3]  # nothing follows the last A
    assert list(edges(live)) == [(1, 2), (2, 3)]


def test_what_follows_no_start_of_the_window_is_not_live() -> None:
    """The first A has expired, and with it the first B lost its only predecessor; the second B has another."""
    graph, live = graph_of("RETURN COMPLETE MATCHES PATTERN SEQ(A, B+)", batch(stream("A1 B2 A3 B4")))
    assert live.place.tolist() == [0, 1, 2, 3]
    drop_before(2, graph.stacks)
    assert graph.vertices == 3
    assert graph.live().place.tolist() == [2, 3]
    assert list(edges(graph.live())) == [(2, 3)]


@pytest.mark.parametrize("detect", DETECTORS)
def test_events_between_two_windows_are_in_neither(detect: str) -> None:
    text = "RETURN COMPLETE MATCHES PATTERN A+ WITHIN 2 s SLIDE 4 s"
    seen = watch(Cet(detect), text, stream("A1 A2 A3 A4 A5 A6 A9"))
    assert seen.matches == [[0], [3, 4], [6]]
    assert seen.states[-1].kinds["events"] == 1


@pytest.mark.parametrize(("low", "high"), [(0, 6), (0, 4), (2, 6), (2, 4), (4, 6)])
def test_a_part_of_a_graph_has_the_edges_inside(low: int, high: int) -> None:
    whole = window_graph("RETURN COMPLETE MATCHES PATTERN A+", stream("A1 A1 A2 A2 A3 A4"))
    assert list(edges(whole)) == [(0, 2), (0, 3), (1, 2), (1, 3), (2, 4), (3, 4), (4, 5)]
    part = restricted(whole, low, high)
    assert list(edges(part)) == [(u, v) for u, v in edges(whole) if low <= u and v < high]
    assert part.time.tolist() == [1, 1, 2, 2, 3, 4][low:high]


def test_bytes_are_those_of_vertices_and_edges_in_use() -> None:
    text = "RETURN COMPLETE MATCHES PATTERN A+ WHERE A.x <= NEXT(A).x"
    graph, _ = graph_of(text, batch(stream("A1/1 A2/2 A3/3 A3/3")))
    stacks = graph.stacks
    used = [stacks.time, stacks.position, stacks.place, stacks.pointer_ptr, stacks.taken]
    vertex = sum(array.itemsize for array in used) + 8 * (len(stacks.ints) + len(stacks.reals))
    assert (graph.vertices, graph.edges) == (4, 3)
    assert graph.bytes == 4 * vertex + 3 * stacks.target.itemsize


def test_edges_from_expired_vertices_lead_nowhere() -> None:
    """They take their space until the events that they lead to expire."""
    graph, _ = graph_of("RETURN COMPLETE MATCHES PATTERN A+", batch(stream("A1 A1 A2 A2 A3 A4")))
    assert (graph.vertices, graph.edges) == (6, 7)
    drop_before(2, graph.stacks)
    assert (graph.vertices, graph.edges) == (4, 7)
    assert list(edges(graph.live())) == [(2, 4), (3, 4), (4, 5)]
    drop_before(9, graph.stacks)
    assert (graph.vertices, graph.edges, graph.bytes) == (0, 0, 0)
