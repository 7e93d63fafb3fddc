"""Patterns as input of MCEP's optimizer: SEQ or AND of single types with pairwise conditions (MCEP, Section 2).

Comparisons have no names of operands (`""`), so equal ones of different patterns are equal.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from cepbench.queries.compile import CompiledQuery
from cepbench.queries.detection import DetectionClause
from cepbench.queries.model import Comparison, Condition


@dataclass(frozen=True)
class PatternElement:
    """An operand without its name; equal elements bind the same events. `kleene`: at least one event."""

    type: str
    kleene: bool = False
    filters: frozenset[Condition] = frozenset()


@dataclass(frozen=True)
class NegatedElement:
    """A type that must be absent before operand `gap`, or after the last one if `gap` is the number of operands."""

    type: str
    gap: int
    filters: frozenset[Condition] = frozenset()


@dataclass(frozen=True)
class PairCondition:
    """`comparison` for each event of operand `left` with each one of operand `right`, where `left < right`."""

    left: int
    right: int
    comparison: Comparison


@dataclass(frozen=True)
class PatternScope:
    """What two patterns must have in common to share anything: their kind of window and their keys."""

    counts_events: bool = False
    partition: frozenset[str] = frozenset()


@dataclass(frozen=True)
class DetectionPattern:
    """The paper's tuple (E, S, C, W): a clause of a detection query.

    - `ordered`: whether the structure S is a SEQ, otherwise it is an AND. A single operand is neither.
    - `elements`: the operands in the order of the query; a type can occur several times.
    - `negated`: absent types. They are not part of sub-patterns, so they do not prevent sharing.
    - `window`: the maximum distance between the first and the last event of a match in time units of the stream or, if
      the scope counts events, the number of consecutive events that contain a match.
    - `query` and `clause`: the index of the query in its workload, and that of the alternative in the query.
    """

    ordered: bool
    elements: tuple[PatternElement, ...]
    negated: tuple[NegatedElement, ...]
    conditions: frozenset[PairCondition]
    window: int
    scope: PatternScope = PatternScope()
    query: int = 0
    clause: int = 0

    def __len__(self) -> int:
        """The number of operands."""
        return len(self.elements)

    @property
    def everything(self) -> int:
        """The set of all operands: operand i is bit i."""
        return (1 << len(self.elements)) - 1


def patterns_of(queries: Iterable[CompiledQuery]) -> tuple[DetectionPattern, ...]:
    """The clauses of detection queries; each is a separate pattern (Section 2, the transition to DNF)."""
    return tuple(_pattern(query, number, part.clause) for query in queries for number, part in enumerate(query.clauses))


def _pattern(query: CompiledQuery, number: int, clause: DetectionClause) -> DetectionPattern:
    assert query.window is not None
    counts = query.window.counts_events
    return DetectionPattern(
        clause.ordered and len(clause.operands) > 1,
        tuple(PatternElement(o.single.type, o.kleene, frozenset(o.single.predicates)) for o in clause.operands),
        tuple(NegatedElement(one.type, one.gap, frozenset(one.predicates)) for one in clause.negated),
        frozenset(_condition(one.left, one.right, one.predicate) for one in clause.conditions),
        query.window.within if counts else query.reach,
        PatternScope(counts, frozenset(query.partition)),
        query.index,
        number,
    )


def nameless(predicate: Comparison) -> Comparison:
    """A condition on two events without the names of the operands, and whether it was written with NEXT."""
    left, right = replace(predicate.left, name=""), replace(predicate.right, name="")
    return Comparison(left, predicate.op, right)


def _condition(left: int, right: int, predicate: Comparison) -> PairCondition:
    comparison = nameless(predicate)
    return PairCondition(left, right, comparison) if left < right else PairCondition(right, left, comparison.exchanged)
