"""Lanes: one kernel evaluates a query on all keys, whose states lie in arrays that they share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.base import Executor, KeyedBatch, KeyedOperator, StateSize
from cepbench.algorithms.engine.batches import aggregate_rows, new_rows, no_events
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.cells import Cells
from cepbench.algorithms.engine.kernels.constants import NEVER
from cepbench.algorithms.engine.kernels.events import KernelEvents, RowCells
from cepbench.algorithms.engine.kernels.lanes import ROOM, Calls
from cepbench.algorithms.engine.negation import Negations
from cepbench.algorithms.engine.peak import KeySizes, Sizes
from cepbench.algorithms.growth import with_room
from cepbench.algorithms.rows import Rows, joined
from cepbench.events.batch import EventBatch
from cepbench.events.windows import END, Window
from cepbench.metrics.details import merged
from cepbench.queries.columns import ColumnSet
from cepbench.queries.compile import CompiledQuery
from cepbench.queries.records import Records

ROOM_FOR_ROWS = 1 << 15
"""Rows of closed windows per call of a kernel, if windows overlap less than that."""


class Lanes(KeyedOperator):
    """Evaluates one query, or queries that share, on all keys over time windows. Raises `OutOfOrder`.

    A subclass has a kernel `over`, its `over_keys` (`kernels.lanes`).

    Parameters
    ----------
    fixed
        A named tuple of the constant inputs of the kernel.
    fresh
        The state of a key before its first event, a named tuple of arrays; `lanes` holds copies of it, with a first
        axis of keys.
    arena
        Named tuple of the arrays that all keys share, which `grow` enlarges; not an `engine.arena.Arena`.
    window
        The time window.
    columns
        The attributes that the kernel reads.
    negations
        The negated sub-patterns of the query.
    """

    over: ClassVar[Callable[..., tuple[int, int, int, int]]]

    def __init__(
        self, fixed: Any, fresh: Any, arena: Any, window: Window, columns: ColumnSet, negations: Negations | None = None
    ) -> None:
        self.fixed, self.fresh, self.arena, self.timed, self.columns = fixed, fresh, arena, window, columns
        self.lanes = copies(fresh)
        self.ends: Ints = np.empty(0, np.int64)
        """By key: the end of the last window that holds one of its events, or `NEVER` if it is closed."""
        self.negations = Negations((), columns) if negations is None else negations
        self._now = 0
        self._closed = 0  # windows that end at or before this time are closed
        self._worked: Mapping[str, float] = {}  # details of lanes that were reset by pickling

    def __getstate__(self) -> dict[str, Any]:
        """Pickles keep the keys that have an open window with an event; the lanes of all others are reset.

        Their work so far stays in `details`. Call `state` first, since their peaks are lost.
        """
        live = np.flatnonzero(self.ends != NEVER)
        lanes = self._lanes_of(live)
        worked, kept = self.details(), self.work(lanes)
        return {
            **self.__dict__,
            "lanes": lanes,
            "arena": self.packed(live),
            "ends": (len(self.ends), live, self.ends[live]),
            "_worked": {name: number - kept.get(name, 0) for name, number in worked.items()},
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        size, live, ends = state["ends"]
        self.__dict__.update(state)
        self.ends = np.full(size, NEVER, np.int64)
        self.ends[live] = ends
        self.lanes = copies(self.fresh, size=size)
        _set(live, self.lanes, state["lanes"])
        self.arena = self.unpacked(live, state["arena"])

    @property
    @abstractmethod
    def rows(self) -> Any:
        """Room for rows, which operators may share."""

    @abstractmethod
    def copied(self, rows: Any, size: int, owner: Ints) -> Rows:
        """Copies of the first of `rows` (at least one), by query; `owner` are their keys."""

    @abstractmethod
    def live(self) -> KeySizes:
        """Live state of each key, or its peak since the last call if that is larger."""

    def allocate(self, first: int) -> None:
        """Gives the lanes of keys `first..` space in the arena; nothing by default."""
        return

    def clear(self, keys: Ints) -> None:
        """Makes the lanes of keys whose windows are closed those of keys without an event so far."""
        _set(keys, self.lanes, self.fresh)

    def grow(self, key: int) -> None:
        """More room, for which the kernel stopped at a key."""
        raise NotImplementedError

    def packed(self, live: Ints) -> Any:
        """What live keys have in the arena; nothing by default."""
        return ()

    def unpacked(self, live: Ints, packed: Any) -> Any:
        """An arena with that; it may change where the lanes look for it."""
        return ()

    def work(self, lanes: Any) -> Mapping[str, float]:
        """Numbers of the work of lanes so far, by name; none by default."""
        return {}

    def details(self) -> Mapping[str, float]:
        """As `Executor.details`."""
        return merged([self._worked, self.work(self.lanes)])

    def process(self, batch: KeyedBatch) -> Rows:
        self._now = batch.latest(self._now)
        self.make_room(batch.known)
        events = self.negations.follow(batch)
        parts = self._run(batch.keys, batch.offsets, events, -1)
        watermark = batch.watermark
        if watermark is not None and self.timed.ends_between(self._closed, watermark):
            parts += self._advance(self._live_keys, watermark)
            self._closed = watermark
        return joined(parts)

    def follow(self, other: Lanes) -> None:
        """Takes over which keys other lanes have, and which windows they have closed, but no state."""
        self.make_room(len(other.ends))
        self.ends[: len(other.ends)], self._closed, self._now = other.ends, other._closed, other._now

    def finish(self) -> Rows:
        return self.advance(END)

    def advance(self, until: int) -> Rows:
        """Returns the rows of the windows that end by then, before which no event will come."""
        return joined(self._advance(self._live_keys, until))

    def end(self, keys: Ints) -> tuple[Rows, StateSize]:
        rows = joined(self._advance(keys, END))
        ended, all_lanes = self._lanes_of(keys), self.lanes
        self.lanes = ended
        size = self.live().largest()
        self.lanes = all_lanes
        self._worked = merged([self._worked, self.work(ended)])
        self.clear(keys)
        self.negations.clear(keys)
        return rows, size

    def state(self) -> StateSize:
        """Live state, and the bytes of the arrays."""
        reserved = room_of(self.lanes) + room_of(self.arena) + self.ends.nbytes
        return self.live().total() + StateSize(reserved=reserved) + self.negations.largest_state()

    def _lanes_of(self, keys: Ints) -> Any:
        """Copies of the lanes of some keys."""
        return mapped(lambda array: array[keys], self.lanes)

    @property
    def _live_keys(self) -> Ints:
        """The keys that have an open window with an event."""
        return np.flatnonzero(self.ends != NEVER)

    def _advance(self, keys: Ints, until: int) -> list[Rows]:
        events = no_events(*map(len, (self.columns.ints, self.columns.reals, self.columns.flags)))
        events = events._replace(negated=self.negations.latest(keys))
        return self._run(keys, np.zeros(len(keys) + 1, np.int64), events, until)

    def _run(self, keys: Ints, offsets: Ints, events: KernelEvents, until: int) -> list[Rows]:
        parts, rows = list[Rows](), self.rows
        owner = _owners(len(rows.window))
        calls = Calls(keys, offsets, events, until, self.ends, owner)
        at = done = 0
        while at < len(keys):
            at, done, size, why = self.over(at, done, calls, self.fixed, self.arena, self.lanes, rows)
            if size:
                parts.append(self.copied(rows, size, owner[:size].copy()))
            if why == ROOM:
                self.grow(int(keys[at]))
        return parts

    def make_room(self, known: int) -> None:
        """Room for the keys known: for half as many more, where there were any before."""
        keys = len(self.ends)
        if known > keys:
            self.lanes = mapped(lambda array, fresh: with_room(array, known, fresh), self.lanes, self.fresh)
            self.allocate(keys)
            self.ends = with_room(self.ends, known, NEVER)


class CellLanes(Lanes):
    """One query whose kernels write rows as cells; `sizes` says what its state is made of."""

    def __init__(
        self,
        query: CompiledQuery,
        window: Window,
        fixed: Any,
        fresh: Any,
        sizes: Sizes,
        arena: Any = (),
        negations: Negations | None = None,
    ) -> None:
        super().__init__(fixed, fresh, arena, window, query.columns, negations)
        self.query, self.sizes = query, sizes

    @property
    def rows(self) -> RowCells:
        return new_rows(max(ROOM_FOR_ROWS, 2 * self.timed.overlap), self.query.layout, self.query.arithmetic)

    def copied(self, rows: RowCells, size: int, owner: Ints) -> Rows:
        return {self.query.index: aggregate_rows(rows.window[:size].copy(), rows.cells, size, owner)}

    @property
    def clocks(self) -> Records:
        """The clock of each key."""
        clocks: Records = self.lanes.clock[:, 0]
        return clocks

    @property
    def kept(self) -> Ints:
        """How many cells each key keeps beside those of windows: by default those that wait, one in each window."""
        clocks = self.clocks
        waiting: Ints = clocks["touched"] * (clocks["high"] - clocks["low"] + 1)
        return waiting

    def live(self) -> KeySizes:
        return self.sizes.largest(self.kept, self.clocks)


class OneLane(Executor):
    """The executor of one key with lanes of its own, where the lanes of all keys cannot have the same room."""

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes

    def process(self, events: EventBatch) -> Rows:
        return self.lanes.process(KeyedBatch.of_one_key(events))

    def finish(self) -> Rows:
        return self.lanes.finish()

    def state(self) -> StateSize:
        return self.lanes.state()

    def details(self) -> Mapping[str, float]:
        return self.lanes.details()


def mapped(function: Callable[..., Any], *states: Any) -> Any:
    """The named tuple of the results of a function on the arrays at the same place of named tuples."""
    first = states[0]
    if isinstance(first, Cells):
        return first.on(*(function(*arrays) for arrays in zip(*(state.planes for state in states), strict=True)))
    if not isinstance(first, tuple):
        return function(*states)
    kind: Any = type(first)
    return kind(*(mapped(function, *parts) for parts in zip(*states, strict=True)))


def arrays_of(states: Any) -> Iterator[NDArray[Any]]:
    """The arrays of a named tuple."""
    if isinstance(states, Cells):
        yield from states.planes
    elif isinstance(states, tuple):
        for part in states:
            yield from arrays_of(part)
    else:
        yield states


def _set(keys: Ints, states: Any, values: Any) -> None:
    """Sets some keys of the arrays of a named tuple."""
    for array, value in zip(arrays_of(states), arrays_of(values), strict=True):
        array[keys] = value


def copies(fresh: Any, size: int = 0) -> Any:
    """So many copies of a named tuple of arrays, as arrays with a first axis."""
    return mapped(lambda array: np.repeat(array[np.newaxis], size, axis=0), fresh)


def room_of(states: Any) -> int:
    """Bytes of a named tuple of arrays."""
    return sum(array.nbytes for array in arrays_of(states))


@lru_cache(maxsize=4)
def _owners(size: int) -> Ints:
    """Room for the keys of rows, shared as rows themselves are (`engine.batches.new_rows`)."""
    return np.empty(size, np.int64)
