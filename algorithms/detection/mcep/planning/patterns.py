"""Patterns as input of MCEP's optimizer, SEQ or AND of single types with pairwise conditions (MCEP, Section 2), and
their sub-patterns as numbers: equal projections of patterns get the same number (Section 4.1).

Comparisons have no names of operands (`""`), so equal ones of different patterns are equal.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, groupby, permutations, product
from math import factorial, prod
from typing import Generic, TypeVar

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
    """The kind of window and the keys of a pattern; only patterns of the same scope share."""

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
        tuple(NegatedElement(absent.type, absent.gap, frozenset(absent.predicates)) for absent in clause.negated),
        frozenset(_condition(pair.left, pair.right, pair.predicate) for pair in clause.conditions),
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


_Item = TypeVar("_Item", bound=Hashable)

MAX_ORDERS = 5040
"""Maximum number of equal elements of an AND with a canonical order; beyond it, sharing can be missed."""

NO_CONDITION: frozenset[Comparison] = frozenset()


def operands_of(mask: int) -> Iterator[int]:
    """The operands in a set, in ascending order."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def mask_of(operands: Sequence[int]) -> int:
    """The set of some operands as a bit mask."""
    mask = 0
    for operand in operands:
        mask |= 1 << operand
    return mask


class Interned(Generic[_Item]):
    """Numbers values in the order of first use."""

    def __init__(self) -> None:
        self.items: list[_Item] = []
        self._numbers: dict[_Item, int] = {}

    def number(self, item: _Item) -> int:
        """The number of an item; a new one gets the next number."""
        number = self._numbers.get(item)
        if number is None:
            number = self._numbers[item] = len(self.items)
            self.items.append(item)
        return number


@dataclass(frozen=True)
class SubPattern:
    """A projection of a pattern to some of its operands, in its canonical order of places.

    `relations` are numbers of the conditions between places p < q, in the order of `itertools.combinations`; the scope,
    elements and relations are numbers of `SubPatternTable`. Windows are not part of it: the node of a plan that detects
    it has the largest window of the patterns that share the node (Section 3.1).
    """

    scope: int
    ordered: bool
    elements: tuple[int, ...]
    relations: tuple[int, ...]

    def __len__(self) -> int:
        """The number of operands."""
        return len(self.elements)


@dataclass
class _Numbered:
    """A pattern with its elements and relations as numbers; `relation[a][b]` is from operand a to operand b."""

    pattern: DetectionPattern
    scope: int
    elements: tuple[int, ...]
    relation: list[list[int]]
    sub_patterns: dict[int, tuple[int, tuple[int, ...]]] = field(default_factory=dict)


class SubPatternTable:
    """Numbers patterns in the order in which they are added, and their sub-patterns.

    A sub-pattern of a pattern is a set of its operands: an integer with a bit per operand. Results are cached, so later
    look-ups take constant time; space is O(1) per set looked up, not 2^m for a pattern of m operands.
    """

    def __init__(self, patterns: Sequence[DetectionPattern] = ()) -> None:
        self.scopes: Interned[PatternScope] = Interned()
        self.elements: Interned[PatternElement] = Interned()
        self.relations: Interned[frozenset[Comparison]] = Interned()
        self.relations.number(NO_CONDITION)
        self.sub_patterns: Interned[SubPattern] = Interned()
        self._patterns: list[_Numbered] = []
        for pattern in patterns:
            self.add(pattern)

    def __len__(self) -> int:
        """The number of patterns."""
        return len(self._patterns)

    def __getitem__(self, pattern: int) -> DetectionPattern:
        return self._patterns[pattern].pattern

    def add(self, pattern: DetectionPattern) -> int:
        """Adds a pattern and returns its number."""
        size = len(pattern)
        between: list[list[set[Comparison]]] = [[set() for _ in range(size)] for _ in range(size)]
        for condition in pattern.conditions:
            between[condition.left][condition.right].add(condition.comparison)
            between[condition.right][condition.left].add(condition.comparison.exchanged)
        relation = [[self.relations.number(frozenset(cell)) for cell in row] for row in between]
        elements = tuple(self.elements.number(element) for element in pattern.elements)
        self._patterns.append(_Numbered(pattern, self.scopes.number(pattern.scope), elements, relation))
        return len(self._patterns) - 1

    def of(self, pattern: int, mask: int) -> int:
        """The number of the sub-pattern of some operands. O(1) if computed before."""
        return self._sub_pattern(pattern, mask)[0]

    def places(self, pattern: int, mask: int) -> tuple[int, ...]:
        """The operand of the pattern at each place of the sub-pattern of some operands."""
        return self._sub_pattern(pattern, mask)[1]

    def whole(self, pattern: int) -> int:
        """The number of the sub-pattern of all operands."""
        return self.of(pattern, self[pattern].everything)

    def _sub_pattern(self, pattern: int, mask: int) -> tuple[int, tuple[int, ...]]:
        numbered = self._patterns[pattern]
        sub_pattern = numbered.sub_patterns.get(mask)
        if sub_pattern is None:
            sub_pattern = numbered.sub_patterns[mask] = self._numbered(numbered, tuple(operands_of(mask)))
        return sub_pattern

    def _numbered(self, numbered: _Numbered, operands: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
        """Numbers a sub-pattern in canonical order: of a SEQ its own; of an AND by element, ties by least relations."""
        orders: Iterable[tuple[int, ...]] = (operands,)
        if not numbered.pattern.ordered and len(operands) > 1:
            by_element = sorted(operands, key=lambda operand: numbered.elements[operand])
            groups = [tuple(group) for _, group in groupby(by_element, key=lambda operand: numbered.elements[operand])]
            orders = (tuple(by_element),)
            if prod(factorial(len(group)) for group in groups) <= MAX_ORDERS:
                arranged = product(*(permutations(group) for group in groups))
                orders = (tuple(operand for group in parts for operand in group) for parts in arranged)
        relations, order = min(
            (tuple(numbered.relation[a][b] for a, b in combinations(order, 2)), order) for order in orders
        )
        elements = tuple(numbered.elements[operand] for operand in order)
        ordered = numbered.pattern.ordered and len(operands) > 1
        return self.sub_patterns.number(SubPattern(numbered.scope, ordered, elements, relations)), order

    def element_numbers(self, pattern: int) -> tuple[int, ...]:
        """The numbers of the operands' elements."""
        return self._patterns[pattern].elements

    def relation(self, pattern: int, left: int, right: int) -> int:
        """The number of the conditions from one operand to another."""
        return self._patterns[pattern].relation[left][right]

    def scope(self, pattern: int) -> int:
        """The number of a pattern's scope."""
        return self._patterns[pattern].scope
