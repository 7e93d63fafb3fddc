"""Cells that need not run: an algorithm that reached a limit at a point reaches it at every harder point.

A memory measurement that reached a limit skips no time measurement, since measuring memory takes time itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from cepbench.experiments.points import Cell, identified
from cepbench.experiments.schema import Experiment
from cepbench.metrics.record import Record, Status
from cepbench.metrics.results import value_key

_CUT = {Status.TIMEOUT: "timed out", Status.OUT_OF_MEMORY: "ran out of memory"}


class EarlyStop:
    """The limits that the algorithms of an experiment reached. Without monotone axes, no cell is skipped."""

    def __init__(self, experiment: Experiment, records: Iterable[Record]) -> None:
        self._monotone = experiment.monotone_axes
        self._cut: dict[tuple[str, str, str], list[Record]] = {}
        for record in records:
            self.add(record)

    def add(self, record: Record) -> None:
        """Takes a finished cell into account; a skipped one, which took no time, is ignored."""
        if record.status in _CUT and record.seconds > 0:
            for axis in self._monotone:
                self._cut.setdefault(_curve(record.algorithm, record.point, axis), []).append(record)

    def skipped(self, cell: Cell) -> Record | None:
        """The record of a cell that need not run; None if it must run."""
        for axis, direction in self._monotone.items():
            for record in self._cut.get(_curve(cell.algorithm, cell.point, axis), ()):
                if record.measurement == "memory" and cell.measurement == "time":
                    continue
                if _at_least_as_hard(cell.point[axis], record.point[axis], direction):
                    where = f"{axis} {record.point[axis]}"
                    return Record(
                        **identified(cell),
                        status=record.status,
                        reason=f"not run: {_CUT[record.status]} at {where}",
                        plan_limit_seconds=record.plan_limit_seconds,
                        provenance=record.provenance,
                        started=datetime.now(UTC).isoformat(timespec="seconds"),
                    )
        return None


def _curve(algorithm: str, point: dict[str, Any], axis: str) -> tuple[str, str, str]:
    """A key of all points that differ along this axis only."""
    rest = sorted((name, str(value)) for name, value in point.items() if name != axis)
    return algorithm, axis, repr(rest)


def _at_least_as_hard(value: Any, cut: Any, direction: str) -> bool:
    if direction == "increasing":
        return value_key(value) >= value_key(cut)
    return value_key(value) <= value_key(cut)
