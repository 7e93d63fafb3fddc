"""The evaluator of type granularity that matches of negative sub-patterns empty."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from cepbench.algorithms.kernels.cells import cell_bytes
from cepbench.algorithms.online.granularity import SEMANTICS
from cepbench.algorithms.online.kernels.lifecycle import CONTIGUOUS, make_slots, slot_count
from cepbench.algorithms.online.kernels.reach.voidable import VoidableCells, aggregate_voidable_keys
from cepbench.algorithms.online.window_cells import WindowLanes
from cepbench.algorithms.running.peak import Sizes
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part


class NegatedTypeGrained(WindowLanes):
    """`TypeGrained` for queries with negation: cells of their own for the transitions over it."""

    over = staticmethod(aggregate_voidable_keys)
    lanes: VoidableCells

    def __init__(self, query: CompiledQuery, part: Part, window: Window) -> None:
        semantics, kept = SEMANTICS[query.query.semantics], np.ones(len(part.tables.start), np.bool_)
        slots = make_slots(part.tables, len(part.negations), kept, kept, semantics == CONTIGUOUS)
        sizes = Sizes(cell_bytes(part.tables), slot_count(slots) + 1)
        super().__init__(query, part, window, slots, semantics, VoidableCells, sizes)

    def work(self, lanes: VoidableCells) -> Mapping[str, float]:
        """No edges: no event is kept that could be visited."""
        return {"edges": 0.0}
