"""The loop of an operator: batches of a stream, ordered by key, become its calls."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, pairwise

import numpy as np

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.base import KeyedBatch, Operator
from cepbench.algorithms.rows import Group, Rows
from cepbench.events.batch import EventBatch
from cepbench.pipeline.jobs import Job
from cepbench.pipeline.keys import RawKey, decoded, ordered, stored_keys


class Keys:
    """Numbers the keys of a stream as they appear.

    `stored` are the stored keys, and `decoded` the keys as answers show them, by number.
    """

    def __init__(self, attributes: Sequence[str]) -> None:
        self.stored: list[RawKey] = []
        self.decoded: list[Group] = []
        self._attributes = attributes
        self._numbers: dict[RawKey, int] = {}

    def __len__(self) -> int:
        return len(self.stored)

    def batch(self, events: EventBatch, last: bool = False) -> KeyedBatch:
        """The events of a batch by key, each key's in the order of the stream."""
        found, offsets = ordered(events, self._attributes)
        had, numbers = len(self), self._numbers
        keys = [numbers.setdefault(key, len(numbers)) for key in stored_keys(found, self._attributes, offsets[:-1])]
        if len(numbers) > had:
            new = list(numbers)[had:]
            self.stored += new
            self.decoded += decoded(events.schema, self._attributes, new)
        return KeyedBatch(found, np.array(keys, np.int64), offsets, len(self), last)


Emit = Callable[[Keys, Rows], None]
"""Takes the rows of a call, with the keys so far."""


def into(answer: AnswerBuilder) -> Emit:
    """Adds the rows to an answer."""
    return lambda keys, rows: answer.add_rows(keys.decoded, rows)


class Loop:
    """Turns the batches of a stream, in time order, into the calls of a fresh operator of a job.

    `calls` and `operator` are for an owner who calls the operator itself, for instance under a clock; `run` calls it.
    """

    def __init__(self, job: Job, operator: Operator) -> None:
        self.operator = operator
        self.keys = Keys(job.partition)
        self._closing = job.workload.closing
        self._closed = 0  # windows that end by this time are closed

    def run(
        self,
        batches: Iterable[EventBatch],
        emit: Emit,
        *,
        pickled: bool = False,
        progress: Callable[[int], None] | None = None,
    ) -> int:
        """Processes all batches, and ends the stream; returns the number of events.

        `emit` takes the rows of a call, if there are any. With `pickled`, the operator is replaced by a pickled copy
        after each batch. `progress` gets the number of events of each batch.
        """
        events = 0
        for batch, following in pairwise(chain(batches, [None])):
            assert batch is not None
            self.process(batch, emit, last=following is None and not pickled)
            if pickled:
                self.operator = pickle.loads(pickle.dumps(self.operator))
            if progress is not None:
                progress(len(batch))
            events += len(batch)
        self.finish(emit)
        return events

    def process(self, events: EventBatch, emit: Emit, last: bool = False) -> None:
        """Processes the next batch; it may be the last one."""
        for batch in self.calls(events, last):
            if rows := self.operator.process(batch):
                emit(self.keys, rows)

    def finish(self, emit: Emit) -> None:
        """Ends the stream."""
        if rows := self.operator.finish():
            emit(self.keys, rows)

    def calls(self, events: EventBatch, last: bool = False, apart: bool = False) -> Iterator[KeyedBatch]:
        """The batches of the calls that process the next batch of the stream, none if there is nothing to do.

        With `apart`, windows are closed in a separate call.
        """
        watermark = events.watermark
        closing = watermark is not None and any(w.ends_between(self._closed, watermark) for w in self._closing)
        apart = apart and closing
        if len(events) or (closing and not apart) or last:
            yield self.keys.batch(events.slice(0, len(events), None if apart else watermark), last)
        if apart:
            yield self.keys.batch(events.slice(len(events), len(events), watermark))
        if watermark is not None:
            self._closed = max(self._closed, watermark)
