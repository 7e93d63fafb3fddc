"""Type granularity by panes, at a cost that does not grow with the overlap of windows (docs/panes.md)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.engine.batches import sliding
from cepbench.algorithms.engine.kernels.arrays import Ints, static
from cepbench.algorithms.engine.kernels.cells import cell_bytes
from cepbench.algorithms.engine.kernels.compilation import in_python
from cepbench.algorithms.engine.kernels.constants import ANY
from cepbench.algorithms.engine.lanes import CellLanes, mapped
from cepbench.algorithms.engine.negation import negations_of
from cepbench.algorithms.engine.peak import Sizes
from cepbench.algorithms.growth import resized
from cepbench.algorithms.trends.cogra.kernels import panes as kernels
from cepbench.algorithms.trends.cogra.kernels.pane_tables import PaneCells, Panes, new_pane_cells, pane_tables_of
from cepbench.algorithms.trends.cogra.kernels.panes import aggregate_panes_keys, end_pane
from cepbench.algorithms.trends.online.kernels.type_tables import is_common, words_by_shape
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part

FIRST_PANES = 8


class PaneGrained(CellLanes):
    """All aggregates under skip-till-any-match without predicates on adjacent events, with negations of single events.

    O(n C l + m C P^2) time for n events in m panes, maps of C rows and P columns (`kernels.pane_tables`) and l
    transitions into each; O(q C P) space for q panes of the open windows that hold an event. Without negation P is the
    number of positions, and C <= P + 1.

    The maps of panes lie on two stacks, so that a window is a product of their maps. There is one key, since all lanes
    have the same space, but keys need different numbers of panes (`Cogra.operator`).
    """

    over = staticmethod(aggregate_panes_keys)
    lanes: PaneCells

    def __init__(self, query: CompiledQuery, part: Part, window: Window) -> None:
        common = is_common(ANY, query.layout, part.tables, query.arithmetic)
        tables, words = pane_tables_of(part.tables, common), words_by_shape(query.layout, common)
        self.maps, sizes = tables.maps, Sizes(cell_bytes(part.tables), 0)
        negations = negations_of(part.negations, window, query.columns)
        fixed = Panes(tables, words, static(len(negations) > 0), window.overlap, sliding(window))
        fresh = new_pane_cells(tables.maps, FIRST_PANES, query.layout, query.arithmetic, sizes.clock(), len(negations))
        super().__init__(query, window, fixed, fresh, sizes, negations=negations)

    def grow(self, key: int) -> None:
        """Doubles the space for panes."""
        added = self.lanes.back.shape[1]
        rows = len(self.maps.stopped) + self.maps.starts
        for axis, name in enumerate(("fresh", "lanes")):
            states: PaneCells = getattr(self, name)
            more = added * rows * len(self.maps.after)
            cells = states.cells.on(*(resized(plane, more, axis) for plane in states.cells.planes))
            back, front = resized(states.back, added, axis), resized(states.front, added, axis)
            setattr(self, name, states._replace(cells=cells, back=back, front=front))

    @property
    def kept(self) -> Ints:
        """Number of cells of the current pane, of panes of open windows, and of waiting cells; of a key without an
        event so far, none.
        """
        progress, clocks = self.lanes.progress[:, 0], self.clocks
        live = in_python(kernels.live_cells)(self.maps, progress["back"], progress["front"], clocks["touched"])
        return np.where(clocks["now"] >= 0, live, 0)

    def ended(self) -> PaneCells:
        """Ends the current pane of the only key; returns a copy of its state, in which no peak is noted."""
        self.make_room(1)
        if self.lanes.progress["back"][0, 0] == self.lanes.back.shape[1]:
            self.grow(0)
        end_pane(self.negations.latest_of_one_key, self.maps, self.lanes)
        copy: PaneCells = mapped(np.copy, self.lanes)
        copy.clock["most_cells"] = 0
        return copy
