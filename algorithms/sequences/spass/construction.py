"""Shared construction of the sequences of queries with the same window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.base import Executor, StateSize
from cepbench.algorithms.engine.arena import Arena, Table
from cepbench.algorithms.engine.batches import aggregate_rows, kernel_events
from cepbench.algorithms.engine.flattening import is_kleene
from cepbench.algorithms.engine.kernels.arrays import readonly
from cepbench.algorithms.engine.kernels.cells import Cells, cell_bytes, empty_cells
from cepbench.algorithms.engine.kernels.events import RowCells
from cepbench.algorithms.engine.longest_match import LongestMatch
from cepbench.algorithms.engine.peak import Peak
from cepbench.algorithms.engine.points import Points
from cepbench.algorithms.rows import AggregateRows, Rows
from cepbench.algorithms.rows import joined as joined_rows
from cepbench.algorithms.sequences.spass.kernels.arrival import (
    Arrived,
    Arriving,
    CountersRecord,
    Stores,
    arrive,
    close_windows,
    expire,
)
from cepbench.algorithms.sequences.spass.kernels.construction import Parts, Walk, construct, count_instances, join
from cepbench.algorithms.sequences.spass.plan import SpassPlan
from cepbench.events.batch import EventBatch
from cepbench.events.windows import END, Window
from cepbench.queries.compile import CompiledQuery
from cepbench.queries.records import records_of

FIRST_EVENTS = 256

FIRST_ROWS = 16

EVENTS, ROWS, NUMBERS = 1, 2, 3
"""Tables of live events, and of the rows of all stores and the numbers of their events."""
ARRIVED_TABLES: dict[int, Table] = {EVENTS: Table(("time", "window", "ints", "reals", "barrier"), stop="stored")}
STORE_TABLES: dict[int, Table] = {ROWS: Table(("last", "bucket")), NUMBERS: Table(("events",))}


@dataclass(eq=False)
class Sums:
    """Aggregates of a query by the last window of its sequences; no sequence begins in a window after `top`."""

    query: CompiledQuery
    buckets: Cells
    top: int = -1


class SharedConstruction(Executor):
    """Stores of events and shared sub-sequences, and sums of the queries.

    Overlapping windows share construction: a sequence is constructed once, when its END arrives, and belongs to all
    windows from the lowest open one to the last that contains its START. Rows are removed with their START event.
    """

    def __init__(self, plan: SpassPlan, window: Window, queries: Sequence[CompiledQuery]) -> None:
        self.window, self.points = window, Points(window)
        self.tables = plan.tables[window]
        columns = self.tables.columns
        self.arrived = Arena(no_events(len(columns.ints), len(columns.reals), self.tables.gaps), ARRIVED_TABLES)
        self.stores = Arena(no_rows(self.tables.width), STORE_TABLES)
        self.sums = {
            query.index: Sums(query, empty_cells(window.overlap, query.layout, query.arithmetic)) for query in queries
        }
        self.shared = [(shared, _walk(shared.parts)) for shared in self.tables.shared]
        self.joined = [(joined, _walk(joined.parts)) for joined in self.tables.joined]
        kleene = [query for query in queries if is_kleene(query.parts[0].automaton)]
        self.lengths = [LongestMatch(query, query.parts[0], window, plan.max_length) for query in kleene]
        self.counted = {"constructed": 0, "joined": 0}
        self.low = 0
        self.peak = Peak()

    def process(self, events: EventBatch) -> Rows:
        for length in self.lengths:
            length.check(events)
        size, points = len(events), self.points.of(events)
        batch = self._arriving(events, points)
        parts: list[Rows] = []
        done = 0
        while done < size:
            parts.append(self._advance(int(points[done])))
            stop = int(np.searchsorted(points, self.window.end(self.low), side="left"))
            self._take(batch, done, stop)
            done = stop
        reached = self.points.reached(events)
        if reached is not None:
            parts.append(self._advance(reached))
        return joined_rows(parts)

    def finish(self) -> Rows:
        return self._advance(END)

    def state(self) -> StateSize:
        """Stored events and stored instances of shared sub-sequences."""
        return self.peak.report(self._state())

    def details(self) -> Mapping[str, float]:
        """`constructed` instances of shared sub-sequences, and sequences `joined` for all queries."""
        return {name: float(count) for name, count in self.counted.items()}

    def load(self) -> None:
        """Calls the kernels once without rows, since a warm-up on few events may construct nothing."""
        arrived, stores = self.arrived.arrays, self.stores.arrays
        for shared, walk in self.shared[:1]:
            count_instances(0, shared.parts, arrived, stores, walk)
            construct(0, shared.store, shared.parts, arrived, stores, walk)
        for joined, walk in self.joined[:1]:
            join(0, joined.parts, joined.counted, arrived, stores, walk, self.sums[joined.query].buckets)

    def _arriving(self, events: EventBatch, points: NDArray[np.int64]) -> Arriving:
        read = kernel_events(self.tables.columns, events)
        last = self.points.last_windows(points)
        window = np.where(points - last * self.window.slide < self.window.within, last, -1)
        return Arriving(read.time, read.kind, read.ints, read.reals, read.flags, readonly(window))

    def _take(self, batch: Arriving, start: int, stop: int) -> None:
        """Processes events of the lowest open window: stores them, constructs what they end, and aggregates it."""
        symbols = self.tables.symbols
        kinds = np.bincount(batch.kind[start:stop], minlength=len(symbols.symbol_ptr) - 1)
        arriving = np.zeros_like(self.tables.width)
        arriving[symbols.symbol] = np.repeat(kinds, np.diff(symbols.symbol_ptr)) * symbols.stored[symbols.symbol]
        self.arrived.reserve(EVENTS, self.arrived.used(EVENTS) + stop - start)
        reserve_rows(self.stores, arriving)
        before = self.stores.arrays.size.copy()
        arrive(batch, start, stop, self.window.overlap, symbols, self.arrived.arrays, self.stores.arrays)
        self._construct(before)
        arrived, stores = self.arrived.arrays, self.stores.arrays
        fresh = (stores.size > before).tolist()
        for joined, walk in self.joined:
            if fresh[joined.last]:
                sums, new = self.sums[joined.query], before[joined.last]
                number = join(new, joined.parts, joined.counted, arrived, stores, walk, sums.buckets)
                if number:
                    sums.top = int(arrived.window[self.arrived.used(EVENTS) - 1])
                    self.counted["joined"] += number
        self.peak.note(self._state())

    def _construct(self, before: NDArray[np.int64]) -> None:
        """Constructs the instances of shared sub-sequences that end in a row added since `before`."""
        numbers = np.zeros_like(before)
        arrived, stores = self.arrived.arrays, self.stores.arrays
        fresh = (stores.size > before).tolist()
        for shared, walk in self.shared:
            if fresh[shared.last]:
                new = before[shared.last]
                numbers[shared.store] = count_instances(new, shared.parts, arrived, stores, walk)
        reserve_rows(self.stores, numbers)
        for shared, walk in self.shared:
            if numbers[shared.store]:
                construct(before[shared.last], shared.store, shared.parts, arrived, self.stores.arrays, walk)
        self.counted["constructed"] += int(numbers.sum())

    def _advance(self, point: int) -> Rows:
        """Closes the windows that end by `point`."""
        high = self.window.first_at(point)
        if high <= self.low:
            return {}
        closed = {index: self._close(sums, high) for index, sums in self.sums.items()}
        rows: Rows = {index: query_rows for index, query_rows in closed.items() if query_rows is not None}
        self.low = high
        expire(high, self.arrived.arrays, self.stores.arrays)
        return rows

    def _close(self, sums: Sums, high: int) -> AggregateRows | None:
        """Rows of one query in the windows before `high`."""
        if sums.top < self.low:
            return None
        query = sums.query
        room = min(high, sums.top + 1) - self.low
        rows = RowCells(np.empty(room, np.int64), empty_cells(room, query.layout, query.arithmetic))
        total = empty_cells(1, query.layout, query.arithmetic)
        size = close_windows(self.low, min(high, sums.top + 1), sums.top, sums.buckets, total, rows)
        return aggregate_rows(rows.window[:size].copy(), rows.cells, size) if size else None

    def _state(self) -> StateSize:
        events, stores = self.arrived.used(EVENTS), self.stores.arrays
        partial = sum(int(stores.size[shared.store]) for shared, _ in self.shared)
        columns = self.tables.columns
        attributes = 2 + len(columns.ints) + len(columns.reals) + self.tables.gaps
        rows = int((stores.size * (stores.width + 2)).sum())
        live = (s for s in self.sums.values() if s.top >= self.low)
        sums = sum((s.top - self.low + 1) * cell_bytes(s.query.parts[0].tables) for s in live)
        return StateSize(8 * (events * attributes + rows) + sums, {"events": events, "partial matches": partial})


def _walk(parts: Parts) -> Walk:
    units, places = len(parts.store), len(parts.symbol)
    return Walk(*(np.zeros(size, np.int64) for size in (units, units, units, units, places + 1)))


def no_events(ints: int, reals: int, gaps: int) -> Arrived:
    """Arrays without events."""
    counters = np.zeros(1, records_of(CountersRecord))
    counters["now"] = -1
    return Arrived(
        np.zeros(FIRST_EVENTS, np.int64),
        np.zeros(FIRST_EVENTS, np.int64),
        np.zeros((ints, FIRST_EVENTS), np.int64),
        np.zeros((reals, FIRST_EVENTS), np.float64),
        np.zeros((gaps, FIRST_EVENTS), np.int64),
        np.full(gaps, -1, np.int64),
        np.full(gaps, -1, np.int64),
        counters,
    )


def no_rows(width: NDArray[np.int64]) -> Stores:
    """Empty stores for rows of `width[s]` events."""
    room = np.zeros(len(width), np.int64)
    nothing = np.zeros(0, np.int64)
    return Stores(room, room.copy(), width, room.copy(), room.copy(), nothing, nothing.copy(), nothing.copy())


def reserve_rows(stores: Arena[Stores], number: NDArray[np.int64]) -> None:
    """Space for `number[s]` more rows in each store.

    If one store is full, all of them get twice the space that they need; otherwise all rows would move whenever another
    one grows. Unused space costs no memory.
    """
    rows = stores.arrays
    needed = rows.size + number
    if not (needed > rows.room).any():
        return
    rows.room[:] = np.maximum(rows.room, np.maximum(2 * needed, FIRST_ROWS))
    for table, places, width in ((ROWS, rows.begin, 1), (NUMBERS, rows.cells, rows.width)):
        room = rows.room * width
        begins = np.cumsum(room) - room
        stores.rearrange(table, places, begins, rows.size * width, int(room.sum()))
        places[:] = begins
