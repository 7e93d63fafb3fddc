"""Random queries over a fixed schema: every operator, clause and aggregate of the language."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from random import Random

from events.schema import Kind
from queries.model import (
    AggregateOf,
    Aggregates,
    And,
    AtLeast,
    Comparison,
    CompleteMatches,
    CountAll,
    CountOf,
    Equivalence,
    Event,
    Function,
    Item,
    Length,
    Local,
    Matches,
    Maybe,
    Not,
    Number,
    Op,
    Operand,
    Or,
    Pattern,
    Plus,
    Predicate,
    Query,
    Return,
    Semantics,
    Seq,
    Star,
    WindowClause,
    occurrences,
)

TYPES = ("A", "B", "C", "D", "E")
STRINGS = ("u", "v", "w")
ATTRIBUTES = {"g": Kind.INT, "h": Kind.INT, "x": Kind.INT, "y": Kind.FLOAT, "s": Kind.STRING}
"""Grouping attribute, equivalence attribute, and one attribute of each kind."""


def random_query(random: Random) -> Query:
    """A query; its names exist, but its comparisons may lack a transition and its negations may be misplaced."""
    pattern = _Patterns(random).top()
    group_by = random.choice(((), (), ("g",), ("g",), ("g", "s")))
    predicates = _predicates(random, pattern)
    returns = _returns(random, pattern, group_by)
    semantics = random.choice((Semantics.ANY, Semantics.ANY, Semantics.NEXT, Semantics.CONTIGUOUS))
    window = _window(random)
    if isinstance(returns, CompleteMatches) and random.random() < 0.8:
        pattern, predicates = _maximal_paths(random)
        semantics = Semantics.ANY
    return Query("q1", returns, pattern, semantics, predicates, group_by, window)


class _Patterns:
    """Draws patterns of up to five events, mostly of distinct types."""

    def __init__(self, random: Random):
        self._random = random
        self._types = list(TYPES)
        random.shuffle(self._types)
        self._repeats = random.random() < 0.25
        self._aliases = 0

    def top(self) -> Pattern:
        size = self._random.choice((1, 2, 2, 3, 3, 4, 5))
        draw = self._random.random()
        if draw < 0.1 and size > 1:
            return Or(self._split(size))
        if draw < 0.14 and size > 1:
            return And(self._split(size))
        return self._pattern(size)

    def _split(self, size: int) -> tuple[Pattern, ...]:
        left = self._random.randint(1, size - 1)
        return self._pattern(left), self._pattern(size - left)

    def _pattern(self, size: int) -> Pattern:
        plain = self._event() if size == 1 else self._composed(size)
        draw = self._random.random()
        if draw < 0.4:
            return Plus(plain)
        if draw < 0.45:
            return Star(plain)
        if draw < 0.51:
            return Maybe(plain)
        if draw < 0.55:
            return AtLeast(plain, self._random.randint(1, 3))
        return plain

    def _composed(self, size: int) -> Pattern:
        if self._random.random() < 0.08:
            return Or(self._split(size))
        parts: list[Pattern] = []
        negated = self._random.random() < 0.22
        while size > 0:
            if negated and self._random.random() < 0.4 and not (parts and isinstance(parts[-1], Not)):
                taken = min(size, self._random.choice((1, 1, 1, 2, 3)))
                parts.append(Not(self._negated(taken)))
            else:
                taken = self._random.randint(1, max(1, size - 1))
                parts.append(self._pattern(taken))
            size -= taken
        if all(isinstance(part, Not) for part in parts) or len(parts) == 1:
            parts.append(self._event())
        return Seq(tuple(parts))

    def _negated(self, size: int) -> Pattern:
        if size == 1:
            event = self._event()
            return Plus(event) if self._random.random() < 0.2 else event
        if size == 3 and self._random.random() < 0.5:
            return Seq((self._event(), Not(self._event()), self._event()))
        return Seq(tuple(self._pattern(1) for _ in range(size)))

    def _event(self) -> Event:
        if self._types and not (self._repeats and self._random.random() < 0.4):
            name = self._types.pop()
        else:
            name = self._random.choice(TYPES)
        if self._random.random() < 0.75:
            return Event(name)
        self._aliases += 1
        return Event(name, f"{name}{self._aliases}")


def _names(random: Random, pattern: Pattern, negated: bool | None) -> list[str]:
    events = list(occurrences(pattern, negated))
    return [event.alias if event.alias and random.random() < 0.8 else event.type for event in events]


def _predicates(random: Random, pattern: Pattern) -> tuple[Predicate, ...]:
    predicates: list[Predicate] = [Equivalence(("h",))] if random.random() < 0.2 else []
    positive, negated = _names(random, pattern, False), _names(random, pattern, True)
    for _ in range(random.choice((0, 0, 0, 0, 1, 1, 2))):
        names = negated if negated and random.random() < 0.2 else positive
        if random.random() < 0.35:
            predicates.append(_local(random, random.choice(names)))
        else:
            predicates.append(_comparison(random, random.choice(names), random.choice(names)))
    return tuple(predicates)


def _local(random: Random, name: str) -> Local:
    attribute = random.choice(("x", "x", "y", "s"))
    if attribute == "s":
        return Local(Operand(name, "s"), random.choice((Op.EQ, Op.NE, Op.NE)), random.choice((*STRINGS, "unseen")))
    constant: Number = random.choice((-1, 0, 1, 2, 0.5, 1.25))
    return Local(Operand(name, attribute, _factor(random)), random.choice(tuple(Op)), constant)


def _comparison(random: Random, left: str, right: str) -> Comparison:
    is_next = random.random() < 0.5
    if random.random() < 0.15:
        return Comparison(Operand(left, "s"), random.choice((Op.EQ, Op.NE)), Operand(right, "s"), is_next)
    first, second = random.choice((("x", "x"), ("x", "x"), ("y", "y"), ("x", "y"), ("y", "x")))
    left_side, right_side = Operand(left, first, _factor(random)), Operand(right, second, _factor(random))
    return Comparison(left_side, random.choice(tuple(Op)), right_side, is_next)


def _factor(random: Random) -> Number:
    return random.choice((1, 1, 1, 1, 2, 0.5, 1.1, -1))


def _returns(random: Random, pattern: Pattern, group_by: tuple[str, ...]) -> Return:
    draw = random.random()
    if draw < 0.12:
        return Matches()
    if draw < 0.18:
        return CompleteMatches()
    names = _names(random, pattern, False)
    items: list[Item] = [CountAll()] if random.random() < 0.7 or isinstance(pattern, And) else []
    for _ in range(0 if isinstance(pattern, And) else random.choice((0, 1, 2, 3))):
        name = random.choice(names)
        if random.random() < 0.25:
            items.append(CountOf(name))
        else:
            items.append(AggregateOf(random.choice(tuple(Function)), name, random.choice(("x", "x", "y"))))
    return Aggregates(group_by, tuple(dict.fromkeys(items or [CountAll()])))


def _maximal_paths(random: Random) -> tuple[Pattern, tuple[Predicate, ...]]:
    """A pattern and predicates whose complete matches are maximal paths (`algorithms.complete`).

    There is a predicate on a transition at least: without any, the oracle would compare too many matches.
    """
    a, b, c = random.sample(TYPES, 3)
    loop = Seq((Plus(Event(a)), Event(b)))
    pattern, transitions = random.choice(
        (
            (Plus(Event(a)), [(a, a)]),
            (loop, [(a, a), (a, b)]),
            (Plus(loop), [(a, a), (a, b), (b, a)]),
            (Or((Plus(Event(a)), Plus(Event(b)))), [(a, a), (b, b)]),
            (Seq((Event(a), Maybe(Event(b)), Star(Event(c)))), [(a, b), (b, c), (a, c), (c, c)]),
        )
    )
    chosen = random.sample(transitions, random.randint(1, min(2, len(transitions))))
    predicates: list[Predicate] = [replace(_comparison(random, *pair), next=True) for pair in chosen]
    if random.random() < 0.2:
        predicates.append(_local(random, a))
    return pattern, tuple(predicates)


def _window(random: Random) -> WindowClause | None:
    kind = random.choice(("none", "tumbling", "sliding", "sliding", "gaps", "count"))
    if kind == "none":
        return None
    within = random.randint(3, 15)
    slide = {"tumbling": within, "gaps": within + random.randint(1, 3)}.get(kind, random.randint(1, within))
    clause = WindowClause(Length(Fraction(within), "s"), Length(Fraction(slide), "s"))
    if kind == "count":
        return replace(clause, within=Length(Fraction(within), "events"), slide=Length(Fraction(slide), "events"))
    return clause
