"""The remaining time of a sweep, from the cells measured so far and from the limits of the others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cepbench.experiments.points import Cell

PREPARATION = 8.0
"""Seconds of a cell outside its measured part: starting workers, loading kernels."""


class Estimate:
    """Expected times, from finished cells; all in seconds of wall time."""

    def __init__(self) -> None:
        self._times: dict[tuple[str, str], list[float]] = {}

    def finished(self, cell: Cell, seconds: float) -> None:
        """Records how long a cell took."""
        self._times.setdefault(self._kind(cell), []).append(seconds)

    def expected(self, cell: Cell) -> float:
        """The longest time of a cell of the same algorithm and experiment; without one, the bound."""
        return min(bound(cell), max(self._times.get(self._kind(cell), [bound(cell)])))

    def remaining(self, cells: Iterable[Cell]) -> float:
        """The expected time of these cells; it may rise, since later points may be larger."""
        return sum(self.expected(cell) for cell in cells)

    @staticmethod
    def _kind(cell: Cell) -> tuple[str, str]:
        return (cell.experiment, cell.algorithm)


def bound(cell: Cell) -> float:
    """The most that a cell takes: its limit, or the time of its repeated short runs, plus preparation.

    Memory, if it is measured, takes up to the limit again. Only a long run that is repeated with its memory already
    mapped may take more.
    """
    configuration = cell.configuration
    limit = configuration["limits"]["seconds"]
    return float(max(limit, configuration["repeat"]) + (limit if cell.memory else 0)) + PREPARATION


def total_bound(cells: Sequence[Cell]) -> float:
    """The most that these cells take together."""
    return sum(bound(cell) for cell in cells)


def words(seconds: float) -> str:
    """`2 h 05 min`, `4 min`, `30 s`."""
    whole = round(seconds)
    if whole < 90:
        return f"{whole} s"
    minutes = round(whole / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"
