"""Matches in an answer: sorted, or counted and digested per window."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.answers.grouped import Answered
from cepbench.algorithms.answers.kernels.match_order import mark_distinct, order_matches
from cepbench.algorithms.engine.kernels.arrays import Ints, readonly
from cepbench.algorithms.engine.kernels.trend_hash import digest_matches
from cepbench.algorithms.rows import MatchDigests, MatchRows


def digested(rows: MatchRows) -> MatchDigests:
    """Each match as a row with its digest."""
    digests = np.zeros(len(rows), np.uint64)
    digest_matches(readonly(np.arange(len(rows))), readonly(rows.offsets), readonly(rows.positions), digests)
    return MatchDigests(rows.window, np.ones(len(rows), np.uint64), digests, key=rows.key)


def merge_digests(rows: MatchDigests, order: NDArray[np.int64], first: NDArray[np.int64]) -> MatchDigests:
    """Sums segments of rows in the given `order` modulo 2^64; each segment begins at an index in `first`."""
    return MatchDigests(
        rows.window[order][first],
        np.add.reduceat(rows.matches[order], first),
        np.add.reduceat(rows.digest[order], first),
    )


def in_order(found: Answered) -> Answered:
    """Matches by group and window, then by positions; those of detection queries by group and positions only."""
    if not isinstance(found.rows, MatchRows):
        return found
    windows, rank = np.unique(_windows(found.rows), return_inverse=True)
    order = _order(found.number * len(windows) + rank, found.rows)
    return Answered(found.groups, found.number[order], found.rows.take(order))


def fresh_matches(rows: MatchRows, known: int) -> MatchRows:
    """The distinct detected matches in `rows`, sorted, without those that are among the first `known`."""
    window = _windows(rows)
    order, distinct = _order(window, rows), np.empty(len(rows), np.bool_)
    mark_distinct(readonly(window), readonly(rows.offsets), readonly(rows.positions), order, distinct)
    return rows.take(order[distinct & (order >= known)])


def _order(first: Ints, rows: MatchRows) -> Ints:
    """Sort order by `first`, int64[n], and positions; equal matches keep their order."""
    order, scratch = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    order_matches(readonly(first), readonly(rows.offsets), readonly(rows.positions), order, scratch)
    return order


def _windows(rows: MatchRows) -> Ints:
    """Windows, by which matches are sorted first: 0 for detection queries."""
    return rows.window if rows.times is None else np.zeros(len(rows), np.int64)
