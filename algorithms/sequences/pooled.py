"""Sequences of many sub-streams: a pool of the counters of queries that share their window."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.base import KeyedBatch, Operator, StateSize
from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.rows import KeyedRows, RowsOfKeys
from cepbench.algorithms.running.batches import kernel_events, no_events
from cepbench.algorithms.running.per_window import by_window
from cepbench.algorithms.running.pools import POOL_ROWS, PooledEvaluator, PooledQueries, mapped, owners, room_of
from cepbench.algorithms.sequences.counter import new_rows, rows_by_query
from cepbench.algorithms.sequences.executor import WindowSequences, counted_alone
from cepbench.algorithms.sequences.flattening import is_kleene
from cepbench.algorithms.sequences.kernels.counters import CounterState
from cepbench.algorithms.sequences.kernels.pooled import APART, close_sequences, count_pooled
from cepbench.algorithms.sequences.kernels.stream import NONE, count_sequences
from cepbench.algorithms.sequences.plan import SharingPlan
from cepbench.algorithms.sequences.state import enlarged, largest_size, largest_sizes
from cepbench.events.windows import Window


def sequence_pool(plan: SharingPlan) -> Operator | None:
    """A pool for a plan, or None: where nothing splits the stream, a query is counted alone, or a Kleene pattern's
    matches have a length to check.

    A key has a state of its own as soon as it needs room for more START events than others have.
    """
    queries = list(plan.workload)
    alone = (counted_alone(query, plan.max_length) or is_kleene(query.parts[0].automaton) for query in queries)
    if not all(query.partition for query in queries) or any(alone):
        return None
    windows = by_window(queries).items()
    return PooledQueries([PooledSequences(WindowSequences(plan, window, found), window) for window, found in windows])


class PooledSequences(PooledEvaluator):
    """`WindowSequences` for each of S sub-streams: O(S l K) space for the places l of segments and K windows.

    `apart` are the states of the sub-streams that have one of their own.
    """

    states: CounterState

    def __init__(self, one: WindowSequences, window: Window) -> None:
        counter = one.counter
        super().__init__(counter.cells, window)
        self.queries, self.counting, self.window, self.modular = (
            one.queries, counter.counting, counter.window, counter.modular,
        )  # fmt: skip
        self.program = counter.counting.program
        self.rows = new_rows(self.program.chains, self.modular, POOL_ROWS)
        self.apart: dict[int, CounterState] = {}

    def step(self, at: int, done: int, batch: KeyedBatch) -> tuple[int, int, int]:
        events, s = kernel_events(self.counting.columns, batch.events), int(batch.keys[at])
        if s in self.apart:
            stop = int(batch.offsets[at + 1])
            piece = events._replace(time=events.time[:stop])
            done, size = self._count_apart(s, max(done, int(batch.offsets[at])), 0, piece)
            return (at, done, size) if done <= stop else (at + 1, stop, size)
        at, done, size, segment = count_pooled(
            at, done, batch.keys, batch.offsets, events, self.window, self.program, self.states, self.modular,
            self.ends, self.rows, self._owner,
        )  # fmt: skip
        if segment != NONE:
            self._set_apart(int(batch.keys[at]))
        return at, done, size

    def close(self, at: int, until: int) -> tuple[int, int]:
        nothing = no_events(len(self.counting.columns.ints), len(self.counting.columns.reals))
        if at in self.apart:
            done, size = self._count_apart(at, 0, until, nothing)
            return at + (done > 0), size
        at, size, segment = close_sequences(
            at, until, nothing, self.window, self.program, self.states, self.modular, self.ends, self.rows, self._owner
        )
        if segment != NONE:
            self._set_apart(at)
        return at, size

    def taken(self, size: int) -> KeyedRows:
        found = rows_by_query(self.rows, size, self.program.chains)
        owner = self._owner[np.argsort(self.rows.query[:size], kind="stable")]
        first = np.cumsum([0, *map(len, found.values())])
        return {
            self.queries[query]: RowsOfKeys(owner[begin : begin + len(rows)], rows)
            for begin, (query, rows) in zip(first.tolist(), found.items(), strict=False)
        }

    def live(self) -> StateSize:
        found = largest_sizes(self.states, self.program)
        for state in self.apart.values():
            found += largest_size(state, self.program)
        return StateSize(found.bytes, found.kinds, sum(map(room_of, self.apart.values())))

    def details(self) -> Mapping[str, float]:
        """`updates` of counters and `combinations`, products of a snapshot and a counter, so far."""
        clocks = [self.states.slots.clock, *(state.slots.clock for state in self.apart.values())]
        return {name: float(sum(int(clock[name].sum()) for clock in clocks)) for name in ("updates", "combinations")}

    @property
    def _owner(self) -> Ints:
        return owners(len(self.rows.window))

    def _count_apart(self, s: int, first: int, until: int, events: KernelEvents) -> tuple[int, int]:
        """Feeds a sub-stream that has a state of its own; returns the next event and the rows written."""
        done, size, segment = count_sequences(
            first, until, events, self.window, self.program, self.apart[s], self.modular, self.rows
        )
        self._owner[:size] = s
        if segment != NONE:
            self.apart[s] = enlarged(self.apart[s], self.counting)
        return done, size

    def _set_apart(self, s: int) -> None:
        """Gives a sub-stream a state of its own, with more room."""
        own: CounterState = mapped(lambda array: array[s].copy(), self.states)
        mapped(partial(_reset, s), self.states, self.fresh)
        self.apart[s] = enlarged(own, self.counting)
        self.ends[s] = APART


def _reset(s: int, array: NDArray[Any], fresh: NDArray[Any]) -> None:
    array[s] = fresh
