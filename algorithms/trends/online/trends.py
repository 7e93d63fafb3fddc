"""Online aggregation of the trends of a query that shares nothing: COGRA's lanes, and GRETA's at event granularity."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cepbench.algorithms.engine.batches import sliding
from cepbench.algorithms.engine.kernels.cells import cell_bytes
from cepbench.algorithms.engine.kernels.constants import ANY, SEMANTICS
from cepbench.algorithms.engine.lanes import CellLanes, Lanes
from cepbench.algorithms.engine.peak import Sizes
from cepbench.algorithms.trends.online.granularity import COARSEST, kept_positions
from cepbench.algorithms.trends.online.graph import GraphGrained
from cepbench.algorithms.trends.online.kernels.sums import (
    Typed,
    aggregate_any_keys,
    aggregate_contiguous_keys,
    aggregate_next_keys,
    new_cells,
)
from cepbench.algorithms.trends.online.kernels.type_tables import (
    is_common,
    template_of,
    with_negated,
    words_by_shape,
)
from cepbench.algorithms.trends.online.negated import can_empty, emptied_positions
from cepbench.events.windows import Window
from cepbench.queries.analysis import analyse
from cepbench.queries.compile import CompiledQuery, Part
from cepbench.queries.model import Aggregates, Query, Semantics


class TypeGrained(CellLanes):
    """All aggregates under skip-till-any-match without predicates on adjacent events (Section 15.1).

    Negated events empty the positions whose trends they forbid to extend (`online.negated`).

    O(n * w * l) time for n events in w windows each and a pattern of length l, O(K * l) space per key.
    """

    over = staticmethod(aggregate_any_keys)

    def __init__(self, query: CompiledQuery, part: Part, window: Window) -> None:
        semantics, copies = SEMANTICS[query.query.semantics], emptied_positions(part)
        tables, positions = copies.tables, len(copies.tables.start)
        common = is_common(semantics, query.layout, tables, query.arithmetic)
        template = with_negated(template_of(tables, semantics, positions, common), copies.negated, positions)
        words = words_by_shape(query.layout, common)
        sizes = Sizes(cell_bytes(part.tables), positions + (semantics != ANY))  # a cell of finished trends
        fresh = new_cells(window.overlap, positions, query.layout, query.arithmetic, sizes.clock())
        fixed = Typed(template, copies.negated, words, window.overlap, sliding(window))
        super().__init__(query, window, fixed, fresh, sizes)

    def work(self, lanes: Any) -> Mapping[str, float]:
        """No edges: no event is kept that could be visited."""
        return {"edges": 0.0}


class NextGrained(TypeGrained):
    """As `TypeGrained`, under skip-till-next-match.

    Algorithm 9 keeps one last event, and undercounts when several partial trends wait. The cell of a position holds all
    of them, and is emptied when an event extends them, so space stays O(l) and time O(n * l).
    """

    over = staticmethod(aggregate_next_keys)


class ContiguousGrained(TypeGrained):
    """As `NextGrained`, under contiguous semantics: the cell of a position is emptied when the time moves on."""

    over = staticmethod(aggregate_contiguous_keys)


GRAINED = {Semantics.ANY: TypeGrained, Semantics.NEXT: NextGrained, Semantics.CONTIGUOUS: ContiguousGrained}
"""Lanes of sums, by semantics."""


def trend_lanes(query: CompiledQuery, part: Part, window: Window, granularity: str = COARSEST) -> Lanes:
    """Lanes that aggregate the trends of an automaton at a granularity (dissertation Chapter 14, Table 14.1).

    Events visit those that are kept, and read sums of all others. Under skip-till-next-match and contiguous semantics,
    which have the coarsest granularity only, both are dropped once nothing can extend them. Where no event is kept, and
    negated events only empty sums, the loops over sums are faster.
    """
    kept = kept_positions(part.automaton, granularity)
    if kept.any() or (part.negations and not can_empty(part.automaton, query.query.semantics)):
        return GraphGrained(query, part, window, kept)
    return GRAINED[query.query.semantics](query, part, window)


def unsupported_under_any(system: str, query: Query, cited: str = "") -> str | None:
    """Why a system that aggregates trends online under skip-till-any-match alone cannot evaluate a query, or None."""
    if not isinstance(query.returns, Aggregates):
        return f"{system} aggregates trends without constructing them, so it cannot return matches"
    if query.semantics is not Semantics.ANY:
        return f"{system} supports skip-till-any-match only, not {query.semantics}{cited}"
    if any(automaton.pairwise for automaton in analyse(query).automata):
        return "predicates on events that are not adjacent need constructed trends"
    return None
