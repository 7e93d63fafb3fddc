"""Whether an answer equals the oracle's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from algorithms.oracle import answer
from experiments.random_cases import Case

TOLERANCE = 1e-9
"""Relative; floats may be summed in any order."""


def expected_rows(case: Case, limit: int) -> list[dict[str, Any]]:
    """The oracle's rows as modular arithmetic shows them."""
    return answer(case.query, case.events, modular=True, limit=limit)


def difference(expected: Sequence[Mapping[str, Any]], frame: pd.DataFrame) -> str | None:
    """The first way in which an answer differs, in words, or None."""
    if len(expected) != len(frame):
        return f"{len(expected)} rows expected, {len(frame)} answered"
    for number, (wanted, got) in enumerate(zip(expected, rows_of(frame), strict=True)):
        if list(wanted) != list(got):
            return f"columns {', '.join(wanted)} expected, {', '.join(map(str, got))} answered"
        for column, value in wanted.items():
            if not _equal(value, got[column]):
                return f"row {number}, {column}: {_shown(value)} expected, {_shown(got[column])} answered"
    return None


def rows_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of an answer as plain values, <NA> as None."""
    columns = {str(name): [_plain(value) for value in frame[name]] for name in frame.columns}
    return [{name: column[row] for name, column in columns.items()} for row in range(len(frame))]


def frame_of(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as an answer with object columns."""
    return pd.DataFrame(
        {name: pd.Series([row[name] for row in rows], dtype=object) for name in (rows[0] if rows else ())}
    )


def _plain(value: Any) -> Any:
    if isinstance(value, str | bool) or value is None:
        return value
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    return None if value is pd.NA else value


def _equal(wanted: Any, got: Any) -> bool:
    if isinstance(wanted, bool) or isinstance(got, bool):
        return wanted is got
    if isinstance(wanted, int | float) and isinstance(got, int | float) and float in (type(wanted), type(got)):
        return math.isclose(wanted, got, rel_tol=TOLERANCE, abs_tol=TOLERANCE)
    return type(wanted) is type(got) and bool(wanted == got)


def _shown(value: Any) -> str:
    return "<NA>" if value is None else repr(value)
