"""Room for the blocks of GRETA graphs, which kernels fill (`online.kernels.store`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.cells import empty_cells
from cepbench.algorithms.engine.kernels.constants import NONE
from cepbench.algorithms.trends.online.kernels.store import BlockRecord, Blocks, Graph, GraphPositionRecord
from cepbench.algorithms.trends.online.kernels.template import Template
from cepbench.queries.aggregates import Layout
from cepbench.queries.columns import ColumnSet
from cepbench.queries.model import Op
from cepbench.queries.records import Records, records_of
from cepbench.queries.tables import OPERATORS, Predicates

VERTICES = 256
"""Vertices per block: a sorted insertion moves at most this many; larger blocks were not faster to sum."""
FEWEST_VERTICES = 8
OF_MANY_KEYS = 32
"""The same where there are many keys: one with an event has a block for each of its positions; and where vertices leave
one by one, since a block goes with the last of them.
"""
BLOCK_CELLS = 4096
"""Cells per block, about: a pane needs a block per position even if it has one vertex, so blocks that lie in many
windows hold fewer vertices (measured: 3.5 GB for 6 MB of cells at 600 windows per event without this)."""


@dataclass(frozen=True)
class BlockShape:
    """Blocks of vertices with some columns and channels, which lie in at most `span` windows; smaller if `small`."""

    columns: ColumnSet
    span: int
    layout: Layout
    arithmetic: str
    small: bool

    @property
    def width(self) -> int:
        """Vertices per block."""
        return min(OF_MANY_KEYS if self.small else VERTICES, max(FEWEST_VERTICES, BLOCK_CELLS // self.span))

    def empty(self, blocks: int) -> Blocks:
        """`blocks` free blocks."""
        width, vertices = self.width, blocks * self.width
        return Blocks(
            block=np.zeros(blocks, records_of(BlockRecord)),
            free=np.arange(blocks, dtype=np.int64),
            left=np.array([blocks], np.int64),
            time=np.zeros((blocks, width), np.int64),
            order=np.zeros((blocks, width), np.int64),
            ints=np.zeros((len(self.columns.ints), vertices), np.int64),
            reals=np.zeros((len(self.columns.reals), vertices), np.float64),
            cells=empty_cells(vertices * self.span, self.layout, self.arithmetic),
            selected=np.zeros(width, np.int64),
        )

    def wider(self, blocks: Blocks | Graph, added: int) -> Blocks:
        """A copy with `added` free blocks in addition."""
        count, free = len(blocks.free), blocks.free[: blocks.left[0]]
        free = np.append(free, np.arange(count, count + added))
        return self.filled(count + added, slice(count), self.by_block(blocks), free)

    def filled(self, blocks: int, to: Ints | slice, kept: Sequence[NDArray[Any]], free: Ints) -> Blocks:
        """`blocks` blocks, of which those at `to` have the `kept` contents, and those in `free` are free."""
        filled = self.empty(blocks)
        for array, contents in zip(self.by_block(filled), kept, strict=True):
            array[to] = contents
        filled.left[0] = len(free)
        filled.free[: len(free)] = free
        return filled

    def by_block(self, blocks: Blocks | Graph) -> list[NDArray[Any]]:
        """Views of the arrays with blocks, at least one, as their first axis."""
        count = len(blocks.free)
        cells = [array.reshape(count, len(array) // count, array[0].size) for array in blocks.cells.planes]
        columns = (array.reshape(len(array), count, self.width) for array in (blocks.ints, blocks.reals))
        return [blocks.block, blocks.time, blocks.order, *cells, *(array.swapaxes(0, 1) for array in columns)]


def event_bytes(columns: ColumnSet, position: Records) -> int:
    """Bytes of a kept event without cells: its time, its attributes, and its place in the order by one of them."""
    return 8 * (1 + len(columns.ints) + len(columns.reals) + int((position["sort_column"] >= 0).any()))


def empty_positions(template: Template, predicates: Predicates) -> Records:
    """Records of positions without vertices; those that are visited are sorted by the attribute that the first
    indexable predicate on adjacent events compares.
    """
    position = np.zeros(len(template.position), records_of(GraphPositionRecord))
    position["cells"] = template.window["span"][template.position["window"]]
    position["sort_column"] = position["head"] = position["tail"] = NONE
    for edge in template.transition[template.transition["visited"]]:
        q, e = edge["source"], edge["predicates"]
        for predicate in predicates.one[predicates.ptr[e] : predicates.ptr[e + 1]]:
            ordered = predicate["op"] != OPERATORS[Op.NE] and predicate["left_factor"] > 0
            if position["sort_column"][q] < 0 and ordered:
                position["sort_column"][q], position["sort_real"][q] = predicate["left_column"], predicate["real"]
    return position
