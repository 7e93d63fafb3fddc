"""A global plan as nodes that kernels can run: what each one binds, of which others it is made, and who reads it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from cepbench.algorithms.mcep.kernels.state import ABSENT, JOIN, KLEENE, LEAF
from cepbench.algorithms.mcep.planning.patterns import DetectionPattern, NegatedElement
from cepbench.algorithms.mcep.planning.plans import MultiPlan
from cepbench.algorithms.mcep.planning.subpatterns import operands_of
from cepbench.queries.detection import DetectionClause
from cepbench.queries.model import Local


@dataclass(frozen=True)
class NodeSide:
    """A child of a node: its number, and the operand of the node's pattern in each of its slots."""

    node: int
    places: tuple[int, ...]


class Hindrance(NamedTuple):
    """The node of events that may not be between two slots of a row."""

    node: int
    before: int
    after: int


@dataclass
class EngineNode:
    """A node of an engine, as it is for the first `pattern` that uses it.

    `type` and `filters` are those of the events of a leaf; `places` the operand of the pattern in each slot.
    """

    kind: int
    pattern: int
    places: tuple[int, ...]
    counts: bool
    reach: int = 0
    type: str = ""
    filters: tuple[Local, ...] = ()
    sides: tuple[NodeSide, ...] = ()
    finals: list[int] = field(default_factory=list)
    stored: bool = False
    kept: bool = False
    held: bool = False
    ends: frozenset[str] = frozenset()
    """The types of the events with which its rows may end."""
    hindrances: tuple[Hindrance, ...] = ()


@dataclass(frozen=True)
class EngineNodes:
    """The nodes of a plan, children first; `absent` is the node of each negated type of a pattern.

    Those that some node of the pattern has `decided` need not be looked for in its matches.
    """

    nodes: tuple[EngineNode, ...]
    absent: dict[tuple[int, int], int]
    decided: frozenset[tuple[int, int]]


def reach_of(pattern: DetectionPattern) -> int:
    """The most that the last event of a match may lie behind the first, in time or in events."""
    return pattern.window - 1 if pattern.scope.counts_events else pattern.window


def driver_of(ordered: bool, sides: Sequence[NodeSide]) -> tuple[int, ...]:
    """The sides that the current event may be in: of a SEQ, that of the last operand, since no later one has come."""
    if ordered:
        return (max(range(len(sides)), key=lambda side: max(sides[side].places)),)
    return tuple(range(len(sides)))


def nodes_of(plan: MultiPlan, clauses: Sequence[DetectionClause]) -> EngineNodes:
    """The nodes of a plan whose pattern i is clause i."""
    return _Nodes(plan, clauses).made()


class _Nodes:
    def __init__(self, plan: MultiPlan, clauses: Sequence[DetectionClause]) -> None:
        self.plan, self.table, self.clauses = plan, plan.table, clauses
        self.nodes: list[EngineNode] = []
        self.absent: dict[tuple[int, int], int] = {}

    def made(self) -> EngineNodes:
        first = self.plan.first_places()
        order = self.plan.in_order()
        buffers = {sub: self._leaf(*where) for sub, where in self._buffered(first).items()}
        made: dict[int, int] = {}
        for number in order:
            pattern, mask = first[number]
            local = self.plan.plans[pattern]
            parts = self.plan.parts(local, mask)
            if mask.bit_count() == 1:
                made[number] = self._leaf(pattern, mask)
                continue
            places = dict(local.places)
            sides = [NodeSide(made[places[part]], self.table.places(pattern, part)) for part in parts]
            rest = mask & ~sum(parts)
            if rest:
                sides.append(NodeSide(buffers[self.table.of(pattern, rest)], self.table.places(pattern, rest)))
            made[number] = self._join(pattern, mask, tuple(sides))
        for number in order:
            node = self.nodes[made[number]]
            node.reach = self.plan.window(number) - (1 if node.counts else 0)
        for number, patterns in self.plan.finals().items():
            self.nodes[made[number]].finals = patterns
        self._negated()
        decided = self._hinder(made)
        self._widen()
        return EngineNodes(tuple(self.nodes), self.absent, decided)

    def _buffered(self, first: dict[int, tuple[int, int]]) -> dict[int, tuple[int, int]]:
        """The operands that states look up in buffers, each once, whichever patterns have it: an operand of each."""
        found: dict[int, tuple[int, int]] = {}
        for pattern, mask in first.values():
            rest = mask & ~sum(self.plan.parts(self.plan.plans[pattern], mask))
            if rest and mask.bit_count() > 1:
                found.setdefault(self.table.of(pattern, rest), (pattern, rest))
        return found

    def _leaf(self, pattern: int, mask: int) -> int:
        [operand] = operands_of(mask)
        one = self.clauses[pattern].operands[operand]
        bound = one.single
        kind = KLEENE if one.kleene else LEAF
        counts = self.table[pattern].scope.counts_events
        node = EngineNode(kind, pattern, (operand,), counts, type=bound.type, filters=bound.predicates)
        node.ends = frozenset({bound.type})
        node.stored = node.kept = one.kleene
        return self._add(node)

    def _join(self, pattern: int, mask: int, sides: tuple[NodeSide, ...]) -> int:
        detected = self.table[pattern]
        node = EngineNode(JOIN, pattern, self.table.places(pattern, mask), detected.scope.counts_events, sides=sides)
        fresh = driver_of(detected.ordered, sides)
        node.ends = frozenset().union(*(self.nodes[sides[side].node].ends for side in fresh))
        for place, side in enumerate(sides):
            child = self.nodes[side.node]
            child.stored = True
            child.kept = child.kept or fresh != (place,)
        return self._add(node)

    def _negated(self) -> None:
        """A node for each negated type, its predicates and its axis, which all patterns share."""
        known: dict[tuple[NegatedElement, bool], int] = {}
        for pattern, clause in enumerate(self.clauses):
            detected = self.table[pattern]
            for index, (element, negation) in enumerate(zip(detected.negated, clause.negated, strict=True)):
                key = NegatedElement(element.type, 0, element.filters), detected.scope.counts_events
                if key not in known:
                    node = EngineNode(ABSENT, pattern, (), key[1], type=negation.type, filters=negation.predicates)
                    node.ends, node.stored, node.kept = frozenset({negation.type}), True, True
                    known[key] = self._add(node)
                node = self.nodes[known[key]]
                node.reach = max(node.reach, reach_of(detected))
                node.held = node.held or negation.gap == len(clause.operands)
                self.absent[pattern, index] = known[key]

    def _hinder(self, made: dict[int, int]) -> frozenset[tuple[int, int]]:
        """Has nodes drop the rows that no pattern of theirs can use; returns the negated types that are so decided."""
        own = {
            (number, pattern, mask): {index: self._hindrance(pattern, mask, index) for index in found}
            for pattern, local in self.plan.plans.items()
            for mask, number in local.places
            for found in [self.plan.negated_at(local, mask)]
        }
        common: dict[int, set[Hindrance]] = {}
        for (number, _, _), some in own.items():
            common.setdefault(made[number], set(some.values())).intersection_update(some.values())
        for number, found in common.items():
            node = self.nodes[number]
            inside = {
                Hindrance(one.node, *(node.places.index(side.places[slot]) for slot in (one.before, one.after)))
                for side in node.sides
                for one in common.get(side.node, ())
            }
            node.hindrances = tuple(sorted(found - inside))
        return frozenset(
            (pattern, index)
            for (number, pattern, _), some in own.items()
            for index, one in some.items()
            if one in common[made[number]]
        )

    def _hindrance(self, pattern: int, mask: int, index: int) -> Hindrance:
        """A negated type between two operands of a pattern, for a node that binds them there."""
        gap, places = self.table[pattern].negated[index].gap, self.table.places(pattern, mask)
        return Hindrance(self.absent[pattern, index], places.index(gap - 1), places.index(gap))

    def _widen(self) -> None:
        """Whoever is read keeps its rows for as long as the readers need them."""
        for node in reversed(self.nodes):
            for side in node.sides:
                child = self.nodes[side.node]
                child.reach = max(child.reach, node.reach)

    def _add(self, node: EngineNode) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1
