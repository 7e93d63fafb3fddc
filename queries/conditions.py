"""The predicate of a comparison with two sides (docs/query-language.md, WHERE)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cepbench.queries.model import Comparison, Local, Number, Op, Operand
from cepbench.queries.source import Node, Problem

_OPERATORS = {"==": "=", "<>": "!=", "≠": "!=", "≤": "<=", "≥": ">="}


@dataclass(frozen=True)
class Next:
    """`NEXT(E).x`, until its comparison is known."""

    operand: Operand


@dataclass(frozen=True)
class Word:
    """A text constant without quotes, as in `M.activity = passive`."""

    text: str


def scaled(operand: Node, factor: Number) -> Operand | Next:
    """The value of an operand with a factor."""
    value: Operand | Next = operand.value
    if isinstance(value, Next):
        return Next(replace(value.operand, factor=factor))
    return replace(value, factor=factor)


def compared(left: Node, sign: str, right: Node) -> Node:
    """A `Local` if one side is a constant, otherwise a `Comparison` in which only the right side may be a NEXT.

    Values of the sides are `Operand`, `Next`, `Word`, a number or a text. Raises `Problem`.
    """
    op = Op(_OPERATORS.get(sign, sign))
    start, stop = left.start, right.stop
    if not isinstance(left.value, Operand | Next):
        left, op, right = right, op.flipped, left
    if not isinstance(right.value, Operand | Next):
        return Node(_local(left, op, right, start, stop), start, stop, (left, right))
    if isinstance(left.value, Next):
        left, op, right = right, op.flipped, left
    if isinstance(left.value, Next):
        raise Problem("NEXT is allowed on one side only; the other side names the event before", left.start, left.stop)
    following = isinstance(right.value, Next)
    value = Comparison(left.value, op, right.value.operand if following else right.value, following)
    return Node(value, start, stop, (left, right))


def _local(operand: Node, op: Op, constant: Node, start: int, stop: int) -> Local:
    if isinstance(operand.value, Next):
        message = "NEXT(E).x is compared with an attribute of the event before, as in E.x < NEXT(E).x"
        raise Problem(message, operand.start, operand.stop)
    if not isinstance(operand.value, Operand):
        raise Problem("a predicate names an attribute of an event, as in E.x", start, stop)
    value = constant.value
    if not isinstance(value, Word):
        return Local(operand.value, op, value)
    if op not in (Op.EQ, Op.NE):
        message = f"{value.text} is a text, which compares by = and != only; write E.{value.text} for an attribute"
        raise Problem(message, constant.start, constant.stop)
    return Local(operand.value, op, value.text)
