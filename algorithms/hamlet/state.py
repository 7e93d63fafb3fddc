"""The state of a sharable set: fresh, and with more room."""

from __future__ import annotations

import numpy as np

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
from cepbench.algorithms.kernels.growth import wider
from cepbench.algorithms.snapshots.growth import SetState, free_room
from cepbench.queries.records import records_of

FIRST_SNAPSHOTS = 8


class HamletSetState(SetState):
    """The state of a sharable set."""

    compiled: CompiledSet

    def __init__(self, compiled: CompiledSet, arithmetic: str) -> None:
        template = compiled.program.template
        super().__init__(compiled, arithmetic, template, CountRecord, StoredRecord, len(template.group))
        self.counts["last"] = -1
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
        return HamletState(self.totals, self.graph, self.vertices, self.graphlets)

    def make_room(self) -> None:
        """As `SetState.make_room`; for snapshots, too, to which the kept events refer."""
        super().make_room()
        counts, old, room = self.counts, self.graphlets, len(self.graphlets.snapshot)
        first, stop = int(counts["oldest_snapshot"]), int(counts["snapshots"])
        more = free_room(room, stop - first, int(counts["more_snapshots"]))
        rows = (array.reshape(len(array) // room, room, *array.shape[1:])[:, first:stop] for array in old.cells)
        wide = (wider(array, more, axis=1) for array in rows)
        cells = Cells._make(array.reshape(array.shape[0] * array.shape[1], *array.shape[2:]) for array in wide)
        snapshot, among = wider(old.snapshot[first:stop], more), wider(old.among[:, first:stop], more)
        self.graphlets = old._replace(cells=cells, snapshot=snapshot, among=among)
        for name in ("first", "graphlet"):
            self.vertices.event[name] -= first
        counts["snapshots"], counts["oldest_snapshot"] = stop - first, 0

    def note(self, buffered: int) -> None:
        """As `SetState.note`."""
        note_state(buffered, self.compiled.program.template, self.totals, self.counters)
