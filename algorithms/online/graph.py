"""The evaluator over a GRETA graph: vertices for all positions, or for those whose events are selected one by one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.cells import cell_bytes, empty_cells
from cepbench.algorithms.online.kernels.lifecycle import ANY, Slots, make_slots, slot_count
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
from cepbench.algorithms.online.window_cells import PlaceLanes
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
"""The same where there are many keys: one with an event has a block for each of its positions."""
BLOCK_CELLS = 4096
"""Cells per block, about: a pane needs a block per position even if it has one vertex, so blocks that lie in many
windows hold fewer vertices (measured: 3.5 GB for 6 MB of cells at 600 windows per event without this)."""
FIRST_BLOCKS = 8


class GraphGrained(PlaceLanes):
    """Skip-till-any-match over a graph of the positions in `kept` (bool[P]) and cells of the others.

    O(n**2 k) time and O(n k) space for n kept events per window that lie in k windows each (Theorem 11.5);
    O(n (t + n_e) k) for COGRA with n_e kept events and t other positions (Theorem 15.4). Each key has O(K P) space for
    K windows and P positions in addition; the graphs of all keys share one arena of blocks.
    """

    over = staticmethod(propagate_keys)
    by_place = ("block", "time", "order")
    arena: Blocks
    lanes: KeyGraph

    def __init__(self, query: CompiledQuery, part: Part, window: Window, kept: NDArray[np.bool_]) -> None:
        slots, position = _template(part, kept.tobytes())
        is_sorted = bool(np.any(position["sort_column"] >= 0))
        kept_bytes = 8 * (1 + len(query.ints) + len(query.reals) + is_sorted)
        sizes = Sizes(cell_bytes(part.tables), 1 + slot_count(slots), window.overlap, kept_bytes)
        own = partial(KeyGraph, position, np.zeros(3, np.int64), np.zeros(len(position), np.int64))
        super().__init__(query, part, window, slots, ANY, own, sizes)
        vertices = OF_MANY_KEYS if query.partition else VERTICES
        self.width = min(vertices, max(FEWEST_VERTICES, BLOCK_CELLS // window.overlap))
        self.arena = self.new_arena(FIRST_BLOCKS + 2 * len(position))

    def new_arena(self, places: int) -> Blocks:
        query, vertices = self.query, places * self.width
        return Blocks(
            block=np.zeros(places, records_of(BlockRecord)),
            free=np.arange(places, dtype=np.int64),
            left=np.array([places], np.int64),
            time=np.zeros((places, self.width), np.int64),
            order=np.zeros((places, self.width), np.int64),
            ints=np.zeros((len(query.ints), vertices), np.int64),
            reals=np.zeros((len(query.reals), vertices), np.float64),
            cells=empty_cells(vertices * self.timed.overlap, query.layout, query.arithmetic),
            selected=np.zeros(self.width, np.int64),
        )

    @property
    def kept(self) -> Ints:
        """Vertices."""
        return self.lanes.counters[:, LIVE]

    def work(self, lanes: KeyGraph) -> Mapping[str, float]:
        """Edges visited so far."""
        return {"edges": float(lanes.counters[:, EDGES].sum())}


@lru_cache(maxsize=256)
def _template(part: Part, kept: bytes) -> tuple[Slots, Records]:
    """What all graphs of an automaton have in common, once for many keys: its slots, and empty positions."""
    flags = np.frombuffer(kept, np.bool_)
    slots = make_slots(part.tables, len(part.negations), ~flags, ~flags, contiguous=False)
    return slots, _positions(part.tables, flags)


def _positions(tables: Tables, kept: NDArray[np.bool_]) -> Records:
    trailing = np.diff(tables.trailing_ptr) > 0
    column, real = _sort_columns(tables)
    position = np.zeros(len(tables.start), records_of(GraphPositionRecord))
    position["kept"] = kept
    position["late"] = kept & tables.end & trailing
    position["prunable"] = kept & ~position["late"] & _leads_over_negation(tables)
    position["sort_column"], position["sort_real"] = column, real
    position["head"] = position["tail"] = NO_BLOCK
    return position


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
