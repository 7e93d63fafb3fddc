"""A stream with one event per window."""

import numpy as np

from cepbench.algorithms.registry import make
from cepbench.events.batch import EventBatch
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.events.statistics import Statistics
from cepbench.pipeline.jobs import plan
from cepbench.pipeline.thinning import one_per_window
from cepbench.queries.compile import compile_workload
from cepbench.queries.parser import parse_query

SCHEMA = Schema(("A", "B"), (Attribute("k", Kind.INT), Attribute("l", Kind.INT)))
TIMES = np.array([0, 1, 9, 10, 11, 25, 26])


def events(*keys: int) -> EventBatch:
    count = len(TIMES)
    columns = {"k": np.array(keys), "l": np.zeros(count, np.int64)}
    return EventBatch(SCHEMA, TIMES, np.zeros(count, np.int32), columns, np.arange(count))


def kept(*clauses: str, keys: tuple[int, ...] = (0,) * 7) -> list[int] | None:
    """The positions that are left, of two batches that cut an interval."""
    queries = [parse_query(f"RETURN COUNT(*) PATTERN SEQ(A, B) {clause}") for clause in clauses]
    prepared = plan(compile_workload(queries, SCHEMA), make("cogra"), Statistics())
    whole = events(*keys)
    thinned = one_per_window([whole.slice(0, 2), whole.slice(2, 7)], prepared)
    return None if thinned is None else [int(at) for batch in thinned for at in batch.position]


def test_each_interval_of_the_length_of_the_window_keeps_its_first_event() -> None:
    assert kept("WITHIN 10 s SLIDE 5 s") == [0, 3, 5]
    assert kept("WITHIN 100 s SLIDE 1 s") == [0]


def test_the_shortest_window_decides() -> None:
    assert kept("WITHIN 100 s SLIDE 100 s", "WITHIN 10 s SLIDE 10 s") == [0, 3, 5]


def test_each_key_keeps_its_own_events() -> None:
    keys = (1, 2, 1, 1, 1, 2, 2)
    by_key = "WHERE [k] WITHIN 10 s SLIDE 10 s"
    assert kept(by_key, keys=keys) == [0, 1, 3, 5]
    assert kept(by_key, "WHERE [l] WITHIN 10 s SLIDE 10 s", keys=keys) == [0, 3, 5]


def test_no_stream_has_one_event_in_each_window_of_events() -> None:
    assert kept("WITHIN 10 events SLIDE 5 events") is None
    assert kept("WITHIN 10 s SLIDE 10 s", "WITHIN 10 events SLIDE 5 events") is None


def test_empty_batches_and_sparse_intervals() -> None:
    prepared = plan(
        compile_workload([parse_query("RETURN COUNT(*) PATTERN SEQ(A, B) WITHIN 1 s SLIDE 1 s")], SCHEMA),
        make("cogra"),
        Statistics(),
    )
    whole = events(*(0,) * 7)
    thinned = one_per_window([whole.slice(0, 0), whole, whole.slice(7, 7)], prepared)
    assert thinned is not None
    assert [len(batch) for batch in thinned] == [0, 7, 0]
