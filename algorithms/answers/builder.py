"""From the partial rows of all sub-streams to the answer of a workload."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from cepbench.algorithms.answers.digest import digest_lines
from cepbench.algorithms.answers.matches import digested, merge_digests, sorted_matches
from cepbench.algorithms.answers.table import answer_table, arrow_table, with_lists
from cepbench.algorithms.rows import AggregateRows, Group, MatchDigests, MatchRows, QueryRows, concatenate
from cepbench.queries.compile import CompiledQuery, Workload

Parts = dict[tuple[int, Group], list[QueryRows]]
"""Rows by query and group: all of a builder but the workload, which need not travel with them."""


class AnswerBuilder:
    """Collects rows per query and group; partial aggregates of a group's sub-streams are merged per window.

    Where the workload is summarised, matches are kept as their number and digest per window, however they come in.
    Builders of parts of a stream merge to the same answer in any order, and can be pickled.
    """

    def __init__(self, workload: Workload) -> None:
        self.workload = workload
        self.parts: Parts = {}

    def add(self, query: int, key: Group, rows: QueryRows) -> None:
        """Rows of one sub-stream; `key` holds its decoded partition values in the order of `query.partition`."""
        if self.workload.summarised and isinstance(rows, MatchRows):
            rows = digested(rows)
        values = key[: len(self.workload[query].query.group_by)]
        group = tuple(value + 0.0 if isinstance(value, float) else value for value in values)  # -0.0 and 0.0 are one
        self.parts.setdefault((query, group), []).append(rows)

    def merge(self, parts: Parts) -> None:
        """Adds all rows (`parts`) of another builder for the same workload."""
        for group, rows in parts.items():
            self.parts.setdefault(group, []).extend(rows)

    def frame(self) -> pd.DataFrame:
        """One table for all queries (docs/semantics.md, rule 7); a column is null in rows of queries that lack it."""
        return with_lists(self._answer())

    def table(self) -> pa.Table:
        """As `frame`, for files; matches do not become Python lists."""
        return arrow_table(self._answer())

    def _answer(self) -> pd.DataFrame:
        found = [
            (query, group, sorted_matches(rows) if isinstance(rows, MatchRows) else rows)
            for query, group, rows in self._rows()
        ]
        return answer_table(self.workload, found)

    def digest(self) -> str:
        """A hash of the answer that does not depend on the order of rows and of additions, nor on `summarised`."""
        found = [
            (query, group, digested(rows) if isinstance(rows, MatchRows) else rows)
            for query, group, rows in self._rows()
        ]
        lines = [line for part in found for line in digest_lines(*part)]
        return hashlib.sha256("\n".join(sorted(lines)).encode()).hexdigest()

    @property
    def rows(self) -> int:
        """Rows of the answer."""
        return sum(len(rows) for _, _, rows in self._rows())

    @property
    def matches(self) -> float:
        """Matches in all windows together (as a float, since counts may be huge); inf after an overflow."""
        total = 0.0
        for _, _, rows in self._rows():
            if isinstance(rows, MatchRows):
                total += len(rows)
            elif isinstance(rows, MatchDigests):
                total += float(rows.matches.astype(np.float64).sum())
            elif np.any(rows.overflow & np.uint64(1)):
                return float("inf")
            else:
                total += float(rows.ring[:, 0].astype(np.float64).sum())
        return total

    @property
    def overflow(self) -> bool:
        """Whether some value overflowed."""
        found = [part for part in self._rows() if isinstance(part[2], AggregateRows)]
        return bool(found) and bool(answer_table(self.workload, found)["overflow"].any())

    def _rows(self) -> Iterator[tuple[CompiledQuery, Group, QueryRows]]:
        """Queries in the order of the workload, their groups in order, and the merged rows of each.

        Single matches are in no order.
        """
        order = sorted(self.parts, key=lambda key: (key[0], [_sortable(value) for value in key[1]]))
        for index, group in order:
            rows = concatenate(self.parts[index, group])
            if isinstance(rows, AggregateRows):
                rows = merge_windows(rows)
            elif isinstance(rows, MatchDigests):
                rows = merge_digests(rows)
            yield self.workload[index], group, rows


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


def _sortable(value: int | float | str) -> tuple[bool, int | float, str]:
    return (True, 0, value) if isinstance(value, str) else (False, value, "")
