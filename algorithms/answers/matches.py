"""Matches in an answer: in order, or counted and digested per window."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.answers.kernels.match_order import order_matches, take_matches
from cepbench.algorithms.kernels.arrays import readonly
from cepbench.algorithms.kernels.trend_hash import digest_matches
from cepbench.algorithms.rows import MatchDigests, MatchRows


def digested(rows: MatchRows) -> MatchDigests:
    """The number and the digest of the matches in each window; ordered by window."""
    windows, number, counts = np.unique(rows.window, return_inverse=True, return_counts=True)
    digests = np.zeros(len(windows), np.uint64)
    digest_matches(readonly(number), readonly(rows.offsets), readonly(rows.positions), digests)
    return MatchDigests(windows, counts.astype(np.uint64), digests)


def merge_digests(rows: MatchDigests) -> MatchDigests:
    """Rows of equal windows added up modulo 2^64; ordered by window."""
    order = np.argsort(rows.window, kind="stable")
    window = rows.window[order]
    first = np.flatnonzero(np.append(True, window[1:] != window[:-1]))
    return MatchDigests(
        window[first], np.add.reduceat(rows.matches[order], first), np.add.reduceat(rows.digest[order], first)
    )


def sorted_matches(rows: MatchRows) -> MatchRows:
    """The matches by window, then by positions; those of detection by positions."""
    order, scratch = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    by_window = rows.window if rows.times is None else np.zeros(len(rows), np.int64)
    window, offsets, positions = (readonly(array) for array in (by_window, rows.offsets, rows.positions))
    order_matches(window, offsets, positions, order, scratch)
    new_offsets, new_positions = np.empty_like(rows.offsets), np.empty_like(rows.positions)
    take_matches(offsets, positions, order, new_offsets, new_positions)
    times = None if rows.times is None else rows.times[order]
    return MatchRows(rows.window[order], new_offsets, new_positions, times)
