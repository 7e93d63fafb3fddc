"""Predicates on plain values: integers are compared exactly, other numbers in float64, strings for equality only."""

from __future__ import annotations

import operator
from collections.abc import Callable

from cepbench.algorithms.oracle.names import Pair
from cepbench.algorithms.oracle.stream import StreamEvent, Value, value_of
from cepbench.queries.errors import QueryError
from cepbench.queries.model import Local, Number, Op

_OPERATORS: dict[Op, Callable[[Value, Value], bool]] = {
    Op.LT: operator.lt,
    Op.LE: operator.le,
    Op.GT: operator.gt,
    Op.GE: operator.ge,
    Op.EQ: operator.eq,
    Op.NE: operator.ne,
}


def holds_local(predicate: Local, event: StreamEvent) -> bool:
    """Whether an event passes a predicate on single events."""
    operand = predicate.operand
    return _holds(predicate.op, operand.factor, value_of(event, operand.attribute), 1, predicate.constant)


def holds_pair(pair: Pair, first: StreamEvent, second: StreamEvent) -> bool:
    """Whether two events pass a predicate on pairs."""
    left, right = value_of(first, pair.left.attribute), value_of(second, pair.right.attribute)
    return _holds(pair.op, pair.left.factor, left, pair.right.factor, right)


def _holds(op: Op, left_factor: Number, left: Value, right_factor: Number, right: Value) -> bool:
    compare = _OPERATORS[op]
    if isinstance(left, str) or isinstance(right, str):
        strings = isinstance(left, str) and isinstance(right, str)
        if not strings or op not in (Op.EQ, Op.NE) or left_factor != 1 or right_factor != 1:
            raise QueryError(f"strings compare with strings, by = and !=, not {left!r} {op} {right!r}")
        return compare(left, right)
    if left_factor == right_factor == 1 and isinstance(left, int) and isinstance(right, int):
        return compare(left, right)
    return compare(float(left_factor) * float(left), float(right_factor) * float(right))
