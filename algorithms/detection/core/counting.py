"""COUNT(*) of detected matches by products of counts (`kernels.counting`), which is not from the paper."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np

from cepbench.algorithms.base import Executor, StateSize
from cepbench.algorithms.detection.core.automaton import SubsetAutomaton
from cepbench.algorithms.detection.core.kernels.automaton import START
from cepbench.algorithms.detection.core.kernels.counting import (
    ASKED,
    COUNTERS,
    FLIPS,
    LOG_BYTES,
    LOGGED,
    MAX_LOGGED,
    MAX_STARTS,
    NOW,
    OF_LOG,
    OF_ROWS,
    STARTS,
    STEPS,
    CountingRecord,
    Counts,
    LogRecord,
    Products,
    count,
)
from cepbench.algorithms.detection.core.kernels.update import OF_DECISIONS
from cepbench.algorithms.engine.batches import kernel_events
from cepbench.algorithms.engine.kernels.growth import widened
from cepbench.algorithms.rows import AggregateRows, Rows
from cepbench.events.batch import EventBatch
from cepbench.queries.compile import CompiledQuery
from cepbench.queries.records import Records, records_of

FIRST_EVENTS = 256
FIRST_STARTS = 64
FIRST_STATES = 4
MATRICES = ("back", "fresh", "front", "gain")


class CountExecutor(Executor):
    """Counts the matches of one query and key; returns one row at the end."""

    def __init__(self, query: CompiledQuery, automaton: SubsetAutomaton) -> None:
        assert query.window is not None
        [part] = query.parts
        self.query, self.local = query, part.tables.local
        modular = query.arithmetic == "modular"
        setting = (query.reach, query.window.counts_events, modular)
        self.setting: Records = np.array([setting], records_of(CountingRecord))
        self.automaton = automaton
        self.products = _new_products(np.dtype(np.uint64 if modular else np.float64))
        self._take_tables()
        self.seconds = 0.0

    def process(self, events: EventBatch) -> Rows:
        batch, done, lack = kernel_events(self.query.columns, events), 0, 1
        while lack:
            started = perf_counter()
            done, lack = count(done, batch, self.setting, self.local, self.cea, self.products)
            self.seconds += perf_counter() - started
            if lack:
                self._make_room(lack)
        return {}

    def finish(self) -> Rows:
        total, over = self.products.total
        if not (total[0] or over[0]):
            return {}
        return {self.query.index: AggregateRows.counting(np.zeros(1, np.int64), total[:1].copy(), over[:1] != 0)}

    def state(self) -> StateSize:
        """The events of the span, and counts: per event that can begin a match, and between states."""
        mark, states = self.products.counters, len(self.automaton.states)
        events = max(int(mark[MAX_LOGGED]), int(mark[LOGGED]))
        starts = max(int(mark[MAX_STARTS]), int(mark[STARTS]))
        mark[MAX_LOGGED] = mark[MAX_STARTS] = 0
        counts = starts * states + len(MATRICES) * states**2
        return StateSize(LOG_BYTES * events + 9 * counts, {"events": events, "aggregates": counts})

    def details(self) -> Mapping[str, float]:
        """Number of counted operations and of flips (events moved to the front), and seconds."""
        mark = self.products.counters
        return {
            "update_steps": float(mark[STEPS]),
            "update_seconds": self.seconds,
            "flips": float(mark[FLIPS]),
            "states_peak": float(len(self.automaton.states)),
        }

    def _make_room(self, lack: int) -> None:
        asked = int(self.products.counters[ASKED])
        if lack == OF_LOG:
            self.products = widened(self.products, ("log",), len(self.products.log))
        elif lack == OF_ROWS:
            row = self.products.row
            self.products = self.products._replace(row=widened(row, row._fields, len(row.value), axis=0))
        else:
            if self.version == self.automaton.version:
                self.automaton.decide(asked) if lack == OF_DECISIONS else self.automaton.take(asked)
            self._take_tables()

    def _take_tables(self) -> None:
        """Loads the current automaton and allocates space for its states."""
        self.cea, self.version = self.automaton.tables(), self.automaton.version
        while len(self.automaton.states) > len(self.products.reached):
            self._widen_states(len(self.products.reached))

    def _widen_states(self, more: int) -> None:
        """Allocates space for more states; the product maps each new state to itself only."""
        known, old = len(self.products.reached), self.products
        square = {
            name: widened(widened(counts, counts._fields, more), counts._fields, more, axis=0)
            for name, counts in old._asdict().items()
            if name in MATRICES
        }
        diagonal = np.arange(known, known + more)
        square["back"].value[diagonal, diagonal] = 1
        row = widened(old.row, old.row._fields, more)
        self.products = widened(old._replace(row=row, **square), ("reached", "touched"), more)


def _new_products(dtype: np.dtype[Any]) -> Products:
    def counts(*shape: int) -> Counts:
        return Counts(np.zeros(shape, dtype), np.zeros(shape, np.bool_))

    reached = np.zeros(FIRST_STATES, np.bool_)
    reached[START] = True
    back, fresh, front, gain = (counts(FIRST_STATES, FIRST_STATES) for _ in MATRICES)
    np.fill_diagonal(back.value, 1)
    counters = np.zeros(COUNTERS, np.int64)
    counters[NOW] = -1
    return Products(
        np.zeros(FIRST_EVENTS, records_of(LogRecord)),
        counts(FIRST_STARTS, FIRST_STATES),
        back,
        fresh,
        front,
        gain,
        reached,
        np.zeros(FIRST_STATES, np.int64),
        counts(1),
        counters,
    )
