"""Predicates on plain values, as written.

Integers with integer offsets are compared exactly; with a factor or a float on either side, both sides are float64.
Strings are compared for equality only.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace

from cepbench.algorithms.oracle.names import Pair
from cepbench.algorithms.oracle.stream import StreamEvent, Value, value_of
from cepbench.events.units import in_units
from cepbench.queries.errors import QueryError
from cepbench.queries.model import (
    AllOf,
    AnyOf,
    Comparison,
    Condition,
    Constant,
    In,
    Inverse,
    Length,
    Local,
    Number,
    Op,
    Query,
    Relation,
    Term,
)

_OPERATORS: dict[Op, Callable[[Value, Value], bool]] = {
    Op.LT: operator.lt,
    Op.LE: operator.le,
    Op.GT: operator.gt,
    Op.GE: operator.ge,
    Op.EQ: operator.eq,
    Op.NE: operator.ne,
}


def without_units(query: Query, time_unit: str) -> Query:
    """The query with whole numbers of units of the stream in place of the lengths in WHERE. Raises `InputError`."""

    def number(constant: Constant) -> Number | str:
        if isinstance(constant, Length):
            return in_units(constant.amount, constant.unit, time_unit, "a condition on time:")
        return constant

    def term(written: Term) -> Term:
        return Term(written.attribute, written.factor, _offset(number(written.offset)))

    def condition(written: Condition) -> Condition:
        match written:
            case Relation(left, op, right):
                return Relation(term(left), op, term(right) if isinstance(right, Term) else number(right))
            case In(attribute, values):
                return In(attribute, tuple(map(number, values)))
            case AllOf(parts) | AnyOf(parts):
                return type(written)(tuple(map(condition, parts)))
            case Inverse(part):
                return Inverse(condition(part))

    predicates = list(query.predicates)
    for index, predicate in enumerate(predicates):
        if isinstance(predicate, Local):
            predicates[index] = Local(predicate.name, condition(predicate.condition))
        elif isinstance(predicate, Comparison):
            left, right = (
                replace(side, offset=_offset(number(side.offset))) for side in (predicate.left, predicate.right)
            )
            predicates[index] = replace(predicate, left=left, right=right)
    return replace(query, predicates=tuple(predicates))


def passes(condition: Condition, event: StreamEvent) -> bool:
    """Whether an event passes a condition without units."""
    match condition:
        case Relation(left, op, right):
            if isinstance(right, Term):
                return _compare(op, left, event, right, event)
            return _compare_with_constant(op, left, event, right)
        case In(attribute, values):
            return any(_compare_with_constant(Op.EQ, Term(attribute), event, value) for value in values)
        case AllOf(parts):
            return all(passes(part, event) for part in parts)
        case AnyOf(parts):
            return any(passes(part, event) for part in parts)
        case Inverse(part):
            return not passes(part, event)


def holds_pair(pair: Pair, first: StreamEvent, second: StreamEvent) -> bool:
    """Whether two events pass a predicate on pairs without units."""
    return _compare(pair.op, pair.left.term, first, pair.right.term, second)


def _compare(op: Op, left: Term, first: StreamEvent, right: Term, second: StreamEvent) -> bool:
    """Whether a term of one event and a term of another, or of the same, compare."""
    x, y = value_of(first, left.attribute), value_of(second, right.attribute)
    if isinstance(x, str) or isinstance(y, str):
        plain = left.factor == right.factor == 1 and left.offset == right.offset == 0
        return _compare_texts(op, x, y, plain)
    if _is_whole(left, x) and _is_whole(right, y):
        return _OPERATORS[op](x + _offset(left.offset), y + _offset(right.offset))
    return _OPERATORS[op](_real(left, x), _real(right, y))


def _compare_with_constant(op: Op, term: Term, event: StreamEvent, constant: Constant) -> bool:
    value = value_of(event, term.attribute)
    if isinstance(value, str) or isinstance(constant, str):
        assert not isinstance(constant, Length)
        return _compare_texts(op, value, constant, term.factor == 1 and term.offset == 0)
    assert not isinstance(constant, Length)
    if _is_whole(term, value) and isinstance(constant, int):
        return _OPERATORS[op](value + _offset(term.offset), constant)
    return _OPERATORS[op](_real(term, value), float(constant))


def _compare_texts(op: Op, left: Value, right: Value, plain: bool) -> bool:
    """Whether two texts compare; `plain`: without factors and offsets."""
    if not (isinstance(left, str) and isinstance(right, str) and op in (Op.EQ, Op.NE) and plain):
        raise QueryError(f"strings compare with strings, by = and !=, not {left!r} {op} {right!r}")
    return _OPERATORS[op](left, right)


def _is_whole(term: Term, value: Number) -> bool:
    """Whether a term of a value is an integer."""
    return term.factor == 1 and isinstance(term.offset, int) and isinstance(value, int)


def _real(term: Term, value: Number) -> float:
    return float(term.factor) * float(value) + float(_offset(term.offset))


def _offset(offset: Constant) -> Number:
    """An offset without a unit."""
    assert not isinstance(offset, Length | str)
    return offset
