"""M-CET: the detector that stores one trend (dissertation Section 5.2)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.construction.cet.detector import Detector, terms_of
from cepbench.algorithms.construction.cet.graph import CetGraph, window_bytes
from cepbench.algorithms.construction.cet.kernels.depth_first import Path, search
from cepbench.algorithms.rows import QueryRows

PER_VERTEX = 24
"""Bytes per vertex of the path and of hashes."""


class MemoryOptimized(Detector):
    """Depth-first search over the CET graph of the window.

    O(|V| + |E| + y l) time for y trends of length l, each of which is hashed from scratch; O(|V| + |E|) space.
    """

    def detect(self, graph: CetGraph, window: int, following: int) -> list[QueryRows]:
        """Searches one trend after the other."""
        live = graph.live()
        size = len(live.time)
        if not size:
            return []
        needed = graph.bytes + window_bytes(live) + PER_VERTEX * size
        kinds = {"events": graph.vertices, "edges": graph.edges, "trends": 1}
        self.limit.hold(needed, kinds, "one trend with the graph")
        terms = terms_of(live.place)
        path = Path(np.zeros(size, np.int64), np.zeros(size, np.int64), np.zeros(2, np.int64))
        return self.collected(window, size, lambda found: search(live, terms, path, found, self.work))
