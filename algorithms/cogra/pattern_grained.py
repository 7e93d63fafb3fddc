"""The evaluator that keeps the events which wait for a successor (dissertation Section 16.2)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.cogra.granularity import SEMANTICS
from cepbench.algorithms.cogra.kernels.waiting import ROOM, SIZE, Waiting, advance_waiting, extend_waiting
from cepbench.algorithms.kernels.cells import empty_cells
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.kernels.growth import widened
from cepbench.algorithms.kernels.windows import CONTIGUOUS, make_slots
from cepbench.algorithms.running.negation import latest_starts
from cepbench.algorithms.running.window_cells import CellEvaluator
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part

FIRST_EVENTS = 64


class PatternGrained(CellEvaluator):
    """Skip-till-next-match and contiguous semantics with predicates on adjacent events.

    O(n u k) time and O(u k) space for u waiting events and k windows per event. Algorithm 9 assumes u = 1 and
    undercounts otherwise (`docs/findings.md`).
    """

    def __init__(self, query: CompiledQuery, part: Part, window: Window) -> None:
        self.semantics = SEMANTICS[query.query.semantics]
        nothing, all_ends = np.zeros(len(part.tables.start), np.bool_), part.tables.end
        slots = make_slots(part.tables, len(part.negations), nothing, all_ends, self.semantics == CONTIGUOUS)
        super().__init__(
            query,
            part,
            window,
            slots,
            window_cells=1 + len(slots.late),
            kept_cells=window.overlap,
            kept_bytes=8 * (2 + len(query.ints) + len(query.reals)),
        )
        self.waiting = _new_waiting(query, window.overlap)

    def step(self, first: int, events: KernelEvents) -> tuple[int, int]:
        done, size, stopped = extend_waiting(
            first, events, self.tables, self.slots, self.semantics, self.window, self.waiting, self.cells, self.rows, 0
        )
        if stopped == ROOM:
            self.waiting = _grown(self.waiting)
        return done, size

    def advance(self, now: int) -> int:
        latest = latest_starts(self.negations)
        return advance_waiting(
            now, latest, self.slots, self.semantics, self.window, self.waiting, self.cells, self.rows, 0
        )

    @property
    def kept(self) -> int:
        """Waiting events."""
        return int(self.waiting.counters[SIZE])


def _new_waiting(query: CompiledQuery, span: int) -> Waiting:
    return Waiting(
        np.zeros(FIRST_EVENTS, np.int64),
        np.zeros(FIRST_EVENTS, np.int64),
        np.zeros(FIRST_EVENTS, np.bool_),
        np.zeros((len(query.ints), FIRST_EVENTS), np.int64),
        np.zeros((len(query.reals), FIRST_EVENTS), np.float64),
        empty_cells(FIRST_EVENTS * span, query.layout, query.arithmetic),
        np.zeros(2, np.int64),
    )


def _grown(waiting: Waiting) -> Waiting:
    """The same events with twice the room."""
    wide = widened(waiting, ("position", "high", "taken", "ints", "reals"), len(waiting.position))
    return wide._replace(cells=widened(waiting.cells, waiting.cells._fields, len(waiting.cells.over), axis=0))
