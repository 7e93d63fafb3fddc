"""Two-step aggregation with CET, beside the oracle."""

import re
from functools import partial
from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.base import Algorithm, NotEnoughMemory, Operator, Plan, StateSize
from cepbench.algorithms.compose import per_key
from cepbench.algorithms.construction.cet.aggregation import TwoStepExecutor, unsupported_aggregation
from cepbench.algorithms.construction.cet.kernels.graph import WindowGraph
from cepbench.algorithms.oracle import answer
from cepbench.queries.compile import compile_workload
from cepbench.queries.model import Aggregates, Query
from cepbench.queries.parser import parse_query
from cepbench.verification.agreement import difference, rows_of
from cepbench.verification.evaluators import OneKey, run, subject_of
from cepbench.verification.random_cases import split
from cepbench.verification.verify import verify_subject
from tests.algorithms.construction.cet.running import groups
from tests.contract.streams import batch
from tests.streams import stream

PLENTY = 10**9
DETECTORS = ("memory", "time", "hybrid")


class TwoStep(Algorithm):
    """Evaluators on their own."""

    name: ClassVar[str] = "two-step"
    paper: ClassVar[str] = "none"
    enumerates: ClassVar[bool] = True

    def __init__(self, detect: str, limit: int = PLENTY) -> None:
        self.detect, self.limit = detect, limit

    def unsupported(self, query: Query) -> str | None:
        if not isinstance(query.returns, Aggregates):
            return "no aggregation"
        return unsupported_aggregation(query, self.detect)

    def operator(self, plan: Plan) -> Operator:
        return per_key(plan.workload, partial(TwoStepExecutor, detect=self.detect, limit=self.limit))


class Scattered(TwoStepExecutor):
    """Cuts graphs anywhere."""

    def graphlets(self, graph: WindowGraph) -> NDArray[np.int64]:
        size = len(graph.time)
        random = np.random.default_rng(size)
        cuts = np.flatnonzero(random.random(size) < random.random())
        return np.array([0, *cuts[cuts > 0], size], np.int64)


class InPieces(TwoStep):
    """Hybrid with graphlets that no cost model would choose."""

    def operator(self, plan: Plan) -> Operator:
        return per_key(plan.workload, partial(Scattered, detect="hybrid", limit=PLENTY))


@pytest.mark.full
@pytest.mark.parametrize(
    "algorithm", [TwoStep("memory"), TwoStep("time"), InPieces("hybrid")], ids=["memory", "time", "cut"]
)
def test_random_queries(algorithm: TwoStep) -> None:
    """The contract has those of `hybrid` with the graphlets of its cost model; they may be cut anywhere."""
    report = verify_subject(subject_of(algorithm), 40, seed=5)
    assert report.clean, str(report)
    assert report.compared >= 40


class Apart(TwoStepExecutor):
    """A graphlet per event."""

    def graphlets(self, graph: WindowGraph) -> NDArray[np.int64]:
        return np.arange(len(graph.time) + 1)


@pytest.mark.parametrize("kind", [TwoStepExecutor, Apart])
@pytest.mark.parametrize("arithmetic", ["modular", pytest.param("float", marks=pytest.mark.full)])
def test_sums_of_one_trend_beyond_the_range_are_flagged(kind: type[TwoStepExecutor], arithmetic: str) -> None:
    """Four times 2^62 is 0 modulo 2^64."""
    query = parse_query("RETURN COUNT(*), SUM(A.x), MIN(A.x) PATTERN SEQ(A, A, A, A, B)")
    events = batch([{"time": time, "type": "AAAAB"[time], "x": 2**62} for time in range(5)])
    workload = compile_workload([query], events.schema, arithmetic)
    executor = OneKey(per_key(workload, partial(kind, detect="hybrid", limit=PLENTY)))
    builder = AnswerBuilder(workload)
    for rows in (executor.process(events), executor.finish()):
        for index, found in rows.items():
            builder.add(index, (), found)
    [row] = rows_of(builder.frame())
    assert row["SUM(A.x)"] == (None if arithmetic == "modular" else 2.0**64)
    assert (row["COUNT(*)"], row["MIN(A.x)"]) == (1, 2**62)
    assert row["overflow"] is (arithmetic == "modular")


class FirstApart(TwoStepExecutor):
    """A graphlet of the first event, and one of all others."""

    def graphlets(self, graph: WindowGraph) -> NDArray[np.int64]:
        return np.array([0, 1, len(graph.time)])


def test_a_sum_that_wraps_inside_a_graphlet_stays_flagged() -> None:
    """Four times 2^62 in the second graphlet; to add that of the first is no carry."""
    query = parse_query("RETURN COUNT(*), SUM(A.x) PATTERN SEQ(A, A, A, A, A, B)")
    events = batch([{"time": time, "type": "AAAAAB"[time], "x": 2**62} for time in range(6)])
    workload = compile_workload([query], events.schema)
    executor = OneKey(per_key(workload, partial(FirstApart, detect="hybrid", limit=PLENTY)))
    builder = AnswerBuilder(workload)
    for rows in (executor.process(events), executor.finish()):
        for index, found in rows.items():
            builder.add(index, (), found)
    [row] = rows_of(builder.frame())
    assert (row["COUNT(*)"], row["SUM(A.x)"], row["overflow"]) == (1, None, True)


EVENTS = [{"time": time // 2, "type": "A", "x": time * 7 % 5 - 2, "y": time / 4} for time in range(24)]
QUERY = "RETURN COUNT(*), COUNT(A), SUM(A.x), AVG(A.y), MIN(A.x), MAX(A.y) PATTERN A+ WHERE A.x != NEXT(A).x"


def run_with(detect: str, limit: int, text: str = QUERY) -> tuple[list[object], StateSize, dict[str, float]]:
    """The rows, the largest state and the details of a run."""
    events = batch(EVENTS)
    workload = compile_workload([parse_query(text)], events.schema)
    executor = OneKey(TwoStep(detect, limit).operator(Plan(workload)))
    answer = AnswerBuilder(workload)
    largest = StateSize()
    for rows in (*map(executor.process, split(events, (7, 16))), executor.finish()):
        largest = max(largest, executor.state(), key=lambda state: state.bytes)
        for index, found in rows.items():
            answer.add(index, (), found)
    return list(answer.frame().itertuples(index=False)), largest, dict(executor.details())


def test_every_limit_gives_the_same_answer_and_is_kept() -> None:
    expected, whole, details = run_with("time", PLENTY)
    assert details["graphlets_built"] == 1
    assert whole.kinds["trends"] == details["trends_stored"] == details["trends"]
    numbers = []
    limit = float(whole.bytes)
    while True:
        try:
            found, largest, details = run_with("hybrid", int(limit))
        except NotEnoughMemory:
            break
        assert found == expected
        assert largest.bytes <= limit
        numbers.append(details["graphlets_built"])
        limit *= 0.8
    assert numbers[0] == 1
    assert len(set(numbers)) > 3
    assert numbers == sorted(numbers)


def test_depth_first_search_stores_one_trend() -> None:
    expected, whole, _ = run_with("time", PLENTY)
    found, largest, details = run_with("memory", PLENTY)
    assert found == expected
    assert largest.kinds["trends"] == 1
    assert largest.bytes < whole.bytes / 100
    assert details["trends_stored"] == 0


@pytest.mark.parametrize("detect", DETECTORS)
def test_the_state_is_the_graph_of_the_window_and_what_is_stored(detect: str) -> None:
    """Four events in a row have six edges and 15 trends; a cell takes 16 bytes."""
    events = batch(stream("A1 A2 A3 A4"))
    workload = compile_workload([parse_query("RETURN COUNT(*) PATTERN A+")], events.schema)
    executor = OneKey(TwoStep(detect).operator(Plan(workload)))
    executor.process(events)
    stacks = executor.state()
    executor.finish()
    graph, path = 42 * 4 + 16 * 6, 16 * 4
    stored = 15 * (16 + 16) + 32 * 4 + 33 + 16
    assert executor.state().bytes - stacks.bytes == graph + (path if detect == "memory" else stored)


@pytest.mark.parametrize("detect", DETECTORS)
def test_details_are_those_of_all_windows(detect: str) -> None:
    """Five, three and one trends."""
    events = batch(stream("A1 A1 A2 A3 A4 A6"))
    workload = compile_workload([parse_query("RETURN COUNT(*) PATTERN A+ WITHIN 3 s")], events.schema)
    executor = OneKey(TwoStep(detect).operator(Plan(workload)))
    executor.process(events)
    executor.finish()
    stored, graphlets = (0, 0) if detect == "memory" else (9, 3)
    assert executor.details() == {"trends": 9, "trends_stored": stored, "graphlets_built": graphlets}


@pytest.mark.parametrize("detect", DETECTORS)
def test_what_does_not_fit_is_refused_in_one_line(detect: str) -> None:
    with pytest.raises(NotEnoughMemory, match=r"needs \d+ bytes, but the memory limit is 3000 bytes") as refused:
        run_with(detect, 3000)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("detect", DETECTORS)
def test_stacks_beyond_the_limit_are_refused_as_they_grow(detect: str) -> None:
    """And not when the batch ends: pointers between these events would take 64 MB."""
    events = batch([{"time": time, "type": "A", "x": time} for time in range(3000)])
    with pytest.raises(NotEnoughMemory, match=r"^a graph of \d+ events and \d+ edges") as refused:
        run(TwoStep(detect, 100_000), parse_query("RETURN COUNT(*) PATTERN A+ WHERE A.x < NEXT(A).x"), [events])
    [needed] = re.findall(r"needs (\d+) bytes", str(refused.value))
    assert int(needed) < 500_000


def test_trends_beyond_all_numbers_are_refused_before_any_is_stored() -> None:
    events = batch([{"time": time, "type": "A"} for time in range(1500)])
    with pytest.raises(NotEnoughMemory, match=r"storing inf trends"):
        run(TwoStep("time"), parse_query("RETURN COUNT(*) PATTERN A+"), [events])


@pytest.mark.parametrize("detect", DETECTORS)
def test_pairs_share_the_memory_of_their_sides(detect: str) -> None:
    text = "RETURN COUNT(*) PATTERN A+ AND SEQ(A, B+) WITHIN 6 s SLIDE 2 s"
    events = stream("A1 B2 A3 A3 B4 B5 A6 B7 B8")
    frame = run(TwoStep(detect), parse_query(text), split(batch(events), (2, 5)))
    assert difference(answer(parse_query(text), events, modular=True), frame) is None


def test_each_side_of_a_pair_has_its_share_of_the_memory() -> None:
    """And so has what both sides have in common."""
    with pytest.raises(NotEnoughMemory, match=r"the memory limit is 267 bytes$"):
        run(TwoStep("memory", 3 * 267), parse_query("RETURN COUNT(*) PATTERN A+ AND B+"), [batch(groups(20, 1))])


@pytest.mark.parametrize(
    ("text", "detect", "reason"),
    [
        ("A+", "baseline", "complete trends only"),
        ("A+ SEMANTICS next", "time", "not skip-till-next-match"),
        ("A+ SEMANTICS contiguous", "time", "not contiguous"),
        ("SEQ(A, NOT C, B)", "memory", "negated"),
        ("SEQ(A, B, C) WHERE A.x < C.x", "hybrid", "not adjacent"),
    ],
)
def test_refuses_what_the_graph_cannot_tell(text: str, detect: str, reason: str) -> None:
    assert reason in str(unsupported_aggregation(parse_query(f"RETURN COUNT(*) PATTERN {text}"), detect))
