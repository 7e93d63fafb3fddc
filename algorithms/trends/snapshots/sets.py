"""Evaluates a workload set by set: sharable sets of members, and members that share nothing beside them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from cepbench.algorithms.base import Executor, KeyedBatch, Operator, PerKey, Plan, StateSize
from cepbench.algorithms.compose import Chosen, Several, pairs, processed, query_operator
from cepbench.algorithms.engine.batches import no_events
from cepbench.algorithms.engine.kernels.cells import empty_cells
from cepbench.algorithms.engine.kernels.events import KernelEvents
from cepbench.algorithms.engine.kernels.lanes import DONE, ROOM, ROWS
from cepbench.algorithms.engine.lanes import Lanes, mapped
from cepbench.algorithms.engine.negation import Negations
from cepbench.algorithms.rows import QueryRows, Rows, joined, rows_of
from cepbench.algorithms.trends.online.kernels.template import MemberRows
from cepbench.algorithms.trends.online.trends import trend_lanes
from cepbench.algorithms.trends.snapshots.compilation import CompiledMembers
from cepbench.algorithms.trends.snapshots.growth import SetState
from cepbench.algorithms.trends.snapshots.members import SetMember
from cepbench.events.batch import EventBatch
from cepbench.events.windows import END, Window
from cepbench.metrics.details import merged
from cepbench.queries.compile import CompiledQuery, Part, Workload

ROWS_AT_LEAST = 1024

PER_KEY = 50_000
"""Events times queries of a key in a batch with which sharing makes up for the fixed cost of an executor for the key
(measured: `benchmarks/hamlet.py keys`)."""


class SetExecutor(Executor):
    """Evaluates one sharable set on one key: passes batches to kernels, and takes the rows of windows that they close.

    Rows are by the number of a member in its set.

    There is room for at least two rows of each of the `windows` that may be open. `buffered` are events that wait for
    the next batch.
    """

    set_state: SetState
    buffered: KernelEvents | None = None

    def __init__(self, compiled: CompiledMembers[Any], arithmetic: str, windows: int) -> None:
        self.members, self.columns, self.channels = compiled.members, compiled.columns, compiled.channels
        self.negations = Negations(compiled.negations, compiled.columns)
        room = max(ROWS_AT_LEAST, 2 * windows)
        cells = empty_cells(room, self.channels.layout, arithmetic)
        self.rows = MemberRows(np.empty(room, np.int64), np.empty(room, np.int64), cells)

    def process(self, events: EventBatch) -> Rows:
        """Rows of the windows that these events and their watermark closed."""
        now = max(int(events.time[-1]) if len(events) else -1, -1 if events.watermark is None else events.watermark)
        return self.run(self.negations.follow_one_key(events), now)

    def finish(self) -> Rows:
        """Rows of the windows that are still open."""
        events = no_events(*map(len, (self.columns.ints, self.columns.reals, self.columns.flags)))
        return self.run(self.negations.with_negated(events), END)

    @abstractmethod
    def run(self, events: KernelEvents, now: int) -> Rows:
        """Processes some events, and closes windows that end by `now`."""

    def call(self, kernel: Callable[..., tuple[int, int, int]], now: int, *read: Any) -> Rows:
        """The rows of a kernel that processes what it reads, and stops where it needs room.

        It takes (first, now, *read, state, rows), and returns (next, number of rows, why it stopped).
        """
        done, stopped, parts = 0, ROWS, list[MemberRows]()
        while stopped != DONE:
            done, size, stopped = kernel(done, now, *read, self.set_state.arrays, self.rows)
            if size > 0:
                parts.append(mapped(lambda array, size=size: array[:size].copy(), self.rows))
            if stopped == ROOM:
                self.set_state.make_room()
        return self._by_member(parts)

    def _by_member(self, parts: Sequence[MemberRows]) -> Rows:
        """Rows are divided among members once, of which there may be as many as rows."""
        if not parts:
            return {}
        member, window, cells = mapped(lambda *arrays: np.concatenate(arrays), *parts)
        order = np.argsort(member, kind="stable")
        numbers, first = np.unique(member[order], return_index=True)
        return {
            m: self.channels.rows(m, window, cells, chosen)
            for m, chosen in zip(numbers.tolist(), np.split(order, first[1:]), strict=True)
        }

    def state(self) -> StateSize:
        waiting = 0 if self.buffered is None else len(self.buffered.time)
        return self.set_state.largest(waiting) + self.negations.largest_state()


class Sets(Operator):
    """Runs sharable sets with an executor per key each, and lanes of the members that are `alone`, at a granularity.

    `queries` have all their members among these; a conjunction's may be in different sets.
    """

    def __init__(
        self,
        workload: Workload,
        queries: Sequence[CompiledQuery],
        sets: Sequence[tuple[Sequence[SetMember], Callable[[], SetExecutor]]],
        alone: Sequence[SetMember],
        granularity: str,
    ) -> None:
        self.queries, sharing = tuple(queries), replace(workload, queries=tuple(queries))
        self.sets = [([member.place for member in members], PerKey(make, sharing)) for members, make in sets]
        self.alone = {member.place: lanes_of_member(granularity, member) for member in alone}
        self._finished = False

    def process(self, batch: KeyedBatch) -> Rows:
        self._finished = batch.last
        return self._rows(lambda part: processed(part, batch))

    def finish(self) -> Rows:
        return {} if self._finished else self._rows(lambda part: part.finish())

    def state(self) -> StateSize:
        return sum((part.state() for part in self._parts), StateSize())

    def details(self) -> Mapping[str, float]:
        return merged(part.details() for part in self._parts)

    def load(self) -> None:
        for part in self._parts:
            part.load()

    def idle(self) -> Operator:
        return Several([part.idle() for part in self._parts])

    @property
    def _parts(self) -> list[Operator]:
        return [*(operator for _, operator in self.sets), *self.alone.values()]

    def _rows(self, call: Callable[[Operator], Rows]) -> Rows:
        """The rows of queries, from those that a call of each operator returns."""
        by_member: dict[tuple[int, int], QueryRows] = {
            places[number]: rows for places, operator in self.sets for number, rows in call(operator).items()
        }
        by_member |= {place: rows for place, lanes in self.alone.items() for rows in call(lanes).values()}
        return joined(_of_query(query, by_member) for query in self.queries)


def lanes_of_member(granularity: str, member: SetMember) -> Lanes:
    """Lanes of a member that shares nothing."""
    return trend_lanes(member.query, member.part, member.window, granularity)


def _of_query(query: CompiledQuery, by_member: Mapping[tuple[int, int], QueryRows]) -> Rows:
    sides = [by_member.get((query.index, side)) for side in range(len(query.parts))]
    return rows_of(query.index, [pairs(sides, query.arithmetic) if query.analysis.conjunction else sides[0]])


def operator_of_sets(
    plan: Plan,
    sets: Sequence[tuple[Sequence[SetMember], Callable[[], SetExecutor]]],
    alone: Sequence[SetMember],
    granularity: str,
    *,
    weighs_keys: bool,
) -> Operator:
    """An operator of queries with members in sharable sets, and lanes of all other queries.

    If it `weighs_keys`, the first events decide whether the sets share at all: with few events of each of many keys,
    lanes for each query are faster.
    """
    workload = plan.workload
    make = partial(_part_lanes, granularity)
    shared = {member.query.index for members, _ in sets for member in members}
    queries = [query for query in workload if query.index in shared]
    parts: list[Operator] = [query_operator(query, make) for query in workload if query.index not in shared]
    if queries:
        beside = [member for member in alone if member.query.index in shared]
        sharing: Operator = Sets(workload, queries, sets, beside, granularity)
        if weighs_keys:
            apart = Several([query_operator(query, make) for query in queries])
            sharing = Chosen(workload.schema, sharing, apart, partial(few_events, len(queries)), "without_sharing")
        parts.append(sharing)
    return Several(parts)


def _part_lanes(granularity: str, query: CompiledQuery, part: Part, window: Window) -> Lanes:
    return trend_lanes(query, part, window, granularity)


def few_events(queries: int, batch: KeyedBatch) -> bool:
    """Whether the first events have several keys, and too few of each for sharing to pay off."""
    keys = len(batch.keys)
    return keys > 1 and len(batch.events) * queries < PER_KEY * keys
