"""The features of a random case, to count which combinations were compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import combinations
from typing import Any

from cepbench.algorithms.oracle import Meaning, Steps, detection_meaning, meaning_of
from cepbench.algorithms.oracle import Pair as Compared
from cepbench.queries.model import (
    TIME,
    AggregateOf,
    Aggregates,
    AllOf,
    And,
    AnyOf,
    CompleteMatches,
    Condition,
    CountOf,
    Event,
    Function,
    In,
    Inverse,
    Matches,
    Maybe,
    Not,
    Or,
    Pattern,
    Plus,
    Query,
    Relation,
    Repeat,
    Semantics,
    Star,
    Term,
    children,
    occurrences,
)


class Feature(StrEnum):
    """A property of a query, a stream or a run."""

    ANY = "skip-till-any-match"
    NEXT = "skip-till-next-match"
    CONTIGUOUS = "contiguous"

    KLEENE = "Kleene"
    NESTED_KLEENE = "nested Kleene"
    OPTIONAL = "optional part"
    REPETITION = "repetition of {n} or {n,m}"
    REPEATED_TYPE = "repeated type"
    OR = "OR"
    OPERAND_OR = "OR of types as an operand"
    AND = "AND"

    NOT_FIRST = "NOT at the start"
    NOT_BETWEEN = "NOT in between"
    NOT_LAST = "NOT at the end"
    NOT_SEQUENCE = "NOT of a sequence"
    NOT_NESTED = "NOT inside NOT"
    NOT_LOCAL = "predicate on a negated event"
    NOT_ADJACENT = "adjacent predicate inside NOT"

    LOCAL = "local predicate"
    TWO_ATTRIBUTES = "two attributes of one event"
    LOGIC = "OR, NOT or IN in a condition"
    ADJACENT = "adjacent predicate"
    SEVERAL_ADJACENT = "several adjacent predicates per pair"
    NEGATIVE_FACTOR = "negative factor"
    OFFSET = "offset"
    TIME = "time of two events"
    PAIRWISE = "pairwise predicate"

    WHOLE_STREAM = "no window"
    TUMBLING = "tumbling windows"
    OVERLAPPING = "overlapping windows"
    GAPS = "windows with gaps"
    COUNTED = "count windows"
    PER_MATCH = "span per match"
    PER_MATCH_COUNTED = "span of events per match"

    COUNT_OF = "COUNT(E)"
    SUM = "SUM"
    AVG = "AVG"
    LEAST = "MIN or MAX"
    DETECTED_COUNT = "COUNT(*) of detected matches"
    MATCHES = "MATCHES"
    COMPLETE = "COMPLETE MATCHES"

    GROUPS = "several groups"
    TIES = "ties"
    NULLS = "nulls"
    COUNT_OVERFLOW = "overflow of a count"
    SUM_OVERFLOW = "overflow of a sum"
    WORKLOAD = "several queries"
    BATCHES = "several batches"
    PICKLED = "pickling"
    PROMISES = "batches with the time of the next event"


Pair = frozenset[Feature]
"""Two features that occur together, in one query and its stream; or a single one."""

_SEMANTICS = {
    Semantics.ANY: Feature.ANY,
    Semantics.NEXT: Feature.NEXT,
    Semantics.CONTIGUOUS: Feature.CONTIGUOUS,
}
_FUNCTIONS = {
    Function.SUM: Feature.SUM,
    Function.AVG: Feature.AVG,
    Function.MIN: Feature.LEAST,
    Function.MAX: Feature.LEAST,
}
DETECTION = frozenset({Feature.PER_MATCH, Feature.PER_MATCH_COUNTED})
"""Features of which every detection query has one."""

_MATCHES = (Feature.MATCHES, Feature.COMPLETE)
_AGGREGATES = (Feature.COUNT_OF, Feature.SUM, Feature.AVG, Feature.LEAST)
_OVERFLOWS = (Feature.COUNT_OVERFLOW, Feature.SUM_OVERFLOW)
WINDOWS = frozenset({Feature.WHOLE_STREAM, Feature.TUMBLING, Feature.OVERLAPPING, Feature.GAPS, Feature.COUNTED})
_EXCLUSIVE = (
    (Feature.ANY, Feature.NEXT, Feature.CONTIGUOUS),
    (*WINDOWS, *DETECTION),
    (*_MATCHES, Feature.DETECTED_COUNT),
    (Feature.OPERAND_OR, Feature.AND),  # an operand of SEQ: in different alternatives, which are drawn anyway
)


DETECTED = frozenset({Feature.OPERAND_OR, Feature.DETECTED_COUNT})
"""Features of detection queries only."""
NEVER_TALLIED = frozenset({Feature.OR, Feature.AND, Feature.PAIRWISE})
"""Features of queries whose matches the oracle must list (`algorithms.oracle.tally`)."""
NEVER_DETECTED = frozenset(
    {
        Feature.NEXT, Feature.CONTIGUOUS, Feature.NESTED_KLEENE, Feature.OPTIONAL, Feature.REPETITION,
        Feature.NOT_SEQUENCE, Feature.NOT_NESTED, Feature.NOT_ADJACENT, Feature.ADJACENT, Feature.SEVERAL_ADJACENT,
        Feature.NEGATIVE_FACTOR, Feature.COMPLETE, *_AGGREGATES, *_OVERFLOWS,
    }
)  # fmt: skip
"""Features that detection queries cannot have."""


def all_pairs() -> Iterator[Pair]:
    """Each feature alone, and every two that one query and its stream can have."""
    yield from (frozenset({feature}) for feature in Feature)
    yield from (frozenset(pair) for pair in combinations(Feature, 2) if not _exclude(*pair))


def _exclude(left: Feature, right: Feature) -> bool:
    """Whether no case has both: the language does not allow it, or the oracle has no answer."""
    for first, second in ((left, right), (right, left)):
        if first in _MATCHES and second in (*_AGGREGATES, *_OVERFLOWS):
            return True
        if first is Feature.AND and second in (*_AGGREGATES, Feature.SUM_OVERFLOW):
            return True  # COUNT(*) is the only aggregate of AND
        if first is Feature.COUNT_OVERFLOW and second in NEVER_TALLIED:
            return True
        if first in DETECTION and second in NEVER_DETECTED:
            return True
        if first in DETECTED and second in NEVER_DETECTED | WINDOWS:
            return True
    return any(left in group and right in group for group in _EXCLUSIVE)


def query_features(query: Query) -> frozenset[Feature]:
    """The features of a query alone."""
    return frozenset(_of_query(query, meaning_of(query)) if query.span is None else _of_detection(query))


def row_features(query: Query, rows: Sequence[Mapping[str, Any]]) -> frozenset[Feature]:
    """The overflows in the rows of a query, in modular arithmetic."""
    overflows: set[Feature] = set()
    if isinstance(query.returns, Aggregates):
        for row in rows:
            if row["overflow"]:
                lost = [item for item in query.returns.items if row[str(item)] is None]
                overflows |= {_overflow_of(item) for item in lost if not _is_least(item)}
    return frozenset(overflows)


def pairs(features: frozenset[Feature]) -> Iterator[Pair]:
    """The pairs among features that occur together."""
    yield from (frozenset({feature}) for feature in features)
    yield from map(frozenset, combinations(features, 2))


def _of_query(query: Query, meaning: Meaning) -> Iterator[Feature]:
    yield _SEMANTICS[query.semantics]
    yield _window(query)
    yield from _returns(query)
    yield from _positive_parts(query.pattern)
    yield from _negated_parts(query.pattern, negated=False)
    types = [event.type for event in occurrences(query.pattern, negated=False)]
    if len(set(types)) < len(types):
        yield Feature.REPEATED_TYPE
    for part in meaning.parts:
        for steps in part:
            yield from _junctions(steps)
    yield from _predicates(meaning)


def _of_detection(query: Query) -> Iterator[Feature]:
    meaning = detection_meaning(query)
    yield from (Feature.ANY, Feature.PER_MATCH_COUNTED if meaning.counts else Feature.PER_MATCH)
    yield Feature.MATCHES if isinstance(query.returns, Matches) else Feature.DETECTED_COUNT
    if len(meaning.alternatives) > 1:
        yield Feature.OR
    yield from (feature for feature in _positive_parts(query.pattern, True) if feature is not Feature.OR)
    for alternative in meaning.alternatives:
        operands = [name for part in alternative.operands for _, name in part.types]
        if any(len(part.types) > 1 for part in alternative.operands):
            yield Feature.OPERAND_OR
        if len(set(operands)) < len(operands):
            yield Feature.REPEATED_TYPE
        negated = [part.negated for part in alternative.parts]
        first, last = negated.index(False), len(negated) - negated[::-1].index(False)
        for place, group in (
            (Feature.NOT_FIRST, negated[:first]),
            (Feature.NOT_BETWEEN, negated[first:last]),
            (Feature.NOT_LAST, negated[last:]),
        ):
            if any(group):
                yield place
        for part in alternative.parts:
            if part.origins & meaning.locals.keys():
                yield Feature.NOT_LOCAL if part.negated else Feature.LOCAL
    yield from _conditions(meaning.locals.values())
    yield from _comparisons(meaning.pairs)
    if meaning.pairs:
        yield Feature.PAIRWISE


def _window(query: Query) -> Feature:
    if query.window is None:
        return Feature.WHOLE_STREAM
    within, slide = query.window.within, query.window.slide
    if within.unit == "events":
        return Feature.COUNTED
    if slide.amount == within.amount:
        return Feature.TUMBLING
    return Feature.OVERLAPPING if slide.amount < within.amount else Feature.GAPS


def _returns(query: Query) -> Iterator[Feature]:
    match query.returns:
        case Matches():
            yield Feature.MATCHES
        case CompleteMatches():
            yield Feature.COMPLETE
        case Aggregates(items=items):
            yield from (Feature.COUNT_OF for item in items if isinstance(item, CountOf))
            yield from (_FUNCTIONS[item.function] for item in items if isinstance(item, AggregateOf))


def _overflow_of(item: object) -> Feature:
    return Feature.SUM_OVERFLOW if isinstance(item, AggregateOf) else Feature.COUNT_OVERFLOW


def _is_least(item: object) -> bool:
    return isinstance(item, AggregateOf) and _FUNCTIONS[item.function] is Feature.LEAST


def _positive_parts(pattern: Pattern, detected: bool = False) -> Iterator[Feature]:
    match pattern:
        case Not():
            return
        case Plus(part) | Star(part) | Repeat(part, _, None):
            single = isinstance(part, Event) or (isinstance(part, Or) and detected)
            yield Feature.KLEENE if single else Feature.NESTED_KLEENE
        case Or():
            yield Feature.OR
        case And():
            yield Feature.AND
    if isinstance(pattern, Star | Maybe):
        yield Feature.OPTIONAL
    if isinstance(pattern, Repeat):
        yield Feature.REPETITION
    for child in children(pattern):
        yield from _positive_parts(child, detected)


def _negated_parts(pattern: Pattern, negated: bool) -> Iterator[Feature]:
    if isinstance(pattern, Not):
        if negated:
            yield Feature.NOT_NESTED
        if sum(1 for _ in occurrences(pattern, negated=True)) > 1:
            yield Feature.NOT_SEQUENCE
    for child in children(pattern):
        yield from _negated_parts(child, negated or isinstance(pattern, Not))


def _junctions(steps: Steps) -> Iterator[Feature]:
    """The places of negations in a positive pattern."""
    if any(steps.begin.values()):
        yield Feature.NOT_FIRST
    if any(steps.end.values()):
        yield Feature.NOT_LAST
    if any(negations for after in steps.after.values() for negations in after.values()):
        yield Feature.NOT_BETWEEN


def _predicates(meaning: Meaning) -> Iterator[Feature]:
    for origin in meaning.locals:
        yield Feature.NOT_LOCAL if meaning.regions[origin] else Feature.LOCAL
    yield from _conditions(meaning.locals.values())
    yield from _comparisons([pair for pair in meaning.pairs if _binds_both(meaning, pair)])
    restricted: set[tuple[int, int]] = set()
    for pair in meaning.adjacent:
        if any(meaning.regions[origin] for origin in pair.first):
            yield Feature.NOT_ADJACENT
            continue
        yield Feature.ADJACENT
        if min(pair.left.factor, pair.right.factor) < 0:
            yield Feature.NEGATIVE_FACTOR
        places = {(first, second) for first in pair.first for second in pair.second}
        if places & restricted:
            yield Feature.SEVERAL_ADJACENT
        restricted |= places
    if any(_binds_both(meaning, pair) for pair in meaning.pairwise):
        yield Feature.PAIRWISE


def _binds_both(meaning: Meaning, pair: Compared) -> bool:
    """Whether some match binds both sides, which may belong to different alternatives; a NOT counts as one."""
    if any(meaning.regions[origin] for origin in pair.first):
        return True
    sides = (pair.first, pair.second)
    alternatives = ({leaf.origin for leaf in steps.after} for part in meaning.parts for steps in part)
    return any(all(side & origins for side in sides) for origins in alternatives)


def _conditions(conditions: Iterable[tuple[Condition, ...]]) -> Iterator[Feature]:
    """The features of conditions on one event."""
    pending = [condition for of_one_event in conditions for condition in of_one_event]
    while pending:
        match pending.pop():
            case Relation(_, _, right):
                if isinstance(right, Term):
                    yield Feature.TWO_ATTRIBUTES
            case In():
                yield Feature.LOGIC
            case AllOf(parts) | AnyOf(parts):
                yield Feature.LOGIC
                pending += parts
            case Inverse(part):
                yield Feature.LOGIC
                pending.append(part)


def _comparisons(pairs: Sequence[Compared]) -> Iterator[Feature]:
    """The features of the two sides of comparisons."""
    for pair in pairs:
        if pair.left.offset != 0 or pair.right.offset != 0:
            yield Feature.OFFSET
        if TIME in (pair.left.attribute, pair.right.attribute):
            yield Feature.TIME
