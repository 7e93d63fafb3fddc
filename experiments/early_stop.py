"""Cells that need not run: an algorithm that was cut off at a point is cut off at every harder one."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from experiments.points import Cell, identified
from experiments.schema import Experiment
from metrics.record import Record, Status
from metrics.results import value_key

_CUT = {Status.TIMEOUT: "timed out", Status.OUT_OF_MEMORY: "ran out of memory"}


class EarlyStop:
    """What is known of an experiment that says that it is monotone along its x axis; otherwise nothing is skipped."""

    def __init__(self, experiment: Experiment, records: Iterable[Record]) -> None:
        self._monotone = experiment.monotone
        self._axis = experiment.plot.x.name
        self._cut: dict[tuple[str, str], list[Record]] = {}
        for record in records:
            self.saw(record)

    def saw(self, record: Record) -> None:
        """Learns from a cell that really ran."""
        if self._monotone != "no" and record.status in _CUT and record.seconds > 0:
            self._cut.setdefault(self._curve(record.algorithm, record.point), []).append(record)

    def skipped(self, cell: Cell) -> Record | None:
        """The record of a cell that need not run, or None if it has to."""
        for record in self._cut.get(self._curve(cell.algorithm, cell.point), ()):
            if self._at_least_as_hard(cell.point[self._axis], record.point[self._axis]):
                where = f"{self._axis} {record.point[self._axis]}"
                return Record(
                    **identified(cell),
                    status=record.status,
                    reason=f"not run: {_CUT[record.status]} at {where}",
                    provenance=record.provenance,
                    started=datetime.now(UTC).isoformat(timespec="seconds"),
                )
        return None

    def _curve(self, algorithm: str, point: dict[str, Any]) -> tuple[str, str]:
        rest = sorted((name, str(value)) for name, value in point.items() if name != self._axis)
        return algorithm, repr(rest)

    def _at_least_as_hard(self, value: Any, cut: Any) -> bool:
        if self._monotone == "increasing":
            return value_key(value) >= value_key(cut)
        return value_key(value) <= value_key(cut)
