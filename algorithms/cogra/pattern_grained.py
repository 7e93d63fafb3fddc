"""The evaluator that keeps the events which wait for a successor (dissertation Section 16.2)."""

from __future__ import annotations

import numpy as np

from algorithms.base import StateSize
from algorithms.cogra.type_grained import SEMANTICS
from algorithms.execution import Evaluator
from algorithms.kernels.batches import concatenated, first_rows, kernel_events, new_rows, sliding
from algorithms.kernels.cells import Cells, cell_bytes, empty_cells
from algorithms.kernels.negation import latest_starts, negations_of
from algorithms.kernels.pattern_grained import DONE, ROOM, SIZE, Waiting, advance_waiting, extend_waiting
from algorithms.kernels.type_grained import CONTIGUOUS, HIGH, LOW, NOW, make_slots, new_state
from algorithms.rows import AggregateRows
from events.batch import EventBatch
from events.windows import FOREVER, Window
from queries.compile import CompiledQuery, Part

FIRST_EVENTS = 64


class PatternGrained(Evaluator):
    """Skip-till-next-match and contiguous semantics with predicates on adjacent events.

    O(n u k) time and O(u k) space for u waiting events and k windows per event. Algorithm 9 assumes u = 1 and
    undercounts otherwise (`docs/findings.md`).
    """

    def __init__(self, query: CompiledQuery, part: Part, window: Window) -> None:
        self.query, self.tables, self.window = query, part.tables, window
        self.semantics = SEMANTICS[query.query.semantics]
        self.negations = negations_of(query, part, window)
        nothing, all_ends = np.zeros(len(part.tables.start), np.bool_), part.tables.end
        contiguous = self.semantics == CONTIGUOUS
        self.slots = make_slots(part.tables, len(part.negations), nothing, all_ends, contiguous)
        self.cells = new_state(window.overlap, self.slots, query.layout, query.arithmetic)
        self.waiting = _new_waiting(query, window.overlap, FIRST_EVENTS)
        self.rows = new_rows(query, window.overlap)

    def process(self, events: EventBatch) -> AggregateRows | None:
        """Rows of the windows that these events closed."""
        batch = kernel_events(self.query, events, self.negations)
        parts: list[AggregateRows] = []
        done, stopped = 0, DONE
        while done < len(events):
            done, size, stopped = extend_waiting(
                done, batch, self.tables, self.slots, self.semantics, sliding(self.window), self.waiting, self.cells,
                self.rows, 0,
            )  # fmt: skip
            parts += first_rows(self.rows, size)
            if stopped == ROOM:
                self.waiting = _grown(self.waiting, self.query, self.window.overlap)
        if events.until is not None and events.until > self.cells.clock[NOW]:
            parts += self._advance(events.until)
        return concatenated(parts)

    def finish(self) -> AggregateRows | None:
        """Rows of the windows that are still open."""
        return concatenated(self._advance(2 * FOREVER - 1))

    def state(self) -> StateSize:
        """Waiting events with their cells, and a final cell per open window."""
        low, high = self.cells.clock[LOW], self.cells.clock[HIGH]
        events = int(self.waiting.counters[SIZE])
        cells = events * self.window.overlap + int(high - low + 1) * (1 + len(self.slots.late))
        attributes = 2 + len(self.waiting.ints) + len(self.waiting.reals)
        negative = sum(negation.vertices for negation in self.negations)
        size = cells * cell_bytes(self.tables) + 8 * events * attributes + 24 * negative
        return StateSize(size, {"events": events + negative, "aggregates": cells})

    def _advance(self, now: int) -> list[AggregateRows]:
        size = advance_waiting(
            now, latest_starts(self.negations), self.slots, self.semantics, sliding(self.window), self.waiting,
            self.cells, self.rows, 0,
        )  # fmt: skip
        return first_rows(self.rows, size)


def _new_waiting(query: CompiledQuery, span: int, room: int) -> Waiting:
    return Waiting(
        np.zeros(room, np.int64),
        np.zeros(room, np.int64),
        np.zeros(room, np.bool_),
        np.zeros((len(query.ints), room), np.int64),
        np.zeros((len(query.reals), room), np.float64),
        empty_cells(room * span, query.layout, query.arithmetic),
        empty_cells(span, query.layout, query.arithmetic),
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
    return wide._replace(counters=waiting.counters, reached=waiting.reached)
