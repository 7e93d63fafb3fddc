"""The counted work and the memory of CET, plan by plan: Table 5.1 of the dissertation with the trends enumerated."""

import tracemalloc
from collections.abc import Sequence
from functools import cache, partial
from itertools import groupby, pairwise
from random import Random
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pytest

from cepbench.algorithms.base import Algorithm, Executor, Operator, Plan
from cepbench.algorithms.compose import per_key
from cepbench.algorithms.construction.cet.algorithm import Cet
from cepbench.algorithms.construction.cet.detectors import MemoryLimit
from cepbench.algorithms.construction.cet.executor import CetExecutor
from cepbench.algorithms.construction.cet.graph import window_bytes
from cepbench.algorithms.construction.cet.kernels.breadth_first import CHUNK
from cepbench.algorithms.construction.cet.kernels.graph import WindowGraph
from cepbench.algorithms.construction.cet.partitioning.costs import Costs
from cepbench.algorithms.construction.cet.partitioning.partition import PartitionPlan
from cepbench.algorithms.construction.cet.stored import PER_VERTEX, Stored
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part, compile_workload
from cepbench.queries.model import Query
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey
from tests.algorithms.construction.cet.partitioning.graphs import (
    Trend,
    all_plans,
    edges_of,
    prefixes,
    slow_cost,
    slow_cuts,
    trends_of,
)
from tests.algorithms.construction.cet.running import Watched, graph_of, groups, watch, window_graph
from tests.contract.streams import batch

ALL = "RETURN COMPLETE MATCHES PATTERN A+"
SOME = f"{ALL} WHERE A.x != NEXT(A).y"


class Cut(Algorithm):
    """Stores the trends of given graphlets, of a stream that is one window, and stitches them."""

    name: ClassVar[str] = "cut"
    paper: ClassVar[str] = "none"

    def __init__(self, bounds: Sequence[int]) -> None:
        self.bounds = np.array(bounds, np.int64)

    def unsupported(self, query: Query) -> str | None:
        return None

    def operator(self, plan: Plan) -> Operator:
        return per_key(plan.workload, self._executor)

    def _executor(self, query: CompiledQuery, part: Part, window: Window) -> Executor:
        limit, plan = MemoryLimit(1 << 30), partial(prescribed, bounds=self.bounds)
        return CetExecutor(query, part, window, Stored(limit, plan, shares=False, summarised=query.summarised))


def prescribed(graph: WindowGraph, /, *, limit: int, bounds: Ints) -> PartitionPlan:
    return PartitionPlan(bounds, 0.0, 0)


class Run(NamedTuple):
    """One plan of one stream."""

    text: str
    events: list[dict[str, Any]]
    graph: WindowGraph
    bounds: list[int]
    seen: Watched


def irregular_stream(seed: int) -> list[dict[str, Any]]:
    """Few values, so that some events follow few others; some events are simultaneous."""
    random = Random(seed)
    values, span = random.randint(2, 4), random.choice((1, 2, 4))
    times = sorted(random.randrange(12) // span for _ in range(4 + seed % 9))
    return [{"time": t, "type": "A", "x": random.randrange(values), "y": random.randrange(values)} for t in times]


STREAMS = [(SOME, irregular_stream(seed)) for seed in range(30)] + [(ALL, groups(5, 3)), (ALL, groups(6, 2))]


@cache
def runs() -> list[Run]:
    """Every stream with every plan."""
    found: list[Run] = []
    for text, events in STREAMS:
        graph = window_graph(text, events)
        plans = all_plans([0, *slow_cuts(graph), len(events)])
        found += [Run(text, events, graph, bounds, watch(Cut(bounds), text, events)) for bounds in plans]
    return found


def all_trends(graph: WindowGraph) -> list[Trend]:
    return trends_of(0, len(graph.time), edges_of(graph))


def segments(trend: Trend, bounds: Sequence[int]) -> tuple[Trend, ...]:
    """The parts of a trend in the graphlets that it passes."""
    by_graphlet = groupby(trend, lambda v: int(np.searchsorted(bounds, v, side="right")))
    return tuple(tuple(part) for _, part in by_graphlet)


def operations(graph: WindowGraph, bounds: Sequence[int]) -> tuple[int, int]:
    """Traversals and updates by Table 5.1.

    In each graphlet, T-CET takes each edge once and updates a trend whenever it grows by an event. Over several, H-CET
    visits a segment once for all trends that are alike from it on, and updates a trend with each of its segments.
    """
    edges = edges_of(graph)
    traversals = updates = 0
    for low, high in pairwise(bounds):
        traversals += sum(low <= u and v < high for u, v in edges)
        updates += prefixes(trends_of(low, high, edges))
    if len(bounds) > 2:
        stitched = [segments(trend, bounds) for trend in all_trends(graph)]
        traversals += prefixes(trend[::-1] for trend in stitched)
        updates += sum(map(len, stitched))
    return traversals, updates


def counted(seen: Watched) -> tuple[float, float]:
    return seen.details["traversals"], seen.details["updates"]


@pytest.mark.full
def test_every_plan_gives_all_trends() -> None:
    assert len(runs()) > 150
    for run in runs():
        assert run.seen.matches == sorted(map(list, all_trends(run.graph)))
        assert run.seen.details["trends"] == len(run.seen.matches)
        assert run.seen.details["graphlets_built"] == len(run.bounds) - 1


@pytest.mark.full
def test_the_state_is_the_graph_and_exactly_the_bytes_of_the_plan() -> None:
    for run in runs():
        whole, live = graph_of(run.text, batch(run.events))
        graph_bytes = whole.bytes + window_bytes(live) + PER_VERTEX * len(run.events)
        _, planned = slow_cost(run.graph, run.bounds)
        stored = sum(len(trends_of(low, high, edges_of(run.graph))) for low, high in pairwise(run.bounds))
        assert run.seen.peak == graph_bytes + planned
        assert run.seen.states[-1].kinds == {"events": whole.vertices, "edges": whole.edges, "trends": stored}


@pytest.mark.parametrize("bounds", [[0, 27], [0, 24, 27]])
def test_what_the_state_tells_is_allocated_and_no_more(bounds: list[int]) -> None:
    events = batch(groups(9, 3))
    workload = compile_workload([parse_query(ALL)], events.schema, summarised=True)

    def traced() -> tuple[int, int]:
        executor = OneKey(Cut(bounds).operator(Plan(workload)))
        executor.process(events)
        before = executor.state().bytes
        tracemalloc.start()
        executor.finish()
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return peak, executor.state().bytes - before

    traced()  # loads the kernels
    peak, told = traced()
    assert told > 240_000
    assert 0.98 * told < peak < 1.02 * told + 16_000


def test_a_window_as_large_as_the_one_before_takes_its_memory_over() -> None:
    events = batch(groups(18, 3))
    workload = compile_workload([parse_query(f"{ALL} WITHIN 9 s")], events.schema, summarised=True)
    executor = OneKey(Cet("time").operator(Plan(workload)))
    executor.process(events)
    stored = executor.state().bytes
    tracemalloc.start()
    executor.finish()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert executor.state().bytes == stored > 600_000
    assert peak < stored / 10


def test_operations_are_those_of_table_5_1() -> None:
    for run in runs():
        assert counted(run.seen) == operations(run.graph, run.bounds), (run.events, run.bounds)


@pytest.mark.parametrize(("simultaneous", "number"), [(2, 9), (3, 6), (4, 5)])
def test_updates_of_t_cet_are_linear_in_the_trends_where_each_event_has_several_successors(
    simultaneous: int, number: int
) -> None:
    """The sum of 3 + 9 + ... + 3^k of Section 5.2: half as many more than the trends in the end."""
    seen = watch(Cet("time"), ALL, groups(number, simultaneous))
    trends, updates = seen.details["trends"], seen.details["updates"]
    assert trends == simultaneous**number
    assert updates == (simultaneous ** (number + 1) - simultaneous) // (simultaneous - 1)
    assert trends <= updates < trends * simultaneous / (simultaneous - 1)


@pytest.mark.parametrize("graphlets", ["1", "2", "3"])
def test_what_is_counted_does_not_depend_on_the_output(graphlets: str) -> None:
    events = batch(groups(6, 3))
    workload = compile_workload([parse_query(ALL)], events.schema, summarised=True)
    executor = OneKey(Cet(graphlets=graphlets).operator(Plan(workload)))
    executor.process(events)
    executor.finish()
    assert executor.details() == watch(Cet(graphlets=graphlets), ALL, groups(6, 3)).details


def test_an_edge_is_taken_once_however_many_trends_it_extends() -> None:
    seen = watch(Cet("time"), ALL, groups(9, 3))
    traversals, updates = counted(seen)
    assert updates == (3**10 - 3) // 2
    assert 6 * CHUNK < 3**8, "trends that the last edges extend"
    assert traversals == seen.states[-1].kinds["edges"] == 8 * 9
    assert len({tuple(match) for match in seen.matches}) == len(seen.matches) == 3**9


def test_the_plans_cpu_is_within_two_of_the_counted_operations() -> None:
    """On homogeneous graphs, which the search of plans is made for."""
    for events in (groups(6, 3), groups(7, 2), groups(4, 5)):
        costs = Costs(window_graph(ALL, events))
        for bounds in all_plans(costs.atoms.tolist()):
            cpu = costs.cost(np.array(bounds)).cpu
            assert cpu / 2 <= sum(counted(watch(Cut(bounds), ALL, events))) <= 2 * cpu


def test_m_cet_updates_every_event_of_every_trend() -> None:
    """And takes an edge once for all trends that begin alike up to it."""
    for text, events in STREAMS:
        graph, seen = window_graph(text, events), watch(Cet("memory"), text, events)
        expected = all_trends(graph)
        assert seen.matches == sorted(map(list, expected))
        firsts = len({trend[0] for trend in expected})
        assert counted(seen) == (prefixes(expected) - firsts, sum(map(len, expected)))


@pytest.mark.parametrize("simultaneous", [1, 2, 3])
def test_m_cet_takes_the_bytes_of_vertices_and_edges_and_of_one_trend(simultaneous: int) -> None:
    """33 bytes per vertex and 8 per edge as events arrive; 34 per vertex and 16 per edge of the window."""
    seen = watch(Cet("memory"), ALL, groups(7, simultaneous))
    vertices, edges = 7 * simultaneous, 6 * simultaneous**2
    growing, window = 33 * vertices + 8 * edges, 34 * vertices + 8 * (2 + 2 * edges)
    assert [state.bytes for state in seen.states] == [growing, growing + window + 24 * vertices]
    assert seen.states[-1].kinds == {"events": vertices, "edges": edges, "trends": 1}


def test_the_counts_of_all_windows_are_added_up() -> None:
    events, tumbling = groups(12, 2), f"{ALL} WITHIN 4 s"
    for detect in ("baseline", "memory", "time"):
        one, three = watch(Cet(detect), ALL, events[:8]), watch(Cet(detect), tumbling, events)
        assert dict(three.details) == {name: 3 * value for name, value in one.details.items()}
        assert one.details["trends"] == 16
