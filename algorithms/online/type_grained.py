"""Evaluators without single events: a cell per position and window."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from cepbench.algorithms.kernels.cells import cell_bytes
from cepbench.algorithms.online.granularity import SEMANTICS
from cepbench.algorithms.online.kernels.lifecycle import ANY
from cepbench.algorithms.online.kernels.reach.counts import count_keys, new_counts
from cepbench.algorithms.online.kernels.reach.sums import Typed, aggregate_keys, new_cells
from cepbench.algorithms.online.kernels.type_tables import shape_of, template_of
from cepbench.algorithms.running.batches import sliding
from cepbench.algorithms.running.lanes import CellLanes
from cepbench.algorithms.running.peak import Sizes
from cepbench.events.windows import Window
from cepbench.queries.compile import CompiledQuery, Part
from cepbench.queries.model import Semantics


class TypeGrained(CellLanes):
    """All aggregates under all semantics without predicates on adjacent events and negation (Section 15.1, Table 18.1).

    O(n * w * l) time for n events in w windows each and a pattern of length l, O(K * l) space per key.

    Under skip-till-next-match and contiguous semantics Algorithm 9 keeps one last event. That undercounts when several
    partial trends wait; the cell of a position holds all of them, and is emptied when an event extends them (next) or
    when the time moves on (contiguous), so space stays O(l) and time O(n * l).
    """

    over: ClassVar[Callable[..., tuple[int, int, int, int]]] = staticmethod(aggregate_keys)
    cells: ClassVar[Callable[..., Any]] = staticmethod(new_cells)

    def __init__(self, query: CompiledQuery, part: Part, window: Window) -> None:
        semantics, positions = SEMANTICS[query.query.semantics], len(part.tables.start)
        template = template_of(part.tables, semantics, positions)
        shape = shape_of(semantics, query.layout, part.tables, query.arithmetic)
        sizes = Sizes(cell_bytes(part.tables), positions + (semantics != ANY))  # a cell of finished trends
        fresh = self.cells(window.overlap, positions, query.layout, query.arithmetic, sizes.clock())
        super().__init__(query, window, Typed(template, shape, window.overlap, sliding(window)), fresh, sizes)

    def work(self, lanes: Any) -> Mapping[str, float]:
        """No edges: no event is kept that could be visited."""
        return {"edges": 0.0}


class TypeGrainedCount(TypeGrained):
    """COUNT(*) under skip-till-any-match without predicates, negation and repeated types: Algorithm 7 itself."""

    over, cells = staticmethod(count_keys), staticmethod(new_counts)

    @staticmethod
    def suits(query: CompiledQuery, part: Part) -> bool:
        """Whether the query is one of those."""
        tables, layout = part.tables, query.layout
        channels = len(layout.ring) + len(layout.real) + len(layout.least)
        plain = channels == 1 and not part.negations and len(tables.local.one) == 0
        return plain and query.query.semantics is Semantics.ANY and bool(np.all(np.diff(tables.binding_ptr) <= 1))
