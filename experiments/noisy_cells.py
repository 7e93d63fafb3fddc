"""Noisy cells are measured anew, as far as time allows (docs/measurement.md, Other work on the machine).

Which of two measurements counts depends on what the machine did, never on the times that they found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from cepbench.metrics.load import lost
from cepbench.metrics.notices import notices_of
from cepbench.metrics.record import Load, Record, Status

MUCH = 0.1
"""A cell that lost more of its time than this is measured anew."""
SHARE = 0.2
"""Of the time that cells take, for measuring noisy ones anew."""
TIMES = 3
"""That a cell is measured anew, at most."""


class Paces:
    """The shortest that the piece of work of `metrics.pace` took beside any cell so far, by hosts of the workers."""

    def __init__(self) -> None:
        self._best: dict[tuple[str, ...], float] = {}

    def judged(self, record: Record) -> Record:
        """The record, with how much slower its machines were than at the best that is known by now."""
        load = record.load
        if load is None or load.pace is None:
            return record
        best = self._best[record.hosts] = min(load.pace, self._best.get(record.hosts, load.pace))
        load = Load(**{**vars(load), "slowed": load.pace / best})
        notices = tuple(notices_of(load, record.realised, record.unanswered).values())
        return record.model_copy(update={"load": load, "notices": notices})


class NoisyCells:
    """Which cells to measure anew: noisy ones that took little time, the shortest first."""

    def __init__(self) -> None:
        self._left = 0.0
        self._times: Counter[str] = Counter()

    def took(self, seconds: float) -> None:
        """Gives time for cells to measure anew, a share of what others took."""
        self._left += SHARE * seconds

    def next(self, records: Iterable[Record]) -> Record | None:
        """The record of the cell that is to be measured anew now; None if no other one is, or no time is left."""
        able = [record for record in records if is_repeated(record) and self._times[record.cell] < TIMES]
        noisy = [record for record in able if lost(record.load) > MUCH]
        shortest = min(noisy, key=lambda record: (self._times[record.cell], record.seconds), default=None)
        if shortest is None or shortest.seconds > self._left:
            return None
        self._left -= shortest.seconds
        self._times[shortest.cell] += 1
        return shortest


def is_repeated(record: Record) -> bool:
    """Whether it holds several runs, or several times of planning: a longer one sees more than a moment anyway."""
    return record.status is Status.OK and bool(record.runs)


def better(record: Record, anew: Record) -> Record:
    """The one of two measurements of a cell that counts: that lost less of its time.

    One that ended in another way is no measurement, unless it shows that the algorithm's answers differ.
    """
    if anew.status is Status.WRONG:
        return anew
    if anew.status is not Status.OK:
        return record
    if anew.digest != record.digest:
        reason = "two measurements on the same events gave different answers"
        return anew.model_copy(update={"status": Status.WRONG, "reason": reason, "digest": None})
    if lost(anew.load) >= lost(record.load):
        return record
    void = f"it was noisy: {lost(record.load):.0%} of its time was lost to other work"
    return anew.model_copy(update={"lost": (*record.lost, void, *anew.lost)})
