"""What a query with `WITHIN ... PER MATCH` detects: the clauses of its pattern (MCEP, Section 2)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from cepbench.queries.detection_rules import alternatives
from cepbench.queries.model import And, Comparison, Event, Local, Not, Pattern, Plus, Query, Seq, children, occurrences
from cepbench.queries.names import Names


@dataclass(frozen=True)
class ClauseOperand:
    """An event type of a clause, with the predicates on single events. `kleene`: it binds one or more events."""

    type: str
    kleene: bool
    predicates: tuple[Local, ...]


@dataclass(frozen=True)
class NegatedType:
    """An event type that must be absent between operands `gap - 1` and `gap`.

    At gap 0 it must be absent before the first operand, at the number of operands after the last one.
    """

    type: str
    gap: int
    predicates: tuple[Local, ...]


@dataclass(frozen=True)
class Condition:
    """`predicate` for every event of operand `left` with every one of operand `right`."""

    left: int
    right: int
    predicate: Comparison


@dataclass(frozen=True)
class DetectionClause:
    """One alternative of the OR at the top of a pattern: a SEQ (`ordered`) or an AND of operands, or a single one.

    Each clause is a pattern of its own to a system of multi-pattern detection. `occurrences` numbers the event of the
    pattern that each operand stands for.
    """

    ordered: bool
    operands: tuple[ClauseOperand, ...]
    negated: tuple[NegatedType, ...]
    conditions: tuple[Condition, ...]
    occurrences: tuple[int, ...]

    @property
    def waits(self) -> bool:
        """Whether a match is decided only when no event can follow it within the span: a NOT stands at the end."""
        return any(negation.gap == len(self.operands) for negation in self.negated)

    @property
    def ambiguous(self) -> bool:
        """Whether the same events may bind in several ways."""
        types = [operand.type for operand in self.operands]
        several = not self.ordered or any(operand.kleene for operand in self.operands)
        return several and len(set(types)) < len(types)


def clauses_of(query: Query, names: Names) -> tuple[DetectionClause, ...]:
    """The clauses of a detection query that `queries.resolve` accepts."""
    found, first = [], 0
    for part, _ in alternatives(query.pattern):
        found.append(_clause(part, first, query, names))
        first += sum(1 for _ in occurrences(part))
    return tuple(found)


def may_repeat(clauses: tuple[DetectionClause, ...]) -> bool:
    """Whether a match, which is a set of events, may be found more than once: in one clause, or in two of them."""
    types = [{operand.type for operand in clause.operands} for clause in clauses]
    return any(clause.ambiguous for clause in clauses) or any(a == b for a, b in combinations(types, 2))


def _clause(pattern: Pattern, first: int, query: Query, names: Names) -> DetectionClause:
    joined = pattern.parts if isinstance(pattern, Seq | And) else (pattern,)
    operands: list[ClauseOperand] = []
    negated: list[NegatedType] = []
    places: list[int] = []
    for occurrence, part in enumerate(joined, first):
        event = _event_of(part)
        predicates = tuple(_locals(query, names, occurrence))
        if isinstance(part, Not):
            negated.append(NegatedType(event.type, len(operands), predicates))
        else:
            operands.append(ClauseOperand(event.type, isinstance(part, Plus), predicates))
            places.append(occurrence)
    conditions = tuple(_conditions(query, names, places))
    return DetectionClause(not isinstance(pattern, And), tuple(operands), tuple(negated), conditions, tuple(places))


def _event_of(part: Pattern) -> Event:
    event = part if isinstance(part, Event) else children(part)[0]
    assert isinstance(event, Event)
    return event


def _locals(query: Query, names: Names, occurrence: int) -> Iterator[Local]:
    for predicate in query.predicates:
        if isinstance(predicate, Local) and occurrence in names.indices(predicate.operand.name):
            yield predicate


def _conditions(query: Query, names: Names, places: list[int]) -> Iterator[Condition]:
    for predicate in query.predicates:
        if isinstance(predicate, Comparison):
            lefts, rights = names.indices(predicate.left.name), names.indices(predicate.right.name)
            for left, place in enumerate(places):
                for right, other in enumerate(places):
                    if place in lefts and other in rights:
                        yield Condition(left, right, predicate)
