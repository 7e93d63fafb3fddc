"""Graphlets that overlapping windows share (dissertation Section 7.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from algorithms.cet.graph import WindowGraph
from algorithms.kernels.arrays import Flags, Ints
from algorithms.kernels.cet_sharing import mark_cuts

WORD = 4
FIRST = 8
"""Bytes per first vertex of a graphlet, which refers to its stored trends."""


@dataclass(frozen=True, eq=False)
class Graphlet:
    """Vertices of a window (by their places in the input) whose trends are stored: `size` words from `base` on."""

    place: Ints
    base: int
    size: int
    firsts: int
    trends: int

    @property
    def bytes(self) -> int:
        """Bytes of the stored trends, and of the places by which the next window knows them."""
        return WORD * self.size + FIRST * self.firsts + self.place.nbytes


Stretch = tuple[int, int, Graphlet | None]
"""Vertices low..high-1 of a window: a graphlet of an earlier window, or ones that have to be partitioned."""


def stretches(graph: WindowGraph, kept: Sequence[Graphlet]) -> list[Stretch]:
    """The vertices of a window in order: graphlets of the window before that are the same here, and the rest.

    Edges do not depend on the window, so a graphlet is the same if its vertices are; and it may stay a graphlet if the
    graph can be cut at both its ends. O(|V| + |E|).
    """
    cut = _cuts(graph)
    found: list[Stretch] = []
    done = 0
    for graphlet in kept:
        low = int(np.searchsorted(graph.place, graphlet.place[0]))
        high = low + len(graphlet.place)
        if high > len(graph.place) or not (cut[low] and cut[high]):
            continue
        if np.array_equal(graph.place[low:high], graphlet.place):
            if done < low:
                found.append((done, low, None))
            found.append((low, high, graphlet))
            done = high
    if done < len(graph.place):
        found.append((done, len(graph.place), None))
    return found


def _cuts(graph: WindowGraph) -> Flags:
    crossed, cut = np.zeros(len(graph.time) + 1, np.int64), np.empty(len(graph.time) + 1, np.bool_)
    mark_cuts(graph, crossed, cut)
    return cut
