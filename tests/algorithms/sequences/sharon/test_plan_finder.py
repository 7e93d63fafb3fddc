"""Plans of random graphs: optimal where they say so, valid always, and honest about limits."""

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cepbench.algorithms.engine.event_sequence import Symbol
from cepbench.algorithms.sequences.plan import Candidate
from cepbench.algorithms.sequences.sharon.graph import SharonGraph, construct, reduce_graph
from cepbench.algorithms.sequences.sharon.limits import LimitReached, Limits, TimeLimitReached
from cepbench.algorithms.sequences.sharon.search import find_plan, guaranteed_weight, gwmin, search_all

UNLIMITED = Limits(math.inf)


def graph_of(weights: list[float], edges: set[tuple[int, int]]) -> SharonGraph:
    """Candidates of one symbol that meet in a sequence of their own for each edge."""
    meetings = sorted(edges)
    size = len(meetings)
    candidates = [
        Candidate(
            (Symbol(f"T{v}"),),
            (*((number, 0) for number, edge in enumerate(meetings) if v in edge), (size + v, 0)),
        )
        for v in range(len(weights))
    ]
    return construct(candidates, weights, UNLIMITED)


@st.composite
def graphs(draw: st.DrawFn, most: int = 16) -> SharonGraph:
    size = draw(st.integers(1, most))
    alike = draw(st.booleans())
    weight = st.just(25.0) if alike else st.floats(0.01, 1e6)
    weights = draw(st.lists(weight, min_size=size, max_size=size))
    density = draw(st.sampled_from((0.0, 0.1, 0.3, 0.5, 0.8, 1.0)))
    random = draw(st.randoms(use_true_random=False))
    return graph_of(weights, {pair for pair in combinations(range(size), 2) if random.random() < density})


def brute_force(graph: SharonGraph) -> float:
    """The weight of a maximum weight independent set, by trying every set."""

    def best(vertex: int, excluded: int) -> float:
        if vertex == len(graph.candidates):
            return 0.0
        without = best(vertex + 1, excluded)
        if excluded >> vertex & 1:
            return without
        return max(without, float(graph.weights[vertex]) + best(vertex + 1, excluded | graph.neighbors[vertex]))

    return best(0, 0)


def is_valid(graph: SharonGraph, plan: int) -> bool:
    chosen = [graph.candidates[v] for v in graph.members(plan)]
    return not any(one.overlaps(other) for one, other in combinations(chosen, 2))


@settings(max_examples=200, deadline=None)
@given(graphs())
def test_plan_is_a_maximum_weight_independent_set(graph: SharonGraph) -> None:
    reduction = reduce_graph(graph, guaranteed_weight(graph), UNLIMITED)
    outcome = find_plan(graph, reduction.left, reduction.conflict_free, UNLIMITED)
    assert is_valid(graph, outcome.plan)
    assert graph.weight(outcome.plan) == pytest.approx(brute_force(graph), rel=1e-9)
    sets = (reduction.left, reduction.conflict_free, reduction.conflict_ridden)
    assert sum(sets) == graph.everything  # each vertex in one of them
    assert outcome.plan & reduction.conflict_free == reduction.conflict_free


@settings(max_examples=50, deadline=None)
@given(graphs(most=10))
def test_exhaustive_search_visits_every_set(graph: SharonGraph) -> None:
    outcome = search_all(graph, UNLIMITED)
    assert is_valid(graph, outcome.plan)
    assert graph.weight(outcome.plan) == pytest.approx(brute_force(graph), rel=1e-9)
    assert outcome.visited == 2 ** len(graph.candidates) - 1


@settings(max_examples=50, deadline=None)
@given(graphs(most=10))
def test_plan_finder_visits_exactly_the_valid_plans(graph: SharonGraph) -> None:
    outcome = find_plan(graph, graph.everything, 0, UNLIMITED)
    assert outcome.visited == sum(is_valid(graph, plan) for plan in range(1, 2 ** len(graph.candidates)))


@settings(max_examples=200, deadline=None)
@given(graphs())
def test_gwmin_keeps_its_guarantee(graph: SharonGraph) -> None:
    chosen = gwmin(graph)
    assert is_valid(graph, chosen)
    assert graph.weight(chosen) >= guaranteed_weight(graph) * (1 - 1e-9)
    covered = chosen
    for v in graph.members(chosen):
        covered |= graph.neighbors[v]
    assert covered == graph.everything


@pytest.mark.parametrize("size", [3, 7, 49])
def test_equal_candidates_that_all_conflict_are_not_all_pruned(size: int) -> None:
    """Their maximal score equals the guaranteed weight, and rounding must not make it less."""
    graph = graph_of([25.1] * size, set(combinations(range(size), 2)))
    reduction = reduce_graph(graph, guaranteed_weight(graph), UNLIMITED)
    assert reduction.conflict_ridden == 0
    assert find_plan(graph, reduction.left, reduction.conflict_free, UNLIMITED).plan.bit_count() == 1


def test_one_heavy_candidate_beats_two_light_ones() -> None:
    """Plans of two are searched after it."""
    graph = graph_of([1.0, 10.0, 1.0, 0.5], {(0, 1), (1, 2), (1, 3)})
    assert graph.members(find_plan(graph, graph.everything, 0, UNLIMITED).plan).tolist() == [1]
    assert graph.members(search_all(graph, UNLIMITED).plan).tolist() == [1]


def test_every_conflict_of_a_plan_counts() -> None:
    """The last vertex is in conflict with none."""
    graph = graph_of([5.0, 4.0, 3.0], {(0, 1)})
    assert graph.members(search_all(graph, UNLIMITED).plan).tolist() == [0, 2]
    assert graph.members(find_plan(graph, graph.everything, 0, UNLIMITED).plan).tolist() == [0, 2]


def test_gwmin_counts_the_conflicts_that_are_left() -> None:
    """When the first is taken and its neighbor gone, the third has one conflict only: 6 / 2 beats 5 / 2."""
    graph = graph_of([10.0, 1.0, 6.0, 5.0], {(0, 1), (1, 2), (2, 3)})
    assert graph.members(gwmin(graph)).tolist() == [0, 2]


def test_conflict_free_candidates_count_in_the_maximal_score_of_others() -> None:
    """At least 100 + 10 / 2 + 9 / 2 is guaranteed, which the second reaches with the first only."""
    graph = graph_of([100.0, 10.0, 9.0], {(1, 2)})
    reduction = reduce_graph(graph, guaranteed_weight(graph), UNLIMITED)
    assert (reduction.conflict_free, reduction.conflict_ridden) == (0b011, 0b100)
    outcome = find_plan(graph, reduction.left, reduction.conflict_free, UNLIMITED)
    assert graph.members(outcome.plan).tolist() == [0, 1]


def test_more_vertices_than_a_word() -> None:
    """A path of 65 and more vertices in pairs: levels of two words."""
    edges = {(2 * i, 2 * i + 1) for i in range(2)} | set(combinations(range(4, 70), 2))
    weights = [1.0] * 70
    weights[0], weights[3], weights[69] = 2.0, 3.0, 5.0
    graph = graph_of(weights, edges)
    outcome = find_plan(graph, graph.everything, 0, UNLIMITED)
    assert graph.members(outcome.plan).tolist() == [0, 3, 69]
    assert outcome.visited == 3 * 3 * 67 - 1


def test_search_that_reaches_a_limit_says_so_and_keeps_the_best_plan() -> None:
    graph = graph_of([1.0 + v for v in range(30)], set())
    room = find_plan(graph, graph.everything, 0, Limits(math.inf, bytes=2**16))
    assert room.stopped is not None
    assert 0 < room.plan.bit_count() < 30
    assert room.bytes_peak <= 2**16
    late = find_plan(graph, graph.everything, 0, Limits(0.0))
    assert isinstance(late.stopped, TimeLimitReached)
    assert graph.members(late.plan).tolist() == [29]
    with pytest.raises(LimitReached, match="MB of plans"):
        search_all(graph, Limits(math.inf, bytes=2**16))


def test_no_vertex_no_plan() -> None:
    graph = construct([], [], UNLIMITED)
    assert find_plan(graph, 0, 0, UNLIMITED).plan == 0
    assert search_all(graph, UNLIMITED).plan == 0
    assert gwmin(graph) == 0
    assert guaranteed_weight(graph) == 0.0
    assert np.array_equal(graph.members(0), [])


def test_candidates_without_benefit_are_no_vertices() -> None:
    graph = graph_of([1.0, 0.0, -3.0], {(0, 1), (1, 2)})
    assert len(graph.candidates) == 1
    assert graph.neighbors == (0,)
