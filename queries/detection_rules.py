"""The rules of a query with `WITHIN ... PER MATCH` (docs/query-language.md, PER MATCH)."""

from __future__ import annotations

from collections.abc import Iterator

from cepbench.queries.model import (
    Aggregates,
    And,
    Comparison,
    CountAll,
    Event,
    Matches,
    Not,
    Or,
    Pattern,
    Plus,
    Query,
    Repeat,
    Semantics,
    Seq,
    children,
    occurrences,
)
from cepbench.queries.names import Finding, Path, meanings

MOST_OPERANDS = 64
"""The maximum number of operands of an alternative: a word has one bit for each that a partial match has bound."""
_MOST_WRITTEN = 8
"""Copies of a repetition that a hint writes out."""


def alternatives(pattern: Pattern) -> tuple[tuple[Pattern, Path], ...]:
    """The alternatives of an OR at the top, with their paths; or the pattern itself, such as an operand
    `(A OR B) x`.
    """
    if isinstance(pattern, Or) and pattern.alias is None:
        return tuple((part, (index,)) for index, part in enumerate(pattern.parts))
    return ((pattern, ()),)


def is_alternative(query: Query, path: Path) -> bool:
    """Whether a path leads to an alternative of a detection query, where AND is allowed."""
    return query.span is not None and isinstance(query.pattern, Or) and len(path) == 1


def detection_rules(query: Query) -> Iterator[Finding]:
    """Checks the rules of PER MATCH; does nothing for queries without it."""
    if query.span is None:
        return
    if not isinstance(query.returns, Matches) and not counts_matches(query):
        yield "PER MATCH detects matches; write RETURN MATCHES or COUNT(*), or leave RETURN out", "return", ()
    if query.semantics is not Semantics.ANY:
        yield "PER MATCH detects matches under skip-till-any-match only", "semantics", ()
    if query.span.amount <= 0:
        yield "WITHIN must be positive", "within", (0,)
    if query.span.unit == "events" and query.span.amount.denominator != 1:
        yield "a span counts whole events", "within", (0,)
    for pattern, path in alternatives(query.pattern):
        yield from _alternative_rules(pattern, path)
    yield from _condition_rules(query)


def counts_matches(query: Query) -> bool:
    """Whether a detection query asks for the number of its matches."""
    return isinstance(query.returns, Aggregates) and query.returns.items == (CountAll(),)


def is_operand(pattern: Pattern, ordered: bool) -> bool:
    """A single event type, optionally with +, or in SEQ (and by itself) an OR of them."""
    single = pattern.part if isinstance(pattern, Plus) else pattern
    if isinstance(single, Or):
        return ordered and all(isinstance(part, Event) for part in single.parts)
    return isinstance(single, Event)


def _alternative_rules(pattern: Pattern, path: Path) -> Iterator[Finding]:
    """SEQ or AND of operands, or a single operand."""
    joins = isinstance(pattern, Seq | And)
    operands = [(child, (*path, i)) for i, child in enumerate(children(pattern))] if joins else [(pattern, path)]
    for operand, way in operands:
        if isinstance(operand, Not):
            if not isinstance(operand.part, Event):
                yield "under PER MATCH, NOT takes a single event type", "pattern", (*way, 0)
        elif not is_operand(operand, not isinstance(pattern, And)):
            message = "under PER MATCH an operand is a single event type, optionally with +; SEQ and AND join operands"
            yield f"{message}, OR is at the top, or joins types in SEQ{_rewritten(operand)}", "pattern", way
    if sum(not isinstance(operand, Not) for operand, _ in operands) > MOST_OPERANDS:
        yield f"under PER MATCH, SEQ and AND join at most {MOST_OPERANDS} events", "pattern", path


def _rewritten(operand: Pattern) -> str:
    """The pattern to write for a repetition of a type, which PER MATCH lacks."""
    if not (isinstance(operand, Repeat) and isinstance(operand.part, Event)):
        return ""
    name, least = operand.part.type, operand.least
    if operand.most is None:
        text = ", ".join([name] * (least - 1) + [f"{name}+"]) if least <= _MOST_WRITTEN else f"{name}, ..., {name}+"
    else:
        text = ", ".join([name] * least) if least <= _MOST_WRITTEN else f"{name}, ..., {name}"
    several = operand.most not in (None, least)
    return f"; write a repetition out: SEQ({text})" + (
        ", and join those of each number by OR at the top" if several else ""
    )


def _condition_rules(query: Query) -> Iterator[Finding]:
    """A comparison relates two operands that some match binds both."""
    names = meanings(query.pattern)
    parts = _parts(query.pattern)
    for index, predicate in enumerate(query.predicates):
        if not isinstance(predicate, Comparison):
            continue
        if predicate.next:
            message = "under PER MATCH, comparisons hold for all events of two operands; leave NEXT out"
            yield message, "where", (index, 1)
        for name in (predicate.left.name, predicate.right.name):
            if any(0 < len(events & set(names[name])) < len(events) for events in _disjunctions(query.pattern, 0)):
                message = f"a comparison relates whole operands, but {name!r} is a part of an OR; give the OR an alias"
                yield message, "where", (index,)
                return
        left, right = set(names[predicate.left.name]), set(names[predicate.right.name])
        if not any(left & part and right & part for part in parts):
            yield "no match binds both events, which belong to different alternatives of OR", "where", (index,)


def _disjunctions(pattern: Pattern, first: int) -> Iterator[set[int]]:
    """The numbers of the events of each OR that is an operand."""
    tops = alternatives(pattern)
    if len(tops) > 1:
        for part, _ in tops:
            yield from _disjunctions(part, first)
            first += sum(1 for _ in occurrences(part))
        return
    for operand in pattern.parts if isinstance(pattern, Seq) else (pattern,):
        after = first + sum(1 for _ in occurrences(operand))
        if isinstance(operand.part if isinstance(operand, Plus) else operand, Or):
            yield set(range(first, after))
        first = after


def _parts(pattern: Pattern) -> list[set[int]]:
    """The numbers of the events of each alternative."""
    numbers, first = [], 0
    for part, _ in alternatives(pattern):
        size = sum(1 for _ in occurrences(part))
        numbers.append(set(range(first, first + size)))
        first += size
    return numbers
