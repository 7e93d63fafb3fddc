"""The evaluator that keeps the events which wait for a successor (dissertation Section 16.2)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.base import StateSize
from cepbench.algorithms.cogra.kernels.waiting import ROOM, SIZE, Waiting, advance_waiting, extend_waiting
from cepbench.algorithms.cogra.type_grained import SEMANTICS
from cepbench.algorithms.kernels.cells import Cells, cell_bytes, empty_cells
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.kernels.windows import CONTIGUOUS, HIGH, LOW, NOW, make_slots, new_state
from cepbench.algorithms.running.batch_kernel import KernelEvaluator
from cepbench.algorithms.running.negation import latest_starts
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part

FIRST_EVENTS = 64


class PatternGrained(KernelEvaluator):
    """Skip-till-next-match and contiguous semantics with predicates on adjacent events.

    O(n u k) time and O(u k) space for u waiting events and k windows per event. Algorithm 9 assumes u = 1 and
    undercounts otherwise (`docs/findings.md`).
    """

    def __init__(self, query: CompiledQuery, part: Part, window: Window) -> None:
        super().__init__(query, part, window)
        self.semantics = SEMANTICS[query.query.semantics]
        nothing, all_ends = np.zeros(len(part.tables.start), np.bool_), part.tables.end
        contiguous = self.semantics == CONTIGUOUS
        self.slots = make_slots(part.tables, len(part.negations), nothing, all_ends, contiguous)
        self.cells = new_state(window.overlap, self.slots, query.layout, query.arithmetic)
        self.waiting = _new_waiting(query, window.overlap, FIRST_EVENTS)

    def step(self, first: int, events: KernelEvents) -> tuple[int, int]:
        done, size, stopped = extend_waiting(
            first, events, self.tables, self.slots, self.semantics, self.window, self.waiting, self.cells, self.rows, 0
        )
        if stopped == ROOM:
            self.waiting = _grown(self.waiting, self.query, self.span)
        return done, size

    def advance(self, now: int) -> int:
        latest = latest_starts(self.negations)
        return advance_waiting(
            now, latest, self.slots, self.semantics, self.window, self.waiting, self.cells, self.rows, 0
        )

    @property
    def now(self) -> int:
        return int(self.cells.clock[NOW])

    def state(self) -> StateSize:
        """Waiting events with their cells, and a final cell per open window."""
        low, high = self.cells.clock[LOW], self.cells.clock[HIGH]
        events = int(self.waiting.counters[SIZE])
        cells = events * self.span + int(high - low + 1) * (1 + len(self.slots.late))
        attributes = 2 + len(self.waiting.ints) + len(self.waiting.reals)
        size = cells * cell_bytes(self.tables) + 8 * events * attributes + 24 * self.negative_events
        return StateSize(size, {"events": events + self.negative_events, "aggregates": cells})


def _new_waiting(query: CompiledQuery, span: int, room: int) -> Waiting:
    return Waiting(
        np.zeros(room, np.int64),
        np.zeros(room, np.int64),
        np.zeros(room, np.bool_),
        np.zeros((len(query.ints), room), np.int64),
        np.zeros((len(query.reals), room), np.float64),
        empty_cells(room * span, query.layout, query.arithmetic),
        np.zeros(2, np.int64),
    )


def _grown(waiting: Waiting, query: CompiledQuery, span: int) -> Waiting:
    """The same events with twice the room."""
    room = len(waiting.position)
    wide = _new_waiting(query, span, 2 * room)
    for name in ("position", "high", "taken"):
        getattr(wide, name)[:room] = getattr(waiting, name)
    wide.ints[:, :room] = waiting.ints
    wide.reals[:, :room] = waiting.reals
    for old, new in zip(waiting.cells, wide.cells, strict=True):
        new[: len(old)] = old
    assert isinstance(wide.cells, Cells)
    return wide._replace(counters=waiting.counters)
