"""The loop that runs operators: it passes batches of a stream, ordered by key, to an operator."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from cepbench.algorithms.answers.builder import AnswerBuilder
from cepbench.algorithms.base import KeyedBatch, Operator
from cepbench.algorithms.rows import Group, KeyedRows
from cepbench.events.batch import EventBatch
from cepbench.events.schema import Schema
from cepbench.pipeline.jobs import Job
from cepbench.pipeline.keys import RawKey, ordered, stored_keys


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
            self._add(list(numbers)[had:], events.schema)
        return KeyedBatch(found, np.array(keys, np.int64), offsets, len(self), last)

    def _add(self, keys: Sequence[RawKey], schema: Schema) -> None:
        """Adds new keys. A decoded -0.0 is 0.0, since both are one group."""
        stored = zip(self._attributes, zip(*keys, strict=True), strict=True)
        columns = [
            [value + 0.0 if isinstance(value, float) else value for value in schema.decode(name, column)]
            for name, column in stored
        ]
        self.stored += keys
        self.decoded += zip(*columns, strict=True) if columns else [()]


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

    def details(self) -> Mapping[str, float]:
        """The operator's details so far."""
        return self.operator.details()

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

    def pickled(self) -> None:
        """Pickles the operator, and continues with the copy."""
        self.operator = pickle.loads(pickle.dumps(self.operator))

    def _run(self, batch: KeyedBatch | None) -> None:
        rows = self._call(self.operator, batch)
        if rows:
            self._emit(self.keys, rows)
