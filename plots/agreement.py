"""The agreement of algorithms: the digests of each group of cells with the same input."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from cepbench.metrics.record import Record
from cepbench.metrics.status import Status


class Agreement(StrEnum):
    """The result of comparing the digests of one group."""

    AGREE = "agree"
    DISAGREE = "disagree"
    ALONE = "only one answered"
    NONE = "no answer"


@dataclass(frozen=True)
class Group:
    """Cells with the same input: digests and statuses by algorithm, each once and in order of appearance."""

    group: str
    point: dict[str, Any]
    digests: dict[str, tuple[str, ...]]
    statuses: dict[str, tuple[Status, ...]]
    overflow: bool

    @property
    def agreement(self) -> Agreement:
        """The result of the comparison; a wrong cell counts as disagreement even if its digest was not stored."""
        answers = {digest for entries in self.digests.values() for digest in entries}
        if len(answers) > 1 or any(Status.WRONG in entries for entries in self.statuses.values()):
            return Agreement.DISAGREE
        answered = sum(bool(entries) for entries in self.digests.values())
        return Agreement.AGREE if answered > 1 else Agreement.ALONE if answered else Agreement.NONE


def groups(records: Iterable[Record]) -> tuple[Group, ...]:
    """All groups in the order of their first record."""
    collected: dict[str, list[Record]] = {}
    for record in records:
        collected.setdefault(record.group, []).append(record)
    return tuple(_group(name, members) for name, members in collected.items())


def _group(name: str, members: list[Record]) -> Group:
    digests: dict[str, dict[str, None]] = {}
    statuses: dict[str, dict[Status, None]] = {}
    for record in members:
        statuses.setdefault(record.algorithm, {})[record.status] = None
        mine = digests.setdefault(record.algorithm, {})
        if record.digest is not None and record.status in (Status.OK, Status.WRONG):
            mine[record.digest] = None
    return Group(
        name,
        members[0].point,
        {key: tuple(entries) for key, entries in digests.items()},
        {key: tuple(entries) for key, entries in statuses.items()},
        any(record.overflow for record in members),
    )
