"""The state of a sharable set: fresh, with more room, and its size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.gloria.compilation import CompiledPlan
from cepbench.algorithms.gloria.kernels.state import (
    Expressions,
    GloriaState,
    GroupState,
    InletState,
    OutletState,
    TemplateCells,
    VisitedEvents,
    VisitedRecord,
    WorkRecord,
)
from cepbench.algorithms.gloria.kernels.windows import note_state
from cepbench.algorithms.kernels.cells import Cells, empty_cells
from cepbench.algorithms.kernels.growth import widened, wider
from cepbench.algorithms.snapshots.kernels.records import OpenRecord, PendingRecord
from cepbench.queries.records import records_of

FIRST_ROOM = 64
"""VisitedEvents, and cells, that there is room for at first."""


@dataclass
class PlanState:
    """What kernels write; it is made compact, or wider, between their calls."""

    compiled: CompiledPlan
    arithmetic: str

    def __post_init__(self) -> None:
        self.totals, self.vertices, self.shared = self._new_totals(), self._new_vertices(), self._new_expressions()

    @property
    def counts(self) -> Any:
        """The only record of `TemplateCells.counts`, to read and write."""
        return self.totals.counts[0]

    @property
    def arrays(self) -> GloriaState:
        """The state as kernels know it."""
        return GloriaState(self.totals, self.vertices, self.shared)

    def _new_totals(self) -> TemplateCells:
        tables = self.compiled.program.tables
        opened = np.zeros(len(tables.window), records_of(OpenRecord))
        opened["high"] = -1
        counts = np.zeros(1, records_of(WorkRecord))
        counts["now"] = counts["edge"] = -1
        return TemplateCells(
            cells=self._cells(int(tables.whole["cells"][0])),
            pending=np.zeros(len(tables.slot), records_of(PendingRecord)),
            seen=np.full(len(self.compiled.negations), -1, np.int64),
            open=opened,
            counts=counts,
            passed=np.zeros(len(tables.test), np.bool_),
            wanted=np.zeros(len(tables.place), np.bool_),
            stamp=np.zeros(len(tables.state), np.int64),
        )

    def _new_vertices(self) -> VisitedEvents:
        tables, columns = self.compiled.program.tables, self.compiled.columns
        return VisitedEvents(
            event=np.zeros(0, records_of(VisitedRecord)),
            last=np.full(len(tables.place) + len(tables.outlet), -1, np.int64),
            ints=np.zeros((len(columns.ints), 0), np.int64),
            reals=np.zeros((len(columns.reals), 0), np.float64),
            cells=self._cells(0),
        )

    def _new_expressions(self) -> Expressions:
        tables = self.compiled.program.tables
        groups = np.zeros(len(tables.group), records_of(GroupState))
        groups["one"] = -1
        outlets = np.zeros(len(tables.outlet), records_of(OutletState))
        outlets["last"] = -1
        return Expressions(
            cells=self._cells(0),
            times=np.zeros(0, np.int64),
            group=groups,
            inlet=np.zeros(len(tables.inlet), records_of(InletState)),
            outlet=outlets,
            pending=np.zeros(len(tables.outlet), records_of(PendingRecord)),
            masks=np.zeros(self.compiled.masks, np.bool_),
            ending=np.zeros(len(tables.ending), np.int64),
        )

    def make_room(self) -> None:
        """Makes room for whatever the next event may leave behind."""
        self._compact_vertices()
        counts = self.counts
        short = counts["used_cells"] + counts["more_cells"] - len(self.shared.cells.over)
        if short > 0:
            more = max(int(short), len(self.shared.cells.over), FIRST_ROOM)
            self.shared = self.shared._replace(cells=_more(self.shared.cells, more))
        short = counts["used_times"] + counts["more_times"] - len(self.shared.times)
        if short > 0:
            self.shared = widened(self.shared, ("times",), max(int(short), len(self.shared.times), FIRST_ROOM))
        counts["more_cells"] = counts["more_times"] = 0
        short = 2 * counts["vertices"] + counts["more_vertices"] - len(self.vertices.event)
        if short > 0:
            more = max(int(short), len(self.vertices.event), FIRST_ROOM)
            self.vertices = widened(self.vertices, ("event", "ints", "reals"), more)
        short = 2 * counts["vertex_cells"] + counts["more_vertex_cells"] - len(self.vertices.cells.over)
        if short > 0:
            more = max(int(short), len(self.vertices.cells.over), FIRST_ROOM)
            self.vertices = self.vertices._replace(cells=_more(self.vertices.cells, more))

    def tell(self) -> StateSize:
        """The largest state since the last call, that of now included."""
        counts, tables = self.counts, self.compiled.program.tables
        note_state(
            tables.whole, tables.window, tables.group, self.totals.open, self.shared.group, self.totals.counts
        )  # fmt: skip
        cells = int(counts["peak_windows"] // tables.whole[0]["cell_bytes"]) + int(counts["peak_coefficients"])
        kinds = {"events": counts["peak_vertices"], "aggregates": cells, "snapshots": counts["peak_snapshots"]}
        told = StateSize(int(counts["peak"]), {name: int(count) for name, count in kinds.items()})
        counts["peak"] = 0
        return told

    def _cells(self, count: int) -> Cells:
        return empty_cells(count, self.compiled.channels.layout, self.arithmetic)

    def _compact_vertices(self) -> None:
        counts, vertices = self.counts, self.vertices
        gone, size = int(counts["oldest_vertex"]), int(counts["vertices"])
        if gone == 0:
            return
        stop = int(counts["vertex_cells"])
        first = int(vertices.event["cell"][gone]) if gone < size else stop
        for array in (vertices.event, vertices.ints, vertices.reals):
            array[..., : size - gone] = array[..., gone:size].copy()
        for cells in vertices.cells:
            cells[: stop - first] = cells[first:stop].copy()
        vertices.event["cell"][: size - gone] -= first
        for numbers in (vertices.event["before"][: size - gone], vertices.last):
            numbers[:] = np.maximum(numbers - gone, -1)
        counts["vertices"], counts["oldest_vertex"], counts["vertex_cells"] = size - gone, 0, stop - first


def _more(cells: Cells, more: int) -> Cells:
    """With more cells, which kernels set before they read them."""
    return Cells(*(wider(array, more, axis=0) for array in cells))
