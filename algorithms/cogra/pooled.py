"""COGRA on many sub-streams: pools of type granularity, and of graphs where it is mixed."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from cepbench.algorithms.base import KeyedBatch, StateSize
from cepbench.algorithms.cogra.granularity import (
    Granularity,
    has_adjacent_predicates,
    needed_by_predicates,
    select,
)
from cepbench.algorithms.cogra.kernels.pooled import aggregate_pooled, close_cells, close_counts, count_pooled
from cepbench.algorithms.cogra.kernels.type_count import CountRows, TypeCounts
from cepbench.algorithms.cogra.kernels.type_grained import TypeCells
from cepbench.algorithms.cogra.type_grained import COUNT_BYTES, TypeGrained, TypeGrainedCount
from cepbench.algorithms.greta.evaluator import GraphGrained
from cepbench.algorithms.greta.pooled import PooledGraphs
from cepbench.algorithms.kernels.arrays import Ints, readonly
from cepbench.algorithms.kernels.clock import HIGH, LOW
from cepbench.algorithms.kernels.windows import TOUCHED
from cepbench.algorithms.rows import AggregateRows, KeyedRows, RowsOfKeys
from cepbench.algorithms.running.batches import kernel_events, no_events
from cepbench.algorithms.running.evaluator import WHOLE_STREAM
from cepbench.algorithms.running.peak import largest_of_all
from cepbench.algorithms.running.pools import POOL_ROWS, PooledCells, PooledEvaluator, owners
from cepbench.queries.compile import CompiledQuery


def pooled(query: CompiledQuery) -> PooledEvaluator | None:
    """A pool for a query, or None: no conjunction, no windows that count events, no negation, and predicates on
    adjacent events under skip-till-any-match only.
    """
    if query.analysis.conjunction or (query.window is not None and query.window.counts_events):
        return None
    part, window = query.parts[0], query.window or WHOLE_STREAM
    if part.negations:
        return None
    if select(part.automaton, query.query.semantics) is Granularity.MIXED:
        return PooledGraphs(query, GraphGrained(query, part, window, needed_by_predicates(part.automaton)))
    if has_adjacent_predicates(part.automaton):
        return None
    if TypeGrainedCount.suits(query, part):
        return PooledCount(query, TypeGrainedCount(query, part, window))
    return PooledTypeGrained(query, TypeGrained(query, part, window))


class PooledCount(PooledEvaluator):
    """`TypeGrainedCount` for each of S sub-streams: O(S K P) space for K windows and P positions."""

    states: TypeCounts

    def __init__(self, query: CompiledQuery, one: TypeGrainedCount) -> None:
        super().__init__(one.counts, query.window or WHOLE_STREAM)
        self.query, self.arithmetic = query.index, query.arithmetic
        self.template, self.window = one.template, one.window
        self.capacity = max(POOL_ROWS, 2 * (len(one.counts.trends) // len(one.template.start)))

    @property
    def rows(self) -> CountRows:
        """Room for rows."""
        return _count_rows(self.capacity, self.arithmetic)

    def step(self, at: int, done: int, batch: KeyedBatch) -> tuple[int, int, int]:
        return count_pooled(
            at, done, batch.keys, batch.offsets, readonly(batch.events.time), readonly(batch.events.type),
            self.template, self.window, self.states, self.ends, self.rows, owners(self.capacity),
        )  # fmt: skip

    def close(self, at: int, until: int) -> tuple[int, int]:
        return close_counts(
            at, until, self.template, self.window, self.states, self.ends, self.rows, owners(self.capacity)
        )

    def taken(self, size: int) -> KeyedRows:
        rows = self.rows
        found = AggregateRows(
            rows.window[:size].copy(),
            rows.trends[:size, None].copy(),
            rows.over[:size].astype(np.uint64),
            np.empty((size, 0)),
            np.empty((size, 0), np.int64),
        )
        return {self.query: RowsOfKeys(owners(self.capacity)[:size].copy(), found)}

    def live(self) -> StateSize:
        windows, waiting = _largest(self.states.clock)
        counts = windows * len(self.template.start) + waiting
        return StateSize(COUNT_BYTES * counts, {"aggregates": counts})


class PooledTypeGrained(PooledCells):
    """`TypeGrained` for each of S sub-streams: O(S K P) space for K windows and P positions."""

    states: TypeCells

    def __init__(self, query: CompiledQuery, one: TypeGrained) -> None:
        super().__init__(one.cells, query, one.span)
        self.template, self.shape, self.window, self.span = one.template, one.shape, one.window, one.span
        self.positions, self.cell_bytes = one.positions, one.cell_bytes

    def step(self, at: int, done: int, batch: KeyedBatch) -> tuple[int, int, int]:
        return aggregate_pooled(
            at, done, batch.keys, batch.offsets, kernel_events(self.query.columns, batch.events), self.template,
            self.shape, self.span, self.window, self.states, self.ends, self.rows, self.owner,
        )  # fmt: skip

    def close(self, at: int, until: int) -> tuple[int, int]:
        nothing = no_events(len(self.query.ints), len(self.query.reals))
        return close_cells(
            at, until, nothing, self.template, self.shape, self.span, self.window, self.states, self.ends, self.rows,
            self.owner,
        )  # fmt: skip

    def live(self) -> StateSize:
        windows, waiting = _largest(self.states.clock)
        cells = windows * (self.positions + 1) + waiting
        return StateSize(cells * self.cell_bytes, {"aggregates": cells})


def _largest(clocks: Ints) -> tuple[int, int]:
    """Open windows, and counts or cells that wait, of all sub-streams when their state was largest."""
    return largest_of_all((clocks[:, HIGH] - clocks[:, LOW] + 1) * clocks[:, TOUCHED], clocks)


@lru_cache(maxsize=4)
def _count_rows(capacity: int, arithmetic: str) -> CountRows:
    dtype = np.uint64 if arithmetic == "modular" else np.float64
    return CountRows(np.empty(capacity, np.int64), np.empty(capacity, dtype), np.empty(capacity, np.bool_))
