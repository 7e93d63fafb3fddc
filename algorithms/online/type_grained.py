"""Evaluators without single events: a cell per position and window."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cepbench.algorithms.kernels.cells import cell_bytes
from cepbench.algorithms.online.granularity import SEMANTICS
from cepbench.algorithms.online.kernels.lifecycle import ANY
from cepbench.algorithms.online.kernels.reach.sums import Typed, aggregate_keys, new_cells
from cepbench.algorithms.online.kernels.type_tables import shape_of, template_of
from cepbench.algorithms.running.batches import sliding
from cepbench.algorithms.running.lanes import CellLanes
from cepbench.algorithms.running.peak import Sizes
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part


class TypeGrained(CellLanes):
    """All aggregates under all semantics without predicates on adjacent events and negation (Section 15.1, Table 18.1).

    O(n * w * l) time for n events in w windows each and a pattern of length l, O(K * l) space per key.

    Under skip-till-next-match and contiguous semantics Algorithm 9 keeps one last event. That undercounts when several
    partial trends wait; the cell of a position holds all of them, and is emptied when an event extends them (next) or
    when the time moves on (contiguous), so space stays O(l) and time O(n * l).
    """

    over = staticmethod(aggregate_keys)

    def __init__(self, query: CompiledQuery, part: Part, window: Window) -> None:
        semantics, positions = SEMANTICS[query.query.semantics], len(part.tables.start)
        template = template_of(part.tables, semantics, positions)
        shape = shape_of(semantics, query.layout, part.tables, query.arithmetic)
        sizes = Sizes(cell_bytes(part.tables), positions + (semantics != ANY))  # a cell of finished trends
        fresh = new_cells(window.overlap, positions, query.layout, query.arithmetic, sizes.clock())
        super().__init__(query, window, Typed(template, shape, window.overlap, sliding(window)), fresh, sizes)

    def work(self, lanes: Any) -> Mapping[str, float]:
        """No edges: no event is kept that could be visited."""
        return {"edges": 0.0}
