"""The evaluator of type granularity by panes: cost that does not grow with the overlap of windows."""

from __future__ import annotations

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.cogra.granularity import not_linear
from cepbench.algorithms.cogra.kernels.pane_tables import BACK, new_pane_cells, pane_shape_of, pane_tables_of
from cepbench.algorithms.cogra.kernels.panes import aggregate_panes, live_cells
from cepbench.algorithms.cogra.kernels.slices import open_windows
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
from cepbench.events.batch import EventBatch
from cepbench.events.windows import END, Window
from cepbench.queries.compile import CompiledQuery, Part

FIRST_PANES = 8


class PaneGrained(Evaluator):
    """All aggregates under skip-till-any-match without predicates on adjacent events and negation.

    O(n C l + m C P^2) time for n events in m panes, a pattern of P positions with l transitions into each, and
    C <= P + 1 entries (`kernels.pane_tables`); O(q C P) space for q panes of the open windows that hold an event.
    """

    def __init__(self, query: CompiledQuery, part: Part, window: Window) -> None:
        self.query = query
        self.window, self.span = sliding(window), window.overlap
        self.tables = pane_tables_of(part.tables)
        self.shape = pane_shape_of(query.layout, part.tables, query.arithmetic)
        self.cell_bytes = cell_bytes(part.tables)
        clock = new_clock(0, self.cell_bytes)
        self.panes = new_pane_cells(self.tables, FIRST_PANES, query.layout, query.arithmetic, clock)
        self.rows = new_rows(query, self.span)

    @staticmethod
    def suits(query: CompiledQuery, part: Part) -> bool:
        """Whether events are linear maps of a query's cells."""
        return not_linear(part.automaton, query.query.semantics) is None

    def process(self, events: EventBatch) -> AggregateRows | None:
        """Rows of the windows that these events closed."""
        return self._rows(kernel_events(self.query.columns, events), NEVER if events.until is None else events.until)

    def finish(self) -> AggregateRows | None:
        """Rows of the windows that are still open."""
        return self.advance(END)

    def advance(self, now: int) -> AggregateRows | None:
        """Rows of the windows that end by `now`, before which no event will come."""
        return self._rows(no_events(len(self.query.ints), len(self.query.reals)), now)

    def current(self) -> Cells:
        """A copy of the map of the current pane; what waits is not in it, as nothing does after `advance`."""
        return Cells._make(array[: self.tables.enters.size].copy() for array in self.panes.cells)

    def open_rows(self, first: int, count: int) -> Cells:
        """Rows of P cells of `count` windows from window `first` on, of which none has ended; the evaluator is spent.

        Nothing waits.
        """
        rows = empty_cells(count * len(self.tables.after), self.query.layout, self.query.arithmetic)
        if self.panes.counters[BACK] == len(self.panes.back_first):
            self._grow()
        open_windows(first, count, self.window.slide, self.tables, self.panes, rows)
        return rows

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
            done, size = aggregate_panes(
                done, until, events, self.tables, self.shape, self.span, self.window, self.panes, self.rows
            )
            parts += first_rows(self.rows, size)
        return concatenated(parts)

    def _grow(self) -> None:
        """Room for twice as many panes."""
        panes, more = self.panes, len(self.panes.back_first)
        entries, positions = self.tables.enters.shape
        cells = widened(panes.cells, panes.cells._fields, more * (entries + 1) * positions, axis=0)
        self.panes = widened(panes, ("back_first", "front_first"), more)._replace(cells=cells)
