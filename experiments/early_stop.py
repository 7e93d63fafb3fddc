"""Runs that need not happen: an algorithm that reached a limit at a point reaches it at every harder point.

- A timed run that reached a limit skips the cells of harder points, with their memory.
- A limit that only the memory run reached skips the memory runs of harder points; their times are measured. Measuring
  memory takes time itself, so that its limit proves nothing about times.
- A cell that reached a limit in its timed run of the first round, or is unsupported, is not run in later rounds.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from cepbench.experiments.points import Cell, identified
from cepbench.experiments.schema import Experiment
from cepbench.metrics.record import Record
from cepbench.metrics.results import value_key
from cepbench.metrics.status import Status

_CUT = {Status.TIMEOUT: "timed out", Status.OUT_OF_MEMORY: "ran out of memory"}
_FINAL = {**_CUT, Status.UNSUPPORTED: "unsupported"}
_NOT_RUN = "not run: "


class EarlyStop:
    """The limits that the algorithms of an experiment reached. Points are harder only along monotone axes."""

    def __init__(self, experiment: Experiment, records: Iterable[Record]) -> None:
        self._monotone = experiment.monotone_axes
        self._times: dict[tuple[str, str, str], list[Record]] = {}
        self._memory: dict[tuple[str, str, str], list[Record]] = {}
        self._first: dict[tuple[str, str], Record] = {}  # cells of the first round that later rounds need not run
        for record in records:
            self.add(record)

    def add(self, record: Record) -> None:
        """Takes a finished cell into account; runs that were skipped are ignored."""
        if record.status in _FINAL and not record.reason.startswith(_NOT_RUN) and record.round == 1:
            self._first[_place(record)] = record
        for axis in self._monotone:
            curve = _curve(record.algorithm, record.point, axis)
            if record.status in _CUT and not record.reason.startswith(_NOT_RUN):
                self._times.setdefault(curve, []).append(record)
            elif record.memory_status in _CUT and not record.memory_reason.startswith(_NOT_RUN):
                self._memory.setdefault(curve, []).append(record)

    def skipped(self, cell: Cell) -> Record | None:
        """The record of a cell that need not run; None if it must run."""
        first = self._first.get(_place(cell)) if cell.round > 1 else None
        if first is not None:
            return _record(cell, first, f"{_NOT_RUN}{_FINAL[first.status]} in round 1")
        for record, where in self._easier(self._times, cell):
            return _record(cell, record, f"{_NOT_RUN}{_CUT[record.status]} at {where}")
        return None

    def memory_skipped(self, cell: Cell) -> tuple[Status, str] | None:
        """Status and reason of a memory run that need not happen; None if it must."""
        for record, where in self._easier(self._memory, cell):
            status = record.memory_status or record.status
            return status, f"{_NOT_RUN}{_CUT[status]} at {where}"
        return None

    def _easier(self, cut: dict[tuple[str, str, str], list[Record]], cell: Cell) -> Iterable[tuple[Record, str]]:
        """Records that reached a limit at most as hard as a cell is, and where."""
        for axis, direction in self._monotone.items():
            for record in cut.get(_curve(cell.algorithm, cell.point, axis), ()):
                if _at_least_as_hard(cell.point[axis], record.point[axis], direction):
                    yield record, f"{axis} {record.point[axis]}"


def _record(cell: Cell, cause: Record, reason: str) -> Record:
    """The record of a cell that is not run because of another one."""
    return Record(
        **identified(cell),
        status=cause.status,
        reason=reason,
        memory_status=cause.status if cell.memory else None,
        memory_reason=reason if cell.memory else "",
        plan_limit_seconds=cause.plan_limit_seconds,
        provenance=cause.provenance,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def _place(entry: Cell | Record) -> tuple[str, str]:
    """A key of an algorithm at a point."""
    return entry.algorithm, repr(sorted(entry.point.items()))


def _curve(algorithm: str, point: dict[str, Any], axis: str) -> tuple[str, str, str]:
    """A key of all points that differ along this axis only."""
    rest = sorted((name, str(value)) for name, value in point.items() if name != axis)
    return algorithm, axis, repr(rest)


def _at_least_as_hard(value: Any, cut: Any, direction: str) -> bool:
    if direction == "increasing":
        return value_key(value) >= value_key(cut)
    return value_key(value) <= value_key(cut)
