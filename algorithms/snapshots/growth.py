"""Room for what kernels of sharable sets keep: queues that leave at their oldest end are made compact, or wider."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.kernels.cells import Cells, empty_cells
from cepbench.algorithms.kernels.growth import widened
from cepbench.algorithms.snapshots.compilation import CompiledMembers
from cepbench.algorithms.snapshots.kernels.records import OpenRecord, PendingRecord
from cepbench.algorithms.snapshots.kernels.template import SetTotals, Template, VertexQueue
from cepbench.queries.records import records_of

FIRST_ROOM = 64
"""Events, and cells, that there is room for at first."""


@dataclass
class SetState(ABC):
    """What the kernels of a sharable set write; it is made compact, or wider, between their calls."""

    compiled: CompiledMembers[Any]
    arithmetic: str
    totals: SetTotals = field(init=False)
    vertices: VertexQueue = field(init=False)

    @property
    def counts(self) -> Any:
        """The only record of `totals.counts`, to read and write."""
        return self.totals.counts[0]

    def cells(self, count: int) -> Cells:
        """The given number of cells with the channels of the set."""
        return empty_cells(count, self.compiled.channels.layout, self.arithmetic)

    def fresh_totals(self, template: Template, cells: int, counts: type) -> SetTotals:
        """Totals before the first event, with one record of `counts`."""
        opened, count = np.zeros(len(template.window), records_of(OpenRecord)), np.zeros(1, records_of(counts))
        opened["high"] = -1
        count["now"] = count["edge"] = -1
        pending = np.zeros(len(template.slot), records_of(PendingRecord))
        seen = np.full(len(self.compiled.negations), -1, np.int64)
        return SetTotals(self.cells(cells), pending, seen, opened, count)

    def fresh_vertices(self, record: type, lists: int) -> VertexQueue:
        """An empty queue with the given number of lists."""
        columns, event = self.compiled.columns, np.zeros(0, records_of(record))
        ints, reals = np.zeros((len(columns.ints), 0), np.int64), np.zeros((len(columns.reals), 0), np.float64)
        return VertexQueue(event, np.full(lists, -1, np.int64), ints, reals, self.cells(0))

    def largest(self, buffered: int = 0) -> StateSize:
        """The largest state since the last call, that of now with so many `buffered` events included."""
        self.note(buffered)
        counts = self.counts
        kinds = {name: int(counts[f"peak_{name}"]) for name in ("events", "aggregates", "snapshots")}
        found = StateSize(int(counts["peak"]), kinds)
        counts["peak"] = 0
        return found

    @property
    @abstractmethod
    def arrays(self) -> Any:
        """The state as kernels know it."""

    @abstractmethod
    def note(self, buffered: int) -> None:
        """Notes the state if it is the largest since the last report."""

    def make_room(self) -> None:
        """Makes the queue of vertices compact, with room for those that a kernel stopped for, and for their cells."""
        counts = self.counts
        self._compact_vertices(int(counts["oldest_vertex"]), int(counts["vertices"]))
        more = shortage(len(self.vertices.event), int(counts["vertices"]), int(counts["more_vertices"]))
        if more > 0:
            self.vertices = widened(self.vertices, ("event", "ints", "reals"), more)
        more = shortage(len(self.vertices.cells.over), int(counts["vertex_cells"]), int(counts["more_vertex_cells"]))
        if more > 0:
            self.vertices = self.vertices._replace(cells=more_cells(self.vertices.cells, more))

    def _compact_vertices(self, gone: int, size: int) -> None:
        """Drops the first `gone` of `size` vertices, which have left all windows, and their cells."""
        counts, vertices = self.counts, self.vertices
        if gone == 0:
            return
        first, stop = int(counts["oldest_cell"]), int(counts["vertex_cells"])
        for array in (vertices.event, vertices.ints, vertices.reals):
            array[..., : size - gone] = array[..., gone:size].copy()
        for cells in vertices.cells:
            cells[: stop - first] = cells[first:stop].copy()
        vertices.event["cell"][: size - gone] -= first
        for numbers in (vertices.event["before"][: size - gone], vertices.last):
            np.maximum(numbers - gone, -1, out=numbers)
        counts["vertices"], counts["oldest_vertex"] = size - gone, 0
        counts["vertex_cells"], counts["oldest_cell"] = stop - first, 0


def shortage(room: int, live: int, more: int) -> int:
    """By how much to widen what has room for so many things, some of which are live, for `more` of them.

    Room at least doubles what is live, so that queues are not made compact too often.
    """
    short = 2 * live + more - room
    return max(short, room, FIRST_ROOM) if short > 0 else 0


def more_cells(cells: Cells, more: int) -> Cells:
    """With more cells, which kernels clear before they read them."""
    return widened(cells, cells._fields, more, axis=0)
