"""The state of a sharable set: fresh, with more room, and its size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepbench.algorithms.gloria.compilation import CompiledPlan
from cepbench.algorithms.gloria.kernels.state import (
    Expressions,
    GloriaState,
    GroupState,
    InletState,
    OutletState,
    WorkRecord,
)
from cepbench.algorithms.gloria.kernels.windows import note_state
from cepbench.algorithms.kernels.growth import widened
from cepbench.algorithms.snapshots.growth import FIRST_ROOM, SetState, more_cells
from cepbench.algorithms.snapshots.kernels.records import PendingRecord, VertexRecord
from cepbench.queries.records import records_of


@dataclass
class PlanState(SetState):
    """The state of a sharable set that carries out a plan."""

    compiled: CompiledPlan

    def __post_init__(self) -> None:
        tables = self.compiled.program.tables
        self.totals = self.fresh_totals(tables, int(tables.whole["cells"][0]), WorkRecord)
        self.vertices = self.fresh_vertices(VertexRecord, len(tables.position) + len(tables.outlet))
        self.shared = self._new_expressions()

    @property
    def arrays(self) -> GloriaState:
        """The state as kernels know it."""
        return GloriaState(self.totals, self.vertices, self.shared)

    def _new_expressions(self) -> Expressions:
        tables = self.compiled.program.tables
        groups = np.zeros(len(tables.group), records_of(GroupState))
        groups["one"] = -1
        outlets = np.zeros(len(tables.outlet), records_of(OutletState))
        outlets["last"] = -1
        return Expressions(
            cells=self.cells(0),
            times=np.zeros(0, np.int64),
            group=groups,
            inlet=np.zeros(len(tables.inlet), records_of(InletState)),
            outlet=outlets,
            pending=np.zeros(len(tables.outlet), records_of(PendingRecord)),
            masks=np.zeros(self.compiled.masks, np.bool_),
            ending=np.zeros(len(tables.ending), np.int64),
            passed=np.zeros(len(tables.test), np.bool_),
            wanted=np.zeros(len(tables.position), np.bool_),
            stamp=np.zeros(len(tables.state), np.int64),
        )

    def make_room(self) -> None:
        """Makes room for all that the next event may leave behind."""
        counts = self.counts
        short = counts["used_cells"] + counts["more_cells"] - len(self.shared.cells.over)
        if short > 0:
            more = max(int(short), len(self.shared.cells.over), FIRST_ROOM)
            self.shared = self.shared._replace(cells=more_cells(self.shared.cells, more))
        short = counts["used_times"] + counts["more_times"] - len(self.shared.times)
        if short > 0:
            self.shared = widened(self.shared, ("times",), max(int(short), len(self.shared.times), FIRST_ROOM))
        counts["more_cells"] = counts["more_times"] = 0
        self.widen_vertices(int(counts["more_vertices"]), int(counts["more_vertex_cells"]))

    def note(self, buffered: int = 0) -> None:
        """As `SetState.note`."""
        tables = self.compiled.program.tables
        note_state(
            tables.whole, tables.window, tables.group, self.totals.open, self.shared.group, self.totals.counts
        )  # fmt: skip
