"""`PerKey`: an executor for each key, which is called for its events and where a watermark ends one of its windows."""

import pickle
from collections.abc import Mapping

import numpy as np
import pytest

from cepbench.algorithms.base import Executor, KeyedBatch, PerKey, StateSize
from cepbench.algorithms.rows import AggregateRows, Rows
from cepbench.events.batch import EventBatch
from cepbench.queries.compile import Workload, compile_workload
from cepbench.queries.parser import parse_query
from tests.contract.streams import batch

EVENTS = batch([{"time": time, "type": "A", "g": key} for time, key in enumerate([0, 0, 1, 0, 1, 2, 2, 2, 1])])


def workload(window: str) -> Workload:
    return compile_workload([parse_query(f"RETURN g, COUNT(*) PATTERN A GROUP-BY g {window}")], EVENTS.schema)


class Log(Executor):
    """Answers each call with a row, whose window is the number of calls so far, and which counts the events."""

    def __init__(self) -> None:
        self.calls: list[tuple[int, int | None]] = []

    def process(self, events: EventBatch) -> Rows:
        self.calls.append((len(events), events.watermark))
        return self._row(len(events))

    def finish(self) -> Rows:
        self.calls.append((-1, None))
        return self._row(100)

    def state(self) -> StateSize:
        return StateSize(len(self.calls), {"events": len(self.calls)}, 1)

    def details(self) -> Mapping[str, float]:
        return {"calls": float(len(self.calls)), "calls_peak": float(len(self.calls))}

    def _row(self, count: int) -> Rows:
        nothing = np.empty((1, 0))
        return {0: AggregateRows(
            np.array([len(self.calls)]), np.array([[count]], np.uint64), np.zeros(1, np.uint64), nothing,
            nothing.astype(np.int64),
        )}  # fmt: skip


def keyed(start: int, stop: int, until: int | None = None, *, last: bool = False) -> KeyedBatch:
    """Events start..stop-1 by key; each key's number is its value."""
    events = EVENTS.slice(start, stop, until)
    values = events.columns["g"]
    keys, counts = np.unique(values, return_counts=True)
    number = int(EVENTS.columns["g"][: max(1, stop)].max()) + 1
    offsets = np.concatenate([[0], np.cumsum(counts)])
    return KeyedBatch(events.take(np.argsort(values, kind="stable")), keys, offsets, number, last)


def calls(operator: PerKey) -> dict[int, list[tuple[int, int | None]]]:
    logs = {key: executor for key, executor in operator.executors.items() if isinstance(executor, Log)}
    return {key: log.calls for key, log in sorted(logs.items())}


@pytest.fixture
def operator() -> PerKey:
    return PerKey(Log, workload("WITHIN 4 s SLIDE 2 s"))


def test_each_key_gets_its_events_in_their_order(operator: PerKey) -> None:
    rows = operator.process(keyed(0, 5))
    assert calls(operator) == {0: [(3, None)], 1: [(2, None)]}
    assert rows[0].keys.tolist() == [0, 1]
    counts = rows[0]
    assert isinstance(counts, AggregateRows)
    assert counts.ring[:, 0].tolist() == [3, 2]


def test_a_key_is_called_where_a_watermark_ends_one_of_its_windows(operator: PerKey) -> None:
    operator.process(keyed(0, 4, 4))  # the last events of 0 and 1 are at 3 and 2: their windows end at 4 and 6
    assert calls(operator) == {0: [(3, 4)], 1: [(1, 4)]}
    operator.process(keyed(4, 4, 5))  # no window ends in (4, 5]
    assert calls(operator) == {0: [(3, 4)], 1: [(1, 4)]}
    operator.process(keyed(5, 6, 6))
    assert calls(operator) == {0: [(3, 4), (0, 6)], 1: [(1, 4), (0, 6)], 2: [(1, 6)]}
    operator.process(keyed(6, 6, 9))  # 0 and 1 have no open window any more
    assert calls(operator) == {0: [(3, 4), (0, 6)], 1: [(1, 4), (0, 6)], 2: [(1, 6), (0, 9)]}


@pytest.mark.parametrize("window", ["", "WITHIN 2 EVENTS"])
def test_no_watermark_ends_windows_that_have_no_end_in_time(window: str) -> None:
    operator = PerKey(Log, workload(window))
    operator.process(keyed(0, 5, 5))
    operator.process(keyed(5, 5, 10**6))
    assert calls(operator) == {0: [(3, 5)], 1: [(2, 5)]}


def test_keys_of_the_last_batch_end_one_after_another(operator: PerKey) -> None:
    operator.process(keyed(0, 5))
    rows = operator.process(keyed(5, 9, last=True))
    assert not operator.executors
    assert rows[0].keys.tolist() == [1, 1, 2, 2, 0]
    assert not operator.finish()
    assert operator.details() == {"calls": 2 + 3 + 2, "calls_peak": 3}
    assert operator.state() == StateSize()


def test_the_state_is_that_of_all_keys(operator: PerKey) -> None:
    for piece, size in ((keyed(0, 2), 1), (keyed(2, 5), 3), (keyed(5, 9), 5)):
        operator.process(piece)
        assert operator.state() == StateSize(size, {"events": size}, piece.known)
    operator.finish()
    assert operator.state() == StateSize(8, {"events": 8}, 3)


def test_it_goes_on_when_it_was_pickled(operator: PerKey) -> None:
    operator.process(keyed(0, 4, 4))
    copy = pickle.loads(pickle.dumps(operator))
    for evaluator in (operator, copy):
        evaluator.process(keyed(5, 6, 6))
    assert calls(copy) == calls(operator)
    assert copy.state() == operator.state()


def test_its_idle_operator_makes_the_same_calls_of_nothing(operator: PerKey) -> None:
    idle = operator.idle()
    assert isinstance(idle, PerKey)
    assert idle.process(keyed(0, 5, 9)) == {}
    assert len(idle.executors) == 2
    assert idle.finish() == {}
    assert idle.state() == StateSize()
