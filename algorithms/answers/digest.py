"""The parts of an answer that must be equal for two algorithms to agree, as lines of text.

Counts and sums of integers are compared exactly. Sums of floats depend on the order of additions, so they are compared
by six digits of the average; two correct sums differ by much less. Averages are scaled by an irrational number first:
prices and other short decimals would often lie on the boundary between two roundings. Averages near zero that are left
by cancellation are compared as zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from cepbench.algorithms.answers.grouped import Answered
from cepbench.algorithms.rows import AggregateRows, MatchDigests
from cepbench.queries.aggregates import Transform
from cepbench.queries.compile import CompiledQuery

SPREAD = 0.7548776662466927
"""Irrational (the inverse of the plastic number)."""
NEAR_ZERO = 1e-9


def digest_lines(query: CompiledQuery, found: Answered) -> Iterator[str]:
    """A line per row (aggregates or digests) with its query, group, window and values."""
    rows = found.rows
    heads = [f"{query.query.name}|{group!r}" for group in found.groups]
    if isinstance(rows, MatchDigests):
        for number, window, matches, digest in zip(found.number, rows.window, rows.matches, rows.digest, strict=True):
            yield f"{heads[number]}|{window}|{matches}|{digest:016x}"
        return
    assert isinstance(rows, AggregateRows)
    meaningful = _meaningful(query)
    counts = [query.layout.ring_of(channel.name, None) for channel in query.layout.real]
    for k, (number, window) in enumerate(zip(found.number, rows.window, strict=True)):
        over = int(rows.overflow[k]) & meaningful
        ring = [str(int(value)) if isinstance(value, np.uint64) else _digits(value) for value in rows.ring[k]]
        real = [
            "overflow" if over >> c & 1 else _average(value, rows.ring[k, c])
            for c, value in zip(counts, rows.real[k], strict=True)
        ]
        yield f"{heads[number]}|{window}|{ring}|{over}|{real}|{rows.least[k].tolist()}"


def _meaningful(query: CompiledQuery) -> int:
    """The overflow bits that matter: the carry of a signed sum does not."""
    bits = 0
    for c, channel in enumerate(query.layout.ring):
        if channel.column is None or channel.column.transform is Transform.MAGNITUDE:
            bits |= 1 << c
    return bits


def _average(total: Any, count: Any) -> str:
    average = float(total) / (float(count) or 1.0)
    if not np.isfinite(total) or not np.isfinite(float(count)):
        return "overflow"
    return "0" if abs(average) < NEAR_ZERO else _digits(average)


def _digits(value: Any) -> str:
    return f"{float(value) * SPREAD:.6g}"
