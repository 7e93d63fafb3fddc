"""Evaluators of type granularity by panes: cost that does not grow with the overlap of windows."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.cogra.kernels.pane_tables import (
    BACK,
    PaneShape,
    PaneTables,
    new_pane_cells,
    pane_shape_of,
    pane_tables_of,
    varying_shape_of,
)
from cepbench.algorithms.cogra.kernels.panes import aggregate_panes, live_cells
from cepbench.algorithms.cogra.kernels.slices import open_windows
from cepbench.algorithms.cogra.kernels.voidable_panes import aggregate_voidable_panes
from cepbench.algorithms.cogra.kernels.voidable_tables import voidable_tables_of
from cepbench.algorithms.kernels.cells import Cells, cell_bytes, empty_cells
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.kernels.growth import widened
from cepbench.algorithms.kernels.peak import largest, new_clock
from cepbench.algorithms.kernels.windows import TOUCHED
from cepbench.algorithms.rows import AggregateRows
from cepbench.algorithms.running.batches import (
    NEVER,
    concatenated,
    first_rows,
    kernel_events,
    new_rows,
    no_events,
    sliding,
)
from cepbench.algorithms.running.evaluator import Evaluator
from cepbench.algorithms.running.negation import Negation, latest_starts, negations_of
from cepbench.events.batch import EventBatch
from cepbench.events.windows import END, Window
from cepbench.queries.compile import CompiledQuery, Part

FIRST_PANES = 8


class ByPanes(Evaluator):
    """What evaluators by panes share: maps of panes, on stacks, and rows of the windows that they make up."""

    def __init__(self, query: CompiledQuery, part: Part, window: Window, tables: PaneTables, shape: PaneShape) -> None:
        self.query, self.tables, self.shape = query, tables, shape
        self.window, self.span = sliding(window), window.overlap
        self.cell_bytes = cell_bytes(part.tables)
        clock = new_clock(0, self.cell_bytes)
        self.panes = new_pane_cells(tables, FIRST_PANES, query.layout, query.arithmetic, clock)
        self.rows = new_rows(query, self.span)
        self.negations: list[Negation] = []

    @abstractmethod
    def step(self, first: int, until: int, events: KernelEvents) -> tuple[int, int]:
        """Processes events `first..`, then closes the windows that end by `until`; returns (next event, rows)."""

    def process(self, events: EventBatch) -> AggregateRows | None:
        """Rows of the windows that these events closed."""
        until = NEVER if events.watermark is None else events.watermark
        return self._rows(kernel_events(self.query.columns, events, self.negations), until)

    def finish(self) -> AggregateRows | None:
        """Rows of the windows that are still open."""
        return self.advance(END)

    def advance(self, now: int) -> AggregateRows | None:
        """Rows of the windows that end by `now`, before which no event will come."""
        return self._rows(no_events(len(self.query.ints), len(self.query.reals)), now)

    def current(self) -> Cells:
        """A copy of the map of the current pane; what waits is not in it, as nothing does after `advance`."""
        return Cells._make(array[: self.tables.enters.size].copy() for array in self.panes.cells)

    def state(self) -> StateSize:
        """Cells of the current pane and of those of open windows, and cells that wait; the largest state."""
        clock = self.panes.clock
        _, cells = largest(live_cells(self.tables, self.panes.counters, int(clock[TOUCHED])), clock)
        return StateSize(cells * self.cell_bytes, {"aggregates": cells})

    def _rows(self, events: KernelEvents, until: int) -> AggregateRows | None:
        parts: list[AggregateRows] = []
        done = 0
        while done <= len(events.time):
            if self.panes.counters[BACK] == len(self.panes.back_first):
                self._grow()
            done, size = self.step(done, until, events)
            parts += first_rows(self.rows, size)
        return concatenated(parts)

    def _grow(self) -> None:
        """Room for twice as many panes."""
        panes, more = self.panes, len(self.panes.back_first)
        entries, positions = self.tables.enters.shape
        cells = widened(panes.cells, panes.cells._fields, more * (entries + 1) * positions, axis=0)
        self.panes = widened(panes, ("back_first", "front_first"), more)._replace(cells=cells)


class PaneGrained(ByPanes):
    """All aggregates under skip-till-any-match without predicates on adjacent events and negation.

    O(n C l + m C P^2) time for n events in m panes, a pattern of P positions with l transitions into each, and
    C <= P + 1 entries (`kernels.pane_tables`); O(q C P) space for q panes of the open windows that hold an event.
    """

    def __init__(self, query: CompiledQuery, part: Part, window: Window) -> None:
        shape = pane_shape_of(query.layout, part.tables, query.arithmetic)
        super().__init__(query, part, window, pane_tables_of(part.tables), shape)

    def step(self, first: int, until: int, events: KernelEvents) -> tuple[int, int]:
        return aggregate_panes(
            first, until, events, self.tables, self.shape, self.span, self.window, self.panes, self.rows
        )

    def open_rows(self, first: int, count: int) -> Cells:
        """Rows of P cells of `count` windows from window `first` on, of which none has ended; the evaluator is spent.

        Nothing waits.
        """
        rows = empty_cells(count * len(self.tables.after), self.query.layout, self.query.arithmetic)
        if self.panes.counters[BACK] == len(self.panes.back_first):
            self._grow()
        open_windows(first, count, self.window.slide, self.tables, self.panes, rows)
        return rows


class VoidablePaneGrained(ByPanes):
    """`PaneGrained` for queries with negation, each of a single event: C columns, and C + 1 rows.

    O(n C l + m C^3) time, O(q C^2) space for q panes of the open windows that hold an event or a negated one.
    """

    def __init__(self, query: CompiledQuery, part: Part, window: Window) -> None:
        self.voidable = voidable_tables_of(part.tables, len(part.negations))
        super().__init__(query, part, window, self.voidable.panes, varying_shape_of(query.layout))
        self.negations = negations_of(query, part, window)
        self.seen = np.full(len(self.negations), -1, np.int64)

    def step(self, first: int, until: int, events: KernelEvents) -> tuple[int, int]:
        return aggregate_voidable_panes(
            first, until, events, latest_starts(self.negations), self.seen, self.voidable, self.shape, self.span,
            self.window, self.panes, self.rows,
        )  # fmt: skip
