"""Compares the answers of a group of cells; one that differs is `wrong` (docs/measurement.md, Statuses)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from cepbench.metrics.record import Record
from cepbench.metrics.status import Status

REFERENCE = "oracle"
"""The algorithm whose answer is taken as right, if it has one."""


def judged(records: Iterable[Record]) -> list[Record]:
    """The records of one group whose status changes, with their new status and reason.

    The answer of the oracle is right; without an oracle, the answer of more than half of the algorithms. Without such a
    majority, all are wrong. An algorithm with several different answers has no vote.
    """
    answered = [r for r in records if r.digest is not None and r.status in (Status.OK, Status.WRONG)]
    right = _right(answered)
    changed = []
    for record in answered:
        status, reason = Status.OK, ""
        if record.digest != right:
            status, reason = Status.WRONG, _difference(record, right, answered)
        if (record.status, record.reason) != (status, reason):
            changed.append(record.model_copy(update={"status": status, "reason": reason}))
    return changed


def _right(answered: list[Record]) -> str | None:
    digests: dict[str, set[str]] = defaultdict(set)
    for record in answered:
        if record.digest is not None:
            digests[record.algorithm].add(record.digest)
    if len(digests.get(REFERENCE, ())) == 1:
        return next(iter(digests[REFERENCE]))
    return majority([next(iter(answers)) for answers in digests.values() if len(answers) == 1], len(digests))


def majority(votes: Sequence[str], voters: int) -> str | None:
    """The digest with the votes of more than half of the voters, if there is one."""
    return next((digest for digest, count in Counter(votes).items() if 2 * count > voters), None)


def _difference(record: Record, right: str | None, answered: list[Record]) -> str:
    others = sorted({r.algorithm for r in answered if r.digest != record.digest})
    if right is not None:
        agreed = sorted({r.algorithm for r in answered if r.digest == right})
        return f"the answer differs from that of {', '.join(agreed)}"
    return f"the answer differs from that of {', '.join(others)}, and no majority says which one is right"
