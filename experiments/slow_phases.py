"""Cells on which a slow phase of the machine fell, measured anew (docs/measurement.md, Slow phases).

Which of two measurements counts depends on the pace of the machine, never on the times that they found.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping

from cepbench.metrics.load import SLOW
from cepbench.metrics.notices import notices_of
from cepbench.metrics.record import Record, Status

SHARE = 0.1
"""Of the time that cells take, for measuring some of them anew."""
TIMES = 3
"""That a cell is measured anew, at most."""


class Paces:
    """The shortest that the piece of work of `metrics.pace` took beside any cell so far, by hosts of the workers."""

    def __init__(self) -> None:
        self._best: dict[tuple[str, ...], float] = {}

    def saw(self, records: Iterable[Record]) -> None:
        """Learns from records."""
        for record in records:
            if record.load is not None and record.load.pace is not None:
                pace = record.load.pace
                self._best[record.hosts] = min(pace, self._best.get(record.hosts, pace))

    def judged(self, record: Record) -> Record:
        """The record, with how much slower its machines were than at the best that is known by now."""
        if record.load is None or record.load.pace is None:
            return record
        slowed = record.load.pace / self._best.get(record.hosts, record.load.pace)
        load = record.load.model_copy(update={"slowed": slowed})
        notices = tuple(notices_of(load, record.realised, record.unanswered).values())
        return record.model_copy(update={"load": load, "notices": notices})


class Budget:
    """Seconds for measuring cells anew."""

    def __init__(self) -> None:
        self.left = 0.0

    def took(self, seconds: float) -> None:
        """Gives a share of the time that a cell took."""
        self.left += SHARE * seconds


def measure_anew(
    names: Collection[str],
    records: Mapping[str, Record],
    budget: Budget,
    measured: Callable[[str], Record],
    replace: Callable[[Record], None],
    paces: Paces,
) -> None:
    """Measures cells anew on which a slow phase fell, up to `TIMES` times, as long as there is time.

    Cells on the same input go together, so that none of the algorithms that are compared is favoured; the inputs that
    take the least time come first.

    - `names`: of the cells that may be measured anew; `records`: all of them, as they are now.
    - `measured` runs a cell, and lets `paces` see it; `replace` stores a record.
    """
    for _ in range(TIMES):
        for group in _slowed_groups([paces.judged(records[name]) for name in names]):
            if sum(record.seconds for record in group) > budget.left:
                break
            for record in group:
                began = time.monotonic()
                anew = measured(record.cell)
                replace(better(paces.judged(records[record.cell]), paces.judged(anew)))
                budget.left -= time.monotonic() - began


def better(record: Record, anew: Record) -> Record:
    """The one of two measurements of a cell that counts: that of the smaller slow-down. Its `lost` tells of the other.

    One that ended in another way is no measurement, unless it shows that the algorithm's answers differ.
    """
    if anew.status is Status.OK and anew.digest != record.digest:
        reason = "two measurements on the same events gave different answers"
        anew = anew.model_copy(update={"status": Status.WRONG, "reason": reason, "digest": None})
    if anew.status is Status.WRONG:
        return anew
    if anew.status is not Status.OK:
        return _with(record, f"measured anew, it ended as {anew.status.value}: {anew.reason}")
    if _slowed(anew) < _slowed(record):
        return _with(anew, *record.lost, f"the machine was {_slowed(record):.2f} times slower than at its best")
    return _with(record, f"measured anew while the machine was {_slowed(anew):.2f} times slower than at its best")


def _slowed_groups(records: Iterable[Record]) -> list[list[Record]]:
    """Records on which a slow phase fell, by input; the inputs first that took the least time."""
    groups: dict[str, list[Record]] = {}
    for record in records:
        if record.status is Status.OK and _slowed(record) > SLOW:
            groups.setdefault(record.group, []).append(record)
    return sorted(groups.values(), key=lambda group: sum(record.seconds for record in group))


def _slowed(record: Record) -> float:
    return 1.0 if record.load is None or record.load.slowed is None else record.load.slowed


def _with(record: Record, *lost: str) -> Record:
    return record.model_copy(update={"lost": (*record.lost, *lost)})
