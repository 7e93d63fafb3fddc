"""The state of a sharable set: fresh, with more room, and its size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from cepbench.algorithms.gloria.compilation import CompiledPlan
from cepbench.algorithms.gloria.kernels.state import (
    Expressions,
    GloriaState,
    GroupState,
    OutletState,
    WorkRecord,
)
from cepbench.algorithms.gloria.kernels.windows import note_state
from cepbench.algorithms.kernels.growth import widened
from cepbench.algorithms.snapshots.growth import SetState, more_cells
from cepbench.algorithms.snapshots.kernels.records import PendingRecord, VertexRecord
from cepbench.queries.records import records_of

FIRST_ROOM = 8
"""Snapshots that a group has room for at first."""


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
            outlet=outlets,
            pending=np.zeros(len(tables.outlet), records_of(PendingRecord)),
            passed=np.zeros(len(tables.lists), np.bool_),
            masks=np.zeros(len(tables.lists), np.bool_),
            wanted=np.zeros(len(tables.position), np.int64),
            latest=np.full(len(tables.state), -1, np.int64),
        )

    def make_room(self) -> None:
        """Makes room for all that the next event may leave behind; groups that have too many snapshots move."""
        tables, counts = self.compiled.program.tables, self.counts
        most = 2 * int((tables.kind["state_end"] - tables.kind["state"]).max())
        for group, rows in zip(self.shared.group, tables.group["rows"].tolist(), strict=True):
            live = int(group["count"] - group["oldest"])
            if 2 * (live + most) > group["room"]:
                self._move(group, rows, live, max(2 * int(group["room"]), 2 * (live + most), FIRST_ROOM))
        self.widen_vertices(int(counts["more_vertices"]), int(counts["more_vertex_cells"]))

    def _move(self, group: Any, rows: int, live: int, room: int) -> None:
        """Moves the live snapshots of a group behind all others, where it has more room."""
        own, known = self.shared.group, self.compiled.program.tables.group["rows"]
        base, times = int((own["base"] + known * own["room"]).max()), int((own["times"] + own["room"]).max())
        first, old = int(group["oldest"] - group["shift"]), int(group["room"])
        short = base + rows * room - len(self.shared.cells.over)
        if short > 0:
            self.shared = self.shared._replace(cells=more_cells(self.shared.cells, max(short, base)))
        short = times + room - len(self.shared.times)
        if short > 0:
            self.shared = widened(self.shared, ("times",), max(short, times))
        for array in self.shared.cells:
            before = array[group["base"] : group["base"] + rows * old].reshape(rows, old, *array.shape[1:])
            after = array[base : base + rows * room].reshape(rows, room, *array.shape[1:])
            after[:, :live] = before[:, first : first + live]
        first += int(group["times"])
        self.shared.times[times : times + live] = self.shared.times[first : first + live]
        group["base"], group["room"], group["times"], group["shift"] = base, room, times, group["oldest"]

    def note(self, buffered: int = 0) -> None:
        """As `SetState.note`."""
        tables, totals = self.compiled.program.tables, self.totals
        note_state(tables.whole, tables.window, tables.group, totals.open, self.shared.group, totals.counts)
