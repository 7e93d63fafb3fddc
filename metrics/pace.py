"""How fast the machine runs now, by the time that a fixed piece of work takes.

Virtual machines share cores and caches with others. These slow them by up to two times, for moments or for seconds,
and no system tells: no time is stolen, and nobody waits. But the piece of work is slowed like what runs beside it.
"""

from __future__ import annotations

import time

from cepbench.metrics.statistics import median

PIECES = 3
"""At a look, of which the shortest counts: what falls on a single one is no pace."""
APART = 0.005
"""Seconds between two looks at least."""
LEAST = 2
"""Looks of which a pace is made: before a run and after it; a single one is a moment."""
ENTRIES = 600


class PaceWatch:
    """Looks at the pace again and again beside a measurement, outside of its clock."""

    def __init__(self) -> None:
        self._seen: list[float] = []
        self._looked: float | None = None

    def look(self) -> None:
        """Takes the pace, about 0.2 ms, unless that was done a moment ago."""
        if self._looked is None or time.perf_counter() - self._looked >= APART:
            self._seen.append(piece_seconds())
            self._looked = time.perf_counter()

    @property
    def seconds(self) -> float | None:
        """That the piece of work took, the median over all looks; None if there were fewer than `LEAST`."""
        return median(self._seen) if len(self._seen) >= LEAST else None


def piece_seconds() -> float:
    """Seconds that the piece of work takes now: Python's own objects, about 0.06 ms."""
    taken = []
    for _ in range(PIECES):
        began = time.perf_counter()
        made = {}
        for number in range(ENTRIES):
            made[number] = (number, str(number))
        taken.append(time.perf_counter() - began)
    return min(taken)
