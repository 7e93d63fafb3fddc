"""Executors whose events lie in stacks until their windows close."""

from __future__ import annotations

from abc import abstractmethod
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.base import Executor, StateSize
from cepbench.algorithms.engine.arena import Arena, Table
from cepbench.algorithms.engine.complete_matches import stand_ins
from cepbench.algorithms.engine.kernels.arrays import readonly
from cepbench.algorithms.engine.kernels.constants import NONE
from cepbench.algorithms.engine.kernels.stacks import (
    COMPLETE,
    EVENTS,
    POINTERS,
    StackCountersRecord,
    Stacks,
    drop_before,
    push_events,
)
from cepbench.algorithms.engine.negation import negations_of
from cepbench.algorithms.engine.peak import Peak
from cepbench.algorithms.rows import QueryRows, Rows, rows_of
from cepbench.events.batch import EventBatch
from cepbench.events.windows import END, Window
from cepbench.queries.compile import CompiledQuery, Part
from cepbench.queries.records import records_of
from cepbench.queries.tables import csr

FIRST_EVENTS = 256

STACK_TABLES: dict[int, Table] = {
    EVENTS: Table(
        ("time", "position", "place", "barrier", "below", "ints", "reals", "pointer_ptr", "waiting", "taken"),
        stop="events",
    ),
    POINTERS: Table(("target", "floor"), stop="pointers"),
}


class StackExecutor(Executor):
    """Stacks of one automaton, shared by overlapping windows; what a window yields is constructed when it closes.

    `pointers`: which ones events get (a semantics of `kernels.constants`, or COMPLETE).
    """

    def __init__(self, query: CompiledQuery, part: Part, window: Window, pointers: int) -> None:
        self.query, self.tables, self.window, self.pointers = query, part.tables, window, pointers
        self.negations = negations_of(part.negations, window, query.columns)
        self.arena = new_stacks(query, len(part.tables.start), part if pointers == COMPLETE else None)
        self.peak = Peak()
        self.low = 0

    @abstractmethod
    def construct(self, k: int, latest: NDArray[np.int64]) -> list[QueryRows]:
        """Rows of window k, which is the lowest; `latest` holds the START of the latest match of each negation."""

    def process(self, events: EventBatch) -> Rows:
        batch = self.negations.follow_one_key(events)
        place, time = readonly(events.position), batch.time
        parts: list[QueryRows] = []
        done = 0
        while done < len(time):
            parts += self._close(int(time[done]), batch.negated[done])
            self.low = max(self.low, self.window.first_at(int(time[done])))
            last = int(np.searchsorted(time, self.window.end(self.low), side="left"))
            oldest = self.window.start(self.low)

            def push(begin: int, last: int = last, oldest: int = oldest) -> tuple[int, int]:
                return push_events(begin, last, batch, place, self.tables, self.pointers, oldest, self.stacks)

            self.arena.run(push, self.before_growth, done)
            done = last
        if events.watermark is not None:
            parts += self._close(events.watermark, self.negations.latest_of_one_key)
        return rows_of(self.query.index, parts)

    def finish(self) -> Rows:
        parts = self._close(END, self.negations.latest_of_one_key)
        return rows_of(self.query.index, parts)

    @property
    def stacks(self) -> Stacks:
        """The stacks as kernels know them."""
        return self.arena.arrays

    def before_growth(self, full: int) -> None:
        """Called before a table of the stacks is enlarged; does nothing by default."""
        return

    def state(self) -> StateSize:
        """What is `held`, and events kept for negated sub-patterns; the largest since the last call."""
        return self.peak.report(self.held()) + self.negations.largest_state()

    def held(self) -> StateSize:
        """Events in stacks, and pointers between them."""
        events, pointers = self.kept
        return StateSize(self.kept_bytes, {"events": events, "edges": pointers})

    @property
    def kept(self) -> tuple[int, int]:
        """Events and pointers in the stacks."""
        return self.arena.used(EVENTS), self.arena.used(POINTERS)

    @property
    def kept_bytes(self) -> int:
        """Their bytes."""
        events, pointers = self.kept
        attributes = 6 + len(self.stacks.ints) + len(self.stacks.reals)
        return 8 * events * attributes + 16 * pointers

    def valid_ends(self, latest: NDArray[np.int64]) -> NDArray[np.int64]:
        """int64[P]: END events before this time are invalidated by a trailing negation."""
        ends_from = np.full(len(self.tables.start), -1, np.int64)
        for p in range(len(ends_from)):
            negations = self.tables.trailing[self.tables.trailing_ptr[p] : self.tables.trailing_ptr[p + 1]]
            ends_from[p] = latest[negations].max(initial=-1)
        return ends_from

    def _close(self, now: int, latest: NDArray[np.int64]) -> list[QueryRows]:
        """Rows of all windows that end by `now`."""
        parts: list[QueryRows] = []
        while self.window.end(self.low) <= now and self.arena.used(EVENTS):
            parts += self.construct(self.low, latest)
            self.peak.note(self.held())
            self.low += 1
            drop_before(self.window.start(self.low), self.stacks)
        return parts


def new_stacks(query: CompiledQuery, positions: int, part: Part | None = None) -> Arena[Stacks]:
    """Empty stacks of so many positions; for complete matches, of a part of the query."""
    alike_ptr, alike = (np.zeros(positions + 1, np.int64), np.zeros(0, np.int64)) if part is None else _alike(part)

    def column() -> NDArray[np.int64]:
        return np.zeros(FIRST_EVENTS, np.int64)

    stacks = Stacks(
        time=column(),
        position=column(),
        place=column(),
        barrier=column(),
        below=column(),
        ints=np.zeros((len(query.ints), FIRST_EVENTS), np.int64),
        reals=np.zeros((len(query.reals), FIRST_EVENTS), np.float64),
        pointer_ptr=np.zeros(FIRST_EVENTS + 1, np.int64),
        target=column(),
        floor=column(),
        top=np.full(positions, NONE, np.int64),
        shown=np.full(positions, NONE, np.int64),
        waiting=column(),
        taken=np.zeros(FIRST_EVENTS, np.bool_),
        counters=np.array([(0, 0, 0, 0, -1)], records_of(StackCountersRecord)),
        alike_ptr=alike_ptr,
        alike=alike,
    )
    return Arena(stacks, STACK_TABLES)


@lru_cache(maxsize=64)
def _alike(part: Part) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The positions that stand in for each position of a part; executors of all keys have the same."""
    return csr(stand_ins(part.automaton))
