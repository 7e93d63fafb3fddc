"""The costs of Table 5.1, as the partitioners plan with them, against counted operations and counted bytes."""

import numpy as np
import pytest

from algorithms.cet.detector import terms_of
from algorithms.cet.limit import MemoryLimit
from algorithms.cet.partitioning import PartitionPlan, one_graphlet
from algorithms.cet.partitioning.costs import Costs
from algorithms.cet.stored import Arranged, Stored
from algorithms.kernels.cet_costs import EDGES, EVENTS, SEGMENTS, TRENDS
from algorithms.kernels.cet_memory import Path, search
from algorithms.kernels.cet_time import BLOCK, HEADER, construct
from algorithms.kernels.cet_trends import TRAVERSALS, UPDATES, Found
from algorithms.kernels.window_graph import WindowGraph
from tests.algorithms.cet.partitioning.graphs import all_plans, edges_of, homogeneous, irregular, trends_of
from tests.algorithms.cet.running import groups, window_graph

GRAPHS = [irregular(seed, vertices=4 + seed % 11) for seed in range(60)] + [homogeneous(5, 3), homogeneous(6, 2)]


def constructed(graph: WindowGraph, bounds: list[int]) -> tuple[Arranged, Stored]:
    """Graphlets whose trends are constructed; the work of it is in the detector."""
    detector = Stored(MemoryLimit(1 << 30), one_graphlet_of, shares=False, summarised=True)
    arranged = Arranged(graph, bounds, {})
    detector._make_room(arranged)
    construct(graph, terms_of(graph.place), arranged.graphlets, detector.words, detector.work)
    return arranged, detector


def one_graphlet_of(graph: WindowGraph, /, *, limit: int) -> PartitionPlan:
    return one_graphlet(graph)


def work(detector: Stored) -> tuple[int, int]:
    return int(detector.work[TRAVERSALS]), int(detector.work[UPDATES])


def plans(graph: WindowGraph) -> list[list[int]]:
    return [list(bounds) for bounds in all_plans(Costs(graph).atoms.tolist())]


def planned(graph: WindowGraph, bounds: list[int], column: int) -> float:
    """What the plan counts over all graphlets."""
    return float(Costs(graph).counted(np.array(bounds))[:, column].sum())


def all_trends(graph: WindowGraph) -> list[tuple[int, ...]]:
    return trends_of(0, len(graph.time), edges_of(graph))


def test_stored_bytes_are_exactly_those_of_the_plan() -> None:
    for graph in GRAPHS:
        for bounds in plans(graph):
            arranged, detector = constructed(graph, bounds)
            assert arranged.bytes == Costs(graph).cost(np.array(bounds)).bytes
            stored = detector.words.nbytes + 8 * int(arranged.firsts.sum()) + 16 * (len(bounds) - 1)
            assert stored == arranged.bytes
            assert records(detector) == arranged.trends.sum()


def records(detector: Stored) -> int:
    """Walks over all records, which fill the words without a gap."""
    at, found = 0, 0
    while at < len(detector.words):
        at += HEADER + int(detector.words[at])
        found += 1
    assert at == len(detector.words)
    return found


def test_t_cet_takes_each_edge_once() -> None:
    for graph in GRAPHS:
        for bounds in plans(graph):
            _, detector = constructed(graph, bounds)
            traversals, updates = work(detector)
            assert traversals == planned(graph, bounds, EDGES)
            assert planned(graph, bounds, TRENDS) <= updates <= planned(graph, bounds, EVENTS)


def test_updates_of_t_cet_are_linear_in_the_trends_where_each_event_has_several_successors() -> None:
    """The sum of 3 + 9 + ... + 3^k of Section 5.2: half as many more than the trends in the end."""
    for simultaneous, number in ((2, 9), (3, 6), (4, 5)):
        graph = homogeneous(number, simultaneous)
        arranged, detector = constructed(graph, [0, len(graph.time)])
        trends = float(arranged.trends.sum())
        assert work(detector)[1] == (simultaneous ** (number + 1) - simultaneous) // (simultaneous - 1)
        assert trends <= work(detector)[1] < trends * simultaneous / (simultaneous - 1)


def test_edges_are_taken_once_per_block_beyond_the_cache() -> None:
    graph = homogeneous(9, 3)
    arranged, detector = constructed(graph, [0, len(graph.time)])
    assert len(detector.words) > 3 * BLOCK
    traversals, updates = work(detector)
    assert len(graph.out) < traversals < updates / 50
    assert updates == (3**10 - 3) // 2
    assert records(detector) == arranged.trends.sum() == 3**9


def test_stitching_costs_what_the_plan_says() -> None:
    """Every segment of every trend is updated once; segments that trends have in common are visited once."""
    for graph in GRAPHS:
        for bounds in plans(graph):
            arranged, detector = constructed(graph, bounds)
            before = work(detector)
            detector._stitch(arranged, 0)
            traversals, updates = (now - then for now, then in zip(work(detector), before, strict=True))
            segments = planned(graph, bounds, SEGMENTS)
            if len(bounds) == 2:
                assert (traversals, updates) == (0, 0)
            else:
                assert updates == segments
                assert len(bounds) - 1 <= traversals <= segments
            assert detector.output.trends == len(all_trends(graph))


def test_the_plans_cpu_is_within_two_of_the_counted_operations() -> None:
    """On homogeneous graphs, which the search of plans is made for."""
    for graph in (homogeneous(6, 3), homogeneous(7, 2), homogeneous(4, 5)):
        for bounds in plans(graph):
            arranged, detector = constructed(graph, bounds)
            detector._stitch(arranged, 0)
            cpu = Costs(graph).cost(np.array(bounds)).cpu
            assert cpu / 2 <= sum(work(detector)) <= 2 * cpu


def test_m_cet_updates_every_event_of_every_trend() -> None:
    for graph in GRAPHS:
        size = len(graph.time)
        path = Path(np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(2, np.int64))
        found = Found(*(np.zeros(n, np.int64) for n in (0, 0, 2)), np.zeros(1, np.uint64))
        counted = np.zeros(2, np.int64)
        assert search(graph, terms_of(graph.place), path, found, counted)
        expected = all_trends(graph)
        assert found.size[0] == len(expected)
        assert counted[UPDATES] == sum(map(len, expected))
        assert counted[TRAVERSALS] <= counted[UPDATES] - len(expected)


@pytest.mark.parametrize("simultaneous", [1, 2, 3])
def test_the_graph_has_the_bytes_of_its_vertices_and_edges(simultaneous: int) -> None:
    graph = window_graph("RETURN COMPLETE MATCHES PATTERN A+", groups(7, simultaneous))
    vertices, edges = 7 * simultaneous, 6 * simultaneous**2
    assert sum(array.nbytes for array in graph) == 8 * (4 * vertices + 2 + 2 * edges)
