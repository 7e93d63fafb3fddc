"""Evaluates a workload set by set: sharable sets of members, and what shares nothing beside them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from cepbench.algorithms.base import Executor, StateSize
from cepbench.algorithms.kernels.cells import Cells, empty_cells
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.online.trends import trend_evaluator
from cepbench.algorithms.rows import AggregateRows, QueryRows, Rows
from cepbench.algorithms.running.batches import kernel_events, no_events
from cepbench.algorithms.running.conjunction import pairs
from cepbench.algorithms.running.evaluator import Evaluator
from cepbench.algorithms.running.negation import negations_of, with_negated
from cepbench.algorithms.running.per_query import check_order, present, query_evaluator
from cepbench.algorithms.running.per_window import window_of
from cepbench.algorithms.snapshots.channels import MemberChannels
from cepbench.algorithms.snapshots.kernels.template import ClosedRecord, MemberRows
from cepbench.algorithms.snapshots.members import SetMember
from cepbench.events.batch import EventBatch
from cepbench.events.windows import FOREVER, Window
from cepbench.metrics.details import merged
from cepbench.queries.columns import ColumnSet
from cepbench.queries.compile import CompiledQuery, Part, Workload
from cepbench.queries.records import records_of


@dataclass(frozen=True)
class CompiledMembers:
    """What all kernels of a sharable set read: the columns that its tables refer to, and its channels.

    `negations` are the negated sub-patterns of all members, as they are numbered, with the length of their windows.
    """

    members: tuple[SetMember, ...]
    columns: ColumnSet
    channels: MemberChannels
    negations: tuple[tuple[Part, Window], ...]


ROWS = 1024

MemberAnswers = dict[int, AggregateRows]
"""Rows by the number of a member in its set."""


class RowBuffer:
    """Room for the rows of closed windows, at least two of each of the `most` windows that may be open."""

    def __init__(self, channels: MemberChannels, arithmetic: str, most: int) -> None:
        capacity = max(ROWS, 2 * most)
        self.channels = channels
        self.arrays = MemberRows(
            np.empty(capacity, records_of(ClosedRecord)), empty_cells(capacity, channels.layout, arithmetic)
        )
        self.found: list[MemberRows] = []

    def take(self, size: int) -> None:
        """Takes the first `size` rows out of the buffer."""
        if size > 0:
            ring, over, real, least = self.arrays.cells
            cells = Cells(ring[:size].copy(), over[:size].copy(), real[:size].copy(), least[:size].copy())
            self.found.append(MemberRows(self.arrays.closed[:size].copy(), cells))

    def take_all(self) -> MemberAnswers:
        """All rows taken since the last call: divided among members once, of which there may be as many as rows."""
        if not self.found:
            return {}
        found, self.found = self.found, []
        closed = np.concatenate([rows.closed for rows in found])
        cells = Cells(*map(np.concatenate, zip(*(rows.cells for rows in found), strict=True)))
        order = np.argsort(closed["member"], kind="stable")
        numbers, first = np.unique(closed["member"][order], return_index=True)
        return {
            m: self.channels.rows(m, closed["window"], cells, chosen)
            for m, chosen in zip(numbers.tolist(), np.split(order, first[1:]), strict=True)
        }


class SetRunner(ABC):
    """Evaluates one sharable set on one key: passes batches to kernels, and takes the rows of windows that they close.

    `most` windows may be open at a time.
    """

    def __init__(self, compiled: CompiledMembers, arithmetic: str, most: int) -> None:
        self.members, self.columns, self.modular = compiled.members, compiled.columns, arithmetic == "modular"
        self.negations = [
            negation
            for part, window in compiled.negations
            for negation in negations_of([part], window, compiled.columns)
        ]
        self.rows = RowBuffer(compiled.channels, arithmetic, most)

    def process(self, events: EventBatch) -> MemberAnswers:
        """Rows of the windows that these events and their watermark closed."""
        now = max(int(events.time[-1]) if len(events) else -1, -1 if events.watermark is None else events.watermark)
        return self.run(kernel_events(self.columns, events, self.negations), now)

    def finish(self) -> MemberAnswers:
        """Rows of the windows that are still open."""
        events = with_negated(self.negations, no_events(len(self.columns.ints), len(self.columns.reals)))
        return self.run(events, 2 * FOREVER - 1)

    @abstractmethod
    def run(self, events: KernelEvents, now: int) -> MemberAnswers:
        """Processes some events, and closes windows that end by `now`."""

    @abstractmethod
    def size(self) -> StateSize:
        """As `Executor.state`."""

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
