"""The loop that runs operators: it passes batches of a stream, ordered by key, to an operator."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, pairwise

import numpy as np

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.base import KeyedBatch, Operator
from cepbench.algorithms.rows import Group, KeyedRows
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


Call = Callable[[Operator, KeyedBatch | None], KeyedRows]
"""How an operator is called: with a batch, or with None when the stream ends."""
Emit = Callable[[Keys, KeyedRows], None]
"""Takes the rows of a call, with the keys so far."""


def plainly(operator: Operator, batch: KeyedBatch | None) -> KeyedRows:
    """Calls the operator."""
    return operator.finish() if batch is None else operator.process(batch)


def into(answer: AnswerBuilder) -> Emit:
    """Adds the rows to an answer."""
    return lambda keys, rows: answer.add_rows(keys.decoded, rows)


class Loop:
    """Passes the batches of a stream, in time order, to a fresh operator of a job.

    - `call` calls the operator, for instance under a clock; `emit` takes the rows of a call, if there are any.
    - With `look`, windows are closed in a separate call, and `look` is called before and after it.
    """

    def __init__(
        self, job: Job, operator: Operator, emit: Emit, call: Call = plainly, look: Callable[[], None] | None = None
    ) -> None:
        self.operator = operator
        self.keys = Keys(job.partition)
        self._emit, self._call, self._look, self._closing = emit, call, look, job.workload.closing
        self._closed = 0  # windows that end by this time are closed

    def run(
        self, batches: Iterable[EventBatch], *, pickled: bool = False, progress: Callable[[int], None] | None = None
    ) -> int:
        """Processes all batches, and ends the stream; returns the number of events.

        With `pickled`, the operator is replaced by a pickled copy after each batch. `progress` gets the number of
        events of each batch.
        """
        events = 0
        for batch, following in pairwise(chain(batches, [None])):
            assert batch is not None
            self.process(batch, last=following is None and not pickled)
            if pickled:
                self.operator = pickle.loads(pickle.dumps(self.operator))
            if progress is not None:
                progress(len(batch))
            events += len(batch)
        self.finish()
        return events

    def process(self, events: EventBatch, last: bool = False) -> None:
        """Processes the next batch; it may be the last one."""
        watermark = events.watermark
        closing = watermark is not None and any(w.ends_between(self._closed, watermark) for w in self._closing)
        apart = self._look is not None and closing
        if len(events) or (closing and not apart) or last:
            self._run(self.keys.batch(events.slice(0, len(events), None if apart else watermark), last))
        if self._look is not None:
            self._look()
            if apart:
                self._run(self.keys.batch(events.slice(len(events), len(events), watermark)))
                self._look()
        if watermark is not None:
            self._closed = max(self._closed, watermark)

    def finish(self) -> None:
        """Ends the stream."""
        self._run(None)

    def _run(self, batch: KeyedBatch | None) -> None:
        rows = self._call(self.operator, batch)
        if rows:
            self._emit(self.keys, rows)
