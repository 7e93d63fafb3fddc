"""Lanes of a GRETA graph: vertices for all positions, or for those whose events are selected one by one."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.engine.batches import aggregate_rows, new_rows, sliding
from cepbench.algorithms.engine.kernels.arrays import Ints, static
from cepbench.algorithms.engine.kernels.cells import Weighing, cell_bytes
from cepbench.algorithms.engine.kernels.constants import ANY, CONTIGUOUS, SEMANTICS
from cepbench.algorithms.engine.lanes import ROOM_FOR_ROWS, Lanes
from cepbench.algorithms.engine.negation import negations_of
from cepbench.algorithms.engine.peak import KeySizes
from cepbench.algorithms.rows import Rows
from cepbench.algorithms.trends.online.blocks import BlockShape, empty_positions, event_bytes
from cepbench.algorithms.trends.online.kernels.records import ProgressRecord
from cepbench.algorithms.trends.online.kernels.store import Blocks, GraphSizeRecord, KeyGraph
from cepbench.algorithms.trends.online.kernels.template import GraphTables, MemberRows
from cepbench.algorithms.trends.online.kernels.visits import GraphProgram, propagate_keys
from cepbench.algorithms.trends.online.slots import AutomatonSlots
from cepbench.algorithms.trends.online.template import TemplateCompiler, empty_totals
from cepbench.events.windows import Window
from cepbench.queries.columns import ColumnSet
from cepbench.queries.compile import CompiledQuery, Part
from cepbench.queries.records import Records, records_of

FIRST_BLOCKS = 8


class GraphGrained(Lanes):
    """A graph of the events at the positions in `kept` (bool[P]), and slots of the others in the open windows.

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
        self.query, semantics = query, SEMANTICS[query.query.semantics]
        program, position = _program(part, query.columns, window, semantics, kept.tobytes())
        totals = empty_totals(program.template, query.layout, query.arithmetic, ProgressRecord)
        fresh = KeyGraph(position, np.zeros(1, records_of(GraphSizeRecord)), totals)
        counts_events = query.window is not None and query.window.counts_events
        small = bool(query.partition) or counts_events or semantics != ANY
        self.shape = BlockShape(query.columns, window.overlap, query.layout, query.arithmetic, small)
        arena = self.shape.empty(FIRST_BLOCKS + 2 * len(position))
        negations = negations_of(part.negations, window, query.columns)
        super().__init__(program, fresh, arena, window, query.columns, negations)

    @property
    def rows(self) -> MemberRows:
        room = max(ROOM_FOR_ROWS, 2 * self.timed.overlap)
        return MemberRows(_members(room), *new_rows(room, self.query.layout, self.query.arithmetic))

    def copied(self, rows: MemberRows, size: int, owner: Ints) -> Rows:
        return {self.query.index: aggregate_rows(rows.window[:size].copy(), rows.cells, size, owner)}

    def live(self) -> KeySizes:
        """As `Lanes.live`: vertices, and cells of them and of the open windows, with those of trends that may wait."""
        whole, counts, opened = self.fixed.template.whole[0], self.lanes.totals.counts[:, 0], self.lanes.totals.open
        windows = ((opened["high"] - opened["low"] + 1) * self.fixed.template.window["bytes"]).sum(axis=1)
        graphs = self.lanes.size[:, 0]
        events, cells = graphs["vertices"], graphs["cells"] + windows // whole["cell_bytes"]
        size = events * whole["event_bytes"] + cells * whole["cell_bytes"]
        smaller = size < counts["peak"]
        kinds = {"aggregates": np.where(smaller, counts["peak_aggregates"], cells)}
        if self.fixed.keeps:
            kinds["events"] = np.where(smaller, counts["peak_events"], events)
        largest = np.maximum(counts["peak"], size)
        counts["peak"] = 0
        return KeySizes(largest, kinds)

    def work(self, lanes: KeyGraph) -> Mapping[str, float]:
        """Edges visited so far."""
        return {"edges": float(lanes.totals.counts["edges"].sum())}

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
def _program(
    part: Part, columns: ColumnSet, window: Window, semantics: int, kept_positions: bytes
) -> tuple[GraphProgram, Records]:
    """The program of all graphs of an automaton, once for many keys; and its positions, without vertices."""
    tables, automaton, kept = part.tables, part.automaton, np.frombuffer(kept_positions, np.bool_)
    visited = [bool(kept[t.source]) for t in automaton.transitions]
    slots = AutomatonSlots(automaton, visited, contiguous=semantics == CONTIGUOUS)
    compiler = TemplateCompiler([automaton], [window], [slots], [tables.local], GraphTables)
    compiler.add_member(0, {})
    for row, keeps in zip(compiler.rows["position"], kept.tolist(), strict=True):
        row["kept"] = keeps  # at event granularity all of them, as in the paper, also those that are never visited
    for first, end in pairwise(tables.binding_ptr.tolist()):
        bound = tables.binding[first:end].tolist()
        compiler.rows["kind"].append(compiler.run("binding", bound) | {"kept": int(kept[bound].sum())})
    whole = compiler.place_cells(window.overlap, cell_bytes(tables)) | {"semantics": semantics, "event_bytes": 0}
    compiler.rows["whole"].append(whole)
    template = GraphTables(**compiler.arrays())
    position = empty_positions(template, tables.adjacent)
    template.whole["event_bytes"] = event_bytes(columns, position)
    plain = {t.source for t in automaton.transitions if not t.negations}
    only_negated = {t.source for t in automaton.transitions} - plain
    chosen = [p in only_negated and not late for p, late in enumerate(slots.late_kept)]
    position["prunable"] = kept & np.array(chosen, np.bool_)
    weights = Weighing(tables.ring, tables.real, tables.least)
    program = GraphProgram(template, tables.adjacent, weights, static(kept.any()), sliding(window))
    return program, position


@lru_cache(maxsize=4)
def _members(size: int) -> Ints:
    """Room for the members of rows, shared as rows themselves are (`engine.batches.new_rows`)."""
    return np.empty(size, np.int64)
