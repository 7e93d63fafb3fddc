"""What operators and executors return: partial aggregates or matches of closed windows, by query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

OVERFLOW_COUNT = {"modular": 2**64, "float": 2**1023}
"""By arithmetic: the smallest count that counts as overflowed."""


@dataclass(frozen=True, eq=False)
class AggregateRows:
    """`n` windows of one query with at least one match, as partial aggregates over the channels of its layout.

    - `window`: int64[n], window numbers k.
    - `ring`: uint64[n, R] (modular) or float64[n, R] (float); channel 0 is COUNT(*).
    - `overflow`: uint64[n]; bit c is set if ring channel c overflowed.
    - `real`: float64[n, F], sums of float attributes.
    - `least`: int64[n, M], minima of order-preserving keys (`queries.aggregates`).
    """

    window: NDArray[np.int64]
    ring: NDArray[Any]
    overflow: NDArray[np.uint64]
    real: NDArray[np.float64]
    least: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.window)

    def renumbered(self, window: int) -> AggregateRows:
        """The same rows, all with window number `window`."""
        return replace(self, window=np.full(len(self), window, np.int64))

    @staticmethod
    def of_counts(counts: Mapping[int, int], arithmetic: str) -> AggregateRows | None:
        """Rows with COUNT(*) alone, from exact counts by window; None if all are 0.

        A count of at least `OVERFLOW_COUNT[arithmetic]` has overflowed; in modular arithmetic its residue is kept.
        """
        found = {k: count for k, count in sorted(counts.items()) if count}
        if not found:
            return None
        over = [count >= OVERFLOW_COUNT[arithmetic] for count in found.values()]
        if arithmetic == "modular":
            ring = np.array([[count % 2**64] for count in found.values()], np.uint64)
        else:
            ring = np.array([[float(min(count, OVERFLOW_COUNT["float"]))] for count in found.values()])
            ring[over] = np.inf
        return AggregateRows(
            np.array(list(found), np.int64),
            ring,
            np.array(over, np.uint64),
            np.empty((len(found), 0)),
            np.empty((len(found), 0), np.int64),
        )

    @staticmethod
    def concatenate(parts: Sequence[AggregateRows]) -> AggregateRows:
        """All rows of `parts` (at least one), in order."""
        return AggregateRows(
            np.concatenate([p.window for p in parts]),
            np.concatenate([p.ring for p in parts]),
            np.concatenate([p.overflow for p in parts]),
            np.concatenate([p.real for p in parts]),
            np.concatenate([p.least for p in parts]),
        )


@dataclass(frozen=True, eq=False)
class MatchRows:
    """`n` matches of one query.

    - `window`: int64[n], window numbers k.
    - `offsets`: int64[n + 1]; match i is `positions[offsets[i]:offsets[i + 1]]`.
    - `positions`: int64, each event's position in the time-ordered input, in the order of the match.
    - `times`: int64[n, 2], times of the first and the last event of each match; only of detection queries. Their
      `window` is the earliest window that decides the match: the one that ends with the last event or, after a trailing
      NOT, the one that begins with the first event. So it can be negative.
    """

    window: NDArray[np.int64]
    offsets: NDArray[np.int64]
    positions: NDArray[np.int64]
    times: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return len(self.window)

    def renumbered(self, window: int) -> MatchRows:
        """The same matches, all with window number `window`."""
        return replace(self, window=np.full(len(self), window, np.int64))

    def slice(self, start: int, stop: int) -> MatchRows:
        """Matches start..stop-1; all arrays but `offsets` are views."""
        first, end = self.offsets[start], self.offsets[stop]
        return MatchRows(
            self.window[start:stop],
            self.offsets[start : stop + 1] - first,
            self.positions[first:end],
            None if self.times is None else self.times[start:stop],
        )

    @staticmethod
    def concatenate(parts: Sequence[MatchRows]) -> MatchRows:
        """All matches of `parts` (at least one), in order."""
        lengths = np.concatenate([np.diff(p.offsets) for p in parts])
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        times = [p.times for p in parts if p.times is not None]
        return MatchRows(
            np.concatenate([p.window for p in parts]),
            offsets,
            np.concatenate([p.positions for p in parts]),
            np.concatenate(times) if times else None,
        )


@dataclass(frozen=True, eq=False)
class MatchDigests:
    """The windows of one match query with at least one match, for runs that only count and compare matches.

    - `window`: int64[n], window numbers k.
    - `matches`: uint64[n], the number of matches.
    - `digest`: uint64[n], the sum of the matches' hashes modulo 2^64 (`algorithms.engine.kernels.trend_hash`).
    """

    window: NDArray[np.int64]
    matches: NDArray[np.uint64]
    digest: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.window)

    def renumbered(self, window: int) -> MatchDigests:
        """The same rows, all with window number `window`."""
        return replace(self, window=np.full(len(self), window, np.int64))

    @staticmethod
    def concatenate(parts: Sequence[MatchDigests]) -> MatchDigests:
        """All rows of `parts` (at least one), in order."""
        return MatchDigests(
            np.concatenate([p.window for p in parts]),
            np.concatenate([p.matches for p in parts]),
            np.concatenate([p.digest for p in parts]),
        )


QueryRows = AggregateRows | MatchRows | MatchDigests

Group = tuple[int | float | str, ...]
"""Decoded values of the attributes that split the stream."""

Rows = dict[int, QueryRows]
"""Rows of one key by the query's index in the workload; queries without rows may be absent."""


@dataclass(frozen=True, eq=False)
class RowsOfKeys:
    """Rows of one query for many keys; `key` (int64[n]) is the key number of each row."""

    key: NDArray[np.int64]
    rows: QueryRows

    def __len__(self) -> int:
        return len(self.key)

    @staticmethod
    def concatenate(parts: Sequence[RowsOfKeys]) -> RowsOfKeys:
        """All rows of `parts` (at least one), in order."""
        if len(parts) == 1:
            return parts[0]
        return RowsOfKeys(np.concatenate([part.key for part in parts]), concatenate([part.rows for part in parts]))


KeyedRows = dict[int, RowsOfKeys]
"""Rows of many keys by the query's index in the workload; queries without rows may be absent."""


def with_keys(parts: Iterable[tuple[int, Rows]]) -> KeyedRows:
    """Combines the rows of single keys; the rows of a key can come in several parts."""
    found: dict[int, tuple[list[int], list[QueryRows]]] = {}
    for key, rows in parts:
        for query, some in rows.items():
            if len(some):
                keys, of_query = found.setdefault(query, ([], []))
                keys.append(key)
                of_query.append(some)
    return {
        query: RowsOfKeys(np.repeat(np.array(keys, np.int64), [len(some) for some in of_query]), concatenate(of_query))
        for query, (keys, of_query) in found.items()
    }


def joined(parts: Iterable[KeyedRows]) -> KeyedRows:
    """Combines the rows of several calls or operators."""
    found: dict[int, list[RowsOfKeys]] = {}
    for part in parts:
        for query, rows in part.items():
            found.setdefault(query, []).append(rows)
    return {query: RowsOfKeys.concatenate(rows) for query, rows in found.items()}


def concatenate(parts: Sequence[QueryRows]) -> QueryRows:
    """All rows of one query's parts (at least one, all of the same class)."""
    if len(parts) == 1:
        return parts[0]
    aggregates = [p for p in parts if isinstance(p, AggregateRows)]
    if aggregates:
        return AggregateRows.concatenate(aggregates)
    digests = [p for p in parts if isinstance(p, MatchDigests)]
    if digests:
        return MatchDigests.concatenate(digests)
    return MatchRows.concatenate([p for p in parts if isinstance(p, MatchRows)])


def join(parts: Sequence[Rows]) -> Rows:
    """Combines the rows of several steps for one key."""
    if len(parts) == 1:
        return parts[0]
    queries = sorted({query for part in parts for query in part})
    return {query: concatenate([part[query] for part in parts if query in part]) for query in queries}
