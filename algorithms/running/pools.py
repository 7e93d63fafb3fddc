"""Pools: the states of many sub-streams lie in shared arrays, and a kernel walks through them batch by batch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.base import KeyedBatch, Operator, OutOfOrder, Plan, StateSize
from cepbench.algorithms.kernels.events import RowCells
from cepbench.algorithms.kernels.lanes import NO_END
from cepbench.algorithms.rows import KeyedRows, RowsOfKeys, joined
from cepbench.algorithms.running.batches import aggregate_rows, new_rows
from cepbench.algorithms.running.evaluator import WHOLE_STREAM
from cepbench.events.windows import FOREVER, Window
from cepbench.metrics.details import merged
from cepbench.queries.compile import CompiledQuery

POOL_ROWS = 1 << 15
"""Rows of closed windows that a kernel may write before they are taken, if windows overlap less than that."""

Ints = NDArray[np.int64]


class PooledEvaluator(ABC):
    """Evaluates one query, or queries that share, on all sub-streams over windows of time.

    `states` are arrays with a first axis of sub-streams; each begins as a copy of `fresh`, a named tuple of arrays.
    `ends` int64[S] holds when the last window ends that holds an event of the sub-stream, or `NO_END` if it is closed.
    """

    def __init__(self, fresh: Any, window: Window) -> None:
        self.fresh, self.timed = fresh, window
        self.states = copies(fresh)
        self.ends: Ints = np.empty(0, np.int64)
        self._closed = 0  # windows that end by then are closed

    @abstractmethod
    def step(self, at: int, done: int, batch: KeyedBatch) -> tuple[int, int, int]:
        """Processes keys `at..` of a batch, the first of them from event `done` on; returns the next two and the rows
        written.

        A key whose events ended leads to the next one. Stops where the room for rows might not suffice.
        """

    @abstractmethod
    def close(self, at: int, until: int) -> tuple[int, int]:
        """Closes windows that end by `until` in sub-streams `at..`; returns the next one and the rows written."""

    @abstractmethod
    def taken(self, size: int) -> KeyedRows:
        """Copies of the first rows that were written (at least one), by query."""

    @abstractmethod
    def live(self) -> StateSize:
        """What is live of all sub-streams, as `Executor.state`."""

    def details(self) -> Mapping[str, float]:
        """As `Executor.details`."""
        return {}

    def process(self, batch: KeyedBatch) -> list[KeyedRows]:
        """Rows of the windows that these events and the watermark closed."""
        self._make_room(batch.known)
        parts: list[KeyedRows] = []
        at = done = 0
        while at < len(batch.keys):
            at, done, size = self.step(at, done, batch)
            parts += [self.taken(size)] if size else []
        watermark = batch.watermark
        if watermark is not None and self.timed.ends_between(self._closed, watermark):
            parts += self._close(watermark)
            self._closed = watermark
        return parts

    def finish(self) -> list[KeyedRows]:
        """Rows of the windows that are still open."""
        return self._close(2 * FOREVER - 1)

    def state(self) -> StateSize:
        """What is live, and what the arrays take."""
        found = self.live()
        return StateSize(found.bytes, found.kinds, found.reserved + room_of(self.states) + self.ends.nbytes)

    def _close(self, until: int) -> list[KeyedRows]:
        parts: list[KeyedRows] = []
        at = 0
        while at < len(self.ends):
            at, size = self.close(at, until)
            parts += [self.taken(size)] if size else []
        return parts

    def _make_room(self, known: int) -> None:
        """Room for the sub-streams known: for half as many more, where there were any before."""
        had = len(self.ends)
        if known > had:
            size = max(known, had * 3 // 2)
            self.states = copies(self.fresh, self.states, size)
            ends = np.full(size, NO_END, np.int64)
            ends[:had] = self.ends
            self.ends = ends


class PooledCells(PooledEvaluator):
    """One query whose kernels write rows as cells, with room for those of `span` windows of a sub-stream at least."""

    def __init__(self, fresh: Any, query: CompiledQuery, span: int) -> None:
        super().__init__(fresh, query.window or WHOLE_STREAM)
        self.query = query
        self.capacity = max(POOL_ROWS, 2 * span)

    @property
    def rows(self) -> RowCells:
        """Room for rows."""
        return new_rows(self.query, self.capacity // 2)

    @property
    def owner(self) -> Ints:
        """Room for their sub-streams."""
        return owners(self.capacity)

    def taken(self, size: int) -> KeyedRows:
        rows = self.rows
        found = aggregate_rows(rows.window[:size].copy(), rows.cells, size)
        return {self.query.index: RowsOfKeys(self.owner[:size].copy(), found)}


class PooledQueries(Operator):
    """An operator of evaluators that share nothing. Raises `OutOfOrder`."""

    def __init__(self, evaluators: list[PooledEvaluator]) -> None:
        self.evaluators = evaluators
        self.now = 0

    def process(self, batch: KeyedBatch) -> KeyedRows:
        self._check_order(batch)
        return joined(rows for evaluator in self.evaluators for rows in evaluator.process(batch))

    def finish(self) -> KeyedRows:
        return joined(rows for evaluator in self.evaluators for rows in evaluator.finish())

    def state(self) -> StateSize:
        return sum((evaluator.state() for evaluator in self.evaluators), StateSize())

    def details(self) -> Mapping[str, float]:
        return merged(evaluator.details() for evaluator in self.evaluators)

    def _check_order(self, batch: KeyedBatch) -> None:
        """No event is older than one of its key, or than the latest event or watermark of an earlier batch."""
        time = batch.events.time
        if len(time):
            back = np.flatnonzero(time[1:] < time[:-1]) + 1
            earliest = time[batch.offsets[:-1]].min()
            if earliest < self.now or not np.isin(back, batch.offsets).all():
                raise OutOfOrder(f"an event at time {time.min()} came after a later one of its key")
        self.now = max(self.now, int(time.max(initial=0)), batch.watermark or 0)


def independent_pools(plan: Plan, make: Callable[[CompiledQuery], PooledEvaluator | None]) -> PooledQueries | None:
    """An operator with an evaluator per query, or None where a query has none, or nothing splits the stream."""
    if not all(query.partition for query in plan.workload):
        return None
    found = [make(query) for query in plan.workload]
    pools = [one for one in found if one is not None]
    return PooledQueries(pools) if pools and len(pools) == len(found) else None


def mapped(function: Callable[..., Any], *states: Any) -> Any:
    """The named tuple of what a function makes of the arrays that lie at the same place in named tuples."""
    if not isinstance(states[0], tuple):
        return function(*states)
    made: Any = type(states[0])
    return made(*(mapped(function, *parts) for parts in zip(*states, strict=True)))


def copies(fresh: Any, states: Any = None, size: int = 0) -> Any:
    """So many copies of a named tuple of arrays, as arrays with a first axis; the first are `states`."""
    if states is None:
        states = mapped(lambda array: np.empty((0, *array.shape), array.dtype), fresh)
    return mapped(lambda array, known: _more(array, known, size), fresh, states)


def _more(fresh: NDArray[Any], known: NDArray[Any], size: int) -> NDArray[Any]:
    wide = np.empty((size, *fresh.shape), fresh.dtype)
    wide[: len(known)] = known
    wide[len(known) :] = fresh
    return wide


def room_of(states: Any) -> int:
    """Bytes of a named tuple of arrays."""
    if isinstance(states, tuple):
        return sum(map(room_of, states))
    return int(states.nbytes)


@lru_cache(maxsize=4)
def owners(size: int) -> Ints:
    """Room for the sub-streams of rows, shared as rows themselves are (`running.batches.new_rows`)."""
    return np.empty(size, np.int64)
