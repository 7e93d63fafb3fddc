"""Conditions that rows have to satisfy, such as `delay IS NOT NULL AND delay > 0`: a small part of Spark SQL.

Columns are compared with constants or with each other by `= == != <> < <= > >=`, `IS [NOT] NULL` and `[NOT] IN (...)`;
NOT, AND, OR and parentheses combine such comparisons. Constants are numbers and quoted texts; names that are not
plain words are quoted in backticks. As in SQL a comparison with a null is neither true nor false; NaN counts as null.
Unlike in SQL, two texts are compared as times if both are times in ISO 8601; those without an offset are in UTC.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cepbench.events.errors import InputError
from cepbench.events.reading import ISO
from cepbench.events.time_formats import parsed

if TYPE_CHECKING:  # most files are read without a condition
    from lark import Lark, Token, Tree

MOST_CHARACTERS = 2000
_GRAMMAR = r"""
?start: either
?either: both ("OR"i both)*
?both: one ("AND"i one)*
?one: "NOT"i one -> negated
    | "(" either ")"
    | value OP value -> compared
    | value "IS"i "NULL"i -> null
    | value "IS"i "NOT"i "NULL"i -> known
    | value "IN"i "(" constant ("," constant)* ")" -> among
    | value "NOT"i "IN"i "(" constant ("," constant)* ")" -> apart
?value: column | constant
column: NAME | QUOTED
constant: NUMBER | TEXT
OP: "==" | "=" | "!=" | "<>" | "<=" | ">=" | "<" | ">"
NAME: /[a-z_][a-z0-9_]*/i
QUOTED: /`[^`]+`/
NUMBER: /[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?/i
TEXT: /'([^']|'')*'|"([^"]|"")*"/
%ignore /\s+/
"""
_MOMENT = r"^\d{4}(-\d\d-\d\d|\d{4}[Tt]\d)"
"""The beginning of texts that are parsed as times. Eight digits alone, such as 20240131, are not a time."""
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEYWORDS = ("or", "and", "not", "is", "null", "in")
_COMPARED: dict[str, Callable[..., pa.Array]] = {
    "=": pc.equal, "==": pc.equal, "!=": pc.not_equal, "<>": pc.not_equal,
    "<": pc.less, "<=": pc.less_equal, ">": pc.greater, ">=": pc.greater_equal,
}  # fmt: skip
_TIMES = pa.timestamp("ns", "UTC")


def check_condition(where: str) -> None:
    """Raises `InputError` for an invalid condition, with the place of the error."""
    _parsed(where)


def named(where: str) -> frozenset[str]:
    """The columns that a condition names. Raises `InputError` for an invalid one."""
    return frozenset(_name(tree) for tree in _parsed(where).find_data("column"))


def chosen(
    where: str, columns: Mapping[str, pa.Array], place: str, times: Mapping[str, pa.Array] = MappingProxyType({})
) -> NDArray[np.int64]:
    """The rows (from 0) for which the condition is true, in order.

    `times`: the times in UTC of columns with a `Reading.format`, null where there is no time. Raises `InputError` for
    values that cannot be compared.
    """
    mask = _truth(_parsed(where), _Rows(columns, times, place))
    return np.flatnonzero(pc.fill_null(mask, False).to_numpy(zero_copy_only=False))


def written(name: str) -> str:
    """The name of a column as a condition writes it."""
    return name if _PLAIN.fullmatch(name) and name.lower() not in _KEYWORDS else f"`{name}`"


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows that a condition is evaluated on; the fields are arguments of `chosen`."""

    columns: Mapping[str, pa.Array]
    times: Mapping[str, pa.Array]
    place: str


@cache
def _parser() -> Lark:
    from lark import Lark

    return Lark(_GRAMMAR, parser="lalr")


@cache
def _parsed(where: str) -> Tree[Token]:
    from lark.exceptions import UnexpectedInput

    if len(where) > MOST_CHARACTERS:
        raise InputError(f"where: a condition may have at most {MOST_CHARACTERS} characters")
    try:
        return _parser().parse(where)
    except UnexpectedInput as error:
        rest = where[error.pos_in_stream or 0 :] if error.pos_in_stream != -1 else ""
        place = f"at {rest!r}" if rest else "at its end"
        raise InputError(
            f"where: {where!r} is not a condition {place}; write one such as delay IS NOT NULL AND delay > 0, "
            "with names of columns, numbers, 'texts', = != < <= > >=, IN, AND, OR, NOT and parentheses"
        ) from None


def _truth(tree: Any, rows: _Rows) -> pa.Array:
    """A boolean per row, null where the condition is neither true nor false."""
    parts = tree.children
    match tree.data:
        case "either" | "both":
            truth = _truth(parts[0], rows)
            for part in parts[1:]:
                joined = pc.or_kleene if tree.data == "either" else pc.and_kleene
                truth = joined(truth, _truth(part, rows))
            return truth
        case "negated":
            return pc.invert(_truth(parts[0], rows))
        case "null" | "known":
            value = _column(parts[0], rows)
            return pc.is_null(value) if tree.data == "null" else pc.is_valid(value)
        case "compared":
            return _compare(parts[0], str(parts[1]), parts[2], rows)
        case _:
            truth = _compare(parts[0], "=", parts[1], rows)
            for part in parts[2:]:
                truth = pc.or_kleene(truth, _compare(parts[0], "=", part, rows))
            return truth if tree.data == "among" else pc.invert(truth)


def _compare(left: Any, operator: str, right: Any, rows: _Rows) -> pa.Array:
    """A comparison of which at least one side is a column; a constant is converted to the column's type."""
    sides = [_column(side, rows) if side.data == "column" else None for side in (left, right)]
    column = next((side for side in sides if side is not None), None)
    if column is None:
        raise InputError(f"where: {_shown(left)} {operator} {_shown(right)} compares no column")
    try:
        values = [
            _constant(term, column.type) if side is None else side
            for side, term in zip(sides, (left, right), strict=True)
        ]
        compared_values = _COMPARED[operator](*values)
        if not all(map(_is_text, values)):
            return compared_values
        moments = [
            _moments(value, rows.times.get(_name(term)) if term.data == "column" else None)
            for value, term in zip(values, (left, right), strict=True)
        ]
        if any(moment is None for moment in moments):
            return compared_values
        return pc.coalesce(_COMPARED[operator](*moments), compared_values)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        compared = [
            _shown(term) + ("" if side is None else f" ({side.type})")
            for side, term in zip(sides, (left, right), strict=True)
        ]
        raise InputError(f"{rows.place}: where: cannot compare {' with '.join(compared)}") from None


def _moments(texts: pa.Array | pa.Scalar, times: pa.Array | None) -> pa.Array | pa.Scalar | None:
    """`times`, or `texts` parsed as ISO 8601 in UTC: null for a text, None for a constant, that is not a time."""
    if times is not None:
        return times
    alone = isinstance(texts, pa.Scalar)
    column = pa.array([texts.as_py()], texts.type) if alone else texts
    trimmed = pc.utf8_trim_whitespace(pc.cast(column, pa.string()))
    likely = pc.if_else(pc.match_substring_regex(trimmed, _MOMENT), trimmed, pa.scalar(None, trimmed.type))
    if likely.null_count == len(likely):
        return None if alone else pa.nulls(len(likely), _TIMES)
    moments = pa.array(parsed(likely.to_pandas(), ISO), _TIMES)
    return (moments[0] if moments[0].is_valid else None) if alone else moments


def _is_text(value: pa.Array | pa.Scalar) -> bool:
    kind = value.type
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _name(tree: Any) -> str:
    return str(tree.children[0]).strip("`")


def _column(tree: Any, rows: _Rows) -> pa.Array:
    if tree.data != "column":
        raise InputError(f"where: {_shown(tree)} is not a column")
    name, columns = _name(tree), rows.columns
    if name not in columns:
        raise InputError(f"{rows.place}: where: no column {name!r}; there are {', '.join(columns) or 'none'}")
    column = columns[name]
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_floating(column.type):
        column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    return column


def _constant(tree: Any, kind: pa.DataType) -> pa.Scalar:
    token = tree.children[0]
    if token.type == "NUMBER":
        return pa.scalar(int(token) if re.fullmatch(r"[+-]?\d+", token) else float(token))
    text = token[1:-1].replace(token[0] * 2, token[0])
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        zone = kind.tz if pa.types.is_timestamp(kind) else None
        moment = pd.to_datetime(text, utc=True, format="ISO8601")
        return pa.scalar(moment if zone else moment.tz_localize(None), pa.timestamp("ns", zone))
    return pc.cast(pa.scalar(text), kind)  # as in SQL, '7' equals the number 7


def _shown(tree: Any) -> str:
    return str(tree.children[0])
