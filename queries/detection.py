"""The clauses of a query with `WITHIN ... PER MATCH` (MCEP, Section 2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, product
from math import prod

from cepbench.queries.detection_rules import alternatives
from cepbench.queries.model import And, Comparison, Condition, Event, Local, Not, Pattern, Plus, Query, Seq, occurrences
from cepbench.queries.names import Names


@dataclass(frozen=True)
class OperandType:
    """An event type that an operand binds, with the conditions on single events."""

    type: str
    predicates: tuple[Condition, ...] = ()


@dataclass(frozen=True)
class ClauseOperand:
    """An operand of a clause: events of one type, or of the types of an OR. `kleene`: it binds one or more events."""

    either: tuple[OperandType, ...]
    kleene: bool = False

    @property
    def single(self) -> OperandType:
        """The type of an operand that is not an OR."""
        [only] = self.either
        return only


@dataclass(frozen=True)
class NegatedType:
    """An event type that must be absent between operands `gap - 1` and `gap`.

    At gap 0 it must be absent before the first operand, at the number of operands after the last one.
    """

    type: str
    gap: int
    predicates: tuple[Condition, ...]


@dataclass(frozen=True)
class OperandComparison:
    """`predicate` for all pairs of an event of operand `left` and one of operand `right`."""

    left: int
    right: int
    predicate: Comparison


@dataclass(frozen=True)
class DetectionClause:
    """One alternative of the OR at the top of a pattern: a SEQ (`ordered`) or an AND of operands, or a single one.

    Each clause is a separate pattern in multi-pattern detection. `occurrences` has, for each operand, the numbers of
    its events in the pattern: one, or those of its OR.
    """

    ordered: bool
    operands: tuple[ClauseOperand, ...]
    negated: tuple[NegatedType, ...]
    conditions: tuple[OperandComparison, ...]
    occurrences: tuple[tuple[int, ...], ...]

    @property
    def waits(self) -> bool:
        """Whether a match is decided only when its span has passed: there is a NOT at the end."""
        return any(negation.gap == len(self.operands) for negation in self.negated)

    @property
    def ambiguous(self) -> bool:
        """Whether the same events may bind in several ways."""
        types = [{event.type for event in operand.either} for operand in self.operands]
        if any(len(distinct) < len(operand.either) for distinct, operand in zip(types, self.operands, strict=True)):
            return True
        several = not self.ordered or any(operand.kleene for operand in self.operands)
        return several and any(a & b for a, b in combinations(types, 2))

    @property
    def types(self) -> frozenset[str]:
        """The types of all operands."""
        return frozenset(event.type for operand in self.operands for event in operand.either)

    @property
    def has_or(self) -> bool:
        """Whether an operand is an OR."""
        return any(len(operand.either) > 1 for operand in self.operands)


def clauses_of(query: Query, names: Names) -> tuple[DetectionClause, ...]:
    """The clauses of a detection query that `queries.resolve` accepts."""
    clauses, first = [], 0
    for part, _ in alternatives(query.pattern):
        clauses.append(_clause(part, first, query, names))
        first += sum(1 for _ in occurrences(part))
    return tuple(clauses)


def may_repeat(clauses: tuple[DetectionClause, ...]) -> bool:
    """Whether a match, which is a set of events, may be found more than once: in one clause, or in two of them."""
    if any(clause.ambiguous for clause in clauses):
        return True
    return any(a.types & b.types if a.has_or or b.has_or else a.types == b.types for a, b in combinations(clauses, 2))


def choices(clause: DetectionClause) -> int | None:
    """The number of clauses without OR that are equal to a clause; None if a Kleene operand is an OR."""
    if any(operand.kleene and len(operand.either) > 1 for operand in clause.operands):
        return None
    return prod(len(operand.either) for operand in clause.operands)


def without_or(clause: DetectionClause) -> Iterator[DetectionClause]:
    """The disjunctive normal form of a clause with `choices`."""
    for chosen in product(*(operand.either for operand in clause.operands)):
        operands = zip(chosen, clause.operands, strict=True)
        yield replace(clause, operands=tuple(ClauseOperand((event,), operand.kleene) for event, operand in operands))


def _clause(pattern: Pattern, first: int, query: Query, names: Names) -> DetectionClause:
    joined = pattern.parts if isinstance(pattern, Seq | And) else (pattern,)
    operands: list[ClauseOperand] = []
    negated: list[NegatedType] = []
    places: list[tuple[int, ...]] = []
    for part in joined:
        events = tuple(occurrences(part))
        numbers = tuple(range(first, first + len(events)))
        first += len(events)
        bound = tuple(_bound(event, number, query, names) for event, number in zip(events, numbers, strict=True))
        if isinstance(part, Not):
            negated.append(NegatedType(bound[0].type, len(operands), bound[0].predicates))
        else:
            operands.append(ClauseOperand(bound, isinstance(part, Plus)))
            places.append(numbers)
    conditions = tuple(_conditions(query, names, places))
    return DetectionClause(not isinstance(pattern, And), tuple(operands), tuple(negated), conditions, tuple(places))


def _bound(event: Event, occurrence: int, query: Query, names: Names) -> OperandType:
    conditions = (
        predicate.condition
        for predicate in query.predicates
        if isinstance(predicate, Local) and occurrence in names.indices(predicate.name)
    )
    return OperandType(event.type, tuple(conditions))


def _conditions(query: Query, names: Names, places: list[tuple[int, ...]]) -> Iterator[OperandComparison]:
    for predicate in query.predicates:
        if isinstance(predicate, Comparison):
            lefts, rights = names.indices(predicate.left.name), names.indices(predicate.right.name)
            for left, place in enumerate(places):
                for right, right_place in enumerate(places):
                    if place[0] in lefts and right_place[0] in rights:  # names mean whole operands
                        yield OperandComparison(left, right, predicate)
