"""Collects the complete trends of one window, as rows or as their number and digest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cepbench.algorithms.cet.kernels.trends import TRENDS, FoundTrends
from cepbench.algorithms.rows import MatchDigests, MatchRows, QueryRows

FOUND_MATCHES = 65_536
FOUND_EVENTS = 1_048_576


class Output:
    """Collects the output of a detection kernel, and calls the kernel again if its arrays were full."""

    def __init__(self, summarised: bool) -> None:
        self.summarised = summarised
        self.trends = 0

    def collect(self, window: int, longest: int, detect: Callable[[FoundTrends], bool]) -> list[QueryRows]:
        """All complete trends of a window; none has more than `longest` events."""
        matches, events = (0, 0) if self.summarised else (FOUND_MATCHES, FOUND_EVENTS + longest)
        found = FoundTrends(
            np.zeros(matches, np.int64), np.empty(events, np.int64), np.zeros(2, np.int64), np.zeros(1, np.uint64)
        )
        parts: list[QueryRows] = []
        ended = False
        while not ended:
            ended = detect(found)
            size = int(found.size[TRENDS])
            if size and (ended or not self.summarised):
                self.trends += size
                parts.append(self._rows(window, size, found))
                found.size[:] = 0
        return parts

    def _rows(self, window: int, size: int, found: FoundTrends) -> QueryRows:
        if self.summarised:
            return MatchDigests(np.array([window], np.int64), np.array([size], np.uint64), found.digest)
        offsets = found.offsets[: size + 1].copy()
        return MatchRows(np.full(size, window, np.int64), offsets, found.positions[: offsets[-1]].copy())
