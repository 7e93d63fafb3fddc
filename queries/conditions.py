"""From the parts of WHERE to predicates (docs/query-language.md, WHERE).

A side of a comparison is a `Sum`: at most two attributes, with factors, and a constant. `compared` makes a condition on
one event or a comparison of two of it; `joined` and `inverted` combine conditions on one event. Raise `Problem`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from cepbench.events.units import NANOSECONDS
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
    Operand,
    Predicate,
    Relation,
)
from cepbench.queries.source import Node, Problem

_OPERATORS = {"==": "=", "<>": "!=", "≠": "!=", "≤": "<=", "≥": ">="}
_TWO_EVENTS = "OR and NOT combine conditions on one event"
_CASES = "write a query for each case"
_LINEAR = (
    "a comparison has one attribute on each side, as in a.x + 3 < b.y, or a difference: b.time - a.time <= 5 minutes"
)


@dataclass(frozen=True)
class Next:
    """`NEXT(E).x`, until its comparison is known."""

    operand: Operand


class Word(str):
    """A text constant without quotes, as in `M.activity = passive`."""

    __slots__ = ()


@dataclass(frozen=True)
class Sum:
    """Attributes that are added (`plus`) and subtracted (`minus`), and a constant; 0 if there is none."""

    plus: tuple[Node, ...] = ()
    minus: tuple[Node, ...] = ()
    constant: Constant = 0


def scaled(operand: Node, factor: Number) -> Operand | Next:
    """The value of an operand with a factor."""
    return _changed(operand, lambda value: replace(value, factor=factor))


def added(left: Node, right: Node, sign: int) -> Sum:
    """The sum of two sides, or their difference if `sign` is -1."""
    first, second = _sum(left), _sum(right)
    for constant, node in ((first.constant, left), (second.constant, right)):
        if isinstance(constant, str):
            raise Problem("a text is not added to anything", node.start, node.stop)
    if sign < 0:
        second = Sum(second.minus, second.plus, _negative(second.constant))
    constant = _total(first.constant, second.constant, left.start, right.stop)
    return Sum(first.plus + second.plus, first.minus + second.minus, constant)


def compared(left: Node, sign: str, right: Node) -> Node:
    """A `Local` if both sides have attributes of one name, otherwise a `Comparison`."""
    start, stop = left.start, right.stop
    op, first, second = Op(_OPERATORS.get(sign, sign)), _sum(left), _sum(right)
    if not first.plus and not first.minus:
        first, op, second, left, right = second, op.flipped, first, right, left
    match len(first.plus), len(first.minus), len(second.plus), len(second.minus):
        case 0, 0, 0, 0:
            raise Problem("a predicate names an attribute of an event, as in E.x", start, stop)
        case 1, 0, 0, 0:
            return Node(_constant(first, op, second, right), start, stop, first.plus)
        case 0, 1, 0, 0:
            opposite = Sum(
                tuple(Node(scaled(n, -_factor(n)), n.start, n.stop) for n in first.minus), (), first.constant
            )
            return Node(_constant(opposite, op, second, right), start, stop, first.minus)
        case 1, 0, 1, 0:
            earlier, later = (
                _shifted(first.plus[0], first.constant, stop),
                _shifted(second.plus[0], second.constant, stop),
            )
        case 1, 1, 0, 0:  # the subtrahend is the earlier event: b.x - a.y <= c is a.y + c >= b.x
            limit = _total(second.constant, _negative(first.constant), start, stop)
            earlier, op, later = _shifted(first.minus[0], limit, stop), op.flipped, first.plus[0]
        case _:
            raise Problem(_LINEAR, start, stop)
    return _related(earlier, op, later, start, stop)


def listed(operand: Node, negative: bool, constants: Sequence[Node], stop: int) -> Node:
    """`E.x IN (a, b)`, or `NOT IN`."""
    if not isinstance(operand.value, Operand):
        raise Problem("IN takes an attribute of an event, as in E.x IN (1, 2)", operand.start, operand.stop)
    condition: Condition = In(operand.value.attribute, tuple(node.value for node in constants))
    local = Local(operand.value.name, Inverse(condition) if negative else condition)
    return Node(local, operand.start, stop, (operand,))


def alternatives(parts: Sequence[Node]) -> Local:
    """Conditions on one event joined by OR."""
    locals_ = [_on_one_event(part, _CASES) for part in parts]
    for part, local in zip(parts, locals_, strict=True):
        if local.name != locals_[0].name:
            message = f"{_TWO_EVENTS}, not on {locals_[0].name} and {local.name}; {_CASES}"
            raise Problem(message, part.start, part.stop)
    return Local(locals_[0].name, AnyOf(_flat(AnyOf, [local.condition for local in locals_])))


def inverted(part: Node) -> Local:
    """`NOT` of a condition on one event."""
    local = _on_one_event(part, "write the opposite comparison, as >= for <")
    return Local(local.name, Inverse(local.condition))


def conjuncts(part: Node) -> tuple[Node, ...]:
    """The predicates that a node joins by AND; itself if it does not."""
    return part.children if isinstance(part.value, tuple) else (part,)


def _on_one_event(part: Node, hint: str) -> Local:
    """The condition of a part, which may be a conjunction, on one event; `hint` ends the message for two."""
    predicates: tuple[Predicate, ...] = tuple(node.value for node in conjuncts(part))
    names = {p.name if isinstance(p, Local) else None for p in predicates}
    if len(names) > 1 or None in names:
        raise Problem(f"{_TWO_EVENTS}; {hint}", part.start, part.stop)
    conditions = [p.condition for p in predicates if isinstance(p, Local)]
    name = names.pop() or ""
    return Local(name, conditions[0] if len(conditions) == 1 else AllOf(_flat(AllOf, conditions)))


def _flat(kind: type[AllOf] | type[AnyOf], parts: Sequence[Condition]) -> tuple[Condition, ...]:
    flat: list[Condition] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, AllOf | AnyOf) and isinstance(part, kind) else (part,))
    return tuple(flat)


def _related(earlier: Node, op: Op, later: Node, start: int, stop: int) -> Node:
    """The predicate of two attributes, which may belong to one event."""
    if isinstance(earlier.value, Next):
        earlier, op, later = later, op.flipped, earlier
    left, right = earlier.value, later.value
    if isinstance(left, Next):
        message = "NEXT is allowed on one side only; the other side names the event before"
        raise Problem(message, earlier.start, earlier.stop)
    children = (earlier, later)
    if isinstance(right, Next):
        return Node(Comparison(left, op, right.operand, True), start, stop, children)
    if left.name != right.name:
        return Node(Comparison(left, op, right), start, stop, children)
    if left.term == right.term:
        name, attribute = left.name, left.attribute
        message = f"{name}.{attribute} is compared with itself: both sides mean the same event"
        hint = f"for adjacent events write {name}.{attribute} {op} NEXT({name}).{attribute}"
        raise Problem(f"{message}; {hint}", start, stop)
    return Node(Local(left.name, Relation(left.term, op, right.term)), start, stop, children)


def _constant(attribute: Sum, op: Op, constant: Sum, place: Node) -> Local:
    """The predicate of one attribute; `place`: the side of the constant."""
    node = _shifted(attribute.plus[0], attribute.constant, place.stop)
    value = constant.constant
    if isinstance(node.value, Next):
        message = "NEXT(E).x is compared with an attribute of the event before, as in E.x < NEXT(E).x"
        raise Problem(message, node.start, node.stop)
    operand: Operand = node.value
    if isinstance(value, Word) and op not in (Op.EQ, Op.NE):
        message = f"{value} is a text, which compares by = and != only; write E.{value} for an attribute"
        raise Problem(message, place.start, place.stop)
    return Local(operand.name, Relation(operand.term, op, value))


def _sum(node: Node) -> Sum:
    """The value of a side, or of a part of it."""
    if isinstance(node.value, Sum):
        return node.value
    if isinstance(node.value, Length) and node.value.unit == "events":
        raise Problem("a constant has a unit of time, as in 5 minutes, or none", node.start, node.stop)
    return Sum(plus=(node,)) if isinstance(node.value, Operand | Next) else Sum(constant=node.value)


def _shifted(operand: Node, offset: Constant, stop: int) -> Node:
    if isinstance(offset, str):
        raise Problem("a text is not added to anything", operand.start, stop)
    return operand._replace(value=_changed(operand, lambda value: replace(value, offset=offset)))


def _changed(operand: Node, change: Callable[[Operand], Operand]) -> Operand | Next:
    value: Operand | Next = operand.value
    return Next(change(value.operand)) if isinstance(value, Next) else change(value)


def _factor(operand: Node) -> Number:
    value: Operand | Next = operand.value
    return (value.operand if isinstance(value, Next) else value).factor


def _negative(constant: Constant) -> Constant:
    if isinstance(constant, Length):
        return Length(-constant.amount, constant.unit)
    return constant if isinstance(constant, str) else -constant


def _total(first: Constant, second: Constant, start: int, stop: int) -> Constant:
    """The sum of two constants, of which 0 stands for none."""
    if first == 0 or second == 0:
        return second if first == 0 else first
    if isinstance(first, Length) and isinstance(second, Length):
        return Length(first.amount * NANOSECONDS[first.unit] + second.amount * NANOSECONDS[second.unit], "ns")
    if not isinstance(first, int | float) or not isinstance(second, int | float):
        raise Problem("constants with and without a unit are not added", start, stop)
    total = first + second
    if isinstance(total, int) and not -(2**63) <= total < 2**63:
        raise Problem("the constants do not fit into 64 bits together", start, stop)
    return total
