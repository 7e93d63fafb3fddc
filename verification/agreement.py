"""Whether an answer equals the oracle's."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import pandas as pd

from cepbench.algorithms.oracle import CannotTally, answer, tally
from cepbench.queries.model import Query
from cepbench.verification.random_cases import Case, Rows

TOLERANCE = 1e-9
"""Relative and absolute tolerance of floats, which may be summed in any order."""
LIMIT = 20_000
"""Maximum number of partial matches that the oracle lists in a window."""
MANY = 30
"""Number of events beyond which there may be too many matches."""


def expected_rows(case: Case, *, listed: bool = False, modular: bool = True) -> list[Rows]:
    """The oracle's rows by query, in modular arithmetic; exact with `modular=False`.

    Matches of long streams are tallied, if possible and unless they must be `listed`. Raises `TooManyMatches` where a
    window has more than `LIMIT` partial matches to list.
    """
    return [_expected(query, case, listed, modular) for query in case.queries]


def difference(expected: Sequence[Mapping[str, Any]], frame: pd.DataFrame) -> str | None:
    """The first way in which the answer to one query differs, as text, or None."""
    return difference_of_rows(expected, rows_of(frame))


def case_difference(case: Case, expected: Sequence[Rows], frame: pd.DataFrame) -> str | None:
    """The first way in which the answer to a case differs, as text, or None; `expected` has the rows of each query."""
    if len(case.queries) == 1:
        return difference(expected[0], frame)
    rows = rows_of(frame)
    for query, wanted in zip(case.queries, expected, strict=True):
        reason = difference_of_rows(wanted, _own_columns([row for row in rows if row["query"] == query.name], wanted))
        if reason is not None:
            return f"query {query.name}: {reason}"
    strangers = {row["query"] for row in rows} - {query.name for query in case.queries}
    return f"rows of unknown queries: {', '.join(map(str, strangers))}" if strangers else None


def difference_of_rows(expected: Sequence[Mapping[str, Any]], answered: Sequence[Mapping[str, Any]]) -> str | None:
    """The first way in which rows differ, as text, or None."""
    if len(expected) != len(answered):
        return f"{len(expected)} rows expected, {len(answered)} answered"
    for number, (wanted, got) in enumerate(zip(expected, answered, strict=True)):
        if list(wanted) != list(got):
            return f"columns {', '.join(wanted)} expected, {', '.join(map(str, got))} answered"
        for column, value in wanted.items():
            if not _equal(value, got[column]):
                return f"row {number}, {column}: {_shown(value)} expected, {_shown(got[column])} answered"
    return None


def expect(kept: bool, what: str) -> None:
    """Raises `AssertionError` with the text `what`, unless the condition `kept` holds."""
    if not kept:
        raise AssertionError(what)


def expect_rows(expected: Sequence[Mapping[str, Any]], frame: pd.DataFrame, where: str = "") -> None:
    """Raises `AssertionError` if the answer to one query differs, with the difference and `where`."""
    reason = difference(expected, frame)
    expect(reason is None, f"{reason} {where}".strip())


def rows_of(frame: pd.DataFrame) -> Rows:
    """Rows of an answer as plain values, <NA> as None."""
    columns = {str(name): [_plain(value) for value in frame[name]] for name in frame.columns}
    return [{name: column[row] for name, column in columns.items()} for row in range(len(frame))]


def frame_of(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Rows as an answer with object columns; a column is null in rows that lack it."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pd.DataFrame({name: pd.Series([row.get(name) for row in rows], dtype=object) for name in names})


def _expected(query: Query, case: Case, listed: bool, modular: bool) -> Rows:
    if not listed and len(case.events) > MANY:
        with suppress(CannotTally):
            return tally(query, case.events, modular=modular)
    return answer(query, case.events, modular=modular, limit=LIMIT)


def _own_columns(rows: Rows, wanted: Rows) -> Rows:
    """Rows of a query of a workload, its own columns first, without the columns of other queries."""
    columns = tuple(wanted[0]) if wanted else ()
    kept = []
    for row in rows:
        names = [name for name in columns if name in row]
        names += [name for name, value in row.items() if name not in columns and value is not None]
        kept.append({name: row[name] for name in names})
    return kept


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
