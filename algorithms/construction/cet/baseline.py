"""BL: the detector without a graph (dissertation Chapter 4, Algorithm 3)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from cepbench.algorithms.construction.cet.detector import Detector, terms_of
from cepbench.algorithms.construction.cet.graph import CetGraph
from cepbench.algorithms.construction.cet.kernels.baseline import (
    EVENT,
    MAX_TRENDS,
    MAX_WORDS,
    WORDS,
    StoredTrends,
    extend_trends,
    report_trends,
)
from cepbench.algorithms.engine.kernels.arrays import Codes
from cepbench.algorithms.rows import QueryRows

FIRST_WORDS = 1024
NO_POINTERS = -1
"""None of the kinds of pointers of `kernels.stacks`: events are kept without edges."""
WORD = 4


class Baseline(Detector):
    """Stores all complete trends and compares each event with each of them.

    When a window closes, its trends are built event by event; overlapping windows share only the events.
    O(n (y l r + y^2 l)) time and O(y l) space for n events, y trends of length l and r predicates.
    """

    pointers: ClassVar[int] = NO_POINTERS

    def detect(self, graph: CetGraph, window: int, following: int) -> list[QueryRows]:
        """Algorithm 3 over all vertices."""
        size = graph.vertices
        fixed = graph.bytes + 8 * size
        stored = StoredTrends(np.empty(FIRST_WORDS, np.int32), np.empty(FIRST_WORDS, np.int32), np.zeros(4, np.int64))
        most = (self.limit.bytes - fixed) // WORD
        ended = False
        while not ended:
            ended = extend_trends(graph.tables, graph.stacks, most, stored, self.work)
            trends = int(stored.at[MAX_TRENDS])
            kinds = {"events": size, "edges": 0, "trends": trends}
            what = f"{trends} trends after {int(stored.at[EVENT]) + 1} of {size} events of a window"
            self.limit.hold(fixed + WORD * int(stored.at[MAX_WORDS]), kinds, what)
            if not ended:
                stored = _grown(stored)
        place = graph.stacks.place[:size]
        terms, cursor = terms_of(place), np.zeros(1, np.int64)
        return self.collected(window, size, lambda found: report_trends(cursor, place, terms, stored, found))


def _grown(stored: StoredTrends) -> StoredTrends:
    """The same trends in arrays of twice the size."""
    room = 4 * int(stored.at[WORDS]) + 4
    previous: Codes = np.empty(room, np.int32)
    previous[: stored.at[WORDS]] = stored.previous[: stored.at[WORDS]]
    new: Codes = np.empty(room, np.int32)
    return StoredTrends(previous, new, stored.at)
