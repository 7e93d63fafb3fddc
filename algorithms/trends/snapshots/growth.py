"""The state of a sharable set, and its growth: queues, whose oldest items leave, are compacted, or made wider."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.engine.kernels.cells import Cells, empty_cells
from cepbench.algorithms.growth import resized
from cepbench.algorithms.trends.online.blocks import BlockShape, empty_positions
from cepbench.algorithms.trends.online.kernels.store import Graph, GraphSizeRecord
from cepbench.algorithms.trends.online.kernels.template import Template
from cepbench.algorithms.trends.online.template import empty_totals
from cepbench.algorithms.trends.snapshots.compilation import CompiledMembers
from cepbench.algorithms.trends.snapshots.kernels.vertices import VertexQueue
from cepbench.queries.records import records_of

FIRST_ROOM = 64
"""Events, and cells, that there is room for at first."""


class SetState(ABC):
    """The state that the kernels of a sharable set write; it grows between their calls.

    It begins with one record of `counts`, an empty graph of the events at each position, and an empty queue of shared
    vertices with `lists` lists, of records of `vertex`.
    """

    def __init__(
        self, compiled: CompiledMembers[Any], arithmetic: str, template: Template, counts: type, vertex: type,
        lists: int,
    ) -> None:  # fmt: skip
        self.compiled, self.arithmetic, columns = compiled, arithmetic, compiled.columns
        self.totals = empty_totals(template, compiled.channels.layout, arithmetic, counts)
        ints, reals = np.zeros((len(columns.ints), 0), np.int64), np.zeros((len(columns.reals), 0), np.float64)
        last = np.full(lists, -1, np.int64)
        self.vertices = VertexQueue(np.zeros(0, records_of(vertex)), last, ints, reals, self.cells(0))
        small = any(member.query.partition for member in compiled.members)
        span = int(template.whole["span"][0])
        self.shape = BlockShape(columns, span, compiled.channels.layout, arithmetic, small)
        position = empty_positions(template, compiled.program.predicates)
        blocks = self.shape.empty(int(template.position["kept"].sum()))
        self.graph = Graph(position=position, size=np.zeros(1, records_of(GraphSizeRecord)), **blocks._asdict())

    @property
    def counts(self) -> Any:
        """The only record of `totals.counts`, to read and write."""
        return self.totals.counts[0]

    def cells(self, count: int) -> Cells:
        """The given number of cells with the channels of the set."""
        return empty_cells(count, self.compiled.channels.layout, self.arithmetic)

    def largest(self, buffered: int = 0) -> StateSize:
        """The largest state since the last call, that of now with so many `buffered` events included."""
        self.note(buffered)
        counts = self.counts
        kinds = {name: int(counts[f"peak_{name}"]) for name in ("events", "aggregates", "snapshots")}
        size = StateSize(int(counts["peak"]), kinds)
        counts["peak"] = 0
        return size

    @property
    @abstractmethod
    def arrays(self) -> Any:
        """The state as kernels know it."""

    @abstractmethod
    def note(self, buffered: int) -> None:
        """Notes the state if it is the largest since the last report."""

    def make_room(self) -> None:
        """Drops vertices that have left all windows, and makes room for those that a kernel stopped for."""
        counts, old = self.counts, self.vertices
        if counts["more_blocks"] > self.graph.left[0]:
            blocks = self.shape.wider(self.graph, len(self.graph.free) + int(counts["more_blocks"]))
            self.graph = self.graph._replace(**blocks._asdict())
        first, stop = int(counts["oldest_vertex"]), int(counts["vertices"])
        free = free_room(len(old.event), stop - first, int(counts["more_vertices"]))
        event = resized(old.event[first:stop], free)
        ints, reals = resized(old.ints[:, first:stop], free), resized(old.reals[:, first:stop], free)
        cell, end = int(counts["oldest_cell"]), int(counts["vertex_cells"])
        free = free_room(len(old.cells.over), end - cell, int(counts["more_vertex_cells"]))
        cells = old.cells.on(*(resized(plane[cell:end], free, axis=0) for plane in old.cells.planes))
        event["cell"] -= cell
        for numbers in (event["before"], old.last):
            np.maximum(numbers - first, -1, out=numbers)
        self.vertices = VertexQueue(event, old.last, ints, reals, cells)
        counts["vertices"], counts["oldest_vertex"] = stop - first, 0
        counts["vertex_cells"], counts["oldest_cell"] = end - cell, 0


def free_room(room: int, live: int, needed: int) -> int:
    """The free room after `live` items of a queue with `room`, compacted or grown for `needed` more items.

    At least as much as is live stays free, so that this is rarely done again. Kernels clear new items.
    """
    size = 2 * live + needed
    return (room if size <= room else max(size, 2 * room, FIRST_ROOM)) - live
