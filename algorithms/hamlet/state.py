"""The state of a sharable set: fresh, and with more room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.hamlet.compilation import CompiledSet
from cepbench.algorithms.hamlet.kernels.state import (
    VALUES,
    CountRecord,
    GraphletStore,
    HamletState,
    SharingRecord,
    SnapshotRecord,
    StoredRecord,
)
from cepbench.algorithms.hamlet.kernels.windows import note_state
from cepbench.algorithms.kernels.cells import Cells
from cepbench.algorithms.kernels.growth import widened, wider
from cepbench.algorithms.snapshots.growth import SetState
from cepbench.queries.records import records_of

FIRST_SNAPSHOTS = 8


@dataclass
class HamletSetState(SetState):
    """The state of a sharable set; queues are made compact, or wider, between calls of kernels."""

    compiled: CompiledSet

    def __post_init__(self) -> None:
        template, groups = self.compiled.program.template, self.compiled.program.groups
        self.totals = self.fresh_totals(template, int(template.whole["cells"][0]), CountRecord)
        self.counts["last"] = self.counts["decided"] = -1
        self.vertices = self.fresh_vertices(StoredRecord, len(template.position) + len(groups.group))
        units = np.zeros(len(groups.unit), records_of(SharingRecord))
        units["apart"] = -1
        self.graphlets = GraphletStore(
            cells=self.cells(FIRST_SNAPSHOTS * (VALUES + int(template.whole["contexts"][0]))),
            snapshot=np.zeros(FIRST_SNAPSHOTS, records_of(SnapshotRecord)),
            in_window=np.zeros(len(groups.group), np.float64),
            unit=units,
            sharing=np.zeros(len(groups.alike), np.int64),
            among=np.zeros((len(units), FIRST_SNAPSHOTS), np.bool_),
        )

    @property
    def arrays(self) -> HamletState:
        """The state as kernels know it."""
        return HamletState(self.totals, self.vertices, self.graphlets)

    def make_room(self, size: int) -> None:
        """Makes room for all that a burst of `size` events may leave behind."""
        counts, program = self.counts, self.compiled.program
        kept = int(program.template.kind["kept"].max(initial=0))
        cells = size * kept * int(program.template.whole["most"][0]) + int(counts["more_expressions"])
        self.widen_vertices(size * (kept + 1), cells)
        self._compact_snapshots()
        room = len(self.graphlets.snapshot)
        if counts["snapshots"] + size + 1 > room:
            self._widen_snapshots(max(size + 1, room))

    def note(self, buffered: int) -> None:
        """As `SetState.note`."""
        template = self.compiled.program.template
        note_state(buffered, template.whole, template.window, self.totals.open, self.totals.counts)

    def _compact_snapshots(self) -> None:
        """Drops snapshots that are gone; the kept events refer to the others."""
        counts, shared, event = self.counts, self.graphlets, self.vertices.event[: int(self.counts["vertices"])]
        gone, size = int(counts["oldest_snapshot"]), int(counts["snapshots"])
        if gone == 0:
            return
        shared.snapshot[: size - gone] = shared.snapshot[gone:size].copy()
        for array in (shared.among, *self._rows()):
            array[:, : size - gone] = array[:, gone:size].copy()
        event["first"] -= gone
        event["graphlet"] -= gone
        counts["snapshots"], counts["oldest_snapshot"] = size - gone, 0

    def _rows(self) -> Sequence[NDArray[Any]]:
        """Views of the cells of shared graphlets by row and snapshot."""
        room = len(self.graphlets.snapshot)
        return [array.reshape(len(array) // room, room, *array.shape[1:]) for array in self.graphlets.cells]

    def _widen_snapshots(self, more: int) -> None:
        wide = (wider(array, more, axis=1) for array in self._rows())
        cells = Cells(*(array.reshape(array.shape[0] * array.shape[1], *array.shape[2:]) for array in wide))
        self.graphlets = widened(self.graphlets, ("snapshot", "among"), more)._replace(cells=cells)
