"""Single negated events at type granularity: they empty the positions whose trends they forbid to extend.

A match of such a negation is one event, before which all earlier events came. So the trends at a position are split by
what is negated behind them: a *copy* of the position for each set of negations on its transitions (and at the end of
the pattern), all of which the same events extend. An event that matches a negation empties the copies that have it. A
START position with leading negations extends a position of its own, which holds one empty trend until such an event
comes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.constants import END, NONE
from cepbench.algorithms.trends.online.granularity import only_single_events
from cepbench.algorithms.trends.online.kernels.type_tables import NegatedTypes, lists_of, tables_of_copies, terminated
from cepbench.queries.automaton import Automaton, Negations
from cepbench.queries.compile import Part
from cepbench.queries.model import Semantics
from cepbench.queries.tables import Tables, Weights

Copy = tuple[int, Negations]
"""A position, and the negations that empty its copy."""


@dataclass(frozen=True)
class EmptiedPositions:
    """Tables of an automaton whose positions are the copies of another one's, without negations; and what empties them.

    `opened`: the positions in place of leading negations, the last ones.
    """

    tables: Tables
    negated: NegatedTypes


NOTHING_NEGATED = NegatedTypes(
    np.empty(0, np.uint64), np.empty(0, np.uint64), np.empty(0, np.int64), np.empty(0, np.uint64)
)


def can_empty(automaton: Automaton, semantics: Semantics) -> bool:
    """Whether all negations are single events that only empty positions."""
    everything = frozenset(range(len(automaton.negations)))
    return semantics is Semantics.ANY and only_single_events(everything, automaton)


def emptied_positions(part: Part) -> EmptiedPositions:
    """The copies of the positions of a part, and the types that empty them."""
    automaton, tables = part.automaton, part.tables
    if not automaton.negations:
        return EmptiedPositions(tables, NOTHING_NEGATED)
    copies = _copies(automaton)
    number = {copy: n for n, copy in enumerate(copies)}
    leading = sorted({p.start for p in automaton.positions if p.start}, key=sorted)
    opened = {negations: len(copies) + n for n, negations in enumerate(leading)}
    sources = []
    for p, _ in copies:
        start = automaton.positions[p].start
        before = [number[t.source, t.negations] for t in automaton.transitions if t.target == p]
        sources.append([*before, *([opened[start]] if start else [])])
    end = [automaton.positions[p].end == negations for p, negations in copies]
    plain = tables_of_copies(tables, [p for p, _ in copies], sources, np.array(end))
    plain = plain._replace(start=np.array([automaton.positions[p].start == frozenset() for p, _ in copies]))
    emptied = [*(negations for _, negations in copies), *leading]
    return EmptiedPositions(_with_opened(plain, len(leading)), _negated_types(part, emptied, list(opened.values())))


def _copies(automaton: Automaton) -> list[Copy]:
    """The copies of each position: one for each set of negations behind it, or one if nothing follows."""
    copies: dict[Copy, None] = {}
    for p, position in enumerate(automaton.positions):
        behind = [t.negations for t in automaton.transitions if t.source == p]
        behind += [] if position.end is None else [position.end]
        copies |= dict.fromkeys((p, negations) for negations in behind or [frozenset()])
    return list(copies)


def _with_opened(tables: Tables, number: int) -> Tables:
    """The tables with so many positions more, which no event binds to."""

    def more(weights: Weights) -> Weights:
        return Weights(np.pad(weights.bound, ((0, 0), (0, number))), weights.column)

    return tables._replace(
        enter_ptr=np.pad(tables.enter_ptr, (0, number), mode="edge"),
        start=np.pad(tables.start, (0, number)),
        end=np.pad(tables.end, (0, number)),
        local=np.pad(tables.local, (0, number), constant_values=NONE),
        ring=more(tables.ring),
        real=more(tables.real),
        least=more(tables.least),
    )


def _negated_types(part: Part, emptied: list[Negations], opened: list[int]) -> NegatedTypes:
    """The positions that events of each type empty; position p is emptied by matches of the negations `emptied[p]`."""
    negated = [negation.tables for negation in part.negations]
    conditions: list[list[tuple[int, int]]] = [[] for _ in part.tables.binding_ptr[1:]]
    for n, tables in enumerate(negated):
        positions = [p for p, negations in enumerate(emptied) if n in negations]
        for kind, bound in enumerate(lists_of(tables.binding_ptr, tables.binding)):
            conditions[kind] += [(p, int(tables.local[b])) for b in bound for p in positions]
    first, position = terminated([tuple(p for p, _ in listed) for listed in conditions])
    condition: Ints = np.full(len(position), NONE, np.int64)
    condition[position != END] = [c for listed in conditions for _, c in listed]
    return NegatedTypes(first, position, condition, np.array(opened, np.uint64))
