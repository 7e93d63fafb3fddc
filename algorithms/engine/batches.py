"""Batches and rows at the border between operators and kernels."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.engine.kernels.arrays import readonly
from cepbench.algorithms.engine.kernels.cells import Cells, empty_cells
from cepbench.algorithms.engine.kernels.events import KernelEvents, RowCells, Sliding
from cepbench.algorithms.rows import AggregateRows
from cepbench.events.batch import EventBatch
from cepbench.events.windows import Window
from cepbench.queries.aggregates import Layout
from cepbench.queries.columns import ColumnSet


def kernel_events(columns: ColumnSet, events: EventBatch) -> KernelEvents:
    """A batch as kernels read it, without negations; converted once for all readers of the same columns."""
    return events.once(columns, lambda: _converted(columns, events))


def _converted(columns: ColumnSet, events: EventBatch) -> KernelEvents:
    """Read-only arrays, since Numba compiles a kernel per kind of array."""
    nothing = np.empty((len(events) + 1, 0), np.int64)
    arrays = (events.time, events.type, *columns.matrices(events), nothing)
    return KernelEvents(*(readonly(np.ascontiguousarray(array)) for array in arrays))


@cache
def no_events(ints: int, reals: int, flags: int) -> KernelEvents:
    """A batch without events, with the given numbers of columns and conditions."""
    arrays: tuple[NDArray[Any], ...] = (
        np.empty(0, np.int64), np.empty(0, np.int32), np.empty((ints, 0), np.int64), np.empty((reals, 0), np.float64),
        np.empty((flags, 0), np.bool_), np.empty((1, 0), np.int64),
    )  # fmt: skip
    return KernelEvents(*(readonly(array) for array in arrays))


def sliding(window: Window) -> Sliding:
    """A window as kernels read it."""
    return Sliding(window.within, window.slide)


@lru_cache(maxsize=64)
def new_rows(capacity: int, layout: Layout, arithmetic: str) -> RowCells:
    """Space for `capacity` rows of closed windows.

    Evaluators of one layout share it, since rows are copied as soon as a kernel has written them: otherwise each would
    need at least 256 KiB per channel.
    """
    return RowCells(np.empty(capacity, np.int64), empty_cells(capacity, layout, arithmetic))


def aggregate_rows(
    window: NDArray[np.int64], cells: Cells, size: int, key: NDArray[np.int64] | None = None
) -> AggregateRows:
    """The first `size` cells as the rows of windows and keys."""
    real, least = int(cells.words.real), int(cells.words.least)
    return AggregateRows(
        window,
        cells.counts[:size, :real].copy(),
        cells.over[:size].copy(),
        cells.reals[:size, real:least].copy(),
        cells.ints[:size, least:].copy(),
        key=key,
    )
