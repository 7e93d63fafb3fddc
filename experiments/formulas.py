"""Formulas of arithmetic: numbers, names and `+ - * / **`."""

from __future__ import annotations

import ast
import operator
from collections.abc import Mapping
from typing import Any

_OPERATORS: Mapping[type[ast.AST], Any] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.Pow: operator.pow, ast.USub: operator.neg,
}  # fmt: skip


def parse(formula: str) -> ast.expr:
    """The expression of a formula. Raises `ValueError` for what is no arithmetic."""
    try:
        expression = ast.parse(formula, mode="eval").body
    except SyntaxError:
        raise ValueError(f"formula: {formula!r} is no arithmetic") from None
    _names(expression, formula)
    return expression


def names_of(formula: str) -> frozenset[str]:
    """The names that a formula has."""
    return frozenset(_names(parse(formula), formula))


def evaluated(formula: str, numbers: Mapping[str, float]) -> float:
    """The value of a formula. Raises `ArithmeticError` where it has none."""
    value = _value(parse(formula), numbers)
    if isinstance(value, complex):
        raise ArithmeticError(f"{formula} has no real value")
    return float(value)


def _names(node: ast.expr, formula: str) -> list[str]:
    match node:
        case ast.Constant(value=int() | float()):
            return []
        case ast.Name(id=name):
            return [name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return _names(operand, formula)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
            return _names(left, formula) + _names(right, formula)
    raise ValueError(f"formula: {ast.unparse(node)!r} in {formula!r} is neither a number, a name nor one of + - * / **")


def _value(node: ast.expr, numbers: Mapping[str, float]) -> Any:
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return numbers[name]
        case ast.UnaryOp(op=op, operand=operand):
            return _OPERATORS[type(op)](_value(operand, numbers))
        case ast.BinOp(left=left, op=op, right=right):
            return _OPERATORS[type(op)](_value(left, numbers), _value(right, numbers))
    raise AssertionError(ast.dump(node))
