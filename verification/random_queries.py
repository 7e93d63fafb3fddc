"""Random queries over a fixed schema: every operator, clause and aggregate of the language."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from random import Random

from cepbench.algorithms.oracle import Meaning, Steps, check_query, meaning_of
from cepbench.queries.errors import QueryError
from cepbench.queries.model import (
    AggregateOf,
    Aggregates,
    And,
    CompleteMatches,
    CountAll,
    CountOf,
    Equivalence,
    Event,
    Function,
    Item,
    Length,
    Matches,
    Maybe,
    Or,
    Pattern,
    Plus,
    Predicate,
    Query,
    Repeat,
    Return,
    Semantics,
    Seq,
    Star,
    WindowClause,
    occurrences,
)
from cepbench.queries.resolve import check
from cepbench.verification.draw import Draw
from cepbench.verification.features import DETECTED, DETECTION, Feature, query_features
from cepbench.verification.random_detection import random_detection
from cepbench.verification.random_patterns import TYPES, random_pattern
from cepbench.verification.random_predicates import Places, random_comparison, random_local

_WINDOWS = {
    Feature.WHOLE_STREAM: 1.0,
    Feature.TUMBLING: 1.0,
    Feature.OVERLAPPING: 2.0,
    Feature.GAPS: 1.0,
    Feature.COUNTED: 1.0,
}


def random_query(draw: Draw, name: str = "q1", wanted: frozenset[Feature] = frozenset(), tries: int = 1) -> Query:
    """A valid query: the first of `tries` draws that has the features `wanted`, or the last draw.

    A draw is likely, but not certain, to have them.
    """
    while True:
        try:
            query = _query(draw, name)
            if tries > 1 and not wanted <= query_features(query):
                tries -= 1
                continue
            check(query)
            if query.span is None:
                check_query(query)
            return query
        except QueryError:
            continue


def variation(draw: Draw, query: Query, name: str) -> Query:
    """A query that has a common part with another one, which can be shared."""
    random = draw.random
    if query.span is not None:
        return random_query(draw, name)
    while True:
        pattern = query.pattern
        if not isinstance(pattern, Or | And) and random.random() < 0.5:
            event = Event(random.choice(TYPES))
            parts = pattern.parts if isinstance(pattern, Seq) else (pattern,)
            pattern = Seq((*parts, event) if random.random() < 0.5 else (event, *parts))
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
    if draw.wanted & (DETECTION | DETECTED):
        return random_detection(draw, name)
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
        yield random_local(draw, draw.random.choice(names))
    if positive and draw.has(Feature.ADJACENT, 0.35):
        pair = draw.random.choice(positive)
        ordered = draw.random.random() < 0.7
        yield random_comparison(draw, pair, ordered)
        if draw.has(Feature.SEVERAL_ADJACENT, 0.3):
            yield random_comparison(draw, pair, not ordered)
        if draw.random.random() < 0.3 * draw.richness:
            yield random_comparison(draw, draw.random.choice(positive), ordered)
    refused = _names(draw.random, query.pattern, True)
    if refused and draw.has(Feature.NOT_LOCAL, 0.3):
        yield random_local(draw, draw.random.choice(refused))
    if negated and draw.has(Feature.NOT_ADJACENT, 0.4):
        yield random_comparison(draw, draw.random.choice(negated), draw.random.random() < 0.7)
    if len(names) > 1 and draw.has(Feature.PAIRWISE, 0.06):
        first, second = draw.random.sample(names, 2)
        yield replace(random_comparison(draw, (first, second), True), next=False)


def _transitions(random: Random, query: Query, meaning: Meaning) -> tuple[list[Places], list[Places]]:
    """Names of events that may follow each other: in the positive pattern, and inside negated ones."""
    events = list(occurrences(query.pattern))
    labels = [event.alias if event.alias and random.random() < 0.8 else event.type for event in events]
    pairs: tuple[set[Places], set[Places]] = set(), set()
    for steps in (steps for part in meaning.parts for steps in part):
        for is_negated, inner in _with_negated(steps, False):
            for leaf, after in inner.after.items():
                pairs[is_negated].update((labels[leaf.origin], labels[follower.origin]) for follower in after)
    return sorted(pairs[0]), sorted(pairs[1])


def _with_negated(steps: Steps, is_negated: bool) -> Iterator[tuple[bool, Steps]]:
    yield is_negated, steps
    junctions = [steps.begin, steps.end, *steps.after.values()]
    for negation in {n for junction in junctions for negations in junction.values() for n in negations}:
        yield from _with_negated(negation.steps, True)


def _names(random: Random, pattern: Pattern, negated: bool) -> list[str]:
    events = list(occurrences(pattern, negated))
    return [event.alias if event.alias and random.random() < 0.8 else event.type for event in events]


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
    """A pattern and predicates whose complete matches are maximal paths (`algorithms.engine.complete_matches`).

    There is at least one predicate on a transition: without one, the oracle would compare too many matches.
    """
    random = draw.random
    a, b, c = random.sample(TYPES, 3)
    loop = Seq((Plus(Event(a)), Event(b)))
    repeated: tuple[tuple[Pattern, list[Places]], ...] = (
        (Repeat(Event(a), 3, None), [(a, a)]),
        (Seq((Repeat(Event(a), 2, None), Event(b))), [(a, a), (a, b)]),
        (Seq((Event(a, "first"), Repeat(Event(a, "more"), 2, None))), [("first", "more"), ("more", "more")]),
    )
    single: tuple[tuple[Pattern, list[Places]], ...] = (
        (Plus(Event(a)), [(a, a)]),
        (loop, [(a, a), (a, b)]),
        (Plus(loop), [(a, a), (a, b), (b, a)]),
        (Or((Plus(Event(a)), Plus(Event(b)))), [(a, a), (b, b)]),
        (Seq((Event(a), Maybe(Event(b)), Star(Event(c)))), [(a, b), (b, c), (a, c), (c, c)]),
    )
    pattern, transitions = random.choice(repeated if draw.has(Feature.REPETITION, 0.3) else single)
    chosen = random.sample(transitions, random.randint(1, min(2, len(transitions))))
    if Feature.SEVERAL_ADJACENT in draw.wanted:
        chosen.append(chosen[0])
    predicates: list[Predicate] = [
        replace(random_comparison(draw, pair, index == 0), next=True) for index, pair in enumerate(chosen)
    ]
    if draw.has(Feature.LOCAL, 0.2):
        predicates.append(random_local(draw, a))
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
