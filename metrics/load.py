"""Other load of the machine during a measurement, and its pace: the time of a fixed piece of work.

Virtual machines share cores and caches with others, which slow them by up to two times, for moments or for seconds. The
system does not report it: no time is stolen, and no thread waits. But the piece of work is slowed, too.
"""

from __future__ import annotations

import os
import time
from pathlib import Path
from types import TracebackType

from cepbench.metrics.record import Load
from cepbench.metrics.statistics import median

NOISY = 0.05
"""A run that lost more of its time than this to others is noisy."""
SLOW = 1.15
"""A machine is slow if its pace is above this multiple of its best one; smaller variation is ordinary."""
PIECES = 3
"""Runs per sample, of which the shortest counts: a single one may be disturbed."""
APART = 0.005
"""Minimum seconds between two samples."""
LEAST = 2
"""Minimum samples for a pace: before and after a run."""
ENTRIES = 600


class LoadWatch:
    """A context around a measurement of this process's main thread; afterwards `load` has the load of other work.

    Between its runs the measurement calls `look` to sample the pace of the machine.
    """

    def __init__(self) -> None:
        self.load = Load()
        self._pieces: list[float] = []
        self._looked: float | None = None

    def __enter__(self) -> LoadWatch:
        self._average = _average()
        self._scheduled, self._machine = _scheduled(), _machine()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.load = Load(
            average=self._average,
            waited=_share(self._scheduled, _scheduled()),
            stolen=_share(self._machine, _machine()),
            pace=self.pace,
        )

    def look(self) -> None:
        """Samples the pace of the machine, in about 0.2 ms, unless the last sample is recent."""
        if self._looked is None or time.perf_counter() - self._looked >= APART:
            self._pieces.append(piece_seconds())
            self._looked = time.perf_counter()

    @property
    def pace(self) -> float | None:
        """Seconds of the piece of work, the median over all samples; None if there were fewer than `LEAST`."""
        return median(self._pieces) if len(self._pieces) >= LEAST else None


def piece_seconds() -> float:
    """Seconds of the piece of work now: operations on Python objects, about 0.06 ms."""
    seconds = []
    for _ in range(PIECES):
        began = time.perf_counter()
        entries = {}
        for number in range(ENTRIES):
            entries[number] = (number, str(number))
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def worst(loads: list[Load]) -> Load | None:
    """The maximum over several workers."""
    if not loads:
        return None
    names = Load.model_fields
    by_name = {name: [at for load in loads if (at := getattr(load, name)) is not None] for name in names}
    return Load(**{name: max(values) for name, values in by_name.items() if values})


def lost(load: Load | None) -> float:
    """The largest share of time that a run lost in one way, 0 if unknown."""
    if load is None:
        return 0.0
    slowed = load.slowed or 1.0
    return max(load.waited or 0.0, load.stolen or 0.0, 1 - 1 / slowed if slowed > SLOW else 0.0)


def _share(before: tuple[int, int] | None, after: tuple[int, int] | None) -> float | None:
    """The share of other work in the growth of the pair (of others, of all)."""
    if before is None or after is None or after[1] <= before[1]:
        return None
    return (after[0] - before[0]) / (after[1] - before[1])


def _scheduled() -> tuple[int, int] | None:
    """Nanoseconds in which the main thread waited for a processor, and in which it waited or ran."""
    try:
        ran, waited = Path("/proc/self/schedstat").read_text().split()[:2]
    except (OSError, ValueError):
        return None
    return int(waited), int(ran) + int(waited)


def _machine() -> tuple[int, int] | None:
    """Ticks that the hypervisor gave to other machines, and all ticks."""
    try:
        ticks = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    except (OSError, ValueError):
        return None
    return (ticks[7], sum(ticks)) if len(ticks) == 8 else None


def _average() -> float | None:
    try:
        return os.getloadavg()[0]
    except OSError:
        return None
