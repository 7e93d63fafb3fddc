"""Matches in an answer: sorted, or counted and digested per window."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.answers.kernels.match_order import mark_distinct, order_matches, take_matches
from cepbench.algorithms.kernels.arrays import Ints, readonly
from cepbench.algorithms.kernels.trend_hash import digest_matches
from cepbench.algorithms.rows import MatchDigests, MatchRows


def digested(rows: MatchRows) -> MatchDigests:
    """The number and the digest of the matches in each window; ordered by window."""
    windows, number, counts = np.unique(rows.window, return_inverse=True, return_counts=True)
    digests = np.zeros(len(windows), np.uint64)
    digest_matches(readonly(number), readonly(rows.offsets), readonly(rows.positions), digests)
    return MatchDigests(windows, counts.astype(np.uint64), digests)


def merge_digests(rows: MatchDigests, order: NDArray[np.int64], first: NDArray[np.int64]) -> MatchDigests:
    """Sums segments of rows in the given `order` modulo 2^64; each segment begins at an index in `first`."""
    return MatchDigests(
        rows.window[order][first],
        np.add.reduceat(rows.matches[order], first),
        np.add.reduceat(rows.digest[order], first),
    )


def sorted_matches(rows: MatchRows) -> MatchRows:
    """The matches by window, then by positions; those of detection queries by positions only."""
    return taken(rows, _order(rows))


def fresh_matches(rows: MatchRows, known: int) -> MatchRows:
    """The distinct detected matches in `rows`, sorted, without those that are among the first `known`."""
    order, distinct = _order(rows), np.empty(len(rows), np.bool_)
    mark_distinct(*_by_window(rows), order, distinct)
    return taken(rows, order[distinct & (order >= known)])


def _order(rows: MatchRows) -> NDArray[np.int64]:
    """Sort order by window and positions; equal matches keep their order."""
    order, scratch = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    order_matches(*_by_window(rows), order, scratch)
    return order


def _by_window(rows: MatchRows) -> tuple[Ints, Ints, Ints]:
    """The arrays that the kernels read: windows (all 0 for detection queries), offsets and positions."""
    window = rows.window if rows.times is None else np.zeros(len(rows), np.int64)
    return readonly(window), readonly(rows.offsets), readonly(rows.positions)


def taken(rows: MatchRows, chosen: NDArray[np.int64]) -> MatchRows:
    """The matches at the indices `chosen`, in that order."""
    offsets = np.empty(len(chosen) + 1, np.int64)
    positions = np.empty(int(np.diff(rows.offsets)[chosen].sum()), np.int64)
    take_matches(readonly(rows.offsets), readonly(rows.positions), chosen, offsets, positions)
    return MatchRows(rows.window[chosen], offsets, positions, None if rows.times is None else rows.times[chosen])
