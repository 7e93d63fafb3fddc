"""Random detection queries (`WITHIN ... PER MATCH`), and the event types that their matches bind."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from random import Random

from cepbench.queries.detection_rules import alternatives
from cepbench.queries.model import (
    Aggregates,
    And,
    Comparison,
    CountAll,
    Equivalence,
    Event,
    Length,
    Matches,
    Not,
    Or,
    Pattern,
    Plus,
    Predicate,
    Query,
    Seq,
    occurrences,
)
from cepbench.queries.names import meanings
from cepbench.verification.draw import Draw
from cepbench.verification.features import Feature
from cepbench.verification.random_patterns import TYPES
from cepbench.verification.random_predicates import random_comparison, random_local


def random_detection(draw: Draw, name: str) -> Query:
    """A query that `queries.resolve` accepts more often than not: SEQ or AND of a few operands, or several by OR."""
    random = draw.random
    several = draw.has(Feature.OR, 0.2)
    sizes = [_size(draw, several) for _ in range(random.choice((2, 2, 3)) if several else 1)]
    makers = _Alternatives(draw)
    tops = [makers.alternative(size, index == 0) for index, size in enumerate(sizes)]
    pattern: Pattern = Or(tuple(tops)) if several else tops[0]
    grouped = draw.has(Feature.GROUPS, 0.4)
    equivalent = grouped and random.random() < 0.4
    group_by = random.choice((("g",), ("g", "s"))) if grouped and not (equivalent and random.random() < 0.5) else ()
    predicates = tuple(_predicates(draw, pattern))
    if equivalent:
        predicates = (Equivalence(("h",)), *predicates)
    counted = Feature.MATCHES not in draw.wanted and draw.has(Feature.DETECTED_COUNT, 0.2)
    returns = Aggregates(random.choice(((), group_by)), (CountAll(),)) if counted else Matches()
    return Query(name, returns, pattern, predicates=predicates, group_by=group_by, span=_span(draw))


def detected_types(random: Random, query: Query) -> list[str]:
    """Types of events in an order in which some match may bind them."""
    [*tops] = (part for part, _ in alternatives(query.pattern))
    top = random.choice(tops)
    types: list[str] = []
    for operand in top.parts if isinstance(top, Seq | And) else (top,):
        if not isinstance(operand, Not):
            either = [event.type for event in occurrences(operand)]
            size = random.choice((1, 1, 2, 3)) if isinstance(operand, Plus) else 1
            types += [random.choice(either) for _ in range(size)]
    if isinstance(top, And):
        random.shuffle(types)
    return types


def _size(draw: Draw, several: bool) -> int:
    least = 2 if draw.wanted & {Feature.AND, Feature.PAIRWISE, Feature.NOT_BETWEEN, Feature.REPEATED_TYPE} else 1
    return max(least, draw.random.choice((1, 2, 2, 3) if several else (1, 2, 2, 3, 3, 4)))


class _Alternatives:
    def __init__(self, draw: Draw) -> None:
        self._draw, self._random = draw, draw.random
        self._repeats = draw.has(Feature.REPEATED_TYPE, 0.25)
        self._aliases = 0

    def alternative(self, size: int, first: bool) -> Pattern:
        """SEQ or AND of `size` operands; the `first` alternative has all requested features."""
        types = list(TYPES)
        self._random.shuffle(types)
        if self._repeats:
            types[1] = types[0]
        kleene = self._random.randrange(size) if first and Feature.KLEENE in self._draw.wanted else -1
        joined_by_and = self._draw.has(Feature.AND, 0.35) if first else self._random.random() < 0.4
        wanted = first and not self._draw.wanted.isdisjoint(_PLACES)
        joined_by_and = joined_by_and and size > 1 and not wanted and Feature.AND not in self._draw.banned
        chosen = self._random.randrange(size) if first and Feature.OPERAND_OR in self._draw.wanted else -1
        operands: list[Pattern] = []
        for index in range(size):
            event: Pattern = self._event(types[index])
            if not joined_by_and and (index == chosen or self._draw.has(Feature.OPERAND_OR, 0.15, wanted=0.3)):
                event = self._either(types[index])
            operands.append(
                Plus(event) if index == kleene or self._draw.has(Feature.KLEENE, 0.2, wanted=0.3) else event
            )
        if joined_by_and:
            return And(tuple(operands))
        row = self._with_negations(operands, types[size:] or types, first)
        return Seq(tuple(row)) if len(row) > 1 else row[0]

    def _with_negations(self, operands: list[Pattern], types: list[str], first: bool) -> list[Pattern]:
        row: list[Pattern] = []
        certain = self._random.randint(1, len(operands) - 1) if len(operands) > 1 else 0
        for index, operand in enumerate(operands):
            place = Feature.NOT_BETWEEN if index else Feature.NOT_FIRST
            if self._negates(place, first and (index == 0 or index == certain)):
                row.append(self._negated(types))
            row.append(operand)
        if self._negates(Feature.NOT_LAST, first):
            row.append(self._negated(types))
        return row

    def _negates(self, place: Feature, certain: bool) -> bool:
        if certain and place in self._draw.wanted:
            return True
        return place not in self._draw.banned and self._random.random() < 0.12 * self._draw.richness

    def _negated(self, types: list[str]) -> Not:
        return Not(self._event(self._random.choice(types if self._random.random() < 0.8 else TYPES)))

    def _either(self, name: str) -> Or:
        """An OR of a type and others, or of the same type twice, usually with an alias."""
        names = [name, *self._random.choices(TYPES, k=self._random.choice((1, 1, 2)))]
        events = tuple(self._event(type_name) for type_name in names)
        if self._random.random() < 0.3 and len(events) == 2:
            return Or(events)
        self._aliases += 1
        return Or(events, f"either{self._aliases}")

    def _event(self, name: str) -> Event:
        if self._random.random() < 0.4:
            return Event(name)
        self._aliases += 1
        return Event(name, f"{name}{self._aliases}")


def _predicates(draw: Draw, pattern: Pattern) -> Iterator[Predicate]:
    random = draw.random
    positive = [event.alias or event.type for event in occurrences(pattern, False)]
    positive += [name for name in meanings(pattern) if name.startswith("either")]
    negated = [event.alias or event.type for event in occurrences(pattern, True)]
    if draw.has(Feature.LOCAL, 0.25):
        yield random_local(draw, random.choice(positive))
    if negated and draw.has(Feature.NOT_LOCAL, 0.3):
        yield random_local(draw, random.choice(negated))
    if len(positive) > 1 and draw.has(Feature.PAIRWISE, 0.5):
        for _ in range(random.choice((1, 1, 2, 3))):
            names = _operand_names(random.choice([part for part, _ in alternatives(pattern)]))
            pair = random.sample(names, 2) if len(names) > 1 else random.sample(positive, 2)
            compared = random_comparison(draw, (pair[0], pair[1]), random.random() < 0.7)
            yield Comparison(compared.left, compared.op, compared.right)


def _operand_names(alternative: Pattern) -> list[str]:
    """A name of each operand that binds events and has one."""
    names: list[str] = []
    for operand in alternative.parts if isinstance(alternative, Seq | And) else (alternative,):
        single = operand.part if isinstance(operand, Plus) else operand
        if isinstance(single, Event):
            names.append(single.alias or single.type)
        elif isinstance(single, Or) and single.alias is not None:
            names.append(single.alias)
    return names


def _span(draw: Draw) -> Length:
    kind = draw.one_of({Feature.PER_MATCH: 2.0, Feature.PER_MATCH_COUNTED: 1.0})
    if kind is Feature.PER_MATCH_COUNTED:
        return Length(Fraction(draw.random.randint(1, 8)), "events")
    return Length(Fraction(draw.random.randint(1, 9)), "s")


_PLACES = frozenset({Feature.NOT_FIRST, Feature.NOT_BETWEEN, Feature.NOT_LAST})
