"""The evaluator of type granularity that matches of negative sub-patterns empty."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.cogra.granularity import SEMANTICS
from cepbench.algorithms.cogra.kernels.voidable import aggregate_voidable
from cepbench.algorithms.kernels.clock import HIGH, LOW
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.kernels.windows import CONTIGUOUS, TOUCHED, advance, make_slots, slot_count
from cepbench.algorithms.running.negation import latest_starts
from cepbench.algorithms.running.window_cells import CellEvaluator
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part


class NegatedTypeGrained(CellEvaluator):
    """`TypeGrained` for queries with negation: cells of their own for the transitions over it."""

    def __init__(self, query: CompiledQuery, part: Part, window: Window) -> None:
        self.semantics = SEMANTICS[query.query.semantics]
        kept = np.ones(len(part.tables.start), np.bool_)
        slots = make_slots(part.tables, len(part.negations), kept, kept, self.semantics == CONTIGUOUS)
        super().__init__(query, part, window, slots, window_cells=slot_count(slots) + 1, kept_cells=1)

    def step(self, first: int, events: KernelEvents) -> tuple[int, int]:
        return aggregate_voidable(
            first, events, self.tables, self.slots, self.semantics, self.window, self.cells, self.rows, 0
        )

    def advance(self, now: int) -> int:
        latest = latest_starts(self.negations)
        return advance(now, latest, self.slots, self.semantics, self.window, self.cells, self.rows, 0)

    @property
    def kept(self) -> int:
        """Pending cells."""
        low, high = self.cells.clock[LOW], self.cells.clock[HIGH]
        return int(self.cells.clock[TOUCHED]) * int(high - low + 1)
