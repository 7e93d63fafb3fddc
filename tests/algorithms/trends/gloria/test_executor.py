"""The example of the paper, what sharing saves, and what few random workloads have."""

import pickle
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.base import OutOfOrder
from cepbench.algorithms.registry import make
from cepbench.algorithms.trends.gloria.compilation import compile_sets
from cepbench.algorithms.trends.gloria.executor import PlanState
from cepbench.algorithms.trends.gloria.plan import GloriaPlan, PlannedSet, QSet, WorkloadSharingPlan, part_of
from cepbench.algorithms.trends.gloria.template import TypeState, template_of
from cepbench.algorithms.trends.online.granularity import COARSEST
from cepbench.algorithms.trends.snapshots.kernels.vertices import LINK_BYTES
from cepbench.algorithms.trends.snapshots.members import members_of
from cepbench.events.batch import EventBatch
from cepbench.queries.compile import Workload, compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.agreement import difference_of_rows, rows_of
from cepbench.verification.evaluators import OneKey, run
from tests.algorithms.trends.gloria.validity import check, unshared
from tests.algorithms.trends.sets import gloria, sets_of
from tests.contract.streams import batch
from tests.streams import stream

Shared = Mapping[tuple[str, str], tuple[Sequence[int], str]]
"""By transition: queries, numbered from 1, that share it, and the type of their snapshots; others go alone."""


def planned(queries: Sequence[str], events: EventBatch, shared: Shared) -> GloriaPlan:
    """The plan by which queries share some transitions."""
    asked = [parse_query(f"q{n}: RETURN {query}") for n, query in enumerate(queries, start=1)]
    workload = compile_workload(asked, events.schema)
    members = tuple(members_of(workload))
    template = template_of(members)
    plans = dict(unshared(template).transitions)
    for transition in plans:
        if (transition.source.type, transition.target.type) in shared:
            numbers, snapshot = shared[transition.source.type, transition.target.type]
            q = QSet(frozenset(n - 1 for n in numbers), TypeState(snapshot))
            plans[transition] = (q, *(own for own in plans[transition] if not own.members <= q.members))
    sharing = WorkloadSharingPlan(plans)
    check(sharing, template)
    return GloriaPlan(workload, sets=(PlannedSet(members, sharing),))


def executed(queries: Sequence[str], text: str, shared: Shared) -> tuple[OneKey, list[int]]:
    """The spent executor, and the count of each query, whose only window is the whole stream."""
    events = batch(stream(text))
    plan = planned(queries, events, shared)
    executor = gloria(plan)
    answer = counts(plan.workload, executor, events)
    return executor, answer


def answered(workload: Workload, executor: OneKey, events: EventBatch) -> list[dict[str, Any]]:
    """The rows of the last events of a stream."""
    answer = AnswerBuilder(workload)
    for rows in (executor.process(events), executor.finish()):
        for query, part in rows.items():
            answer.add(query, (), part)
    return rows_of(answer.frame())


def counts(workload: Workload, executor: OneKey, events: EventBatch) -> list[int]:
    by_query = {row["query"]: row["COUNT(*)"] for row in answered(workload, executor, events)}
    return [by_query.get(query.query.name, 0) for query in workload]


def assert_state(executor: OneKey, events: int, snapshots: int) -> None:
    """The parts of the largest state, whose bytes add up to those of the state; all events are shared."""
    state, sizes = executor.state(), sets_of(executor)[0].set_state.compiled.program.template.whole[0]
    assert (state.kinds["events"], state.kinds["snapshots"]) == (events, snapshots)
    kept = state.kinds["aggregates"] * sizes["cell_bytes"] + events * (sizes["event_bytes"] + LINK_BYTES)
    assert state.bytes == kept + snapshots * np.dtype(np.int64).itemsize, "a snapshot has a time"


FIGURE = ("COUNT(*) PATTERN SEQ(C, (SEQ(A, B))+, D)", "COUNT(*) PATTERN SEQ(C, (SEQ(A, B))+)")
STREAM = "C0 A1 B2 A3 B4 D5"
OF_C = {("C", "A"): ((1, 2), "C"), ("A", "B"): ((1, 2), "C"), ("B", "A"): ((1, 2), "C")}


def test_one_snapshot_of_the_first_event_goes_round_the_loop() -> None:
    """Figure 3 (b) and (d): the plan (1,2)^C, and a single snapshot, of c0; B's events are evaluated for q1's D."""
    executor, trends = executed(FIGURE, STREAM, OF_C)
    assert trends == [4, 4]
    details = executor.details()
    assert (details["snapshots"], details["event_snapshots"], details["event_visits"]) == (1, 0, 6)
    assert details["evaluations"] == 2 + 1, "B's two events for q1, and the sum of the last events for q2"
    assert_state(executor, events=0, snapshots=1)


@pytest.mark.parametrize("snapshot", ["A", "B"])
def test_snapshots_of_the_loop_itself(snapshot: str) -> None:
    shared: Shared = {("A", "B"): ((1, 2), "A"), ("B", "A"): ((1, 2), snapshot)}
    executor, trends = executed(FIGURE, STREAM, shared)
    assert trends == [4, 4]
    snapshots = 2 if snapshot == "A" else 4
    assert executor.details()["snapshots"] == snapshots
    assert_state(executor, events=0, snapshots=snapshots)


def test_nothing_is_shared_without_sharing() -> None:
    executor, trends = executed(FIGURE, STREAM, {})
    assert trends == [4, 4]
    assert [executor.details()[name] for name in ("snapshots", "expression_additions", "evaluations")] == [0, 0, 0]


LONG = "SEQ(A, B, C, D)"


@pytest.mark.parametrize("k", [2, 5, 20])
def test_shared_events_cost_the_same_however_many_queries_there_are(k: int) -> None:
    everyone = tuple(range(1, k + 1))
    shared: Shared = dict.fromkeys((("A", "B"), ("B", "C"), ("C", "D")), (everyone, "A"))
    text = " ".join(f"{kind}{time}" for time, kind in enumerate("ABACBDCBADCD" * 5))
    executor, trends = executed([f"COUNT(*) PATTERN {LONG}"] * k, text, shared)
    details = executor.details()
    assert len(set(trends)) == 1
    assert trends[0] > 0
    assert (details["snapshots"], details["event_visits"]) == (1, 60), "whatever starts trends has one snapshot"
    assert details["evaluations"] == k, "of the sum of all last events"
    assert details["expression_additions"] == 60, "one coefficient per event"


def test_events_in_a_row_with_the_same_predecessors_have_one_snapshot() -> None:
    queries = [f"COUNT(*) PATTERN SEQ({first}, A, B)" for first in "CD"]
    text = "C0 A1 A2 A3 B4 D5 A6 A7 B8"
    executor, trends = executed(queries, text, {("A", "B"): ((1, 2), "A")})
    assert trends == [3 + 5, 2]
    assert executor.details()["snapshots"] == 2


def test_an_event_that_some_queries_match_has_a_snapshot_where_it_is_shared() -> None:
    queries = ["COUNT(*) PATTERN SEQ(A, B, C)", "COUNT(*) PATTERN SEQ(A, B, C) WHERE B.x > 4"]
    shared: Shared = {("A", "B"): ((1, 2), "A"), ("B", "C"): ((1, 2), "A")}
    executor, trends = executed(queries, "A0/1 B1/1 B2/5 C3/1 B4/3 C5/1", shared)
    assert trends == [2 + 3, 1 + 1]
    assert executor.details()["event_snapshots"] == 2


def test_events_that_queries_follow_differently_have_snapshots_where_they_are_shared() -> None:
    queries = ["COUNT(*) PATTERN SEQ(A, B, C)", "COUNT(*) PATTERN SEQ(A, B, C) WHERE A.x < NEXT(B).x"]
    shared: Shared = {("A", "B"): ((1, 2), "A"), ("B", "C"): ((1, 2), "A")}
    executor, trends = executed(queries, "A0/1 A1/5 B2/9 B3/3 B4/0 C5/1", shared)
    assert trends == [6, 3]
    assert executor.details()["event_snapshots"] == 2, "the first B follows both As for both queries"
    assert executor.details()["edges"] >= 2
    assert_state(executor, events=2, snapshots=3)


@pytest.mark.parametrize("rest", ["", ", E"], ids=["evaluated when a window closes", "evaluated by an event"])
def test_what_overflows_for_one_query_does_not_for_another(rest: str) -> None:
    """The coefficients of the first snapshot exceed 2^64, but the second query has no trend there."""
    asked = [f"COUNT(*) PATTERN SEQ({first}, A, B+{rest})" for first in "CD"]
    shared: Shared = {("A", "B"): ((1, 2), "A"), ("B", "B"): ((1, 2), "A")}
    events = batch(stream(f"C0 A1 {' '.join(f'B{time}' for time in range(2, 72))} D80 A81 B82 B83 E84"))
    plan = planned(asked, events, shared)
    first, second = answered(plan.workload, gloria(plan), events)
    assert first["overflow"]
    assert (second["COUNT(*)"], second["overflow"]) == (3, False)


def test_memory_is_bounded_on_a_long_stream() -> None:
    """Windows of 20 events: snapshots, vertices and expressions of closed windows make room."""
    queries = [f"COUNT(*) PATTERN SEQ({f}, A, B, C) WHERE A.x < NEXT(B).x WITHIN 20 s SLIDE 5 s" for f in "DD"]
    shared: Shared = {("A", "B"): ((1, 2), "A"), ("B", "C"): ((1, 2), "A")}
    text = " ".join(f"{'DABC'[time % 4]}{time}/{time % 7}" for time in range(2000))
    events = batch(stream(text))
    executor = gloria(planned(queries, events, shared))
    sizes = []
    for first in range(0, 2000, 100):
        executor.process(events.slice(first, first + 100))
        sizes.append(executor.state().bytes)
    assert max(sizes[2:]) <= 2 * sizes[1]
    [state] = [sharable.set_state for sharable in sets_of(executor)]
    assert isinstance(state, PlanState)
    assert len(state.shared.times) <= 128
    assert len(state.vertices.event) <= 256


def test_executors_are_pickled_with_all_they_know() -> None:
    events = batch(stream(STREAM))
    plan = planned(FIGURE, events, OF_C)
    executor = gloria(plan)
    executor.process(events.slice(0, 3))
    again = pickle.loads(pickle.dumps(executor))
    assert counts(plan.workload, again, events.slice(3, 6)) == [4, 4]


def test_older_events_are_refused() -> None:
    events = batch(stream(STREAM))
    executor = gloria(planned(FIGURE, events, {}))
    executor.process(events.slice(3, 6))
    with pytest.raises(OutOfOrder):
        executor.process(events.slice(0, 3))


def test_a_set_with_more_sums_than_flags_is_executed_in_parts() -> None:
    """The queries sum two types by turns, so that no two neighbours have a sum in common at both."""
    queries = [
        f"COUNT(*), {', '.join(f'SUM({kind}.x), COUNT({kind})' for kind in kinds)} PATTERN SEQ(A, B, C, D)"
        for kinds in ("A", "B", "C", "D", "AB", "CD", "ABCD")
    ]
    events = batch(stream("A0/1 B1/2 C2/3 A3/4 B4/5 D5/6 C6/7 D7/8"))
    everyone = tuple(range(1, len(queries) + 1))
    shared: Shared = dict.fromkeys((("A", "B"), ("B", "C"), ("C", "D")), (everyone, "A"))
    plan = planned(queries, events, shared)
    [whole] = plan.sets
    for numbers in (range(3), range(3, 7), [6]):
        part = part_of(whole, list(numbers))
        check(part.sharing, template_of(part.members))
    most = len(compile_sets(whole, events.schema, COARSEST)[0].channels.of_set[0])
    assert most > 8
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cepbench.algorithms.trends.gloria.compilation.MOST_RING", 8)
        parts = compile_sets(whole, events.schema, COARSEST)
    assert len(parts) > 1
    assert [m.query.query.name for part in parts for m in part.members] == [f"q{n}" for n in everyone]
    assert all(len(part.channels.of_set[0]) <= 8 or len(part.members) == 1 for part in parts)
    asked = [parse_query(f"q{n}: RETURN {query}") for n, query in enumerate(queries, start=1)]
    expected = rows_of(run(make("greta"), asked, [events]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cepbench.algorithms.trends.gloria.compilation.MOST_RING", 8)
        executor = gloria(planned(queries, events, shared))
    assert difference_of_rows(expected, answered(plan.workload, executor, events)) is None
    assert len(sets_of(executor)) == len(parts)


def test_an_irrelevant_event_changes_nothing() -> None:
    events = batch(stream(f"{STREAM} Z6 Z7 Z8"))
    executor = gloria(planned(FIGURE, events, OF_C))
    executor.process(events.slice(0, 6))
    before = {name: np.copy(array) for name, array in sets_of(executor)[0].set_state.totals.cells._asdict().items()}
    executor.process(events.slice(6, 9))
    after = sets_of(executor)[0].set_state.totals.cells._asdict()
    assert all(np.array_equal(before[name], after[name]) for name in before)
    assert executor.details()["event_visits"] == 6


def test_an_event_that_does_not_follow_a_snapshot_leaves_no_maximum_behind() -> None:
    """The first B follows the first D only: in the window of the second D, which has it too, it is in no trend."""
    query = "MAX(B.y) PATTERN SEQ(D, A, B) WITHIN 4 s SLIDE 1 s"
    rows = (("D", 0.0), ("A", 0.0), ("D", 0.0), ("B", 9.0), ("A", 0.0), ("B", 1.0))
    events = batch([{"time": t, "type": k, "y": y} for t, (k, y) in enumerate(rows, start=1)])
    shared: Shared = {("D", "A"): ((1, 2), "D"), ("A", "B"): ((1, 2), "D")}
    plan = planned([query, query], events, shared)
    rows = answered(plan.workload, gloria(plan), events)
    assert [(row["query"], row["window_start"], row["MAX(B.y)"]) for row in rows] == [
        (query, start, greatest) for query in ("q1", "q2") for start, greatest in ((1, 9.0), (3, 1.0))
    ]
