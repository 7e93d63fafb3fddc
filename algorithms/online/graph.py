"""The evaluator over a GRETA graph: vertices for all positions, or for those whose events are selected one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.cells import cell_bytes, empty_cells
from cepbench.algorithms.online.granularity import SEMANTICS
from cepbench.algorithms.online.kernels.lifecycle import (
    ANY,
    CONTIGUOUS,
    Slots,
    Windowed,
    make_slots,
    new_state,
    slot_count,
)
from cepbench.algorithms.online.kernels.reach.visits import propagate_keys
from cepbench.algorithms.online.kernels.store import (
    EDGES,
    LIVE,
    NO_BLOCK,
    BlockRecord,
    Blocks,
    GraphPositionRecord,
    KeyGraph,
)
from cepbench.algorithms.running.batches import sliding
from cepbench.algorithms.running.lanes import CellLanes
from cepbench.algorithms.running.negation import negations_of
from cepbench.algorithms.running.peak import Sizes
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part
from cepbench.queries.model import Op
from cepbench.queries.records import Records, records_of
from cepbench.queries.tables import OPERATORS, Tables

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
FIRST_BLOCKS = 8


class GraphGrained(CellLanes):
    """A graph of the events at the positions in `kept` (bool[P]), and cells of the others in the open windows.

    Under skip-till-any-match O(n**2 k) time and O(n k) space for n kept events per window that lie in k windows each
    (Theorem 11.5); O(n (t + n_e) k) for COGRA with n_e kept events and t other positions (Theorem 15.4). Under the
    other semantics O(n (t + u) k) time for u events that wait for a successor: Algorithm 9 assumes u = 1 and
    undercounts otherwise (`docs/findings.md`). Each key has O(K P) space for K windows and P positions in addition;
    the graphs of all keys share one arena of blocks.
    """

    over = staticmethod(propagate_keys)
    arena: Blocks
    lanes: KeyGraph

    def __init__(self, query: CompiledQuery, part: Part, window: Window, kept: NDArray[np.bool_]) -> None:
        semantics, self.keeps = SEMANTICS[query.query.semantics], bool(kept.any())
        slots, position = _template(part, semantics, kept.tobytes())
        sizes = Sizes(cell_bytes(part.tables), 1 + slot_count(slots))
        if self.keeps:
            is_sorted = bool(np.any(position["sort_column"] >= 0))
            kept_bytes = 8 * (1 + len(query.ints) + len(query.reals) + is_sorted)
            sizes = replace(sizes, kept_cells=window.overlap, kept_bytes=kept_bytes)
        fixed = Windowed(part.tables, slots, semantics, (True,) * self.keeps, sliding(window))
        windows = new_state(window.overlap, slots, query.layout, query.arithmetic, sizes.clock())
        own = KeyGraph(position, np.zeros(2, np.int64), windows)
        super().__init__(query, window, fixed, own, sizes)
        self.negations = negations_of(part.negations, window, query.columns)
        vertices = OF_MANY_KEYS if query.partition or semantics != ANY else VERTICES
        self.width = min(vertices, max(FEWEST_VERTICES, BLOCK_CELLS // window.overlap))
        self.arena = self._new_arena(FIRST_BLOCKS + 2 * len(position))

    @property
    def clocks(self) -> Ints:
        return self.lanes.windows.clock

    @property
    def kept(self) -> Ints:
        """Vertices; or cells that wait, where no events are kept."""
        return self.lanes.counters[:, LIVE] if self.keeps else super().kept

    def work(self, lanes: KeyGraph) -> Mapping[str, float]:
        """Edges visited so far."""
        return {"edges": float(lanes.counters[:, EDGES].sum())}

    def grow(self, key: int) -> None:
        """Doubles the number of blocks."""
        blocks, free = len(self.arena.free), self.arena.free[: self.arena.left[0]]
        self._move(2 * blocks, slice(blocks), self._by_block(), np.append(free, np.arange(blocks, 2 * blocks)))

    def packed(self, live: Ints) -> Any:
        blocks = len(self.arena.free)
        used = np.setdiff1d(np.arange(blocks), self.arena.free[: self.arena.left[0]])
        return blocks, used, [array[used] for array in self._by_block()]

    def unpacked(self, live: Ints, packed: Any) -> Any:
        blocks, used, kept = packed
        self._move(blocks, used, kept, np.setdiff1d(np.arange(blocks), used))
        return self.arena

    def _new_arena(self, blocks: int) -> Blocks:
        query, vertices = self.query, blocks * self.width
        return Blocks(
            block=np.zeros(blocks, records_of(BlockRecord)),
            free=np.arange(blocks, dtype=np.int64),
            left=np.array([blocks], np.int64),
            time=np.zeros((blocks, self.width), np.int64),
            order=np.zeros((blocks, self.width), np.int64),
            ints=np.zeros((len(query.ints), vertices), np.int64),
            reals=np.zeros((len(query.reals), vertices), np.float64),
            cells=empty_cells(vertices * self.timed.overlap, query.layout, query.arithmetic),
            selected=np.zeros(self.width, np.int64),
        )

    def _move(self, blocks: int, to: Ints | slice, kept: Sequence[NDArray[Any]], free: Ints) -> None:
        """Allocates an arena of `blocks`, and copies the kept contents to the blocks `to`."""
        self.arena = self._new_arena(blocks)
        for array, some in zip(self._by_block(), kept, strict=True):
            array[to] = some
        self.arena.left[0] = len(free)
        self.arena.free[: len(free)] = free

    def _by_block(self) -> list[NDArray[Any]]:
        """Views of the arrays with blocks as their first axis."""
        arena, blocks = self.arena, len(self.arena.free)
        cells = [array.reshape(blocks, len(array) // blocks, array[0].size) for array in arena.cells]
        columns = [array.reshape(len(array), blocks, self.width).swapaxes(0, 1) for array in (arena.ints, arena.reals)]
        return [arena.block, arena.time, arena.order, *cells, *columns]


@lru_cache(maxsize=256)
def _template(part: Part, semantics: int, kept_positions: bytes) -> tuple[Slots, Records]:
    """What all graphs of an automaton have in common, once for many keys: its slots, and empty positions.

    Vertices that leave when they are extended are not there any more when their windows close.
    """
    tables, kept = part.tables, np.frombuffer(kept_positions, np.bool_)
    late = kept & tables.end & (np.diff(tables.trailing_ptr) > 0) & (semantics == ANY)
    position = np.zeros(len(kept), records_of(GraphPositionRecord))
    position["kept"], position["late"] = kept, late
    position["prunable"] = kept & ~late & _leads_over_negation(tables)
    position["sort_column"], position["sort_real"] = _sort_columns(tables)
    position["head"] = position["tail"] = NO_BLOCK
    return make_slots(tables, len(part.negations), ~kept, ~late, semantics == CONTIGUOUS), position


def _leads_over_negation(tables: Tables) -> NDArray[np.bool_]:
    """bool[P]: positions that have transitions, all of them negated."""
    negated = np.diff(tables.between_ptr) > 0
    leads = np.zeros(len(tables.start), np.bool_)
    leads[tables.source] = True
    leads[tables.source[~negated]] = False
    return leads


def _sort_columns(tables: Tables) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Per position the attribute, and its family, by which its first indexable edge predicate compares it."""
    column = np.full(len(tables.start), -1, np.int64)
    real = np.zeros(len(tables.start), np.bool_)
    adjacent = tables.adjacent
    for e, source in enumerate(tables.source):
        for k in range(adjacent.ptr[e], adjacent.ptr[e + 1]):
            one = adjacent.one[k]
            if column[source] < 0 and one["op"] != OPERATORS[Op.NE] and one["left_factor"] > 0:
                column[source], real[source] = one["left_column"], one["real"]
    return column, real
