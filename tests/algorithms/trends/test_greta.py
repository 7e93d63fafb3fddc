"""The GRETA graph: which edges are visited, and when vertices go."""

import operator
from itertools import combinations

import pytest

from cepbench.algorithms.compose import Several
from cepbench.algorithms.trends.greta import Greta
from cepbench.algorithms.trends.online.blocks import VERTICES
from cepbench.algorithms.trends.online.graph import GraphGrained
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey
from tests.algorithms.cases import Events, agree
from tests.contract.streams import batch
from tests.streams import stream

OPERATORS = {
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    ">=": operator.ge,
    ">": operator.gt,
    "!=": operator.ne,
}


def graph(text: str, events: Events) -> GraphGrained:
    """The evaluator after all events, before the last windows close."""
    given = batch(stream(events) if isinstance(events, str) else events)
    workload = compile_workload([parse_query(text)], given.schema)
    algorithm = Greta()
    executor = OneKey(algorithm.operator(algorithm.plan(workload, Statistics())))
    executor.process(given)
    assert isinstance(executor.operator, Several)
    [lanes] = executor.operator.parts
    assert isinstance(lanes, GraphGrained)
    lanes.state()  # the largest so far: later ones are of now
    return lanes


def live(evaluator: GraphGrained) -> int:
    return evaluator.state().kinds["events"]


def edges(evaluator: GraphGrained) -> float:
    return evaluator.details()["edges"]


@pytest.mark.parametrize("n", [10, VERTICES, 3 * VERTICES + 1])
def test_every_event_visits_each_of_its_predecessors(n: int) -> None:
    lanes = graph("RETURN COUNT(*) PATTERN A+", [{"time": time, "type": "A"} for time in range(n)])
    assert edges(lanes) == n * (n - 1) // 2
    assert live(lanes) == n


def test_simultaneous_events_are_no_predecessors() -> None:
    assert edges(graph("RETURN COUNT(*) PATTERN A+", "A1 A1 A1 A2 A2")) == 3 * 2


@pytest.mark.parametrize("op", ["<", "<=", "=", ">=", ">", "!="])
@pytest.mark.parametrize("kind", [int, float])
def test_the_sorted_index_visits_matching_vertices_only(op: str, kind: type) -> None:
    text = f"RETURN COUNT(*) PATTERN A+ WHERE A.x {op} NEXT(A).x"
    xs = [3, 1, 3, 2, 3, 1, -4]
    events = [{"time": time, "type": "A", "x": kind(x)} for time, x in enumerate(xs)]
    agree(text, events)
    assert edges(graph(text, events)) == sum(OPERATORS[op](x, y) for x, y in combinations(xs, 2))


def test_overlapping_windows_share_one_graph() -> None:
    text = "RETURN COUNT(*) PATTERN A+ WITHIN 4 s SLIDE 1 s"
    events = " ".join(f"A{time}" for time in range(12))
    agree(text, events)
    lanes = graph(text, events)
    assert edges(lanes) == 1 + 2 + 3 * 9  # events within 4 s, each edge visited once
    assert live(lanes) == 4


def test_vertices_before_a_negated_event_are_pruned() -> None:
    events = "A1 A2 A3 C4 A5 B6"
    agree("RETURN COUNT(*) PATTERN SEQ(A, NOT C, B)", events)
    assert live(graph("RETURN COUNT(*) PATTERN SEQ(A, NOT C, B)", events)) == 2  # a5 and b6
    assert live(graph("RETURN COUNT(*) PATTERN SEQ(A, B)", events)) == 5


def test_room_grows_with_events_not_with_panes() -> None:
    """Each second is a pane of its own, in 600 windows."""
    events: Events = [{"time": time, "type": "A"} for time in range(700)]
    lanes = graph("RETURN COUNT(*) PATTERN A+ WITHIN 600 s SLIDE 1 s", events)
    assert live(lanes) == 600
    assert len(lanes.arena.cells.over) < 20 * 600 * 600
