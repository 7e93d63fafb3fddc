"""Graphlets that overlapping windows share (dissertation Section 7.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cepbench.algorithms.construction.cet.graph import cuts_of
from cepbench.algorithms.construction.cet.kernels.graph import WindowGraph
from cepbench.algorithms.construction.cet.partitioning.costs import NODE_BYTES
from cepbench.algorithms.engine.kernels.arrays import Ints


@dataclass(frozen=True, eq=False)
class Graphlet:
    """Vertices of a window (by their positions in the input) with stored trends: `nodes` nodes, starting at `base`.

    `trends` of the nodes are complete trends of the graphlet.
    """

    place: Ints
    base: int
    nodes: int
    trends: int

    @property
    def bytes(self) -> int:
        """Bytes of the stored trends, and of the positions by which the next window identifies the graphlet."""
        return NODE_BYTES * self.nodes + self.place.nbytes


Stretch = tuple[int, int, Graphlet | None]
"""Vertices low..high-1 of a window, with the kept graphlet they form, or None if their trends must be constructed."""


def stretches(graph: WindowGraph, kept: Sequence[Graphlet], expiring: int) -> list[Stretch]:
    """Splits the vertices of a window, in order, into kept graphlets of the previous window and the rest.

    Edges do not depend on the window, so a graphlet can be kept if its vertices are the same and the graph can be cut
    at both of its ends. The rest of the graphlet that expires in part, which ended with the event at position
    `expiring`, is a separate stretch if the graph can be cut there. O(|V| + |E|).
    """
    cut = cuts_of(graph)
    size = len(graph.place)
    found: list[Stretch] = []
    done = int(np.searchsorted(graph.place, expiring, side="right"))
    if done and cut[done]:
        found.append((0, done, None))
    else:
        done = 0
    for graphlet in kept:
        low = int(np.searchsorted(graph.place, graphlet.place[0]))
        high = low + len(graphlet.place)
        if high <= size and cut[low] and cut[high] and np.array_equal(graph.place[low:high], graphlet.place):
            if done < low:
                found.append((done, low, None))
            found.append((low, high, graphlet))
            done = high
    if done < size:
        found.append((done, size, None))
    return found
