"""The present speed of the machine, as the time of a fixed piece of work.

Virtual machines share cores and caches with others, which slow them by up to two times, for moments or for seconds. The
system does not report it: no time is stolen, and no thread waits. But the piece of work is slowed, too.
"""

from __future__ import annotations

import time

from cepbench.metrics.statistics import median

PIECES = 3
"""Runs per sample, of which the shortest counts: a single one may be disturbed."""
APART = 0.005
"""Minimum seconds between two samples."""
LEAST = 2
"""Minimum samples for a pace: before and after a run."""
ENTRIES = 600


class PaceWatch:
    """Samples the pace repeatedly during a measurement, outside of its clock."""

    def __init__(self) -> None:
        self._seen: list[float] = []
        self._looked: float | None = None

    def look(self) -> None:
        """Samples the pace, in about 0.2 ms, unless the last sample is recent."""
        if self._looked is None or time.perf_counter() - self._looked >= APART:
            self._seen.append(piece_seconds())
            self._looked = time.perf_counter()

    @property
    def seconds(self) -> float | None:
        """Seconds of the piece of work, the median over all samples; None if there were fewer than `LEAST`."""
        return median(self._seen) if len(self._seen) >= LEAST else None


def piece_seconds() -> float:
    """Seconds of the piece of work now: operations on Python objects, about 0.06 ms."""
    taken = []
    for _ in range(PIECES):
        began = time.perf_counter()
        made = {}
        for number in range(ENTRIES):
            made[number] = (number, str(number))
        taken.append(time.perf_counter() - began)
    return min(taken)
