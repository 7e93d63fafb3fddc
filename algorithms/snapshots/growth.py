"""Room for what kernels of sharable sets keep: queues that leave at their oldest end are made compact, or wider."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.kernels.cells import Cells, empty_cells
from cepbench.algorithms.kernels.growth import widened
from cepbench.algorithms.snapshots.kernels.records import OpenRecord, PendingRecord
from cepbench.algorithms.snapshots.kernels.template import SetTotals, Template, VertexQueue
from cepbench.algorithms.snapshots.sets import CompiledMembers
from cepbench.queries.records import records_of

FIRST_ROOM = 64
"""Events, and cells, that there is room for at first."""


@dataclass
class SetState(ABC):
    """What the kernels of a sharable set write; it is made compact, or wider, between their calls."""

    compiled: CompiledMembers
    arithmetic: str
    totals: SetTotals = field(init=False)

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

    @abstractmethod
    def note(self, buffered: int) -> None:
        """Notes the state if it is the largest since the last report."""


def with_room(vertices: VertexQueue, counts: Any, more: int, cells: int) -> VertexQueue:
    """A compact queue, with space for the given number of further vertices and of their cells.

    Its capacity at least doubles the number of live vertices, so that it is not compacted too often.
    """
    short = 2 * int(counts["vertices"]) + more - len(vertices.event)
    if short > 0:
        vertices = widened(vertices, ("event", "ints", "reals"), max(short, len(vertices.event), FIRST_ROOM))
    room = len(vertices.cells.over)
    short = 2 * int(counts["vertex_cells"]) + cells - room
    if short > 0:
        vertices = vertices._replace(cells=more_cells(vertices.cells, max(short, room, FIRST_ROOM)))
    return vertices


def compact_vertices(counts: Any, vertices: VertexQueue) -> None:
    """Drops the vertices, and their cells, that have left all windows."""
    gone, size, stop = int(counts["oldest_vertex"]), int(counts["vertices"]), int(counts["vertex_cells"])
    if gone == 0:
        return
    first = int(vertices.event["cell"][gone]) if gone < size else stop
    shift((vertices.event, vertices.ints, vertices.reals), gone, size)
    shift_cells(vertices.cells, first, stop)
    vertices.event["cell"][: size - gone] -= first
    renumber((vertices.event["before"][: size - gone], vertices.last), gone)
    counts["vertices"], counts["oldest_vertex"], counts["vertex_cells"] = size - gone, 0, stop - first


def more_cells(cells: Cells, more: int) -> Cells:
    """With more cells, which kernels clear before they read them."""
    return widened(cells, cells._fields, more, axis=0)


def shift(arrays: Sequence[NDArray[Any]], gone: int, size: int) -> None:
    """Moves entries `gone` to `size` to the begin of the last axis."""
    for array in arrays:
        array[..., : size - gone] = array[..., gone:size].copy()


def shift_cells(cells: Cells, gone: int, size: int) -> None:
    """Moves cells `gone` to `size` to the begin."""
    for array in cells:
        array[: size - gone] = array[gone:size].copy()


def renumber(arrays: Sequence[NDArray[np.int64]], gone: int) -> None:
    """Numbers of entries, once the first `gone` are; -1 for those."""
    for array in arrays:
        np.maximum(array - gone, -1, out=array)
