"""Evaluators without single events: a cell, or a count, per position and window."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.cogra.granularity import SEMANTICS
from cepbench.algorithms.cogra.kernels.type_count import (
    Counting,
    CountRows,
    Template,
    TypeCounts,
    close_counts,
    count_keys,
    new_counts,
)
from cepbench.algorithms.cogra.kernels.type_grained import TypeCells, Typed, aggregate_keys, close_cells, new_cells
from cepbench.algorithms.cogra.kernels.type_tables import shape_of, template_of
from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.cells import cell_bytes
from cepbench.algorithms.kernels.clock import HIGH, LOW
from cepbench.algorithms.kernels.peak import new_clock
from cepbench.algorithms.kernels.windows import TOUCHED
from cepbench.algorithms.rows import AggregateRows, KeyedRows, RowsOfKeys
from cepbench.algorithms.running.batches import sliding
from cepbench.algorithms.running.lanes import ROOM_FOR_ROWS, CellLanes, Lanes
from cepbench.algorithms.running.peak import largest_of_all
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part
from cepbench.queries.model import Semantics

COUNT_BYTES = 9
"""A count and its overflow flag."""


class TypeGrained(CellLanes):
    """All aggregates under all semantics without predicates on adjacent events and negation (Section 15.1, Table 18.1).

    O(n * w * l) time for n events in w windows each and a pattern of length l, O(K * l) space per key.

    Under skip-till-next-match and contiguous semantics Algorithm 9 keeps one last event. That undercounts when several
    partial trends wait; the cell of a position holds all of them, and is emptied when an event extends them (next) or
    when the time moves on (contiguous), so space stays O(l) and time O(n * l).
    """

    over, close = staticmethod(aggregate_keys), staticmethod(close_cells)
    lanes: TypeCells

    def __init__(self, query: CompiledQuery, part: Part, window: Window) -> None:
        semantics, self.positions = SEMANTICS[query.query.semantics], len(part.tables.start)
        template = template_of(part.tables, semantics, self.positions)
        shape = shape_of(semantics, query.layout, part.tables, query.arithmetic)
        self.cell_bytes = cell_bytes(part.tables)
        clock = new_clock((self.positions + 1) * self.cell_bytes, self.cell_bytes)
        fresh = new_cells(window.overlap, self.positions, query.layout, query.arithmetic, clock)
        super().__init__(query, window, Typed(template, shape, window.overlap, sliding(window)), fresh)

    def live(self) -> StateSize:
        """Cells per position and open window and one for its result, and those that wait; the largest state."""
        windows, waiting = _largest(self.lanes.clock)
        cells = windows * (self.positions + 1) + waiting
        return StateSize(cells * self.cell_bytes, {"aggregates": cells})


class TypeGrainedCount(Lanes):
    """COUNT(*) under skip-till-any-match without predicates, negation and repeated types: Algorithm 7 itself."""

    over, close = staticmethod(count_keys), staticmethod(close_counts)
    lanes: TypeCounts

    def __init__(self, query: CompiledQuery, part: Part, window: Window) -> None:
        tables = part.tables
        dtype = np.uint64 if query.arithmetic == "modular" else np.float64
        position = np.full(len(tables.binding_ptr) - 1, -1, np.int64)
        bound = np.diff(tables.binding_ptr) > 0
        position[bound] = tables.binding[tables.binding_ptr[:-1][bound]]
        template = Template(
            position,
            tables.start.astype(dtype),
            tables.end,
            tables.enter_ptr.astype(np.uint64),
            tables.source.astype(np.uint64),
        )
        self.positions = len(tables.start)
        clock = new_clock(COUNT_BYTES * self.positions, COUNT_BYTES)
        fresh = new_counts(window.overlap, self.positions, query.arithmetic, clock)
        super().__init__(Counting(template, sliding(window)), fresh, (), window, query.columns)
        self.query, self.arithmetic = query.index, query.arithmetic

    @staticmethod
    def suits(query: CompiledQuery, part: Part) -> bool:
        """Whether the query is one of those."""
        tables, layout = part.tables, query.layout
        channels = len(layout.ring) + len(layout.real) + len(layout.least)
        plain = channels == 1 and not part.negations and len(tables.local.one) == 0
        return plain and query.query.semantics is Semantics.ANY and bool(np.all(np.diff(tables.binding_ptr) <= 1))

    @property
    def rows(self) -> CountRows:
        return _count_rows(max(ROOM_FOR_ROWS, 2 * self.timed.overlap), self.arithmetic)

    def taken(self, size: int, owner: Ints) -> KeyedRows:
        rows = self.rows
        found = AggregateRows(
            rows.window[:size].copy(),
            rows.trends[:size, None].copy(),
            rows.over[:size].astype(np.uint64),
            np.empty((size, 0)),
            np.empty((size, 0), np.int64),
        )
        return {self.query: RowsOfKeys(owner, found)}

    def live(self) -> StateSize:
        """A count and its overflow flag per position and open window, and those that wait; the largest state."""
        windows, waiting = _largest(self.lanes.clock)
        counts = windows * self.positions + waiting
        return StateSize(COUNT_BYTES * counts, {"aggregates": counts})


def _largest(clocks: Ints) -> tuple[int, int]:
    """Open windows, and counts or cells that wait, of all keys when their state was largest."""
    return largest_of_all((clocks[:, HIGH] - clocks[:, LOW] + 1) * clocks[:, TOUCHED], clocks)


@lru_cache(maxsize=4)
def _count_rows(capacity: int, arithmetic: str) -> CountRows:
    dtype = np.uint64 if arithmetic == "modular" else np.float64
    return CountRows(np.empty(capacity, np.int64), np.empty(capacity, dtype), np.empty(capacity, np.bool_))
