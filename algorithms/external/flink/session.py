"""A key of a job, and the conversion of the job's answers into rows."""

from __future__ import annotations

import time
import weakref
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.engine.batches import kernel_events
from cepbench.algorithms.external.flink.engine import Engine, current, little
from cepbench.algorithms.rows import AggregateRows, MatchRows, QueryRows
from cepbench.events.batch import EventBatch
from cepbench.queries.compile import CompiledQuery
from cepbench.queries.model import Aggregates

Ints = NDArray[np.int64]

EVERY_WINDOW = 2**63 - 1


class JobSession:
    """A key of the engine, which drops it when this object is deleted."""

    def __init__(self, query: CompiledQuery, specification: str) -> None:
        self.engine: Engine = current()
        self.query, self.specification = query, specification
        started = time.perf_counter()
        self.job = self.engine.job(specification)
        self.submit_seconds = time.perf_counter() - started
        self.name = self.engine.open(self.job)
        weakref.finalize(self, self.engine.close, self.job, self.name)

    def send(self, events: EventBatch, low: int, first: int = 0) -> Ints:
        """The answer to a batch, as written by `java/Answer.java`; parameters as in `Engine.process`."""
        batch = kernel_events(self.query.columns, events)
        columns = [events.position, batch.kind.astype(np.int64), *batch.ints, *batch.reals]
        columns = [*map(little, columns), batch.flags.tobytes()]
        return self.engine.process(self.job, self.name, low, first, batch.time, columns)

    def state_size(self) -> StateSize:
        """Peak size since the last call."""
        size, partial, events = self.engine.state(self.job, self.name)
        return StateSize(int(size), {"partial matches": int(partial), "events": int(events)})

    def details(self) -> dict[str, float]:
        """Details of the whole process, which all sessions share."""
        return {
            "jvm_start_seconds_peak": self.engine.start_seconds,
            "empty_call_seconds_peak": self.engine.empty_seconds(self.job, self.name),
            **self.engine.memory(),
        }


def rows_of_windows(query: CompiledQuery, numbers: Ints) -> QueryRows | None:
    """The rows in a job's answer about closed windows."""
    if numbers[0] and isinstance(query.query.returns, Aggregates):
        return _aggregates(query, numbers)
    return _matches(numbers, 1)


def rows_of_spans(numbers: Ints, before: int) -> MatchRows | None:
    """The detected matches in a job's answer; `before` is added to the points of last events, i.e. to the windows."""
    rows = _matches(numbers, 3)
    return None if rows is None else replace(rows, window=rows.window + before)


def _aggregates(query: CompiledQuery, numbers: Ints) -> AggregateRows:
    size, body = int(numbers[0]), numbers[3:]
    ring, real, least = (len(family) for family in (query.layout.ring, query.layout.real, query.layout.least))
    table = body.reshape(size, 2 + ring + real + least)
    counts, sums = table[:, 2 : 2 + ring].copy(), table[:, 2 + ring : 2 + ring + real].copy()
    return AggregateRows(
        table[:, 0].copy(),
        counts.view(np.uint64 if query.arithmetic == "modular" else np.float64),
        table[:, 1].copy().view(np.uint64),
        sums.view(np.float64),
        table[:, 2 + ring + real :].copy(),
    )


def _matches(numbers: Ints, head: int) -> MatchRows | None:
    """Matches, each written as `head` numbers (its window, and perhaps its times), its length, and its positions."""
    size, body = int(numbers[0]), numbers[3:]
    if not size:
        return None
    heads, offsets = np.empty((size, head), np.int64), np.zeros(size + 1, np.int64)
    kept = np.ones(len(body), np.bool_)
    at = 0
    for i in range(size):
        heads[i], length = body[at : at + head], body[at + head]
        kept[at : at + head + 1] = False
        offsets[i + 1] = offsets[i] + length
        at += head + 1 + int(length)
    return MatchRows(heads[:, 0], offsets, body[kept], heads[:, 1:] if head > 1 else None)
