"""Evaluators of type granularity by panes: cost that does not grow with the overlap of windows."""

from __future__ import annotations

from cepbench.algorithms.cogra.kernels.pane_products import PRODUCT
from cepbench.algorithms.cogra.kernels.pane_tables import (
    BACK,
    NO_VOIDS,
    PaneCells,
    Panes,
    PaneTables,
    Voids,
    new_pane_cells,
    pane_shape_of,
    pane_tables_of,
    voidable_tables_of,
)
from cepbench.algorithms.cogra.kernels.panes import aggregate_panes_keys, live_cells
from cepbench.algorithms.cogra.kernels.slices import end_pane, open_windows
from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.cells import Cells, cell_bytes, empty_cells
from cepbench.algorithms.kernels.growth import widened
from cepbench.algorithms.running.batches import sliding
from cepbench.algorithms.running.lanes import CellLanes
from cepbench.algorithms.running.negation import negations_of
from cepbench.algorithms.running.peak import Sizes
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part

FIRST_PANES = 8


class PaneGrained(CellLanes):
    """All aggregates under skip-till-any-match without predicates on adjacent events, with negations of single events.

    O(n C l + m C P^2) time for n events in m panes, a pattern of P positions with l transitions into each, and
    C <= P + 1 entries (`kernels.pane_tables`); O(q C P) space for q panes of the open windows that hold an event. With
    negation C columns and C + 1 rows: O(n C l + m C^3) time, O(q C^2) space.

    The maps of panes lie on two stacks, so that a window is a product of their maps. There is one key, since all lanes
    have the same space, but keys need different numbers of panes (`Cogra.operator`).
    """

    over = staticmethod(aggregate_panes_keys)
    lanes: PaneCells

    def __init__(self, query: CompiledQuery, part: Part, window: Window) -> None:
        tables, voids = pane_maps_of(part)
        shape = pane_shape_of(query.layout, part.tables, query.arithmetic, bool(part.negations))
        fixed = Panes(tables, voids, shape, window.overlap, sliding(window))
        self.tables, sizes = tables, Sizes(cell_bytes(part.tables), 0)
        negations = negations_of(part.negations, window, query.columns)
        fresh = new_pane_cells(tables, FIRST_PANES, query.layout, query.arithmetic, sizes.clock(), len(negations))
        super().__init__(query, window, fixed, fresh, sizes)
        self.negations = negations

    def grow(self, key: int) -> None:
        """Doubles the space for panes."""
        more = len(self.fresh.back_first)
        entries, positions = self.tables.enters.shape
        for axis, name in enumerate(("fresh", "lanes")):
            states: PaneCells = getattr(self, name)
            cells = widened(states.cells, states.cells._fields, more * (entries + 1) * positions, axis)
            setattr(self, name, widened(states, ("back_first", "front_first"), more, axis)._replace(cells=cells))

    @property
    def kept(self) -> Ints:
        """Number of cells of the current pane, of panes of open windows, and of waiting cells."""
        return live_cells(self.tables, self.lanes)

    def product(self) -> Cells:
        """A copy of the map of all events of the only key, no window of which may have ended; ends its pane."""
        self._end_pane()
        size = self.tables.enters.size
        return Cells._make(array[0, int(PRODUCT) * size :][:size].copy() for array in self.lanes.cells)

    def open_rows(self, first: int, count: int) -> Cells:
        """Rows of P cells of `count` windows of the only key from window `first` on; none of them may have ended. The
        evaluator is not used afterwards.
        """
        rows = empty_cells(count * len(self.tables.after), self.query.layout, self.query.arithmetic)
        self._end_pane()
        open_windows(first, count, self.timed.slide, self.tables, self.lanes, rows)
        return rows

    def _end_pane(self) -> None:
        """Ends the current pane of the only key."""
        self.make_room(1)
        if self.lanes.counters[0, BACK] == len(self.fresh.back_first):
            self.grow(0)
        end_pane(self.tables, self.lanes)


def pane_maps_of(part: Part) -> tuple[PaneTables, Voids]:
    """The maps of an automaton, and what its negations empty."""
    if part.negations:
        return voidable_tables_of(part.tables, len(part.negations))
    return pane_tables_of(part.tables), NO_VOIDS
