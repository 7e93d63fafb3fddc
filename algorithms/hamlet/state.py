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
    COUNTERS,
    GRAPHLETS,
    LAST,
    NOW,
    OLDEST_GRAPHLET,
    OLDEST_SNAPSHOT,
    OLDEST_STORED,
    OLDEST_VERTEX,
    PEAK,
    PEAK_BUFFERED,
    PEAK_SNAPSHOTS,
    PEAK_STORED,
    PEAK_VERTICES,
    PEAK_WINDOWS,
    SNAPSHOTS,
    STORED,
    VERTICES,
    GraphletStore,
    Totals,
    Vertices,
)
from cepbench.algorithms.hamlet.kernels.windows import Sizes, note_state
from cepbench.algorithms.kernels.cells import Cells, empty_cells
from cepbench.algorithms.kernels.growth import widened, wider

FIRST_ROOM = 64
"""Vertices, events of shared graphlets, and shared graphlets that there is room for at first."""
FIRST_SNAPSHOTS = 8


@dataclass
class SetState:
    """What kernels write; queues are made compact, or wider, between their calls."""

    compiled: CompiledSet
    arithmetic: str

    def __post_init__(self) -> None:
        program = self.compiled.program
        members, groups = program.members, program.groups
        spans = members.span[members.windows]
        slots = len(members.slot_base)
        slot_cells = int(members.span[members.windows[members.slot_member]].sum()) if slots else 0
        columns = len(self.compiled.columns.ints), len(self.compiled.columns.reals)
        units, kinds = len(groups.position), len(members.within)
        counts = np.zeros(COUNTERS, np.int64)
        counts[NOW] = counts[LAST] = -1
        most = int(spans.max())
        self.totals = Totals(
            self._cells(slot_cells),
            self._cells(slot_cells),
            self._cells(int(spans.sum())),
            self._cells(most + 2),
            np.zeros(slots, np.int64),
            np.zeros(slots, np.bool_),
            np.full(len(self.compiled.negations), -1, np.int64),
            np.zeros(kinds, np.int64),
            np.full(kinds, -1, np.int64),
            counts,
        )
        self.vertices = Vertices(
            _zeros(0),
            _zeros(0),
            np.full(len(members.of), -1, np.int64),
            np.zeros((columns[0], 0), np.int64),
            np.zeros((columns[1], 0), np.float64),
            self._cells(0),
            np.array([most], np.int64),
        )
        self.graphlets = GraphletStore(
            share=np.zeros(units, np.bool_),
            shared_before=np.zeros(units, np.bool_),
            sharing=_zeros(len(groups.sample)),
            sums=self._cells(FIRST_SNAPSHOTS),
            fresh=self._cells(FIRST_SNAPSHOTS),
            row=self._cells(FIRST_SNAPSHOTS),
            value=self._cells(FIRST_SNAPSHOTS * self.compiled.contexts),
            snapshot_group=_zeros(FIRST_SNAPSHOTS),
            snapshot_time=_zeros(FIRST_SNAPSHOTS),
            time=_zeros(0),
            before=_zeros(0),
            last=np.full(len(groups.unit_ptr) - 1, -1, np.int64),
            ints=np.zeros((columns[0], 0), np.int64),
            reals=np.zeros((columns[1], 0), np.float64),
            graphlet=_zeros(0),
            snapshots=_zeros(0),
            coefficients=self._cells(0),
            among=np.zeros((FIRST_ROOM, units), np.bool_),
            in_window=np.zeros(len(groups.unit_ptr) - 1),
        )
        weights = program.weights
        cell = 8 * (len(weights.ring.column) + 1 + len(weights.real.column) + len(weights.least.column))
        attributes = 8 * sum(columns)
        slots_of = np.diff(members.slot_ptr)
        per_window = [
            cell * int(sum(2 * slots_of[m] + 1 for m in range(len(spans)) if members.windows[m] == w))
            for w in range(kinds)
        ]
        self.sizes = Sizes(
            np.array(per_window, np.int64),
            np.array([16 + attributes + most * cell, 32 + attributes, cell, 16 + attributes], np.int64),
            np.array([self.compiled.contexts], np.int64),
        )

    def make_room(self, size: int) -> None:
        """Makes room for whatever a burst of `size` events may leave behind."""
        self._compact_vertices()
        self._compact_graphlets()
        counts, per_event = self.totals.counts, int(self.compiled.program.groups.kept_of.max(initial=0))
        room = len(self.vertices.time)
        if counts[VERTICES] + size * per_event > room:
            self._widen_vertices(max(size * per_event, room, FIRST_ROOM))
        room = len(self.graphlets.snapshot_time)
        if counts[SNAPSHOTS] + size + 1 > room:
            self._widen_snapshots(max(size + 1, room))
        room = len(self.graphlets.time)
        if self.compiled.program.groups.stores.any() and counts[STORED] + size > room:
            more = max(size, room, FIRST_ROOM)
            names = ("time", "before", "ints", "reals", "graphlet", "snapshots")
            coefficients = _more(self.graphlets.coefficients, more * len(self.graphlets.snapshot_time))
            self.graphlets = widened(self.graphlets, names, more)._replace(coefficients=coefficients)
        if counts[GRAPHLETS] + 1 > len(self.graphlets.among):
            self.graphlets = widened(self.graphlets, ("among",), len(self.graphlets.among), axis=0)

    def tell(self, buffered: int) -> StateSize:
        """The largest state since the last call, that of now included."""
        counts = self.totals.counts
        note_state(buffered, self.sizes, self.totals)
        cell = int(self.sizes.each[2])
        snapshots = int(counts[PEAK_SNAPSHOTS])
        aggregates = int(counts[PEAK_WINDOWS]) // cell + int(counts[PEAK_VERTICES]) * int(self.vertices.most[0])
        aggregates += snapshots * (int(counts[PEAK_STORED]) + self.compiled.contexts)
        events = int(counts[PEAK_VERTICES] + counts[PEAK_STORED] + counts[PEAK_BUFFERED])
        told = StateSize(int(counts[PEAK]), {"events": events, "aggregates": aggregates, "snapshots": snapshots})
        counts[PEAK] = 0
        return told

    def _cells(self, count: int) -> Cells:
        return empty_cells(count, self.compiled.channels.layout, self.arithmetic)

    def _compact_vertices(self) -> None:
        counts, vertices = self.totals.counts, self.vertices
        gone, size = int(counts[OLDEST_VERTEX]), int(counts[VERTICES])
        if gone == 0:
            return
        _shift((vertices.time, vertices.before, vertices.ints, vertices.reals), gone, size)
        _shift_cells(vertices.cells, gone * int(vertices.most[0]), size * int(vertices.most[0]))
        _renumber((vertices.before[: size - gone], vertices.last), gone)
        counts[VERTICES], counts[OLDEST_VERTEX] = size - gone, 0

    def _compact_graphlets(self) -> None:
        """Drops what is gone of events of shared graphlets, snapshots and graphlets."""
        counts, shared = self.totals.counts, self.graphlets
        room = len(shared.snapshot_time)
        gone, size = int(counts[OLDEST_STORED]), int(counts[STORED])
        if gone:
            columns = (shared.time, shared.before, shared.ints, shared.reals, shared.graphlet, shared.snapshots)
            _shift(columns, gone, size)
            _shift_cells(shared.coefficients, gone * room, size * room)
            _renumber((shared.before[: size - gone], shared.last), gone)
            counts[STORED], counts[OLDEST_STORED] = size - gone, 0
        stored = int(counts[STORED])
        gone, size = int(counts[OLDEST_GRAPHLET]), int(counts[GRAPHLETS])
        if gone:
            shared.among[: size - gone] = shared.among[gone:size].copy()
            shared.graphlet[:stored] -= gone
            counts[GRAPHLETS], counts[OLDEST_GRAPHLET] = size - gone, 0
        gone, size = int(counts[OLDEST_SNAPSHOT]), int(counts[SNAPSHOTS])
        if gone:
            _shift((shared.snapshot_group, shared.snapshot_time), gone, size)
            _shift_cells(shared.value, gone * self.compiled.contexts, size * self.compiled.contexts)
            for array in shared.coefficients:
                rows = array[: stored * room].reshape(stored, room, *array.shape[1:])
                rows[:, : size - gone] = rows[:, gone:size].copy()
            shared.snapshots[:stored] -= gone
            counts[SNAPSHOTS], counts[OLDEST_SNAPSHOT] = size - gone, 0

    def _widen_vertices(self, more: int) -> None:
        cells = _more(self.vertices.cells, more * int(self.vertices.most[0]))
        self.vertices = widened(self.vertices, ("time", "before", "ints", "reals"), more)._replace(cells=cells)

    def _widen_snapshots(self, more: int) -> None:
        shared = self.graphlets
        room, events = len(shared.snapshot_time), len(shared.time)
        coefficients = Cells(
            *(
                wider(array.reshape(events, room, *array.shape[1:]), more, axis=1).reshape(
                    events * (room + more), *array.shape[1:]
                )
                for array in shared.coefficients
            )
        )
        self.graphlets = widened(shared, ("snapshot_group", "snapshot_time"), more)._replace(
            sums=_more(shared.sums, more),
            fresh=_more(shared.fresh, more),
            row=_more(shared.row, more),
            value=_more(shared.value, more * self.compiled.contexts),
            coefficients=coefficients,
        )


def _zeros(size: int) -> NDArray[np.int64]:
    return np.zeros(size, np.int64)


def _more(cells: Cells, more: int) -> Cells:
    """With more cells, which kernels clear before they read them."""
    return widened(cells, cells._fields, more, axis=0)


def _shift(arrays: Sequence[NDArray[Any]], gone: int, size: int) -> None:
    for array in arrays:
        array[..., : size - gone] = array[..., gone:size].copy()


def _shift_cells(cells: Cells, gone: int, size: int) -> None:
    for array in cells:
        array[: size - gone] = array[gone:size].copy()


def _renumber(arrays: Sequence[NDArray[np.int64]], gone: int) -> None:
    for array in arrays:
        np.maximum(array - gone, -1, out=array)
