"""Rows that operators and executors return: partial aggregates, matches or digests of closed windows, by query."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

OVERFLOW_COUNT = {"modular": 2**64, "float": 2**1023}
"""By arithmetic: the smallest count that counts as overflowed."""


@dataclass(frozen=True, eq=False)
class QueryRows(ABC):
    """`n` rows of one query: their windows and keys, and a payload that a subclass adds.

    - `window`: int64[n], window numbers k.
    - `key`: int64[n], key numbers; None if all rows are those of one key that their reader knows.
    """

    window: NDArray[np.int64]
    key: NDArray[np.int64] | None = field(default=None, kw_only=True)

    def __len__(self) -> int:
        return len(self.window)

    @property
    def keys(self) -> NDArray[np.int64]:
        """The key of each row; rows of one key have key 0."""
        return np.zeros(len(self), np.int64) if self.key is None else self.key

    def of_key(self, key: int) -> Self:
        """The same rows as those of one key."""
        return replace(self, key=np.full(len(self), key, np.int64))

    def of_only_key(self) -> Self:
        """The same rows without the number of their key, which is the only one."""
        return replace(self, key=None)

    def placed(self, key: NDArray[np.int64], window: NDArray[np.int64]) -> Self:
        """The same rows with other keys and window numbers, int64[n]."""
        return replace(self, key=key, window=window)

    @abstractmethod
    def take(self, chosen: NDArray[np.int64]) -> Self:
        """Copies of the rows at the indices `chosen`, in that order."""

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """All rows of `parts` (at least one), in order."""
        return parts[0] if len(parts) == 1 else cls(**_joined(parts))


def _joined(parts: Sequence[QueryRows]) -> dict[str, Any]:
    """The fields of rows that follow one another; a field that is None in one part is None."""
    columns = {name.name: [getattr(part, name.name) for part in parts] for name in fields(parts[0])}
    return {
        name: None if any(array is None for array in arrays) else np.concatenate(arrays)
        for name, arrays in columns.items()
    }


def _taken(rows: QueryRows, chosen: NDArray[np.int64]) -> dict[str, Any]:
    """The fields of the rows at the indices `chosen`."""
    columns = {name.name: getattr(rows, name.name) for name in fields(rows)}
    return {name: None if array is None else array[chosen] for name, array in columns.items()}


@dataclass(frozen=True, eq=False)
class AggregateRows(QueryRows):
    """`n` windows of one query with at least one match, as partial aggregates over the channels of its layout.

    - `ring`: uint64[n, R] (modular) or float64[n, R] (float); channel 0 is COUNT(*).
    - `overflow`: uint64[n]; bit c is set if ring channel c overflowed.
    - `real`: float64[n, F], sums of float attributes.
    - `least`: int64[n, M], minima of order-preserving keys (`queries.aggregates`).
    """

    ring: NDArray[Any]
    overflow: NDArray[np.uint64]
    real: NDArray[np.float64]
    least: NDArray[np.int64]

    def take(self, chosen: NDArray[np.int64]) -> Self:
        return type(self)(**_taken(self, chosen))

    @staticmethod
    def of_counts(counts: Mapping[int, int], arithmetic: str) -> AggregateRows | None:
        """Rows with COUNT(*) alone, from exact counts by window; None if all are 0.

        A count of at least `OVERFLOW_COUNT[arithmetic]` has overflowed; in modular arithmetic its residue is kept.
        """
        positive = {k: count for k, count in sorted(counts.items()) if count}
        if not positive:
            return None
        over = [count >= OVERFLOW_COUNT[arithmetic] for count in positive.values()]
        if arithmetic == "modular":
            ring = np.array([[count % 2**64] for count in positive.values()], np.uint64)
        else:
            ring = np.array([[float(min(count, OVERFLOW_COUNT["float"]))] for count in positive.values()])
            ring[over] = np.inf
        return AggregateRows.counting(np.array(list(positive), np.int64), ring[:, 0], np.array(over))

    @staticmethod
    def counting(
        window: NDArray[np.int64], count: NDArray[Any], over: NDArray[np.bool_], key: NDArray[np.int64] | None = None
    ) -> AggregateRows:
        """Rows with COUNT(*) alone: their windows, counts, and whether these overflowed."""
        size = len(window)
        return AggregateRows(
            window,
            count.reshape(size, 1),
            over.astype(np.uint64),
            np.empty((size, 0)),
            np.empty((size, 0), np.int64),
            key=key,
        )


@dataclass(frozen=True, eq=False)
class MatchRows(QueryRows):
    """`n` matches of one query.

    - `offsets`: int64[n + 1]; match i is `positions[offsets[i]:offsets[i + 1]]`.
    - `positions`: int64, each event's position in the time-ordered input, in the order of the match.
    - `times`: int64[n, 2], times of the first and the last event of each match; only of detection queries. Their
      `window` is the earliest window that decides the match: the one that ends with the last event or, after a trailing
      NOT, the one that begins with the first event. So it can be negative.
    """

    offsets: NDArray[np.int64]
    positions: NDArray[np.int64]
    times: NDArray[np.int64] | None = None

    def slice(self, start: int, stop: int) -> MatchRows:
        """Matches start..stop-1; all arrays but `offsets` are views."""
        first, end = self.offsets[start], self.offsets[stop]
        return MatchRows(
            self.window[start:stop],
            self.offsets[start : stop + 1] - first,
            self.positions[first:end],
            None if self.times is None else self.times[start:stop],
            key=None if self.key is None else self.key[start:stop],
        )

    def take(self, chosen: NDArray[np.int64]) -> Self:
        lengths = np.diff(self.offsets)[chosen]
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        places = np.repeat(self.offsets[chosen] - offsets[:-1], lengths) + np.arange(offsets[-1])
        per_match = replace(self, offsets=self.offsets[:-1], positions=self.window)  # arrays with a value per match
        return type(self)(**{**_taken(per_match, chosen), "offsets": offsets, "positions": self.positions[places]})

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        if len(parts) == 1:
            return parts[0]
        lengths = np.concatenate([np.diff(part.offsets) for part in parts])
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        return cls(**{**_joined(parts), "offsets": offsets})


@dataclass(frozen=True, eq=False)
class MatchDigests(QueryRows):
    """The windows of one match query with at least one match, for runs that only count and compare matches.

    - `matches`: uint64[n], the number of matches.
    - `digest`: uint64[n], the sum of the matches' hashes modulo 2^64 (`algorithms.engine.kernels.trend_hash`).
    """

    matches: NDArray[np.uint64]
    digest: NDArray[np.uint64]

    def take(self, chosen: NDArray[np.int64]) -> Self:
        return type(self)(**_taken(self, chosen))


Group = tuple[int | float | str, ...]
"""Decoded values of the attributes that split the stream."""

Rows = dict[int, QueryRows]
"""Rows by the query's index in the workload; queries without rows may be absent."""


def concatenate(parts: Sequence[QueryRows]) -> QueryRows:
    """All rows of one query's parts (at least one, all of the same class)."""
    return type(parts[0]).concatenate(parts)


def joined(parts: Iterable[Rows]) -> Rows:
    """The rows of several calls or operators."""
    by_query: dict[int, list[QueryRows]] = {}
    for part in parts:
        for query, rows in part.items():
            if len(rows):
                by_query.setdefault(query, []).append(rows)
    return {query: concatenate(rows) for query, rows in by_query.items()}


def rows_of(query: int, parts: Sequence[QueryRows | None]) -> Rows:
    """The rows of one query by its index; an empty dictionary if there are none."""
    some = [rows for rows in parts if rows is not None and len(rows)]
    return {query: concatenate(some)} if some else {}
