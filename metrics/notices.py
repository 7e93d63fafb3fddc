"""Notices that a user should read before using the numbers of a record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from enum import StrEnum

from cepbench.metrics.load import NOISY, SLOW
from cepbench.metrics.load import lost as lost_share
from cepbench.metrics.record import Load, Realised, Record


class Notice(StrEnum):
    """Kinds of notices, as a run counts them in its output."""

    NOISY = "noisy"
    EMPTY = "without any match"
    LOST = "measured again because a worker was lost"


def notices_of(
    load: Load | None, realised: Realised | None, unanswered: bool = False, lost: Sequence[str] = ()
) -> dict[Notice, str]:
    """Notices on runs with this load and answer, after earlier ones were `lost`: a sentence for each kind that applies.

    There is no notice on the empty answer of a run that only planned (`unanswered`).
    """
    sentences: dict[Notice, str] = {}
    if lost_share(load) > NOISY:
        sentences[Notice.NOISY] = f"noisy: {noise(load)}"
    if realised is not None and realised.rows == 0 and not unanswered:
        sentences[Notice.EMPTY] = "empty: no window has a match"
    if lost:
        sentences[Notice.LOST] = f"a worker was lost {len(lost)} times before; at last: {lost[-1]}"
    return sentences


def noise(load: Load | None) -> str:
    """The main cause of a noisy run."""
    slowed = 1.0 if load is None or load.slowed is None else load.slowed
    if slowed > SLOW and 1 - 1 / slowed >= lost_share(load):
        return f"the machine was {slowed:.1f} times slower than at its best"
    return f"the worker lost {lost_share(load):.0%} of its time to other work on the machine"


def of_record(record: Record) -> dict[Notice, str]:
    """The notices of a record, by kind."""
    return notices_of(record.load, record.realised, record.unanswered, record.lost)


def counted(records: Iterable[Record]) -> dict[Notice, int]:
    """The number of records with each kind, without unused kinds."""
    counts = Counter(kind for record in records for kind in of_record(record))
    return {kind: counts[kind] for kind in Notice if counts[kind]}


def noisiest(records: Iterable[Record]) -> Record | None:
    """The noisiest record, if it is noisy."""
    noisy = [record for record in records if lost_share(record.load) > NOISY]
    return max(noisy, key=lambda record: lost_share(record.load), default=None)
