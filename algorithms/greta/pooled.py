"""GRETA on many sub-streams: a pool of graphs that take their blocks from one place."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.base import KeyedBatch, StateSize
from cepbench.algorithms.greta.evaluator import GraphGrained, grown, new_graph
from cepbench.algorithms.greta.kernels.pooled import GraphStates, close_graphs, propagate_pooled
from cepbench.algorithms.greta.kernels.propagation import ROOM
from cepbench.algorithms.greta.kernels.vertices import LIVE
from cepbench.algorithms.running.batches import kernel_events
from cepbench.algorithms.running.evaluator import WHOLE_STREAM
from cepbench.algorithms.running.negation import latest_starts
from cepbench.algorithms.running.peak import largest_of_all
from cepbench.algorithms.running.pools import PooledCells, PooledEvaluator, room_of
from cepbench.queries.compile import CompiledQuery

WIDTH = 32
"""Vertices per block: a sub-stream with an event has a block for each of its positions, if few others follow."""


def pooled_graphs(query: CompiledQuery) -> PooledEvaluator | None:
    """A pool for a query, or None: no conjunction, no windows that count events, and no negation."""
    if query.analysis.conjunction or (query.window is not None and query.window.counts_events):
        return None
    part = query.parts[0]
    if part.negations:
        return None
    kept = np.ones(len(part.automaton.positions), np.bool_)
    return PooledGraphs(query, GraphGrained(query, part, query.window or WHOLE_STREAM, kept))


class PooledGraphs(PooledCells):
    """`GraphGrained` for each of S sub-streams, in blocks of at most `WIDTH` vertices.

    O(S K P) space for K windows and P positions, beside the O(n K) of n live vertices.
    """

    states: GraphStates

    def __init__(self, query: CompiledQuery, one: GraphGrained) -> None:
        self.span = one.span
        self.graph = new_graph(query, one.graph.position, self.span, WIDTH)
        own = one.graph
        super().__init__(
            GraphStates(own.position, np.zeros_like(own.counters), own.waiting, one.cells), query, self.span
        )
        self.tables, self.slots, self.window = one.tables, one.slots, one.window
        self.window_cells, self.kept_cells, self.kept_bytes = one.window_cells, one.kept_cells, one.kept_bytes
        self.cell_bytes = one.cell_bytes
        self.nothing_negated = latest_starts(())

    def step(self, at: int, done: int, batch: KeyedBatch) -> tuple[int, int, int]:
        at, done, size, stopped = propagate_pooled(
            at, done, batch.keys, batch.offsets, kernel_events(self.query.columns, batch.events), self.tables,
            self.slots, self.window, self.graph, self.states, self.ends, self.rows, self.owner,
        )  # fmt: skip
        if stopped == ROOM:
            self.graph = grown(self.graph)
        return at, done, size

    def close(self, at: int, until: int) -> tuple[int, int]:
        return close_graphs(
            at, until, self.nothing_negated, self.tables, self.slots, self.window, self.graph, self.states, self.ends,
            self.rows, self.owner,
        )  # fmt: skip

    def live(self) -> StateSize:
        windows, kept = largest_of_all(self.states.counters[:, LIVE], self.states.windows.clock)
        cells = windows * self.window_cells + kept * self.kept_cells
        size = cells * self.cell_bytes + kept * self.kept_bytes
        kinds = {"aggregates": cells, "events": kept if self.kept_bytes else 0}
        return StateSize(size, kinds, room_of(self.graph))
