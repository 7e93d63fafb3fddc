"""The evaluator over a GRETA graph: vertices for all positions, or for those whose events are selected one by one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.cells import cell_bytes
from cepbench.algorithms.online.blocks import BlockShape, empty_positions
from cepbench.algorithms.online.granularity import SEMANTICS
from cepbench.algorithms.online.kernels.lifecycle import ANY, CONTIGUOUS, Slots, Windowed, new_state
from cepbench.algorithms.online.kernels.reach.visits import propagate_keys
from cepbench.algorithms.online.kernels.store import EDGES, LIVE, Blocks, KeyGraph
from cepbench.algorithms.online.slots import AutomatonSlots
from cepbench.algorithms.running.batches import sliding
from cepbench.algorithms.running.lanes import CellLanes
from cepbench.algorithms.running.negation import negations_of
from cepbench.algorithms.running.peak import Sizes
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part
from cepbench.queries.records import Records
from cepbench.queries.tables import csr

FIRST_BLOCKS = 8


class GraphGrained(CellLanes):
    """A graph of the events at the positions in `kept` (bool[P]), and cells of the others in the open windows.

    Under skip-till-any-match O(n**2 k) time and O(n k) space for n kept events per window that lie in k windows each
    (Theorem 11.5); O(n (t + n_e) k) for COGRA with n_e kept events and t other positions (Theorem 15.4). Under the
    other semantics O(n (t + u) k) time for u events that wait for a successor: Algorithm 9 assumes u = 1 and
    undercounts otherwise (`docs/findings.md`). Each key has O(K S) space for K windows and S slots in addition;
    the graphs of all keys share one arena of blocks.
    """

    over = staticmethod(propagate_keys)
    arena: Blocks
    lanes: KeyGraph

    def __init__(self, query: CompiledQuery, part: Part, window: Window, kept: NDArray[np.bool_]) -> None:
        semantics, self.keeps = SEMANTICS[query.query.semantics], bool(kept.any())
        count, slots, position = _template(part, semantics, kept.tobytes())
        sizes = Sizes(cell_bytes(part.tables), 1 + count)
        if self.keeps:
            is_sorted = bool(np.any(position["sort_column"] >= 0))
            kept_bytes = 8 * (1 + len(query.ints) + len(query.reals) + is_sorted)
            sizes = replace(sizes, kept_cells=window.overlap, kept_bytes=kept_bytes)
        fixed = Windowed(part.tables, slots, semantics, (True,) * self.keeps, sliding(window))
        windows = new_state(window.overlap, count, len(part.negations), query.layout, query.arithmetic, sizes.clock())
        own = KeyGraph(position, np.zeros(2, np.int64), windows)
        super().__init__(query, window, fixed, own, sizes)
        self.negations = negations_of(part.negations, window, query.columns)
        small = bool(query.partition) or semantics != ANY
        self.shape = BlockShape(query.columns, window.overlap, query.layout, query.arithmetic, small)
        self.arena = self.shape.empty(FIRST_BLOCKS + 2 * len(position))

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
        self.arena = self.shape.wider(self.arena, len(self.arena.free))

    def packed(self, live: Ints) -> Any:
        blocks = len(self.arena.free)
        used = np.setdiff1d(np.arange(blocks), self.arena.free[: self.arena.left[0]])
        return blocks, used, [array[used] for array in self.shape.by_block(self.arena)]

    def unpacked(self, live: Ints, packed: Any) -> Any:
        blocks, used, kept = packed
        self.arena = self.shape.filled(blocks, used, kept, np.setdiff1d(np.arange(blocks), used))
        return self.arena


@lru_cache(maxsize=256)
def _template(part: Part, semantics: int, kept_positions: bytes) -> tuple[int, Slots, Records]:
    """What all graphs of an automaton have in common, once for many keys: so many slots, and empty positions."""
    tables, kept = part.tables, np.frombuffer(kept_positions, np.bool_)
    visited = [bool(kept[t.source]) for t in part.automaton.transitions]
    own = AutomatonSlots(part.automaton, visited, contiguous=semantics == CONTIGUOUS)
    late, direct = np.array(own.late_kept, np.bool_), np.array(own.direct, np.bool_)
    position = empty_positions(kept, tables.source, np.arange(len(tables.source)), tables.adjacent)
    plain = {t.source for t in part.automaton.transitions if not t.negations}
    only_negated = {t.source for t in part.automaton.transitions} - plain
    position["late"], position["prunable"] = late, kept & ~late & np.isin(np.arange(len(kept)), list(only_negated))
    read, last = np.array(own.read, np.int64), np.array(own.late, np.int64)
    return own.count, Slots(*csr(own.feeds), read, direct, last, *csr(own.void)), position
