"""Evaluators without single events: a cell, or a count, per position and window."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.cogra.granularity import SEMANTICS
from cepbench.algorithms.cogra.kernels.type_count import CountRows, Template, close, count_trends, new_counts
from cepbench.algorithms.cogra.kernels.type_grained import aggregate_trends, new_cells
from cepbench.algorithms.cogra.kernels.type_tables import shape_of, template_of
from cepbench.algorithms.kernels.arrays import readonly
from cepbench.algorithms.kernels.cells import cell_bytes
from cepbench.algorithms.kernels.clock import HIGH, LOW, NOW
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.kernels.peak import largest, new_clock
from cepbench.algorithms.kernels.windows import TOUCHED
from cepbench.algorithms.rows import AggregateRows
from cepbench.algorithms.running.batches import (
    NEVER,
    ROWS,
    concatenated,
    first_rows,
    kernel_events,
    new_rows,
    no_events,
    sliding,
)
from cepbench.algorithms.running.evaluator import Evaluator
from cepbench.events.batch import EventBatch
from cepbench.events.windows import FOREVER, Window
from cepbench.queries.compile import CompiledQuery, Part
from cepbench.queries.model import Semantics

COUNT_BYTES = 9
"""A count and its overflow flag."""


class TypeGrained(Evaluator):
    """All aggregates under all semantics without predicates on adjacent events and negation (Section 15.1, Table 18.1).

    O(n * w * l) time for n events in w windows each and a pattern of length l, O(K * l) space.

    Under skip-till-next-match and contiguous semantics Algorithm 9 keeps one last event. That undercounts when several
    partial trends wait; the cell of a position holds all of them, and is emptied when an event extends them (next) or
    when the time moves on (contiguous), so space stays O(l) and time O(n * l).
    """

    def __init__(self, query: CompiledQuery, part: Part, window: Window) -> None:
        self.query = query
        self.window, self.span = sliding(window), window.overlap
        semantics, self.positions = SEMANTICS[query.query.semantics], len(part.tables.start)
        self.template = template_of(part.tables, semantics, self.positions)
        self.shape = shape_of(semantics, query.layout, part.tables, query.arithmetic)
        self.cell_bytes = cell_bytes(part.tables)
        clock = new_clock((self.positions + 1) * self.cell_bytes, self.cell_bytes)
        self.cells = new_cells(self.span, self.positions, query.layout, query.arithmetic, clock)
        self.rows = new_rows(query, self.span)

    def process(self, events: EventBatch) -> AggregateRows | None:
        """Rows of the windows that these events closed."""
        return self._rows(kernel_events(self.query.columns, events), NEVER if events.until is None else events.until)

    def finish(self) -> AggregateRows | None:
        """Rows of the windows that are still open."""
        return self._rows(no_events(len(self.query.ints), len(self.query.reals)), 2 * FOREVER - 1)

    def state(self) -> StateSize:
        """Cells per position and open window and one for its result, and those that wait; the largest state."""
        clock = self.cells.clock
        windows, waiting = largest(int(clock[HIGH] - clock[LOW] + 1) * int(clock[TOUCHED]), clock)
        cells = windows * (self.positions + 1) + waiting
        return StateSize(cells * self.cell_bytes, {"aggregates": cells})

    def _rows(self, events: KernelEvents, until: int) -> AggregateRows | None:
        parts: list[AggregateRows] = []
        done = 0
        while done <= len(events.time):
            done, size = aggregate_trends(
                done, until, events, self.template, self.shape, self.span, self.window, self.cells, self.rows
            )
            parts += first_rows(self.rows, size)
        return concatenated(parts)


class TypeGrainedCount(Evaluator):
    """COUNT(*) under skip-till-any-match without predicates, negation and repeated types: Algorithm 7 itself."""

    def __init__(self, query: CompiledQuery, part: Part, window: Window) -> None:
        tables = part.tables
        dtype = np.uint64 if query.arithmetic == "modular" else np.float64
        position = np.full(len(tables.binding_ptr) - 1, -1, np.int64)
        bound = np.diff(tables.binding_ptr) > 0
        position[bound] = tables.binding[tables.binding_ptr[:-1][bound]]
        self.window = sliding(window)
        self.template = Template(
            position,
            tables.start.astype(dtype),
            tables.end,
            tables.enter_ptr.astype(np.uint64),
            tables.source.astype(np.uint64),
        )
        clock = new_clock(COUNT_BYTES * len(tables.start), COUNT_BYTES)
        self.counts = new_counts(window.overlap, len(tables.start), query.arithmetic, clock)
        capacity = max(ROWS, 2 * window.overlap)
        self.rows = CountRows(np.empty(capacity, np.int64), np.empty(capacity, dtype), np.empty(capacity, np.bool_))

    @staticmethod
    def suits(query: CompiledQuery, part: Part) -> bool:
        """Whether the query is one of those."""
        tables, layout = part.tables, query.layout
        channels = len(layout.ring) + len(layout.real) + len(layout.least)
        plain = channels == 1 and not part.negations and len(tables.local.one) == 0
        return plain and query.query.semantics is Semantics.ANY and bool(np.all(np.diff(tables.binding_ptr) <= 1))

    def process(self, events: EventBatch) -> AggregateRows | None:
        """Rows of the windows that these events closed."""
        time, kind = readonly(events.time), readonly(events.type)
        parts: list[AggregateRows] = []
        done = 0
        while done < len(time):
            done, size = count_trends(done, time, kind, self.template, self.window, self.counts, self.rows, 0)
            parts += self._rows(size)
        if events.until is not None and events.until > self.counts.clock[NOW]:
            parts += self._advance(events.until)
        return concatenated(parts)

    def finish(self) -> AggregateRows | None:
        """Rows of the windows that are still open."""
        return concatenated(self._advance(2 * FOREVER - 1))

    def state(self) -> StateSize:
        """A count and its overflow flag per position and open window, and those that wait; the largest state."""
        clock = self.counts.clock
        windows, waiting = largest(int(clock[HIGH] - clock[LOW] + 1) * int(clock[TOUCHED]), clock)
        counts = windows * len(self.template.start) + waiting
        return StateSize(COUNT_BYTES * counts, {"aggregates": counts})

    def _advance(self, now: int) -> list[AggregateRows]:
        size = close(now, self.template, self.window, self.counts, self.rows, 0)
        return self._rows(size)

    def _rows(self, size: int) -> list[AggregateRows]:
        if size == 0:
            return []
        window, trends = self.rows.window[:size].copy(), self.rows.trends[:size, None].copy()
        over = self.rows.over[:size].astype(np.uint64)
        return [AggregateRows(window, trends, over, np.empty((size, 0)), np.empty((size, 0), np.int64))]
