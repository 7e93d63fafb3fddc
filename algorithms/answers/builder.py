"""Builds the answer of a workload from the partial rows of all keys."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from cepbench.algorithms.answers.digest import digest_lines
from cepbench.algorithms.answers.grouped import Answered, GroupedRows
from cepbench.algorithms.answers.matches import digested, in_order, merge_digests
from cepbench.algorithms.answers.table import answer_table, arrow_table, overflowed, with_lists
from cepbench.algorithms.rows import AggregateRows, Group, MatchDigests, MatchRows, QueryRows, Rows
from cepbench.queries.compile import CompiledQuery, Workload

Parts = dict[int, GroupedRows]
"""Rows by query and group: the contents of a builder without the workload, as sent between processes."""


class AnswerBuilder:
    """Collects rows by query and group, and merges the partial aggregates of a group's keys per window.

    For a summarised workload, matches are stored as their number and digest per window, even if they arrive singly.
    Builders of parts of a stream can be pickled, and merge to the same answer in any order.
    """

    def __init__(self, workload: Workload) -> None:
        self.workload = workload
        self.parts: Parts = {}

    def add(self, query: int, key: Group, rows: QueryRows) -> None:
        """Adds rows of one key; `key` holds its decoded partition values in the order of `query.partition`."""
        found = self._of(query)
        values = key[: len(self.workload[query].query.group_by)]
        number = found.number(tuple(value + 0.0 if isinstance(value, float) else value for value in values))  # no -0.0
        if self.workload.summarised and isinstance(rows, MatchRows):
            rows = merged(Answered([], np.zeros(len(rows), np.int64), digested(rows))).rows
        found.add(number, rows)

    def add_rows(self, keys: Sequence[Group], rows: Rows) -> None:
        """Adds rows of many keys; `keys` holds their decoded partition values by key number. No value is -0.0."""
        for query, part in rows.items():
            found = self._of(query)
            occurring, place = np.unique(part.keys, return_inverse=True)
            width = len(self.workload[query].query.group_by)
            cut = [keys[key][:width] for key in occurring.tolist()]  # slicing a whole tuple does not copy it
            added = Answered([], np.array([found.number(group) for group in cut], np.int64)[place], part.of_only_key())
            if self.workload.summarised and isinstance(part, MatchRows):
                added = merged(replace(added, rows=digested(part)))
            found.add(added.number, added.rows)

    def merge(self, parts: Parts) -> None:
        """Adds all rows (`parts`) of another builder for the same workload."""
        for query, found in parts.items():
            self._of(query).merge(found)

    def packed(self) -> Parts:
        """The parts to send to another process: the rows of each query in one piece where possible."""
        return {query: found.packed() for query, found in self.parts.items()}

    def _of(self, query: int) -> GroupedRows:
        found = self.parts.get(query)
        if found is None:
            found = self.parts[query] = GroupedRows()
        return found

    def frame(self) -> pd.DataFrame:
        """One table for all queries (docs/semantics.md, rule 7); columns that a query lacks are null in its rows."""
        return with_lists(self._answer())

    def table(self) -> pa.Table:
        """As `frame`, but matches do not become Python lists; for files."""
        return arrow_table(self._answer())

    def _answer(self) -> pd.DataFrame:
        return answer_table(self.workload, [(query, in_order(found)) for query, found in self._rows()])

    def digest(self) -> str:
        """A hash of the answer, independent of the order of rows and additions and of `summarised`."""
        lines = [line for query, found in self._rows(digests=True) for line in digest_lines(query, found)]
        return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()

    @property
    def rows(self) -> int:
        """Number of rows of the answer."""
        return sum(len(found.rows) for _, found in self._rows())

    @property
    def matches(self) -> float:
        """Number of matches in all windows; a float, since counts can be huge, and inf after an overflow."""
        total = 0.0
        for _, found in self._rows():
            rows = found.rows
            if isinstance(rows, MatchRows):
                total += len(rows)
            elif isinstance(rows, MatchDigests):
                total += float(rows.matches.astype(np.float64).sum())
            elif isinstance(rows, AggregateRows):
                if np.any(rows.overflow & np.uint64(1)):
                    return float("inf")
                total += float(rows.ring[:, 0].astype(np.float64).sum())
        return total

    @property
    def most(self) -> float:
        """Largest number of matches in one row (query, group and window); a float as in `matches`."""
        most = 0.0
        for _, found in self._rows(digests=True):
            rows = found.rows
            if isinstance(rows, MatchDigests):
                most = max(most, float(rows.matches.max(initial=0)))
            elif isinstance(rows, AggregateRows):
                if np.any(rows.overflow & np.uint64(1)):
                    return float("inf")
                most = max(most, float(rows.ring[:, 0].max(initial=0)))
        return most

    @property
    def overflow(self) -> bool:
        """Whether any value overflowed."""
        return any(
            bool(overflowed(query, found.rows).any())
            for query, found in self._rows()
            if isinstance(found.rows, AggregateRows)
        )

    @property
    def windows(self) -> set[int]:
        """The windows with a row of any query and group."""
        return {int(k) for found in self.parts.values() for part in found.parts for k in np.unique(part.window)}

    def _rows(self, digests: bool = False) -> Iterator[tuple[CompiledQuery, Answered]]:
        """Queries in the order of the workload, and their rows merged by group and window; also matches if `digests`.

        Otherwise single matches are in the order of arrival.
        """
        for index in sorted(self.parts):
            found = self.parts[index].together()
            if digests and isinstance(found.rows, MatchRows):
                found = replace(found, rows=digested(found.rows))
            yield self.workload[index], found if isinstance(found.rows, MatchRows) else merged(found)


def merged(found: Answered) -> Answered:
    """Sums the rows of equal groups and windows; ordered by group and window."""
    rows = found.rows
    assert isinstance(rows, AggregateRows | MatchDigests)
    order = np.lexsort((rows.window, found.number))
    window, number = rows.window[order], found.number[order]
    new = (window[1:] != window[:-1]) | (number[1:] != number[:-1])
    first = np.flatnonzero(np.append(len(order) > 0, new))
    added = add_up(rows, order, first) if isinstance(rows, AggregateRows) else merge_digests(rows, order, first)
    return Answered(found.groups, number[first], added)


def add_up(rows: AggregateRows, order: NDArray[np.int64], first: NDArray[np.int64]) -> AggregateRows:
    """Sums segments of rows in the given `order`; each segment begins at an index in `first`."""
    window, ring, over = rows.window[order][first], rows.ring[order], rows.overflow[order]
    real, least = rows.real[order], rows.least[order]
    if len(first) == len(order):
        return AggregateRows(window, ring, over, real, least)
    return AggregateRows(
        window,
        np.add.reduceat(ring, first, axis=0),
        np.bitwise_or.reduceat(over, first) | _carries(ring, first),
        np.add.reduceat(real, first, axis=0),
        np.minimum.reduceat(least, first, axis=0),
    )


def _carries(ring: NDArray[Any], first: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Overflow bits of segment sums. High and low halves are added separately, so that no carry is lost."""
    if ring.dtype != np.uint64:
        return np.zeros(len(first), np.uint64)
    low = np.add.reduceat(ring & np.uint64(2**32 - 1), first, axis=0)
    high = np.add.reduceat(ring >> np.uint64(32), first, axis=0)
    carried = (high + (low >> np.uint64(32))) >> np.uint64(32) != 0
    bits = np.left_shift(np.uint64(1), np.arange(ring.shape[1], dtype=np.uint64))
    flags: NDArray[np.uint64] = np.bitwise_or.reduce(np.where(carried, bits, np.uint64(0)), axis=1)
    return flags
