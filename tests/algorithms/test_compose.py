"""What executors of independent queries share."""

from collections.abc import Sequence

import numpy as np
import pytest

from cepbench.algorithms.base import Executor, OutOfOrder, Plan, StateSize
from cepbench.algorithms.trends.greta import Greta
from cepbench.events.batch import EventBatch
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query
from cepbench.verification.evaluators import OneKey
from tests.contract.streams import batch
from tests.streams import stream

EVENTS = batch(stream("A1 B2 A3 B4 A5 B6"))


def started(*texts: str, events: EventBatch = EVENTS) -> Executor:
    queries = [parse_query(f"q{number}: RETURN COUNT(*) PATTERN {text}") for number, text in enumerate(texts)]
    return OneKey(Greta().operator(Plan(compile_workload(queries, events.schema))))


def states(executor: Executor, batches: Sequence[EventBatch]) -> list[StateSize]:
    found = []
    for events in batches:
        executor.process(events)
        found.append(executor.state())
    return found


def test_the_state_of_a_workload_is_that_of_its_queries() -> None:
    texts = ("SEQ(A, B) WITHIN 100 s", "A+ WITHIN 100 s", "B WITHIN 100 s")
    [whole] = states(started(*texts), [EVENTS])
    parts = [states(started(text), [EVENTS])[0] for text in texts]
    assert whole == StateSize(
        sum(part.bytes for part in parts),
        {kind: sum(part.kinds[kind] for part in parts) for kind in whole.kinds},
        sum(part.reserved for part in parts),
    )
    assert whole.kinds["events"] == 6 + 3 + 3


def test_time_that_has_passed_does_not_come_back() -> None:
    executor = started("SEQ(A, B) WITHIN 4 s")
    executor.process(EVENTS.slice(0, 2, watermark=4))
    with pytest.raises(OutOfOrder):
        executor.process(EVENTS.slice(2, 3))


def test_events_of_a_batch_are_in_order() -> None:
    with pytest.raises(OutOfOrder):
        started("SEQ(A, B)").process(EVENTS.take(np.array([1, 0])))


def test_windows_of_events_tell_the_largest_state_inside_a_batch() -> None:
    text = "A+ WITHIN 4 EVENTS"
    alone = max(state.bytes for state in states(started(text), [EVENTS.slice(n, n + 1) for n in range(6)]))
    [first, last] = states(started(text), [EVENTS.slice(0, 5), EVENTS.slice(5, 6)])
    assert first.bytes >= alone > last.bytes
