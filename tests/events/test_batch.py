"""Pieces of a batch of events."""

from dataclasses import replace

import numpy as np

from cepbench.events.batch import EventBatch
from tests.contract.streams import batch
from tests.streams import stream

WHOLE = replace(batch(stream("A1/5 B2/6 A2/7 C4/8 B5/9")), watermark=6)


def rows(events: EventBatch) -> list[tuple[int, str, int, int]]:
    columns = (events.time, events.type, events.columns["x"], events.position)
    return [
        (time, events.schema.types[code], x, position)
        for time, code, x, position in zip(*(column.tolist() for column in columns), strict=True)
    ]


def test_a_slice_keeps_the_places_in_the_stream() -> None:
    piece = WHOLE.slice(1, 4)
    assert len(piece) == 3
    assert rows(piece) == [(2, "B", 6, 1), (2, "A", 7, 2), (4, "C", 8, 3)]
    assert np.shares_memory(piece.time, WHOLE.time)


def test_a_slice_promises_only_what_its_watermark_says() -> None:
    # The whole batch may say that time 6 is next; for a piece of it that would close windows too early.
    assert WHOLE.slice(0, 2).watermark is None
    assert WHOLE.slice(0, 2, watermark=2).watermark == 2


def test_events_that_are_taken_keep_places_and_promise() -> None:
    piece = WHOLE.take(np.array([0, 2, 4]))
    assert rows(piece) == [(1, "A", 5, 0), (2, "A", 7, 2), (5, "B", 9, 4)]
    assert piece.watermark == 6


def test_bytes_are_those_of_all_columns() -> None:
    assert WHOLE.nbytes == 5 * (8 + 4 + 8 + 8)  # time, type, position and x


def test_what_is_computed_of_a_batch_is_computed_once() -> None:
    events = WHOLE.slice(0, 5)
    results: list[object] = []

    def compute() -> object:
        results.append(object())
        return results[-1]

    assert events.once("key", compute) is events.once("key", compute) is results[0]
    assert events.once("other", compute) is results[1]
    assert events.slice(0, 1).once("key", compute) is results[2]
