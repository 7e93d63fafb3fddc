"""Queries in CEQL, the language of CORE's engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import count

from cepbench.events.schema import Kind, Schema
from cepbench.queries.compile import CompiledQuery
from cepbench.queries.detection_rules import alternatives
from cepbench.queries.model import And, Comparison, Event, Local, Not, Op, Or, Pattern, Plus, Query, Seq, occurrences

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
        if isinstance(predicate, Local) and predicate.operand.factor != 1:
            return "factors are not translated for CORE's engine; divide the constant by the factor"
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
            used[predicate.operand.attribute] = None
            place = list(used).index(predicate.operand.attribute)
            constant = _constant(predicate, schema)
            test = f"[a{place} {OPERATORS[predicate.op]} {constant}]"
            filters += [f"v{number}{test}" for number in names.indices(predicate.operand.name)]
    pattern = _pattern(query.query.pattern, codes, count())
    if filters:
        pattern += f" FILTER {' AND '.join(filters)}"
    assert query.window is not None
    # `n EVENTS` does not count the first event; `n [ts]` means less than n.
    span = f"{query.reach} EVENTS" if query.window.counts_events else f"{query.reach + 1} [ts]"
    return EngineQuery(pattern, span, tuple(codes.values()), tuple(used))


def _constant(predicate: Local, schema: Schema) -> str:
    """A constant in CEQL, which has no negative numbers."""
    value = predicate.constant
    if schema.kinds[predicate.operand.attribute] is Kind.STRING:
        value = schema.string_code(str(value))
    assert not isinstance(value, str)
    text = format(Decimal(repr(abs(value))), "f")
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
