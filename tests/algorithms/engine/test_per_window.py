"""Queries that share their window, side by side with those of other windows."""

import pytest

from cepbench.algorithms.base import Executor, OutOfOrder, Plan, StateSize
from cepbench.algorithms.engine.evaluator import WHOLE_STREAM
from cepbench.algorithms.engine.per_window import PerWindow, by_window
from cepbench.algorithms.trends.greta.algorithm import Greta
from cepbench.events.windows import Window
from cepbench.queries.compile import Workload, compile_workload
from cepbench.queries.parser import parse_query
from tests.contract.streams import batch
from tests.streams import stream

EVENTS = batch(stream("A1 B2 A3 B4 A5 B6"))
CLAUSES = ("WITHIN 4 s", "", "WITHIN 4 s", "WITHIN 4 s SLIDE 2 s", "WITHIN 4 EVENTS")


def workload() -> Workload:
    return compile_workload([parse_query(f"RETURN COUNT(*) PATTERN SEQ(A, B) {c}") for c in CLAUSES], EVENTS.schema)


def started() -> tuple[PerWindow, list[Executor]]:
    whole = workload()
    alone = [Greta().executor(Plan(whole.part([q.index for q in queries]))) for queries in by_window(whole).values()]
    again = [Greta().executor(Plan(whole.part([q.index for q in queries]))) for queries in by_window(whole).values()]
    return PerWindow(alone), again


def test_windows_are_in_the_order_of_their_first_query() -> None:
    found = {window: [query.index for query in queries] for window, queries in by_window(workload()).items()}
    assert list(found.items()) == [
        (Window(4, 4), [0, 2]),
        (WHOLE_STREAM, [1]),
        (Window(4, 2), [3]),
        (Window(4, 4, counts_events=True), [4]),
    ]


def test_rows_states_and_details_are_those_of_all_sets() -> None:
    together, apart = started()
    rows = together.process(EVENTS)
    assert rows.keys() == {index for executor in apart for index in executor.process(EVENTS)}
    assert together.state() == sum((executor.state() for executor in apart), StateSize())
    rest = together.finish()
    assert rest.keys() == {index for executor in apart for index in executor.finish()}
    assert rows.keys() | rest.keys() == set(range(len(CLAUSES)))


def test_order_is_checked_for_all_sets() -> None:
    together, _ = started()
    together.process(EVENTS.slice(0, 3, watermark=4))
    with pytest.raises(OutOfOrder):
        together.process(EVENTS.slice(2, 3))
    with pytest.raises(OutOfOrder):
        PerWindow([]).process(EVENTS.take(EVENTS.position[::-1]))
