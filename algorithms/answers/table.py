"""The rows of an answer as one table (docs/semantics.md, rule 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from cepbench.algorithms.answers.grouped import Answered
from cepbench.algorithms.rows import AggregateRows, MatchDigests, MatchRows, QueryRows
from cepbench.events.schema import Kind, Schema
from cepbench.events.units import NANOSECONDS
from cepbench.queries.aggregates import Channel, Column, Transform, sums_in_ring
from cepbench.queries.columns import unsortable
from cepbench.queries.compile import CompiledQuery, Workload
from cepbench.queries.model import AggregateOf, Aggregates, CountAll, CountOf, Function, Item

MATCH = "match"
LAST_SECOND = 253_402_300_799
"""The last second of the year 9999, in Unix time."""
_LIST = pd.ArrowDtype(pa.large_list(pa.int64()))
_GROUP_DTYPES: dict[Kind, Any] = {Kind.INT: "Int64", Kind.FLOAT: "Float64", Kind.STRING: "object"}


def answer_table(workload: Workload, found: Sequence[tuple[CompiledQuery, Answered]]) -> pd.DataFrame:
    """A table with one row per row of `found` and the columns of all queries, null where a query lacks them.

    Matches stay Arrow lists. If the times of the input were timestamps, window times are, too. Columns and dtypes do
    not depend on the rows: `query`, grouping attributes, `window_start`, `window_end`, aggregates, `overflow`, `match`
    (a list), as far as queries have them. A summarised workload has `matches` and `digest` (hexadecimal) instead of
    `match`, in one row per window.
    """
    dtypes = _dtypes(workload)
    frames = [
        pd.DataFrame(
            {
                name: columns[name] if name in columns else _nulls(dtype, len(part.rows))
                for name, dtype in dtypes.items()
            }
        )
        for columns, part in ((_columns(query, part), part) for query, part in found)
    ]
    if frames:
        answer = pd.concat(frames, ignore_index=True).astype(dtypes)
    else:
        answer = pd.DataFrame({name: pd.Series([], dtype=dtype) for name, dtype in dtypes.items()})
    return answer if _times_are_numbers(workload, answer) else _with_timestamps(answer, workload.schema)


def _times_are_numbers(workload: Workload, answer: pd.DataFrame) -> bool:
    """Whether input times were numbers, or a window counts events, or a time is beyond the calendar."""
    if workload.schema.zone is None or any(q.row_window is not None and q.row_window.counts_events for q in workload):
        return True
    last = answer["window_end"].max() if len(answer) else 0
    return last is not pd.NA and int(last) > LAST_SECOND * 10**9 // NANOSECONDS[workload.schema.time_unit]


def _with_timestamps(answer: pd.DataFrame, schema: Schema) -> pd.DataFrame:
    """The same table with window times as timestamps; both are null where a row has no time window."""
    unit = schema.time_unit if schema.time_unit in ("ns", "us", "ms") else "s"
    factor = NANOSECONDS[schema.time_unit] // NANOSECONDS[unit]
    nothing = answer["window_end"].isna()
    for name in ("window_start", "window_end"):
        numbers = answer[name].mask(nothing, 0).to_numpy(np.int64) * factor
        moments = pd.Series(numbers.view(f"datetime64[{unit}]")).mask(nothing)
        if schema.zone:
            moments = moments.dt.tz_localize("UTC").dt.tz_convert(schema.zone)
        answer = answer.assign(**{name: moments})
    return answer


def overflowed(query: CompiledQuery, rows: AggregateRows) -> NDArray[np.bool_]:
    """Which rows have a value that overflowed."""
    flags: NDArray[np.bool_] = _aggregate_columns(query, rows)["overflow"]
    return flags


def with_lists(answer: pd.DataFrame) -> pd.DataFrame:
    """The same table with Python lists in the column `match`, and None without a match."""
    if MATCH not in answer:
        return answer
    lists = pd.Series(answer[MATCH].array.__arrow_array__().to_pylist(), dtype=object)
    return answer.assign(**{MATCH: lists})


def arrow_table(answer: pd.DataFrame) -> pa.Table:
    """The same table as Arrow, for files. Object columns are strings, even if all values are missing."""
    plain = pa.Table.from_pandas(answer.drop(columns=MATCH, errors="ignore"), preserve_index=False)
    for i, field in enumerate(plain.schema):
        if pa.types.is_null(field.type):
            plain = plain.set_column(i, field.with_type(pa.string()), plain[i].cast(pa.string()))
    # pandas cannot read its own name for a list dtype back, so the metadata leaves this column out.
    return plain.append_column(MATCH, answer[MATCH].array.__arrow_array__()) if MATCH in answer else plain


def _dtypes(workload: Workload) -> dict[str, Any]:
    """The dtype of each column of the answer, in order."""
    groups: dict[str, Any] = {}
    items: dict[str, Any] = {}
    matching = 0
    for query in workload:
        groups |= {name: _GROUP_DTYPES[query.kinds[name]] for name in query.query.group_by}
        if isinstance(query.query.returns, Aggregates):
            items |= {str(item): _item_dtype(query, item) for item in query.query.returns.items}
        else:
            matching += 1
    dtypes = {"query": "object"} | groups | {"window_start": "int64", "window_end": "Int64"} | items
    if items:
        dtypes["overflow"] = "boolean" if matching else "bool"
    if matching:
        dtypes |= {"matches": "UInt64", "digest": "object"} if workload.summarised else {MATCH: _LIST}
    return dtypes


def _item_dtype(query: CompiledQuery, item: Item) -> str:
    counts = "UInt64" if query.arithmetic == "modular" else "Float64"
    match item:
        case CountAll() | CountOf():
            return counts
        case AggregateOf(Function.AVG):
            return "Float64"
        case AggregateOf(Function.SUM, _, attribute):
            return "Int64" if sums_in_ring(query.kinds[attribute], query.arithmetic) else "Float64"
        case AggregateOf(_, _, attribute):
            return "Float64" if query.kinds[attribute] is Kind.FLOAT else "Int64"


def _nulls(dtype: Any, length: int) -> Any:
    if dtype == "object":
        return np.full(length, None, object)
    nothing: Any = pd.array([pd.NA] * length, dtype=dtype)
    return nothing


def _columns(query: CompiledQuery, found: Answered) -> dict[str, Any]:
    """The columns of a query's rows."""
    rows = found.rows
    columns: dict[str, Any] = {"query": np.full(len(rows), query.query.name, object)}
    for place, name in enumerate(query.query.group_by):
        values = pd.Series([group[place] for group in found.groups], dtype=_GROUP_DTYPES[query.kinds[name]])
        columns[name] = values.array[found.number]
    columns |= _window_columns(query, rows)
    match rows:
        case AggregateRows():
            return columns | _aggregate_columns(query, rows)
        case MatchDigests():
            digests = np.array([f"{digest:016x}" for digest in rows.digest], object)
            return columns | {"matches": pd.array(rows.matches, dtype="UInt64"), "digest": digests}
        case _:
            assert isinstance(rows, MatchRows)
            lists = pa.LargeListArray.from_arrays(pa.array(rows.offsets), pa.array(rows.positions))
            return columns | {MATCH: pd.array(lists, dtype=_LIST)}


def _window_columns(query: CompiledQuery, rows: QueryRows) -> dict[str, Any]:
    window = rows.window
    if isinstance(rows, MatchRows) and rows.times is not None:
        return {"window_start": rows.times[:, 0], "window_end": pd.array(rows.times[:, 1], dtype="Int64")}
    if query.row_window is None:
        nothing = pd.array([pd.NA] * len(window), dtype="Int64")
        return {"window_start": np.zeros(len(window), np.int64), "window_end": nothing}
    start = window * query.row_window.slide
    return {"window_start": start, "window_end": pd.array(start + query.row_window.within, dtype="Int64")}


def _aggregate_columns(query: CompiledQuery, rows: AggregateRows) -> dict[str, Any]:
    returns = query.query.returns
    assert isinstance(returns, Aggregates)
    values = [_Values(query, rows).item(item) for item in returns.items]
    columns: dict[str, Any] = {str(item): column for item, (column, _) in zip(returns.items, values, strict=True)}
    return columns | {"overflow": np.logical_or.reduce([over for _, over in values])}


class _Values:
    """Columns of RETURN items: nullable values, and where they overflowed (null there)."""

    def __init__(self, query: CompiledQuery, rows: AggregateRows) -> None:
        self.query, self.rows = query, rows

    def item(self, item: Item) -> tuple[Any, NDArray[np.bool_]]:
        match item:
            case CountAll():
                return self._count(0)
            case CountOf(name):
                return self._count(self._index(name, None))
            case AggregateOf(Function.SUM, name, attribute):
                return self._sum(name, attribute)
            case AggregateOf(Function.AVG, name, attribute):
                return self._average(name, attribute)
            case AggregateOf(function, name, attribute):
                return self._extremum(function, name, attribute)

    def _index(self, name: str, column: Column | None) -> int:
        return self.query.layout.ring_of(self._canonical(name), column)

    def _canonical(self, name: str) -> str:
        names = self.query.analysis.names
        layout = self.query.layout
        same = names.indices(name)
        channels = (*layout.ring, *layout.real, *layout.least)
        return next(c.name for c in channels if c.name and names.indices(c.name) == same)

    def _overflowed(self, channel: int) -> NDArray[np.bool_]:
        flags: NDArray[np.bool_] = (self.rows.overflow >> np.uint64(channel)) & np.uint64(1) != 0
        if self.rows.ring.dtype == np.float64:
            flags = flags | ~np.isfinite(self.rows.ring[:, channel])
        return flags

    def _count(self, channel: int) -> tuple[Any, NDArray[np.bool_]]:
        over = self._overflowed(channel)
        return _nullable(self.rows.ring[:, channel], over), over

    def _sum(self, name: str, attribute: str) -> tuple[Any, NDArray[np.bool_]]:
        values, over = self._raw_sum(name, attribute)
        return _nullable(values, over), over

    def _raw_sum(self, name: str, attribute: str) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        kind = self.query.kinds[attribute]
        if sums_in_ring(kind, self.query.arithmetic):
            magnitude = self._index(name, Column(attribute, Transform.MAGNITUDE))
            over = self._overflowed(magnitude) | (self.rows.ring[:, magnitude] >= np.uint64(2**63))
            total = self.rows.ring[:, self._index(name, Column(attribute, Transform.INT))]
            return total.view(np.int64), over
        real = self.rows.real[:, self.query.layout.real_of(self._canonical(name), attribute)]
        return real, self._overflowed(self._index(name, None)) | ~np.isfinite(real)

    def _average(self, name: str, attribute: str) -> tuple[Any, NDArray[np.bool_]]:
        total, over = self._raw_sum(name, attribute)
        channel = self._index(name, None)
        count = self.rows.ring[:, channel]
        over = over | self._overflowed(channel)
        nothing = (count == 0) | over
        values = total.astype(np.float64) / np.where(nothing, 1, count).astype(np.float64)
        return _nullable(values, nothing), over

    def _extremum(self, function: Function, name: str, attribute: str) -> tuple[Any, NDArray[np.bool_]]:
        inverted = function is Function.MAX
        transform = Transform.INVERTED_KEY if inverted else Transform.KEY
        name = self._canonical(name)
        keys = self.rows.least[:, self.query.layout.least_of(name, attribute, transform)]
        nothing = np.zeros(len(keys), np.bool_)
        if Channel(name, None) in self.query.layout.ring:  # always, where a match may bind no such event
            channel = self._index(name, None)
            nothing = (self.rows.ring[:, channel] == 0) & ~self._overflowed(channel)
        keys = ~keys if inverted else keys
        values: NDArray[Any] = unsortable(keys) if self.query.kinds[attribute] is Kind.FLOAT else keys
        return _nullable(values, nothing), np.zeros(len(keys), np.bool_)


def _nullable(values: NDArray[Any], nothing: NDArray[np.bool_]) -> Any:
    """A nullable pandas array: UInt64, Int64 or Float64."""
    plain = np.where(nothing, values.dtype.type(0), values)
    dtype: Any = {"u": "UInt64", "i": "Int64", "f": "Float64"}[values.dtype.kind]
    array: Any = pd.array(plain, dtype=dtype)
    array[nothing] = pd.NA
    return array
