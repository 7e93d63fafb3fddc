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
from cepbench.algorithms.snapshots.growth import SetState, shortage
from cepbench.queries.records import records_of

FIRST_SNAPSHOTS = 8


@dataclass
class HamletSetState(SetState):
    """The state of a sharable set; queues are made compact, or wider, between calls of kernels."""

    compiled: CompiledSet

    def __post_init__(self) -> None:
        template = self.compiled.program.template
        self.totals = self.fresh_totals(template, int(template.whole["cells"][0]), CountRecord)
        self.counts["last"] = -1
        self.vertices = self.fresh_vertices(StoredRecord, len(template.position) + len(template.group))
        units = np.zeros(len(template.unit), records_of(SharingRecord))
        units["apart"] = -1
        self.graphlets = GraphletStore(
            cells=self.cells(FIRST_SNAPSHOTS * (VALUES + int(template.whole["contexts"][0]))),
            snapshot=np.zeros(FIRST_SNAPSHOTS, records_of(SnapshotRecord)),
            in_window=np.zeros(len(template.group), np.float64),
            unit=units,
            among=np.zeros((len(units), FIRST_SNAPSHOTS), np.bool_),
        )

    @property
    def arrays(self) -> HamletState:
        """The state as kernels know it."""
        return HamletState(self.totals, self.vertices, self.graphlets)

    def make_room(self) -> None:
        """As `SetState.make_room`; for snapshots, too."""
        super().make_room()
        self._compact_snapshots()
        more = shortage(len(self.graphlets.snapshot), int(self.counts["snapshots"]), int(self.counts["more_snapshots"]))
        if more > 0:
            self._widen_snapshots(more)

    def note(self, buffered: int) -> None:
        """As `SetState.note`."""
        note_state(buffered, self.compiled.program.template, self.totals)

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
