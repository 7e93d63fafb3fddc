"""Queries in CEQL, the language of CORE's engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import count

from cepbench.events.schema import Schema
from cepbench.queries.binding import bind
from cepbench.queries.compile import CompiledQuery
from cepbench.queries.detection_rules import alternatives
from cepbench.queries.model import (
    TIME,
    AllOf,
    And,
    AnyOf,
    Comparison,
    Condition,
    Constant,
    Event,
    In,
    Inverse,
    Local,
    Not,
    Op,
    Or,
    Pattern,
    Plus,
    Query,
    Relation,
    Seq,
    Term,
    occurrences,
    terms,
)

OPERATORS = {Op.LT: "<", Op.LE: "<=", Op.GT: ">", Op.GE: ">=", Op.EQ: "=", Op.NE: "!="}


@dataclass(frozen=True)
class EngineQuery:
    """A query for the engine: pattern with filters, span, types, and the attributes that filters use."""

    pattern: str
    span: str
    types: tuple[str, ...]
    attributes: tuple[str, ...]


def unsupported(query: Query) -> str | None:
    """Why the engine cannot evaluate a query, in words; None if it can."""
    if query.span is None:
        return "CORE's engine detects matches within a span of their own; write WITHIN ... PER MATCH"
    for predicate in query.predicates:
        if isinstance(predicate, Comparison):
            return "CORE's engine has predicates on single events only"
        if isinstance(predicate, Local) and any(term != Term(term.attribute) for term in terms(predicate.condition)):
            return "CORE's engine gets attributes without factors and sums; write the attribute alone on its side"
    for pattern, _ in alternatives(query.pattern):
        if isinstance(pattern, And):
            return "CORE's engine has no conjunction, so AND is not supported"
        if isinstance(pattern, Seq) and any(isinstance(part, Not) for part in pattern.parts):
            return "CORE's engine has no negation, so NOT is not supported"
    if query.span.unit == "events" and query.span.amount < 2:
        return "CORE's engine has no span of one event"
    return None


def translated(query: CompiledQuery, schema: Schema) -> EngineQuery:
    """A supported query; occurrence n of the pattern is the variable `vn`, type code k is `Tk`."""
    names = query.analysis.names
    wanted = [event.type for event in occurrences(query.query.pattern)]
    types = dict.fromkeys((*schema.types, *wanted))  # types that do not occur in the stream come last
    codes = {name: f"T{code}" for code, name in enumerate(types)}
    filters: list[str] = []
    used: dict[str, None] = {}
    for predicate in query.query.predicates:
        if isinstance(predicate, Local):
            used |= {term.attribute: None for term in terms(predicate.condition) if term.attribute != TIME}
            columns = {TIME: "ts"} | {name: f"a{place}" for place, name in enumerate(used)}
            test = _condition(bind(predicate.condition, schema), columns)
            filters += [f"v{number}[{test}]" for number in names.indices(predicate.name)]
    pattern = _pattern(query.query.pattern, codes, count())
    if filters:
        pattern += f" FILTER {' AND '.join(filters)}"
    assert query.window is not None
    # `n EVENTS` does not count the first event; `n [ts]` means less than n.
    span = f"{query.reach} EVENTS" if query.window.counts_events else f"{query.reach + 1} [ts]"
    return EngineQuery(pattern, span, tuple(codes.values()), tuple(used))


def _condition(condition: Condition, columns: Mapping[str, str]) -> str:
    """A bound condition in CEQL, given the names of attributes."""
    match condition:
        case Relation(left, op, right):
            value = columns[right.attribute] if isinstance(right, Term) else _constant(right)
            return f"{columns[left.attribute]} {OPERATORS[op]} {value}"
        case In(attribute, values):
            return " OR ".join(f"{columns[attribute]} = {_constant(value)}" for value in values)
        case AllOf(parts):
            return " AND ".join(f"({_condition(part, columns)})" for part in parts)
        case AnyOf(parts):
            return " OR ".join(f"({_condition(part, columns)})" for part in parts)
        case Inverse(part):
            return f"NOT ({_condition(part, columns)})"


def _constant(value: Constant) -> str:
    """A bound constant in CEQL, which has no negative numbers and distinguishes floats by their point."""
    assert isinstance(value, int | float)
    if value == -(2**63):
        return f"{_constant(-(2**63 - 1))} - 1"  # its magnitude is no integer of 64 bits
    text = format(Decimal(repr(abs(value))), "f")
    if isinstance(value, float) and "." not in text:
        text += ".0"
    return f"0 - {text}" if value < 0 else text


def _pattern(pattern: Pattern, codes: dict[str, str], numbers: Iterator[int]) -> str:
    match pattern:
        case Event(name):
            return f"{codes[name]} as v{next(numbers)}"
        case Plus(Event(name)):
            return f"{codes[name]}+ as v{next(numbers)}"
        case Plus(part):
            return f"{_pattern(part, codes, numbers)}+"
        case Seq(parts):
            return f"({'; '.join(_pattern(part, codes, numbers) for part in parts)})"
        case Or(parts):
            return f"({' OR '.join(_pattern(part, codes, numbers) for part in parts)})"
        case _:
            raise AssertionError(pattern)
