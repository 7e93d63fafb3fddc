"""AND of two patterns."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from cepbench.algorithms.engine.evaluator import Evaluator, Together
from cepbench.algorithms.rows import OVERFLOW_COUNT, AggregateRows, QueryRows
from cepbench.events.batch import EventBatch


class Conjunction(Together, Evaluator):
    """COUNT of pairs of distinct trends, one of each side (dissertation Chapter 12, Hamlet Section 5).

    With N1, N2 trends of the sides and c common ones: `N1 * N2 - c - c * (c - 1) / 2`. A pair of common trends would
    be counted twice. Where one of the three counts overflowed the pairs overflow, and their residue is 0.
    """

    def __init__(self, sides: Sequence[Evaluator], arithmetic: str) -> None:
        self.sides = self.parts = sides
        self.arithmetic = arithmetic

    def process(self, events: EventBatch) -> QueryRows | None:
        return pairs([side.process(events) for side in self.sides], self.arithmetic)

    def finish(self) -> QueryRows | None:
        return pairs([side.finish() for side in self.sides], self.arithmetic)


def pairs(rows: Sequence[QueryRows | None], arithmetic: str) -> AggregateRows | None:
    """Pairs of distinct trends of windows, from the trends of both sides and the common ones, of the same windows."""
    counts = [_counts(side) for side in rows]
    found = {}
    for k in sorted(counts[0].keys() & counts[1].keys()):
        (one, over), (other, more), (both, most) = (side.get(k, (0, False)) for side in counts)
        unknown = over or more or most
        found[k] = OVERFLOW_COUNT[arithmetic] if unknown else one * other - both - both * (both - 1) // 2
    return AggregateRows.of_counts(found, arithmetic)


def _counts(rows: QueryRows | None) -> dict[int, tuple[int, bool]]:
    """COUNT(*) and its overflow by window."""
    if rows is None:
        return {}
    assert isinstance(rows, AggregateRows)
    finite = np.isfinite(rows.ring[:, 0].astype(np.float64))
    counts = [int(count) if ok else 0 for count, ok in zip(rows.ring[:, 0], finite, strict=True)]
    overflow = (rows.overflow & np.uint64(1)).astype(bool) | ~finite
    return dict(zip(rows.window.tolist(), zip(counts, overflow.tolist(), strict=True), strict=True))
