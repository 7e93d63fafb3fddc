"""COUNT(*) of detected matches by products of counts (`kernels.counting`), which is not from the paper."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np

from cepbench.algorithms.base import Executor, StateSize
from cepbench.algorithms.detection.core.automaton import SubsetAutomaton
from cepbench.algorithms.detection.core.kernels.automaton import START, Lack
from cepbench.algorithms.detection.core.kernels.counting import (
    CountersRecord,
    CountingRecord,
    Counts,
    LogRecord,
    Products,
    count,
)
from cepbench.algorithms.engine.arena import Arena, Table
from cepbench.algorithms.engine.batches import kernel_events
from cepbench.algorithms.rows import AggregateRows, Rows
from cepbench.events.batch import EventBatch
from cepbench.queries.compile import CompiledQuery
from cepbench.queries.records import Records, records_of

FIRST_EVENTS = 256
FIRST_STARTS = 64
FIRST_STATES = 4
MATRIX = ("back", "fresh", "front", "gain")
STATES, MATRICES = -1, -2
"""Tables whose size the automaton decides."""
TABLES: dict[int, Table] = {
    Lack.LOG: Table(("log",), stop="logged"),
    Lack.ROWS: Table(("row",), stop="starts", axes=(0,)),
    STATES: Table(("row", "reached", "touched")),
    MATRICES: Table(MATRIX, axes=(0, 1)),
}


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
        self.products = Arena(_empty_products(np.dtype(np.uint64 if modular else np.float64)), TABLES)
        self._load_tables()
        self.products.arrays.reached[START] = True
        self.seconds = 0.0

    def process(self, events: EventBatch) -> Rows:
        batch = kernel_events(self.query.columns, events)

        def count_on(begin: int) -> tuple[int, int]:
            started = perf_counter()
            stopped = count(begin, batch, self.setting, self.local, self.cea, self.products.arrays)
            self.seconds += perf_counter() - started
            return stopped

        self.products.run(count_on, self._supply)
        return {}

    def finish(self) -> Rows:
        total, over = self.products.arrays.total
        if not (total[0] or over[0]):
            return {}
        return {self.query.index: AggregateRows.counting(np.zeros(1, np.int64), total[:1].copy(), over[:1] != 0)}

    def state(self) -> StateSize:
        """The events of the span, and counts: per event that can begin a match, and between states."""
        mark, states = self.products.arrays.counters[0], len(self.automaton.states)
        events = max(int(mark["max_logged"]), int(mark["logged"]))
        starts = max(int(mark["max_starts"]), int(mark["starts"]))
        mark["max_logged"] = mark["max_starts"] = 0
        counts = starts * states + len(MATRIX) * states**2
        return StateSize(
            self.products.item_bytes(Lack.LOG) * events + 9 * counts, {"events": events, "aggregates": counts}
        )

    def details(self) -> Mapping[str, float]:
        """Number of counted operations and of flips (events moved to the front), and seconds."""
        mark = self.products.arrays.counters[0]
        return {
            "update_steps": float(mark["steps"]),
            "update_seconds": self.seconds,
            "flips": float(mark["flips"]),
            "states_peak": float(len(self.automaton.states)),
        }

    def _supply(self, lack: int) -> None:
        if lack in (Lack.DECISION, Lack.TARGET):
            self.automaton.extend(lack, int(self.products.arrays.counters[0]["asked"]), self.version)
            self._load_tables()

    def _load_tables(self) -> None:
        """Loads the current automaton, with space for its states; the product maps each new state to itself only."""
        self.cea, self.version = self.automaton.tables(), self.automaton.version
        first, states = self.products.room(STATES), max(len(self.automaton.states), FIRST_STATES)
        for table in (STATES, MATRICES):
            self.products.reserve(table, states)
        diagonal = np.arange(first, self.products.room(STATES))
        self.products.arrays.back.value[diagonal, diagonal] = 1


def _empty_products(dtype: np.dtype[Any]) -> Products:
    def counts(*shape: int) -> Counts:
        return Counts(np.zeros(shape, dtype), np.zeros(shape, np.bool_))

    counters = np.zeros(1, records_of(CountersRecord))
    counters["now"] = -1
    back, fresh, front, gain = (counts(0, 0) for _ in MATRIX)
    return Products(
        np.zeros(FIRST_EVENTS, records_of(LogRecord)),
        counts(FIRST_STARTS, 0),
        back,
        fresh,
        front,
        gain,
        np.zeros(0, np.bool_),
        np.zeros(0, np.int64),
        counts(1),
        counters,
    )
