"""Other load of the machine during a measurement."""

from __future__ import annotations

import os
from pathlib import Path
from types import TracebackType

from cepbench.metrics.pace import PaceWatch
from cepbench.metrics.record import Load

NOISY = 0.05
"""A run that lost more of its time than this to others is noisy."""
SLOW = 1.15
"""A machine is slow if its pace is above this multiple of its best one; smaller variation is ordinary."""


class LoadWatch:
    """A context around a measurement of this process's main thread; afterwards `load` has the load of other work.

    Between its runs the measurement calls `look` to sample the pace of the machine.
    """

    def __init__(self) -> None:
        self.load = Load()
        self._pace = PaceWatch()

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
            pace=self._pace.seconds,
        )

    def look(self) -> None:
        """Samples the pace of the machine."""
        self._pace.look()


def worst(loads: list[Load]) -> Load | None:
    """The maximum over several workers."""
    if not loads:
        return None
    names = Load.model_fields
    known = {name: [at for load in loads if (at := getattr(load, name)) is not None] for name in names}
    return Load(**{name: max(values) for name, values in known.items() if values})


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
