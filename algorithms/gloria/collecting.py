"""Records of a plan while they are collected: lists of numbers, tables by kind, and the rows of Q-sets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from cepbench.algorithms.gloria.kernels.program import (
    ContextRecord,
    EndingRecord,
    FinishingMemberRecord,
    FinishRecord,
    InletRecord,
    OutletRecord,
    PlaceRecord,
    QSetRecord,
    ReadRecord,
    ShareRecord,
    SourceRecord,
    StateRecord,
    StateSlotRecord,
    TestRecord,
    VisitingLinkRecord,
)
from cepbench.algorithms.gloria.sharing_plan import QSet
from cepbench.algorithms.snapshots.compilation import Row
from cepbench.algorithms.snapshots.kernels.records import NegationRecord, TransitionRecord, WindowRecord

RECORDS = (
    StateRecord,
    TestRecord,
    PlaceRecord,
    TransitionRecord,
    SourceRecord,
    ReadRecord,
    InletRecord,
    VisitingLinkRecord,
    OutletRecord,
    ShareRecord,
    EndingRecord,
    QSetRecord,
    ContextRecord,
    FinishingMemberRecord,
    FinishRecord,
    WindowRecord,
    StateSlotRecord,
    NegationRecord,
)


@dataclass
class QSetRows:
    """A Q-set, the rows that it has so far, and by member the first that has values of its snapshots."""

    q: QSet
    number: int
    rows: int = 1  # EXPRESSION
    fresh: list[int] = field(default_factory=list)
    value: dict[int, int] = field(default_factory=dict)

    def take(self, count: int, *, fresh: bool = False) -> int:
        """The first of some further rows; those that are `fresh` have no part of a new snapshot yet."""
        first = self.rows
        self.rows += count
        if fresh:
            self.fresh += range(first, self.rows)
        return first


class RecordCollector:
    """Tables by kind of record, and the lists that records refer to."""

    def __init__(self) -> None:
        self.lists: list[int] = []
        self.rows: dict[type, list[Row]] = {record: [] for record in RECORDS}

    def run(self, name: str, items: Iterable[int], shift: int = 0) -> Row:
        """Fields `name` and `name_end` of a list."""
        first = len(self.lists)
        self.lists.extend(int(item) + shift for item in items)
        return {name: first, f"{name}_end": len(self.lists)}

    def add(self, name: str, record: type, rows: Iterable[Row]) -> Row:
        """Fields `name` and `name_end` of a run of records."""
        table = self.rows[record]
        first = len(table)
        table.extend(rows)
        return {name: first, f"{name}_end": len(table)}
