"""The state of a sharable set: fresh, with more room, and its size."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.hamlet.compilation import CompiledSet
from cepbench.algorithms.hamlet.kernels.state import (
    CountRecord,
    GraphletStore,
    HamletState,
    LatestRecord,
    SharingRecord,
    SnapshotRecord,
    StoredRecord,
    Totals,
    Vertices,
)
from cepbench.algorithms.hamlet.kernels.windows import note_state
from cepbench.algorithms.kernels.cells import Cells
from cepbench.algorithms.kernels.growth import widened, wider
from cepbench.algorithms.snapshots.growth import (
    FIRST_ROOM,
    SetState,
    compact_vertices,
    more_cells,
    renumber,
    shift,
    shift_cells,
    with_room,
)
from cepbench.algorithms.snapshots.kernels.records import VertexRecord
from cepbench.queries.records import records_of

FIRST_SNAPSHOTS = 8


@dataclass
class HamletSetState(SetState):
    """The state of a sharable set; queues are made compact, or wider, between calls of kernels."""

    compiled: CompiledSet

    def __post_init__(self) -> None:
        template, counts = self.compiled.program.template, np.zeros(1, records_of(CountRecord))
        counts["last"] = -1
        self.totals = Totals(**self.fresh_totals(template, int(template.whole["cells"][0]), counts))
        self.vertices = Vertices(**self.fresh_vertices(VertexRecord, len(template.position)))
        self.graphlets = self._new_graphlets()

    @property
    def arrays(self) -> HamletState:
        """The state as kernels know it."""
        return HamletState(self.totals, self.vertices, self.graphlets)

    def _new_graphlets(self) -> GraphletStore:
        template, groups, _, _ = self.compiled.program
        latest = np.zeros(len(groups.group), records_of(LatestRecord))
        latest["last"] = -1
        return GraphletStore(
            cells=self.cells(FIRST_SNAPSHOTS * int(template.whole["rows"][0])),
            snapshot=np.zeros(FIRST_SNAPSHOTS, records_of(SnapshotRecord)),
            group=latest,
            unit=np.zeros(len(groups.unit), records_of(SharingRecord)),
            sharing=np.zeros(len(groups.alike), np.int64),
            among=np.zeros((FIRST_ROOM, len(groups.unit)), np.bool_),
            event=np.zeros(0, records_of(StoredRecord)),
            **self.fresh_columns(),
            expressions=self.cells(0),
        )

    def make_room(self, size: int) -> None:
        """Makes room for all that a burst of `size` events may leave behind."""
        compact_vertices(self.counts, self.vertices)
        self._compact_graphlets()
        counts, program = self.counts, self.compiled.program
        per_event = int(program.template.kind["kept"].max(initial=0))
        most = int(program.template.whole["most"][0])
        self.vertices = with_room(self.vertices, self.counts, size * per_event, size * per_event * most)
        room = len(self.graphlets.snapshot)
        if counts["snapshots"] + size + 1 > room:
            self._widen_snapshots(max(size + 1, room))
        room = len(self.graphlets.event)
        if program.groups.group["stores"].any() and counts["stored"] + size > room:
            self.graphlets = widened(self.graphlets, ("event", "ints", "reals"), max(size, room, FIRST_ROOM))
        room = len(self.graphlets.expressions.over)
        if counts["expressions"] + counts["more_expressions"] > room:
            cells = more_cells(self.graphlets.expressions, max(int(counts["more_expressions"]), room, FIRST_ROOM))
            self.graphlets = self.graphlets._replace(expressions=cells)
        if counts["graphlets"] + 1 > len(self.graphlets.among):
            self.graphlets = widened(self.graphlets, ("among",), len(self.graphlets.among), axis=0)

    def largest(self, buffered: int) -> StateSize:
        """The largest state since the last call, that of now included."""
        counts, template = self.counts, self.compiled.program.template
        note_state(buffered, template.whole, template.window, self.totals.open, self.totals.counts)
        whole = template.whole[0]
        vertices, stored, snapshots = (int(counts[f"peak_{name}"]) for name in ("vertices", "stored", "snapshots"))
        aggregates = int(counts["peak_windows"] // whole["cell_bytes"]) + vertices * int(whole["most"])
        aggregates += int(counts["peak_expressions"]) + snapshots * int(whole["contexts"])
        events = vertices + stored + int(counts["peak_buffered"])
        found = StateSize(int(counts["peak"]), {"events": events, "aggregates": aggregates, "snapshots": snapshots})
        counts["peak"] = 0
        return found

    def _compact_graphlets(self) -> None:
        """Drops what is gone of events of shared graphlets, snapshots and graphlets."""
        counts, shared = self.counts, self.graphlets
        gone, size = int(counts["oldest_stored"]), int(counts["stored"])
        if gone:
            shift((shared.event, shared.ints, shared.reals), gone, size)
            renumber((shared.event["before"][: size - gone], shared.group["last"]), gone)
            counts["stored"], counts["oldest_stored"] = size - gone, 0
        stored = int(counts["stored"])
        gone, size = int(counts["oldest_expression"]), int(counts["expressions"])
        if gone:
            shift_cells(shared.expressions, gone, size)
            shared.event["cell"][:stored] -= gone
            counts["expressions"], counts["oldest_expression"] = size - gone, 0
        gone, size = int(counts["oldest_graphlet"]), int(counts["graphlets"])
        if gone:
            shared.among[: size - gone] = shared.among[gone:size].copy()
            shared.event["graphlet"][:stored] -= gone
            counts["graphlets"], counts["oldest_graphlet"] = size - gone, 0
        gone, size = int(counts["oldest_snapshot"]), int(counts["snapshots"])
        if gone:
            shift((shared.snapshot,), gone, size)
            for array in self._rows():
                array[:, : size - gone] = array[:, gone:size].copy()
            for name in ("first", "stop"):
                shared.event[name][:stored] -= gone
            counts["snapshots"], counts["oldest_snapshot"] = size - gone, 0

    def _rows(self) -> Sequence[NDArray[Any]]:
        """Views of the cells of shared graphlets by row and snapshot."""
        room = len(self.graphlets.snapshot)
        return [array.reshape(len(array) // room, room, *array.shape[1:]) for array in self.graphlets.cells]

    def _widen_snapshots(self, more: int) -> None:
        wide = (wider(array, more, axis=1) for array in self._rows())
        cells = Cells(*(array.reshape(array.shape[0] * array.shape[1], *array.shape[2:]) for array in wide))
        self.graphlets = widened(self.graphlets, ("snapshot",), more)._replace(cells=cells)
