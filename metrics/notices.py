"""What a user should know before the numbers of a record are used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

from cepbench.metrics.load import NOISY, SLOW, lost
from cepbench.metrics.record import Load, Realised, Record


class Notice(StrEnum):
    """Kinds of notices, as the lines of a run count them."""

    NOISY = "noisy"
    EMPTY = "without any match"


def notices_of(load: Load | None, realised: Realised | None, unanswered: bool = False) -> dict[Notice, str]:
    """What to know of runs under this load, with this answer: a sentence for each kind that applies.

    That an answer is empty is nothing to know of those who were not to answer (`unanswered`).
    """
    found: dict[Notice, str] = {}
    if lost(load) > NOISY:
        found[Notice.NOISY] = f"noisy: {noise(load)}"
    if realised is not None and realised.rows == 0 and not unanswered:
        found[Notice.EMPTY] = "empty: no window has a match"
    return found


def noise(load: Load | None) -> str:
    """How a noisy run lost most."""
    slowed = 1.0 if load is None or load.slowed is None else load.slowed
    if slowed > SLOW and 1 - 1 / slowed >= lost(load):
        return f"the machine was {slowed:.1f} times slower than at its best"
    return f"the worker lost {lost(load):.0%} of its time to other work on the machine"


def of_record(record: Record) -> dict[Notice, str]:
    """What to know of a record, by kind."""
    return notices_of(record.load, record.realised, record.unanswered)


def counted(records: Iterable[Record]) -> dict[Notice, int]:
    """How many records have each kind, without kinds that none has."""
    counts = Counter(kind for record in records for kind in of_record(record))
    return {kind: counts[kind] for kind in Notice if counts[kind]}


def noisiest(records: Iterable[Record]) -> Record | None:
    """The record that lost most of its time to others, if that is a lot."""
    noisy = [record for record in records if lost(record.load) > NOISY]
    return max(noisy, key=lambda record: lost(record.load), default=None)
