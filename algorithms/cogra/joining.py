"""Windows that reach over slices of time, from what the slices have of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cepbench.algorithms.cogra.kernels.pane_tables import PaneTables, pane_tables_of
from cepbench.algorithms.cogra.kernels.slices import close_windows, extend_windows
from cepbench.algorithms.kernels.cells import Cells, empty_cells
from cepbench.algorithms.kernels.events import RowCells
from cepbench.algorithms.rows import AggregateRows
from cepbench.algorithms.running.batches import aggregate_rows
from cepbench.events.windows import TimeSlice, Window
from cepbench.queries.compile import CompiledQuery, Part


@dataclass(frozen=True)
class Crossing:
    """What a slice has of one automaton's windows that reach over its edges, for C entries and P positions.

    - `low`..`begun - 1`: the windows that hold its first time and began before.
    - `maps`: of C P cells, of its events in window `low`, and so on; the last one is that of all further windows.
    - `rows`: of P cells, one after another (`kernels.slices`), of the windows from `begun` on that it does not end.
    """

    slice: TimeSlice
    low: int
    begun: int
    maps: tuple[Cells, ...]
    rows: Cells


def joined(query: CompiledQuery, part: Part, window: Window, crossings: Sequence[Crossing]) -> AggregateRows | None:
    """Rows of the windows that lie in no slice whole; slices are in the order of time, and some may be left out.

    O(w s P^2) products of cells for w such windows over s slices each, however many events these have.
    """
    tables = pane_tables_of(part.tables)
    positions = len(tables.after)
    if not positions:  # both sides of an AND have no trend in common
        return None
    found: list[AggregateRows] = []
    first, rows = 0, empty_cells(0, query.layout, query.arithmetic)  # of the windows that are open
    for crossing in crossings:
        ended, rows = _cut(rows, positions * max(0, crossing.low - first))  # before the slice begins
        found += _closed(first, ended, tables, query)
        rows = _extended(rows, crossing, tables, query)
        first = window.first_at(crossing.slice.end)
        ended, rows = _cut(rows, positions * (first - crossing.low))
        found += _closed(crossing.low, ended, tables, query)
        rows = _behind(rows, crossing.rows)
    found += _closed(first, rows, tables, query)
    return AggregateRows.concatenate(found) if found else None


def _extended(rows: Cells, crossing: Crossing, tables: PaneTables, query: CompiledQuery) -> Cells:
    """The rows of the windows that the slice does not begin, its events included; `rows` are of the first of them."""
    windows = crossing.begun - crossing.low
    if not windows:
        return rows
    positions = len(tables.after)
    missing = windows * positions - len(rows.over)  # of windows without events before
    made, nothing = (empty_cells(size, query.layout, query.arithmetic) for size in (windows * positions, missing))
    cells = _behind(made, rows, nothing, *crossing.maps)
    extend_windows(windows, len(crossing.maps), tables, cells)
    return _cut(cells, windows * positions)[0]


def _closed(first: int, rows: Cells, tables: PaneTables, query: CompiledQuery) -> list[AggregateRows]:
    """The windows from `first` on that have a match."""
    count = len(rows.over) // len(tables.after)
    out = RowCells(np.empty(count, np.int64), empty_cells(count, query.layout, query.arithmetic))
    size = close_windows(first, count, tables, rows, out)
    return [aggregate_rows(out.window[:size], out.cells, size)] if size else []


def _behind(*cells: Cells) -> Cells:
    """Cells behind one another."""
    return Cells._make(np.concatenate(arrays) for arrays in zip(*cells, strict=True))


def _cut(cells: Cells, count: int) -> tuple[Cells, Cells]:
    """The first cells, at most `count`, and the others."""
    return Cells._make(array[:count] for array in cells), Cells._make(array[count:] for array in cells)
