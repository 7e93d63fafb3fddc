"""From the partial rows of all sub-streams to the answer of a workload."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from algorithms.rows import AggregateRows, MatchRows, QueryRows, concatenate
from events.schema import Kind
from queries.aggregates import NO_VALUE, Column, Transform, sums_in_ring
from queries.compile import CompiledQuery, Workload, unsortable
from queries.model import AggregateOf, Aggregates, CountAll, CountOf, Function, Item

Key = tuple[int | float | str, ...]


class AnswerBuilder:
    """Collects rows per query and group; partial aggregates of a group's sub-streams are merged per window.

    Builders of parts of a stream merge to the same answer in any order, and can be pickled.
    """

    def __init__(self, workload: Workload) -> None:
        self.workload = workload
        self.parts: dict[tuple[int, Key], list[QueryRows]] = {}

    def add(self, query: int, key: Key, rows: QueryRows) -> None:
        """Rows of one sub-stream; `key` holds its decoded partition values in the order of `query.partition`."""
        group = key[: len(self.workload.queries[query].query.group_by)]
        self.parts.setdefault((query, group), []).append(rows)

    def merge(self, other: AnswerBuilder) -> None:
        """Adds all rows of another builder for the same workload."""
        for group, rows in other.parts.items():
            self.parts.setdefault(group, []).extend(rows)

    def frame(self) -> pd.DataFrame:
        """One table for all queries (DESIGN section 5.7); a column is null in rows of queries that lack it."""
        frames = [self._query_frame(query) for query in self.workload]
        frames = [frame for frame in frames if len(frame)] or frames[:1]
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()

    def digest(self) -> str:
        """A hash of the answer that does not depend on the order of rows; float sums count to nine digits."""
        lines = sorted(line for query in self.workload for line in self._lines(query))
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    @property
    def rows(self) -> int:
        """Rows of the answer."""
        return sum(len(rows) for query in self.workload for _, rows in self._groups(query))

    @property
    def matches(self) -> float:
        """Matches in all windows together (as a float, since counts may be huge); inf after an overflow."""
        total = 0.0
        for query in self.workload:
            for _, rows in self._groups(query):
                if isinstance(rows, MatchRows):
                    total += len(rows)
                elif np.any(rows.overflow & np.uint64(1)):
                    return float("inf")
                else:
                    total += float(rows.ring[:, 0].astype(np.float64).sum())
        return total

    @property
    def overflow(self) -> bool:
        """Whether some value overflowed."""
        frame = self.frame()
        return bool(frame["overflow"].fillna(False).any()) if "overflow" in frame else False

    def _groups(self, query: CompiledQuery) -> list[tuple[Key, QueryRows]]:
        found = [(group, parts) for (index, group), parts in self.parts.items() if index == query.index]
        ordered = sorted(found, key=lambda item: tuple(_sortable(value) for value in item[0]))
        merged = []
        for group, parts in ordered:
            rows = concatenate(parts)
            merged.append((group, merge_windows(rows) if isinstance(rows, AggregateRows) else _sorted_matches(rows)))
        return merged

    def _query_frame(self, query: CompiledQuery) -> pd.DataFrame:
        frames = []
        for group, rows in self._groups(query):
            columns: dict[str, Any] = {"query": [query.query.name] * len(rows)}
            columns |= {name: [value] * len(rows) for name, value in zip(query.query.group_by, group, strict=True)}
            columns |= _window_columns(query, rows.window)
            columns |= _aggregate_columns(query, rows) if isinstance(rows, AggregateRows) else _match_column(rows)
            frames.append(pd.DataFrame(columns))
        if frames:
            return pd.concat(frames, ignore_index=True)
        names = ["query", *query.query.group_by, "window_start", "window_end"]
        returns = query.query.returns
        names += [*map(str, returns.items), "overflow"] if isinstance(returns, Aggregates) else ["match"]
        return pd.DataFrame(columns=names)

    def _lines(self, query: CompiledQuery) -> list[str]:
        lines = []
        for group, rows in self._groups(query):
            head = f"{query.query.name}|{group!r}"
            if isinstance(rows, MatchRows):
                for k, window in enumerate(rows.window):
                    lines.append(f"{head}|{window}|{rows.positions[rows.offsets[k] : rows.offsets[k + 1]].tolist()}")
                continue
            for k, window in enumerate(rows.window):
                ring = [_digits(value) for value in rows.ring[k]]
                real = [_digits(value) for value in rows.real[k]]
                over = int(rows.overflow[k]) & _meaningful(query)
                lines.append(f"{head}|{window}|{ring}|{over}|{real}|{rows.least[k].tolist()}")
        return lines


def merge_windows(rows: AggregateRows) -> AggregateRows:
    """Rows of equal windows added up; ordered by window."""
    order = np.argsort(rows.window, kind="stable")
    window = rows.window[order]
    if len(window) == 0 or np.all(window[1:] > window[:-1]):
        return AggregateRows(window, rows.ring[order], rows.overflow[order], rows.real[order], rows.least[order])
    first = np.flatnonzero(np.concatenate([[True], window[1:] != window[:-1]]))
    ring = np.add.reduceat(rows.ring[order], first, axis=0)
    overflow = np.bitwise_or.reduceat(rows.overflow[order], first) | _carries(rows.ring[order], first)
    real = np.add.reduceat(rows.real[order], first, axis=0)
    least = np.minimum.reduceat(rows.least[order], first, axis=0)
    return AggregateRows(window[first], ring, overflow, real, least)


def _carries(ring: NDArray[Any], first: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Overflow bits of segment sums: high and low halves are added apart, so that nothing is lost."""
    if ring.dtype != np.uint64:
        return np.zeros(len(first), np.uint64)
    low = np.add.reduceat(ring & np.uint64(2**32 - 1), first, axis=0)
    high = np.add.reduceat(ring >> np.uint64(32), first, axis=0)
    carried = (high + (low >> np.uint64(32))) >> np.uint64(32) != 0
    bits = np.left_shift(np.uint64(1), np.arange(ring.shape[1], dtype=np.uint64))
    flags: NDArray[np.uint64] = np.bitwise_or.reduce(np.where(carried, bits, np.uint64(0)), axis=1)
    return flags


def _sorted_matches(rows: MatchRows) -> MatchRows:
    matches = [rows.positions[a:b].tolist() for a, b in zip(rows.offsets[:-1], rows.offsets[1:], strict=True)]
    order = sorted(range(len(rows)), key=lambda k: (int(rows.window[k]), matches[k]))
    lengths = [len(matches[k]) for k in order]
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return MatchRows(rows.window[order], offsets, np.array([p for k in order for p in matches[k]], np.int64))


def _meaningful(query: CompiledQuery) -> int:
    """Overflow bits that mean something: a carry of a signed sum does not."""
    bits = 0
    for c, channel in enumerate(query.layout.ring):
        if channel.column is None or channel.column.transform is Transform.MAGNITUDE:
            bits |= 1 << c
    return bits


def _sortable(value: int | float | str) -> tuple[int, float, str]:
    return (1, 0.0, value) if isinstance(value, str) else (0, float(value), "")


def _digits(value: Any) -> str:
    return str(int(value)) if isinstance(value, np.uint64) else f"{float(value) + 0.0:.9g}"


def _window_columns(query: CompiledQuery, window: NDArray[np.int64]) -> dict[str, Any]:
    if query.window is None:
        nothing = pd.array([pd.NA] * len(window), dtype="Int64")
        return {"window_start": np.zeros(len(window), np.int64), "window_end": nothing}
    start = window * query.window.slide
    return {"window_start": start, "window_end": pd.array(start + query.window.within, dtype="Int64")}


def _match_column(rows: MatchRows) -> dict[str, Any]:
    matches = [rows.positions[a:b].tolist() for a, b in zip(rows.offsets[:-1], rows.offsets[1:], strict=True)]
    return {"match": matches}


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
        keys = self.rows.least[:, self.query.layout.least_of(self._canonical(name), attribute, transform)]
        nothing = keys == NO_VALUE
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
