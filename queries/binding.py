"""Conditions bound to a schema: texts become codes, lengths become units of the stream; and their values for a batch.

A condition is evaluated for all events of a batch at once, as one Boolean column, before a kernel sees the batch.
Integers are compared exactly, also where an offset leaves 64 bits; with a factor or a float on either side, both sides
are 64-bit floats (docs/query-language.md, WHERE).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepbench.events.batch import EventBatch
from cepbench.events.schema import Kind, Schema
from cepbench.events.units import in_units
from cepbench.queries.errors import QueryError
from cepbench.queries.model import (
    TIME,
    AllOf,
    AnyOf,
    Condition,
    Constant,
    In,
    Inverse,
    Length,
    Number,
    Op,
    Relation,
    Term,
)

Flags = NDArray[np.bool_]

COMPARE: dict[Op, Callable[[Any, Any], Any]] = {
    Op.LT: operator.lt,
    Op.LE: operator.le,
    Op.GT: operator.gt,
    Op.GE: operator.ge,
    Op.EQ: operator.eq,
    Op.NE: operator.ne,
}


def kind_of(attribute: str, schema: Schema) -> Kind:
    """The kind of an attribute, or of `time`."""
    return Kind.INT if attribute == TIME else schema.kinds[attribute]


def bind(condition: Condition, schema: Schema) -> Condition:
    """The condition with constants as the columns of a stream have them: codes of texts, units of its time.

    Raises `QueryError` for a text that is compared with a number, and for a length that is no whole number of units.
    """
    match condition:
        case Relation(left, op, Term() as right):
            first, second = bound_terms(left, op, right, schema)
            return Relation(first, op, second)
        case Relation(left, op, constant):
            assert not isinstance(constant, Term)
            return Relation(bound_term(left, schema), op, _bound_constant(left, op, constant, schema))
        case In(attribute, values):
            return In(attribute, tuple(_bound_constant(Term(attribute), Op.EQ, value, schema) for value in values))
        case AllOf(parts):
            return AllOf(tuple(bind(part, schema) for part in parts))
        case AnyOf(parts):
            return AnyOf(tuple(bind(part, schema) for part in parts))
        case Inverse(part):
            return Inverse(bind(part, schema))


def bound_terms(left: Term, op: Op, right: Term, schema: Schema) -> tuple[Term, Term]:
    """Two terms that are compared, with offsets in units of the stream. Raises `QueryError` for a bad comparison."""
    kinds = [kind_of(term.attribute, schema) for term in (left, right)]
    if Kind.STRING in kinds:
        if kinds != [Kind.STRING, Kind.STRING]:
            problem = "cannot be compared: one is a string, the other a number"
            raise QueryError(f"{left.attribute} and {right.attribute} {problem}")
        for term in (left, right):
            _check_string(op, term)
    left, right = bound_term(left, schema), bound_term(right, schema)
    if not is_real(left, right, schema):
        net_offset(left, right)
    return left, right


def bound_term(term: Term, schema: Schema) -> Term:
    """A term with its offset in units of the stream."""
    return replace(term, offset=_whole(term.offset, schema)) if isinstance(term.offset, Length) else term


def is_real(left: Term, right: Term, schema: Schema) -> bool:
    """Whether two bound terms are compared as floats."""
    return any(
        term.factor != 1 or isinstance(term.offset, float) or kind_of(term.attribute, schema) is Kind.FLOAT
        for term in (left, right)
    )


def offset_of(term: Term) -> Number:
    """The offset of a bound term."""
    assert not isinstance(term.offset, Length)
    return term.offset


def net_offset(left: Term, right: Term) -> int:
    """The number to add to the right side of a comparison of integers. Raises `QueryError` if it leaves 64 bits."""
    net = int(offset_of(right)) - int(offset_of(left))
    if not -(2**63) <= net < 2**63:
        raise QueryError("the constants of a comparison do not fit into 64 bits together")
    return net


def column_of(attribute: str, events: EventBatch) -> NDArray[Any]:
    """An attribute of a batch, or the times of its events."""
    return events.time if attribute == TIME else events.columns[attribute]


def passing(condition: Condition, events: EventBatch) -> Flags:
    """bool[n]: the events of a batch that pass a bound condition. O(n) per comparison.

    Events of types that lack an attribute have any value: nobody asks for them.
    """
    flags: Flags
    match condition:
        case Relation(left, op, Term() as right):
            x, y = column_of(left.attribute, events), column_of(right.attribute, events)
            flags = related(left, op, right, x, y, events.schema)
        case Relation(left, op, constant):
            flags = _compared_with(left, op, constant, events)
        case In(attribute, values):
            flags = _among(column_of(attribute, events), values)
        case AllOf(parts):
            flags = np.logical_and.reduce([passing(part, events) for part in parts])
        case AnyOf(parts):
            flags = np.logical_or.reduce([passing(part, events) for part in parts])
        case Inverse(part):
            flags = np.logical_not(passing(part, events))
    return flags


def related(left: Term, op: Op, right: Term, x: NDArray[Any], y: NDArray[Any], schema: Schema) -> Flags:
    """Whether bound terms of the values `x` and `y`, which are broadcast, compare."""
    if is_real(left, right, schema):
        return np.asarray(COMPARE[op](_scaled(left, x), _scaled(right, y)), np.bool_)
    offset = net_offset(left, right)
    if not offset:
        return np.asarray(COMPARE[op](x, y), np.bool_)
    shifted = y + np.int64(offset)  # wraps
    beyond = shifted < y if offset > 0 else shifted > y  # larger, or smaller, than every integer of 64 bits
    return np.asarray(np.where(beyond, COMPARE[op](0, offset), COMPARE[op](x, shifted)), np.bool_)


def _bound_constant(term: Term, op: Op, constant: Constant, schema: Schema) -> Number:
    """A constant as a number. Raises `QueryError` if the term has another kind."""
    is_text = kind_of(term.attribute, schema) is Kind.STRING
    if is_text != isinstance(constant, str):
        what = "a string" if is_text else "a number"
        raise QueryError(f"{term.attribute} is {what}, but it is compared with {constant!r}")
    if isinstance(constant, str):
        _check_string(op, term)
        return schema.string_code(constant)
    return _whole(constant, schema) if isinstance(constant, Length) else constant


def _check_string(op: Op, term: Term) -> None:
    if op not in (Op.EQ, Op.NE):
        raise QueryError(f"{term.attribute} is a string; strings compare with = and != only, not {op}")
    if term.factor != 1 or term.offset != 0:
        raise QueryError(f"{term.attribute} is a string and takes neither factor nor offset")


def _whole(length: Length, schema: Schema) -> int:
    return in_units(length.amount, length.unit, schema.time_unit, "a condition on time:")


def _compared_with(term: Term, op: Op, constant: Constant | Term, events: EventBatch) -> Flags:
    values, offset = column_of(term.attribute, events), offset_of(term)
    assert isinstance(constant, int | float)
    flags: Flags
    if term.factor != 1 or isinstance(offset, float) or isinstance(constant, float) or values.dtype == np.float64:
        flags = COMPARE[op](_scaled(term, values), float(constant))
    else:
        flags = COMPARE[op](values, constant - offset)  # NumPy compares with integers beyond 64 bits, too
    return flags


def _among(column: NDArray[Any], values: Sequence[Any]) -> Flags:
    """The events whose value equals one of the values; integers are compared exactly."""
    whole = [value for value in values if isinstance(value, int)]
    if column.dtype == np.float64 or len(whole) < len(values):
        reals = [float(value) for value in values if column.dtype == np.float64 or isinstance(value, float)]
        among = np.isin(column.astype(np.float64, copy=False), reals)
        return among if column.dtype == np.float64 else among | np.isin(column, np.array(whole, np.int64))
    return np.isin(column, np.array(whole, np.int64))


def _scaled(term: Term, values: NDArray[Any]) -> NDArray[np.float64]:
    scaled: NDArray[np.float64] = values.astype(np.float64, copy=False)
    if term.factor != 1:
        scaled = scaled * float(term.factor)
    return scaled + float(offset_of(term)) if term.offset else scaled
