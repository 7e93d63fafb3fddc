"""Hashes of events: fingerprints of rows, and buckets of keys."""

import numpy as np

from cepbench.events.batch import EventBatch
from cepbench.events.schema import Attribute, Kind, Schema
from cepbench.pipeline.hashing import RowHasher, bucket_of

SCHEMA = Schema(("A",), (Attribute("i", Kind.INT), Attribute("x", Kind.FLOAT)))


def batch(i: list[int], x: list[float], position: list[int] | None = None) -> EventBatch:
    n = len(i)
    places = np.arange(n) if position is None else np.array(position)
    columns = {"i": np.array(i, np.int64), "x": np.array(x, np.float64)}
    return EventBatch(SCHEMA, np.zeros(n, np.int64), np.zeros(n, np.int32), columns, places)


def sums(*batches: EventBatch) -> list[int]:
    hasher = RowHasher(SCHEMA)
    return [sum(totals) % 2**64 for totals in zip(*map(hasher.sums, batches), strict=True)]


def test_rows_count_and_not_how_they_are_cut_or_ordered() -> None:
    whole = batch([1, 2, 3], [0.5, 1.5, 2.5])
    assert sums(whole.slice(0, 1), whole.slice(1, 3)) == sums(whole)
    assert sums(batch([3, 1, 2], [2.5, 0.5, 1.5], [2, 0, 1])) == sums(whole)


def test_simultaneous_events_in_another_order_are_another_stream() -> None:
    assert sums(batch([1, 2], [0.5, 1.5])) != sums(batch([2, 1], [1.5, 0.5]))


def test_values_belong_to_their_row() -> None:
    assert sums(batch([1, 2], [0.5, 1.5])) != sums(batch([1, 2], [1.5, 0.5]))


def test_a_bucket_is_that_of_the_key() -> None:
    events = batch([7, 7, -3, 7], [0.0, -0.0, 1.0, 2.0])
    for buckets in range(2, 40):
        by_number, by_key = bucket_of(events, ("x",), buckets), bucket_of(events, ("i",), buckets)
        assert by_number[0] == by_number[1], "-0.0 and 0.0 are one key"
        assert by_key[0] == by_key[1] == by_key[3]
        assert (by_key < buckets).all()


def test_every_attribute_of_the_key_spreads_events() -> None:
    numbers, constant = list(range(100)), [0] * 100
    for key in (("i", "x"), ("x", "i")):
        for events in (batch(numbers, [0.0] * 100), batch(constant, [float(n) for n in numbers])):
            assert len(set(bucket_of(events, key, 8).tolist())) == 8
