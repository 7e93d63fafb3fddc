"""The evaluator of type granularity that matches of negative sub-patterns empty."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.cogra.granularity import SEMANTICS
from cepbench.algorithms.cogra.kernels.voidable import VoidableCells, aggregate_voidable_keys, close_voidable
from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.clock import HIGH, LOW
from cepbench.algorithms.kernels.windows import CONTIGUOUS, TOUCHED, make_slots, slot_count
from cepbench.algorithms.running.window_cells import WindowLanes
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part


class NegatedTypeGrained(WindowLanes):
    """`TypeGrained` for queries with negation: cells of their own for the transitions over it."""

    over, close = staticmethod(aggregate_voidable_keys), staticmethod(close_voidable)
    lanes: VoidableCells

    def __init__(self, query: CompiledQuery, part: Part, window: Window) -> None:
        semantics, kept = SEMANTICS[query.query.semantics], np.ones(len(part.tables.start), np.bool_)
        slots = make_slots(part.tables, len(part.negations), kept, kept, semantics == CONTIGUOUS)
        cells = slot_count(slots) + 1
        super().__init__(query, part, window, slots, semantics, VoidableCells, window_cells=cells, kept_cells=1)

    @property
    def kept(self) -> Ints:
        """Pending cells."""
        clock = self.lanes.windows.clock
        return clock[:, TOUCHED] * (clock[:, HIGH] - clock[:, LOW] + 1)
