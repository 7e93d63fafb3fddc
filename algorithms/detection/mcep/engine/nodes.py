"""A global plan as nodes for the kernels: the operands, children and readers of each node."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from cepbench.algorithms.detection.mcep.kernels.state import Kind
from cepbench.algorithms.detection.mcep.planning.patterns import DetectionPattern, NegatedElement, operands_of
from cepbench.algorithms.detection.mcep.planning.plans import MultiPlan
from cepbench.queries.detection import DetectionClause
from cepbench.queries.model import Condition


@dataclass(frozen=True)
class NodeSide:
    """A child of a node: its number, and which operand of the node's pattern is in each of its slots."""

    node: int
    places: tuple[int, ...]


class Exclusion(NamedTuple):
    """The node of negated events which must not lie between two slots of a row."""

    node: int
    before: int
    after: int


@dataclass
class EngineNode:
    """A node of an engine, described for the first `pattern` that uses it.

    `type` and `filters` are those of a leaf's events; `places`: the operand of the pattern in each slot.
    """

    kind: Kind
    pattern: int
    places: tuple[int, ...]
    counts: bool
    reach: int = 0
    type: str = ""
    filters: tuple[Condition, ...] = ()
    sides: tuple[NodeSide, ...] = ()
    finals: list[int] = field(default_factory=list)
    stored: bool = False
    kept: bool = False
    held: bool = False
    ends: frozenset[str] = frozenset()
    """The types of the last events of its rows."""
    exclusions: tuple[Exclusion, ...] = ()


def reach_of(pattern: DetectionPattern) -> int:
    """The maximum distance between the first and the last event of a match, in time or in events."""
    return pattern.window - 1 if pattern.scope.counts_events else pattern.window


def driver_of(ordered: bool, sides: Sequence[NodeSide]) -> tuple[int, ...]:
    """The sides that can contain the current event; in a SEQ only that of the last operand."""
    if ordered:
        return (max(range(len(sides)), key=lambda side: max(sides[side].places)),)
    return tuple(range(len(sides)))


class EngineNodes:
    """The `nodes` of a plan whose pattern i is clause i, children first; `absent`: the node of each negated type of a
    pattern.

    Negated types in `decided` have been checked by a node of the pattern, and are not checked for its matches again.
    """

    def __init__(self, plan: MultiPlan, clauses: Sequence[DetectionClause]) -> None:
        self.plan, self.table, self.clauses = plan, plan.table, clauses
        self.nodes: list[EngineNode] = []
        self.absent: dict[tuple[int, int], int] = {}
        node_of: dict[int, int] = {}
        for number, (pattern, mask) in sorted(plan.first_places().items()):
            local = self.plan.plans[pattern]
            parts = local.parts(mask)
            if parts:
                places = dict(local.places)
                sides = tuple(NodeSide(node_of[places[part]], self.table.places(pattern, part)) for part in parts)
                node_of[number] = self._join(pattern, mask, sides)
            else:
                node_of[number] = self._leaf(pattern, mask)
        for number in plan.in_order():
            node = self.nodes[node_of[number]]
            node.reach = self.plan.window(number) - (1 if node.counts else 0)
        for number, patterns in self.plan.finals().items():
            self.nodes[node_of[number]].finals = patterns
        self._negated()
        self.decided = self._exclude(node_of)
        self._widen()

    def _leaf(self, pattern: int, mask: int) -> int:
        [operand] = operands_of(mask)
        part = self.clauses[pattern].operands[operand]
        bound = part.single
        kind = Kind.KLEENE if part.kleene else Kind.LEAF
        counts = self.table[pattern].scope.counts_events
        node = EngineNode(kind, pattern, (operand,), counts, type=bound.type, filters=bound.predicates)
        node.ends = frozenset({bound.type})
        node.stored = node.kept = part.kleene
        return self._add(node)

    def _join(self, pattern: int, mask: int, sides: tuple[NodeSide, ...]) -> int:
        detected = self.table[pattern]
        node = EngineNode(
            Kind.JOIN, pattern, self.table.places(pattern, mask), detected.scope.counts_events, sides=sides
        )
        fresh = driver_of(detected.ordered, sides)
        node.ends = frozenset().union(*(self.nodes[sides[side].node].ends for side in fresh))
        for place, side in enumerate(sides):
            child = self.nodes[side.node]
            child.stored = True
            child.kept = child.kept or fresh != (place,)
        return self._add(node)

    def _negated(self) -> None:
        """A node for each combination of negated type, predicates and axis; all patterns share it."""
        number_of: dict[tuple[NegatedElement, bool], int] = {}
        for pattern, clause in enumerate(self.clauses):
            detected = self.table[pattern]
            for index, (element, negation) in enumerate(zip(detected.negated, clause.negated, strict=True)):
                key = NegatedElement(element.type, 0, element.filters), detected.scope.counts_events
                if key not in number_of:
                    node = EngineNode(Kind.ABSENT, pattern, (), key[1], type=negation.type, filters=negation.predicates)
                    node.ends, node.stored, node.kept = frozenset({negation.type}), True, True
                    number_of[key] = self._add(node)
                node = self.nodes[number_of[key]]
                node.reach = max(node.reach, reach_of(detected))
                node.held = node.held or negation.gap == len(clause.operands)
                self.absent[pattern, index] = number_of[key]

    def _exclude(self, node_of: dict[int, int]) -> frozenset[tuple[int, int]]:
        """Lets nodes drop rows that none of their patterns can use; returns the negated types decided by this."""
        exclusions = {
            (number, pattern, mask): {index: self._exclusion(pattern, mask, index) for index in negated}
            for pattern, local in self.plan.plans.items()
            for mask, number in local.places
            for negated in [self.plan.negated_at(local, mask)]
        }
        common: dict[int, set[Exclusion]] = {}
        for (number, _, _), by_index in exclusions.items():
            common.setdefault(node_of[number], set(by_index.values())).intersection_update(by_index.values())
        for number, shared in common.items():
            node = self.nodes[number]
            inside = {
                Exclusion(
                    exclusion.node,
                    *(node.places.index(side.places[slot]) for slot in (exclusion.before, exclusion.after)),
                )
                for side in node.sides
                for exclusion in common.get(side.node, ())
            }
            node.exclusions = tuple(sorted(shared - inside))
        return frozenset(
            (pattern, index)
            for (number, pattern, _), by_index in exclusions.items()
            for index, exclusion in by_index.items()
            if exclusion in common[node_of[number]]
        )

    def _exclusion(self, pattern: int, mask: int, index: int) -> Exclusion:
        """A negated type between two operands of a pattern, for a node that binds both."""
        gap, places = self.table[pattern].negated[index].gap, self.table.places(pattern, mask)
        return Exclusion(self.absent[pattern, index], places.index(gap - 1), places.index(gap))

    def _widen(self) -> None:
        """Extends the reach of nodes so that they keep rows for as long as their readers need them."""
        for node in reversed(self.nodes):
            for side in node.sides:
                child = self.nodes[side.node]
                child.reach = max(child.reach, node.reach)

    def _add(self, node: EngineNode) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1
