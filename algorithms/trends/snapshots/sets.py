"""Evaluates a workload set by set: sharable sets of members, and what shares nothing beside them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from cepbench.algorithms.base import Executor, StateSize
from cepbench.algorithms.engine.batches import kernel_events, no_events
from cepbench.algorithms.engine.conjunction import pairs
from cepbench.algorithms.engine.evaluator import Evaluator
from cepbench.algorithms.engine.kernels.cells import empty_cells
from cepbench.algorithms.engine.kernels.events import KernelEvents
from cepbench.algorithms.engine.kernels.lanes import DONE, ROOM, ROWS
from cepbench.algorithms.engine.lanes import mapped
from cepbench.algorithms.engine.negation import largest_state, latest_starts, negations_of, with_negated
from cepbench.algorithms.engine.per_query import check_order, present, query_evaluator
from cepbench.algorithms.engine.per_window import window_of
from cepbench.algorithms.rows import AggregateRows, QueryRows, Rows
from cepbench.algorithms.trends.online.kernels.template import MemberRows
from cepbench.algorithms.trends.online.trends import trend_evaluator
from cepbench.algorithms.trends.snapshots.compilation import CompiledMembers
from cepbench.algorithms.trends.snapshots.growth import SetState
from cepbench.algorithms.trends.snapshots.members import SetMember
from cepbench.events.batch import EventBatch
from cepbench.events.windows import END
from cepbench.metrics.details import merged
from cepbench.queries.compile import CompiledQuery, Workload

ROWS_AT_LEAST = 1024

MemberAnswers = dict[int, AggregateRows]
"""Rows by the number of a member in its set."""


class SetRunner(ABC):
    """Evaluates one sharable set on one key: passes batches to kernels, and takes the rows of windows that they close.

    There is room for two rows of each of the `most` windows that may be open, at least. `buffered` are events that wait
    for the next batch.
    """

    state: SetState
    buffered: KernelEvents | None = None

    def __init__(self, compiled: CompiledMembers[Any], arithmetic: str, most: int) -> None:
        self.members, self.columns, self.channels = compiled.members, compiled.columns, compiled.channels
        self.negations = [
            negation
            for part, window in compiled.negations
            for negation in negations_of([part], window, compiled.columns)
        ]
        room = max(ROWS_AT_LEAST, 2 * most)
        cells = empty_cells(room, self.channels.layout, arithmetic)
        self.rows = MemberRows(np.empty(room, np.int64), np.empty(room, np.int64), cells)

    def process(self, events: EventBatch) -> MemberAnswers:
        """Rows of the windows that these events and their watermark closed."""
        now = max(int(events.time[-1]) if len(events) else -1, -1 if events.watermark is None else events.watermark)
        return self.run(kernel_events(self.columns, events, self.negations), now)

    def finish(self) -> MemberAnswers:
        """Rows of the windows that are still open."""
        events = with_negated(
            self.negations, no_events(*map(len, (self.columns.ints, self.columns.reals, self.columns.flags)))
        )
        return self.run(events, END)

    @abstractmethod
    def run(self, events: KernelEvents, now: int) -> MemberAnswers:
        """Processes some events, and closes windows that end by `now`."""

    def call(self, kernel: Callable[..., tuple[int, int, int]], now: int, *read: Any) -> MemberAnswers:
        """The rows of a kernel that processes what it reads, and stops where it needs room.

        It takes (first, now, negated, *read, state, rows), and returns (next, number of rows, why it stopped).
        """
        done, stopped, negated, found = 0, ROWS, latest_starts(self.negations), list[MemberRows]()
        while stopped != DONE:
            done, size, stopped = kernel(done, now, negated, *read, self.state.arrays, self.rows)
            if size > 0:
                found.append(mapped(lambda array, size=size: array[:size].copy(), self.rows))
            if stopped == ROOM:
                self.state.make_room()
        return self._by_member(found)

    def _by_member(self, found: Sequence[MemberRows]) -> MemberAnswers:
        """Rows are divided among members once, of which there may be as many as rows."""
        if not found:
            return {}
        member, window, cells = mapped(lambda *arrays: np.concatenate(arrays), *found)
        order = np.argsort(member, kind="stable")
        numbers, first = np.unique(member[order], return_index=True)
        return {
            m: self.channels.rows(m, window, cells, chosen)
            for m, chosen in zip(numbers.tolist(), np.split(order, first[1:]), strict=True)
        }

    def size(self) -> StateSize:
        """As `Executor.state`."""
        waiting = 0 if self.buffered is None else len(self.buffered.time)
        return self.state.largest(waiting) + largest_state(self.negations)

    @abstractmethod
    def details(self) -> Mapping[str, float]:
        """As `Executor.details`."""


class SetsExecutor(Executor):
    """Runs sharable sets, and beside them the members that are `alone`, at a granularity. Raises `OutOfOrder`.

    Queries with count windows share nothing (`members_of`).
    """

    def __init__(
        self, workload: Workload, sets: Sequence[SetRunner], alone: Sequence[SetMember], granularity: str
    ) -> None:
        make = partial(trend_evaluator, granularity=granularity)
        self.sets = tuple(sets)
        self.alone = {member.place: make(member.query, member.part, member.window) for member in alone}
        counting = [query for query in workload if window_of(query).counts_events]
        self.counting = {query.index: query_evaluator(query, make) for query in counting}
        self.by_time = [query for query in workload if query not in counting]
        self.now = 0

    def process(self, events: EventBatch) -> Rows:
        self.now = check_order(events, self.now)
        return self._rows(lambda one: one.process(events))

    def finish(self) -> Rows:
        return self._rows(lambda one: one.finish())

    def state(self) -> StateSize:
        return sum((*(one.size() for one in self.sets), *(one.state() for one in self._evaluators)), StateSize())

    def details(self) -> Mapping[str, float]:
        return merged([*(one.details() for one in self.sets), *(one.details() for one in self._evaluators)])

    @property
    def _evaluators(self) -> tuple[Evaluator, ...]:
        return (*self.alone.values(), *self.counting.values())

    def _rows(self, of: Callable[[Any], Any]) -> Rows:
        """The rows of queries, from what a function makes of each set and each evaluator."""
        found = {one.members[m].place: rows for one in self.sets for m, rows in of(one).items()}
        found |= {place: of(evaluator) for place, evaluator in self.alone.items()}
        rows: dict[int, QueryRows | None] = {query.index: _of_query(query, found) for query in self.by_time}
        return present(rows | {index: of(evaluator) for index, evaluator in self.counting.items()})


def _of_query(query: CompiledQuery, found: Mapping[tuple[int, int], QueryRows | None]) -> QueryRows | None:
    sides = [found.get((query.index, side)) for side in range(len(query.parts))]
    return pairs(sides, query.arithmetic) if query.analysis.conjunction else sides[0]
