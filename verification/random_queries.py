"""Random queries over a fixed schema: every operator, clause and aggregate of the language."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from random import Random

from cepbench.algorithms.oracle import Meaning, Steps, check_query, meaning_of
from cepbench.events.schema import Kind
from cepbench.queries.errors import QueryError
from cepbench.queries.model import (
    AggregateOf,
    Aggregates,
    And,
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
from cepbench.queries.resolve import check
from cepbench.verification.draw import Draw
from cepbench.verification.features import Feature, query_features
from cepbench.verification.random_patterns import TYPES, random_pattern

STRINGS = ("", "u", "v", "w")
"""The empty string stands for null."""
ATTRIBUTES = {"g": Kind.INT, "h": Kind.INT, "x": Kind.INT, "y": Kind.FLOAT, "s": Kind.STRING}
"""Grouping attribute, equivalence attribute, and one attribute of each kind."""

Places = tuple[str, str]
"""The names of two events of a pattern."""

_WINDOWS = {
    Feature.WHOLE_STREAM: 1.0,
    Feature.TUMBLING: 1.0,
    Feature.OVERLAPPING: 2.0,
    Feature.GAPS: 1.0,
    Feature.COUNTED: 1.0,
}
_ORDERED = (Op.LT, Op.LE, Op.GT, Op.GE)


def random_query(draw: Draw, name: str = "q1", wanted: frozenset[Feature] = frozenset(), tries: int = 1) -> Query:
    """A query that has a meaning: the first of a few that has the features wanted, or the last.

    What the draw wants is likely in each of them, not certain.
    """
    while True:
        try:
            query = _query(draw, name)
            if tries > 1 and not wanted <= query_features(query):
                tries -= 1
                continue
            check(query)
            check_query(query)
            return query
        except QueryError:
            continue


def variation(draw: Draw, query: Query, name: str) -> Query:
    """A query that has something in common with another one, and so something to share."""
    random = draw.random
    while True:
        pattern = query.pattern
        if not isinstance(pattern, Or | And) and random.random() < 0.5:
            more = Event(random.choice(TYPES))
            parts = pattern.parts if isinstance(pattern, Seq) else (pattern,)
            pattern = Seq((*parts, more) if random.random() < 0.5 else (more, *parts))
        changed = replace(query, name=name, pattern=pattern)
        if random.random() < 0.6:
            changed = replace(changed, returns=_returns(draw, pattern, query.group_by))
        if random.random() < 0.3:
            changed = replace(changed, window=_window(draw))
        if random.random() < 0.3:
            changed = replace(changed, predicates=query.predicates[: random.randint(0, len(query.predicates))])
        try:
            check(changed)
            check_query(changed)
            return changed
        except QueryError:
            continue


def _query(draw: Draw, name: str) -> Query:
    random = draw.random
    pattern = random_pattern(draw)
    grouped = draw.has(Feature.GROUPS, 0.5)
    equivalent = grouped and random.random() < 0.4
    group_by: tuple[str, ...] = ()
    if grouped and (not equivalent or random.random() < 0.5):
        group_by = random.choice((("g",), ("g",), ("g", "s")))
    likely = 6.0 if Feature.COUNT_OVERFLOW in draw.wanted else 2.0
    semantics = Semantics(draw.one_of({Feature.ANY: likely, Feature.NEXT: 1.0, Feature.CONTIGUOUS: 1.0}))
    query = Query(name, Matches(), pattern, semantics, (), group_by, _window(draw))
    returns = _returns(draw, pattern, group_by)
    if isinstance(returns, CompleteMatches) and random.random() < 0.8:
        pattern, predicates = _maximal_paths(draw)
        query = replace(query, pattern=pattern, semantics=Semantics.ANY)
    else:
        predicates = tuple(_predicates(draw, query))
    if equivalent:
        predicates = (Equivalence(("h",)), *predicates)
    return replace(query, returns=returns, predicates=predicates)


# --- predicates -----------------------------------------------------------------------------------------------------


def _predicates(draw: Draw, query: Query) -> Iterator[Predicate]:
    meaning = meaning_of(query)
    positive, negated = _transitions(draw.random, query, meaning)
    names = _names(draw.random, query.pattern, False)
    if draw.has(Feature.LOCAL, 0.25):
        yield _local(draw, draw.random.choice(names))
    if positive and draw.has(Feature.ADJACENT, 0.35):
        pair = draw.random.choice(positive)
        ordered = draw.random.random() < 0.7
        yield _comparison(draw, pair, ordered)
        if draw.has(Feature.SEVERAL_ADJACENT, 0.3):
            yield _comparison(draw, pair, not ordered)
        if draw.random.random() < 0.3 * draw.richness:
            yield _comparison(draw, draw.random.choice(positive), ordered)
    refused = _names(draw.random, query.pattern, True)
    if refused and draw.has(Feature.NOT_LOCAL, 0.3):
        yield _local(draw, draw.random.choice(refused))
    if negated and draw.has(Feature.NOT_ADJACENT, 0.4):
        yield _comparison(draw, draw.random.choice(negated), draw.random.random() < 0.7)
    if len(names) > 1 and draw.has(Feature.PAIRWISE, 0.06):
        first, second = draw.random.sample(names, 2)
        yield replace(_comparison(draw, (first, second), True), next=False)


def _transitions(random: Random, query: Query, meaning: Meaning) -> tuple[list[Places], list[Places]]:
    """Names of events that may follow each other: in the positive pattern, and inside negated ones."""
    events = list(occurrences(query.pattern))
    labels = [event.alias if event.alias and random.random() < 0.8 else event.type for event in events]
    found: tuple[set[Places], set[Places]] = set(), set()
    for steps in (steps for part in meaning.parts for steps in part):
        for is_negated, inner in _with_negated(steps, False):
            for leaf, after in inner.after.items():
                found[is_negated].update((labels[leaf.origin], labels[other.origin]) for other in after)
    return sorted(found[0]), sorted(found[1])


def _with_negated(steps: Steps, is_negated: bool) -> Iterator[tuple[bool, Steps]]:
    yield is_negated, steps
    junctions = [steps.begin, steps.end, *steps.after.values()]
    for negation in {n for junction in junctions for negations in junction.values() for n in negations}:
        yield from _with_negated(negation.steps, True)


def _names(random: Random, pattern: Pattern, negated: bool) -> list[str]:
    events = list(occurrences(pattern, negated))
    return [event.alias if event.alias and random.random() < 0.8 else event.type for event in events]


def _local(draw: Draw, name: str) -> Local:
    random = draw.random
    attribute = random.choice(("x", "x", "y", "s"))
    if attribute == "s":
        return Local(Operand(name, "s"), random.choice((Op.EQ, Op.NE, Op.NE)), random.choice((*STRINGS[1:], "unseen")))
    constant: Number = random.choice((-1, 0, 1, 2, 0.5, 1.25))
    return Local(Operand(name, attribute, _factor(random, negative=0.1)), random.choice(tuple(Op)), constant)


def _comparison(draw: Draw, pair: Places, ordered: bool) -> Comparison:
    """A predicate on two events; `ordered` ones select a range of values, others perhaps a few."""
    random = draw.random
    left, right = pair
    is_next = random.random() < 0.5
    negative = 0.9 if Feature.NEGATIVE_FACTOR in draw.wanted else 0.1
    if Feature.NEGATIVE_FACTOR in draw.banned:
        negative = 0.0
    if not ordered and random.random() < 0.3 and not negative > 0.5:
        return Comparison(Operand(left, "s"), random.choice((Op.EQ, Op.NE)), Operand(right, "s"), is_next)
    first, second = random.choice((("x", "x"), ("x", "x"), ("y", "y"), ("x", "y"), ("y", "x")))
    left_side = Operand(left, first, _factor(random, negative))
    right_side = Operand(right, second, _factor(random, negative / 2))
    return Comparison(left_side, random.choice(_ORDERED if ordered else tuple(Op)), right_side, is_next)


def _factor(random: Random, negative: float) -> Number:
    if random.random() < negative:
        return random.choice((-1, -2, -0.5))
    return random.choice((1, 1, 1, 1, 2, 0.5, 1.1))


# --- what is returned -----------------------------------------------------------------------------------------------


def _returns(draw: Draw, pattern: Pattern, group_by: tuple[str, ...]) -> Return:
    random = draw.random
    if draw.has(Feature.MATCHES, 0.12):
        return Matches()
    if draw.has(Feature.COMPLETE, 0.06):
        return CompleteMatches()
    items: list[Item] = [CountAll()] if random.random() < 0.7 or isinstance(pattern, And) else []
    if not isinstance(pattern, And):
        names = _names(random, pattern, False)
        if draw.has(Feature.COUNT_OF, 0.3):
            items.append(CountOf(random.choice(names)))
        sums = Feature.SUM_OVERFLOW in draw.wanted and not draw.wanted & {Feature.SUM, Feature.AVG}
        for feature, functions in (
            (Feature.SUM, (Function.SUM,)),
            (Feature.AVG, (Function.AVG,)),
            (Feature.LEAST, (Function.MIN, Function.MAX)),
        ):
            asked = sums and feature is Feature.SUM and feature not in draw.banned
            if asked or draw.has(feature, 0.3):
                attribute = "x" if Feature.SUM_OVERFLOW in draw.wanted else random.choice(("x", "x", "y"))
                items.append(AggregateOf(random.choice(functions), random.choice(names), attribute))
    random.shuffle(items)
    return Aggregates(group_by, tuple(dict.fromkeys(items or [CountAll()])))


def _maximal_paths(draw: Draw) -> tuple[Pattern, tuple[Predicate, ...]]:
    """A pattern and predicates whose complete matches are maximal paths (`algorithms.running.complete_matches`).

    There is a predicate on a transition at least: without any, the oracle would compare too many matches.
    """
    random = draw.random
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
    if Feature.SEVERAL_ADJACENT in draw.wanted:
        chosen.append(chosen[0])
    predicates: list[Predicate] = [
        replace(_comparison(draw, pair, index == 0), next=True) for index, pair in enumerate(chosen)
    ]
    if draw.has(Feature.LOCAL, 0.2):
        predicates.append(_local(draw, a))
    return pattern, tuple(predicates)


# --- windows --------------------------------------------------------------------------------------------------------


def _window(draw: Draw) -> WindowClause | None:
    random = draw.random
    kind = draw.one_of(_WINDOWS)
    if kind is Feature.WHOLE_STREAM:
        return None
    within = random.randint(70, 160) if Feature.COUNT_OVERFLOW in draw.wanted else random.randint(3, 15)
    slide = {Feature.TUMBLING: within, Feature.GAPS: within + random.randint(1, 3)}.get(kind)
    if slide is None:
        slide = random.randint(max(1, within // 6), within - 1 if kind is Feature.OVERLAPPING else within)
    clause = WindowClause(Length(Fraction(within), "s"), Length(Fraction(slide), "s"))
    if kind is Feature.COUNTED:
        return replace(clause, within=Length(Fraction(within), "events"), slide=Length(Fraction(slide), "events"))
    return clause
