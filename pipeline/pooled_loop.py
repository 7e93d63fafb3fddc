"""The loop that feeds a pool: batches of a stream, ordered by sub-stream, go to it as a whole."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial

import numpy as np

from cepbench.algorithms.base import Algorithm, ExecutorPool, Pieces, Plan
from cepbench.algorithms.rows import PooledRows
from cepbench.events.batch import EventBatch
from cepbench.events.schema import Schema
from cepbench.pipeline.jobs import Job
from cepbench.pipeline.loop import Family, ends_between, family_of
from cepbench.pipeline.substreams import Key, RawKey, ordered, stored_keys


class Numbering:
    """Numbers the sub-streams of a stream as they appear.

    `keys` are their stored keys, and `decoded` those that a user knows, by number.
    """

    def __init__(self, schema: Schema, attributes: Sequence[str]) -> None:
        self.keys: list[RawKey] = []
        self.decoded: list[Key] = []
        self._schema, self._attributes = schema, attributes
        self._numbers: dict[RawKey, int] = {}

    def pieces(self, events: EventBatch) -> tuple[EventBatch, Pieces]:
        """The events of a batch by sub-stream, each in time order, and where they lie."""
        found, begin = ordered(events, self._attributes)
        keys = stored_keys(found, self._attributes, begin[:-1])
        had = len(self.keys)
        numbers = self._numbers
        number = np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)
        if len(numbers) > had:
            self._decode(list(numbers)[had:])
        return found, Pieces(number, begin, len(numbers))

    def _decode(self, keys: Sequence[RawKey]) -> None:
        """Adds new keys. A decoded -0.0 is 0.0, since the two are one group."""
        stored = zip(self._attributes, zip(*keys, strict=True), strict=True)
        columns = [
            [value + 0.0 if isinstance(value, float) else value for value in self._schema.decode(name, column)]
            for name, column in stored
        ]
        self.keys += keys
        self.decoded += zip(*columns, strict=True)


PoolCall = Callable[[ExecutorPool, EventBatch | None, Pieces], PooledRows]
"""How a pool is called: with events, or with None when the stream ends."""
PoolEmit = Callable[[Numbering, PooledRows], None]
"""Takes the rows of a call, with the keys of their sub-streams."""


def called(pool: ExecutorPool, events: EventBatch | None, pieces: Pieces) -> PooledRows:
    """Calls the pool, and nothing else."""
    return pool.finish() if events is None else pool.process(events, pieces)


@dataclass(frozen=True, kw_only=True)
class PoolFamily(Family):
    """Queries that split the stream alike, by `attributes` of `schema`, and have a `pool`: it makes a fresh one."""

    schema: Schema
    attributes: tuple[str, ...]
    pool: Callable[[], ExecutorPool]


def fitting_family(job: Job, algorithm: Algorithm) -> Family:
    """The queries of a job: with a pool if they split the stream and the algorithm has one for them."""
    alone = family_of(job, partial(algorithm.executor, job.plan))
    if not job.partition or algorithm.pool(job.plan) is None:
        return alone
    own = {field.name: getattr(alone, field.name) for field in fields(Family)}
    pool = partial(_pool, algorithm, job.plan)
    return PoolFamily(**own, schema=job.workload.schema, attributes=job.partition, pool=pool)


def _pool(algorithm: Algorithm, plan: Plan) -> ExecutorPool:
    found = algorithm.pool(plan)
    assert found is not None
    return found


class PoolLoop:
    """Hands batches of a stream, in time order, to a fresh pool; as `loop.Loop` otherwise."""

    def __init__(
        self, family: PoolFamily, emit: PoolEmit, call: PoolCall = called, look: Callable[[], None] | None = None
    ) -> None:
        self.pool = family.pool()
        self.numbering = Numbering(family.schema, family.attributes)
        self._emit, self._call, self._look, self._closing = emit, call, look, family.closing
        self._closed = 0  # windows that end by then are closed

    @property
    def substreams(self) -> int:
        """How many there are so far."""
        return len(self.numbering.keys)

    def details(self) -> Mapping[str, float]:
        """What the pool tells of its work."""
        return self.pool.details()

    def process(self, events: EventBatch) -> None:
        """The next batch."""
        until = events.until
        closing = until is not None and any(ends_between(w, self._closed, until) for w in self._closing)
        apart = self._look is not None and closing
        found, pieces = self.numbering.pieces(events)
        if len(found) or (closing and not apart):
            self._run(found.slice(0, len(found), until if closing and not apart else None), pieces)
        if self._look is not None:
            self._look()
            if apart:
                nothing = Pieces(np.empty(0, np.int64), np.zeros(1, np.int64), pieces.known)
                self._run(events.slice(len(events), len(events), until), nothing)
                self._look()
        if until is not None:
            self._closed = max(self._closed, until)

    def finish(self) -> None:
        """The end of the stream."""
        self._run(None, Pieces(np.empty(0, np.int64), np.zeros(1, np.int64), self.substreams))

    def pickled(self) -> None:
        """Pickles the pool, and goes on with the copy."""
        self.pool = pickle.loads(pickle.dumps(self.pool))

    def _run(self, events: EventBatch | None, pieces: Pieces) -> None:
        rows = self._call(self.pool, events, pieces)
        if rows:
            self._emit(self.numbering, rows)
