"""Pools: the states of many sub-streams lie in shared arrays, and a kernel walks through them batch by batch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.base import ExecutorPool, OutOfOrder, Pieces, StateSize
from cepbench.algorithms.kernels.events import RowCells
from cepbench.algorithms.kernels.pools import NO_END
from cepbench.algorithms.rows import OwnedRows, PooledRows
from cepbench.algorithms.running.batches import aggregate_rows, new_rows
from cepbench.events.batch import EventBatch
from cepbench.events.windows import FOREVER
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

    def __init__(self, fresh: Any) -> None:
        self.fresh = fresh
        self.states = copies(fresh)
        self.ends: Ints = np.empty(0, np.int64)

    @abstractmethod
    def step(self, at: int, done: int, events: EventBatch, pieces: Pieces) -> tuple[int, int, int]:
        """Processes pieces `at..`, the first of them from event `done` on; returns the next two and the rows written.

        A piece that ended leads to the next one. Stops where the room for rows might not suffice.
        """

    @abstractmethod
    def close(self, at: int, until: int) -> tuple[int, int]:
        """Closes windows that end by `until` in sub-streams `at..`; returns the next one and the rows written."""

    @abstractmethod
    def taken(self, size: int) -> PooledRows:
        """Copies of the first rows that were written (at least one), by query."""

    @abstractmethod
    def live(self) -> StateSize:
        """What is live of all sub-streams, as `Executor.state`."""

    def details(self) -> Mapping[str, float]:
        """As `Executor.details`."""
        return {}

    def process(self, events: EventBatch, pieces: Pieces) -> list[PooledRows]:
        """Rows of the windows that these events and their `until` closed."""
        self._make_room(pieces.known)
        parts: list[PooledRows] = []
        at = done = 0
        while at < len(pieces.number):
            at, done, size = self.step(at, done, events, pieces)
            parts += [self.taken(size)] if size else []
        return parts if events.until is None else parts + self._close(events.until)

    def finish(self) -> list[PooledRows]:
        """Rows of the windows that are still open."""
        return self._close(2 * FOREVER - 1)

    def state(self) -> StateSize:
        """What is live, and what the arrays take."""
        found = self.live()
        return StateSize(found.bytes, found.kinds, found.reserved + room_of(self.states) + self.ends.nbytes)

    def _close(self, until: int) -> list[PooledRows]:
        parts: list[PooledRows] = []
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
        super().__init__(fresh)
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

    def taken(self, size: int) -> PooledRows:
        rows = self.rows
        found = aggregate_rows(rows.window[:size].copy(), rows.cells, size)
        return {self.query.index: OwnedRows(self.owner[:size].copy(), found)}


class PooledQueries(ExecutorPool):
    """A pool of evaluators that share nothing. Raises `OutOfOrder`."""

    def __init__(self, evaluators: list[PooledEvaluator]) -> None:
        self.evaluators = evaluators
        self.now = 0

    def process(self, events: EventBatch, pieces: Pieces) -> PooledRows:
        self._check_order(events, pieces)
        return joined([rows for evaluator in self.evaluators for rows in evaluator.process(events, pieces)])

    def finish(self) -> PooledRows:
        return joined([rows for evaluator in self.evaluators for rows in evaluator.finish()])

    def state(self) -> StateSize:
        return sum((evaluator.state() for evaluator in self.evaluators), StateSize())

    def details(self) -> Mapping[str, float]:
        return merged(evaluator.details() for evaluator in self.evaluators)

    def _check_order(self, events: EventBatch, pieces: Pieces) -> None:
        """No event is older than one of its sub-stream, or than what an earlier batch told of all of them."""
        time = events.time
        if len(time):
            back = np.flatnonzero(time[1:] < time[:-1]) + 1
            earliest = time[pieces.begin[:-1]].min()
            if earliest < self.now or not np.isin(back, pieces.begin).all():
                raise OutOfOrder(f"an event at time {time.min()} came after a later one of its sub-stream")
        self.now = max(self.now, int(time.max(initial=0)), events.until or 0)


def independent_pools(
    queries: Iterable[CompiledQuery], make: Callable[[CompiledQuery], PooledEvaluator | None]
) -> PooledQueries | None:
    """A pool of an evaluator per query, or None where a query has none."""
    found = [make(query) for query in queries]
    pools = [one for one in found if one is not None]
    return PooledQueries(pools) if pools and len(pools) == len(found) else None


def joined(parts: list[PooledRows]) -> PooledRows:
    """Rows of several steps as one."""
    found: dict[int, list[OwnedRows]] = {}
    for part in parts:
        for query, rows in part.items():
            found.setdefault(query, []).append(rows)
    return {query: OwnedRows.concatenate(rows) for query, rows in found.items()}


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
