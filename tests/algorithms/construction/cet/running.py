"""Detectors of CET, and runs that record the state after every batch."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.base import Algorithm, StateSize
from cepbench.algorithms.compose import WHOLE_STREAM
from cepbench.algorithms.construction.cet.detector import MemoryLimit
from cepbench.algorithms.construction.cet.executor import CetExecutor
from cepbench.algorithms.construction.cet.graph import CetGraph
from cepbench.algorithms.construction.cet.kernels.graph import WindowGraph
from cepbench.algorithms.construction.cet.memory_optimized import MemoryOptimized
from cepbench.events.batch import EventBatch
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.agreement import rows_of
from cepbench.verification.evaluators import OneKey
from cepbench.verification.random_cases import split
from tests.contract.streams import batch

DETECTORS = ("baseline", "memory", "time", "hybrid")
PARTITIONERS = ("branch-and-bound", "greedy", "exhaustive")

Events = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Watched:
    """Rows of a run, the state after every batch, and the details at the end."""

    rows: list[dict[str, Any]]
    states: list[StateSize]
    details: Mapping[str, float]

    @property
    def peak(self) -> int:
        return max(state.bytes for state in self.states)

    @property
    def matches(self) -> list[list[int]]:
        return [row["match"] for row in self.rows]


def watch(algorithm: Algorithm, text: str, events: Events, cuts: Sequence[int] = ()) -> Watched:
    """Runs a query on the events of one key."""
    given = batch(events)
    workload = compile_workload([parse_query(text)], given.schema)
    executor = OneKey(algorithm.operator(algorithm.plan(workload, Statistics())))
    answer, states = AnswerBuilder(workload), []
    for piece in (*split(given, cuts), None):
        rows = executor.finish() if piece is None else executor.process(piece)
        states.append(executor.state())
        for query, found in rows.items():
            answer.add(query, (), found)
    return Watched(rows_of(answer.frame()), states, executor.details())


def groups(number: int, simultaneous: int, apart: int = 1) -> list[dict[str, Any]]:
    """Groups of simultaneous events, each of which may follow all of the group before."""
    return [{"time": apart * time, "type": "A"} for time in range(number) for _ in range(simultaneous)]


def window_graph(text: str, events: Events) -> WindowGraph:
    """The live graph of a window that holds all events."""
    graph, _ = graph_of(text, batch(events))
    return graph.live()


def graph_of(text: str, events: EventBatch) -> tuple[CetGraph, WindowGraph]:
    """The graph of all events, and its live part."""
    graph = evaluator_of(text, events).graph
    return graph, graph.live()


def evaluator_of(text: str, events: EventBatch) -> CetExecutor:
    """M-CET after all events, before any window closes."""
    [query] = compile_workload([parse_query(text)], events.schema)
    detector = MemoryOptimized(MemoryLimit(2**62), summarised=True)
    evaluator = CetExecutor(query, query.parts[0], WHOLE_STREAM, detector)
    evaluator.process(events)
    return evaluator


def edges(graph: WindowGraph) -> Iterator[tuple[int, int]]:
    """Edges by the places of their events."""
    for v in range(len(graph.time)):
        for w in graph.out[graph.out_ptr[v] : graph.out_ptr[v + 1]]:
            yield int(graph.place[v]), int(graph.place[w])
