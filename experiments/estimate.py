"""How long a sweep may still take: what was measured so far, and limits where nothing was."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from cepbench.experiments.points import Cell

PREPARATION = 8.0
"""Seconds that a cell takes besides its measured part: fresh workers, loading of kernels."""


class Estimate:
    """Learns from finished cells. Everything in seconds of wall time."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str, str], list[float]] = {}

    def finished(self, cell: Cell, seconds: float) -> None:
        """A cell took this long."""
        self._seen.setdefault(self._kind(cell), []).append(seconds)

    def expected(self, cell: Cell) -> float:
        """The longest time that a cell of the same algorithm, experiment and measurement took, else the bound."""
        return min(bound(cell), max(self._seen.get(self._kind(cell), [bound(cell)])))

    def remaining(self, cells: Iterable[Cell]) -> float:
        """Time that these cells are expected to take; points to come may be larger, so it may rise."""
        return sum(self.expected(cell) for cell in cells)

    @staticmethod
    def _kind(cell: Cell) -> tuple[str, str, str]:
        return (cell.experiment, cell.algorithm, cell.measurement)


def bound(cell: Cell) -> float:
    """The most that a cell takes: its limit, or its short runs together, and preparation.

    Only a long run that is done again on touched memory may take more.
    """
    given = cell.configuration
    return float(max(given["limits"]["seconds"], given["repeat"])) + PREPARATION


def total_bound(cells: Sequence[Cell]) -> float:
    """The most that cells take together."""
    return sum(bound(cell) for cell in cells)


def words(seconds: float) -> str:
    """`2 h 05 min`, `4 min`, `30 s`."""
    whole = round(seconds)
    if whole < 90:
        return f"{whole} s"
    minutes = round(whole / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60:02d} min"
