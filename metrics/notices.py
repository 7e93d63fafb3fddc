"""What a user should know before the numbers of a record are used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

from cepbench.metrics.load import NOISY, lost
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
    if (share := lost(load)) > NOISY:
        found[Notice.NOISY] = f"noisy: the worker lost {share:.0%} of its time to other work on the machine"
    if realised is not None and realised.rows == 0 and not unanswered:
        found[Notice.EMPTY] = "empty: no window has a match"
    return found


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
