"""Batches and rows at the border between executors and kernels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from algorithms.kernels.cells import Cells, empty_cells
from algorithms.rows import AggregateRows
from events.batch import EventBatch
from queries.compile import CompiledQuery

ROWS = 1024


class KernelEvents(NamedTuple):
    """A batch as kernels read it: int64[n], int32[n] codes, int64[I, n], float64[F, n]; all read-only."""

    time: NDArray[np.int64]
    kind: NDArray[np.int32]
    ints: NDArray[np.int64]
    reals: NDArray[np.float64]


def kernel_events(query: CompiledQuery, events: EventBatch) -> KernelEvents:
    """Views of a batch; read-only whatever they were, since Numba compiles a kernel per kind of array."""
    ints, reals = query.columns(events)
    arrays = (events.time, events.type, ints, reals)
    return KernelEvents(*(_readonly(np.ascontiguousarray(array)) for array in arrays))


def _readonly(array: NDArray[Any]) -> NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view


class RowBuffer:
    """Where kernels write the rows of closed windows, `ROWS` or two generations of windows at a time."""

    def __init__(self, query: CompiledQuery, span: int) -> None:
        capacity = max(ROWS, 2 * span)
        self.window = np.empty(capacity, np.int64)
        self.cells: Cells = empty_cells(capacity, query.layout, query.arithmetic)

    def rows(self, size: int) -> list[AggregateRows]:
        """A copy of the first `size` rows, if there are any."""
        if size == 0:
            return []
        ring, over, real, least = (array[:size].copy() for array in self.cells)
        return [AggregateRows(self.window[:size].copy(), ring, over, real, least)]


def concatenated(parts: list[AggregateRows]) -> AggregateRows | None:
    """All rows as one, or None."""
    return AggregateRows.concatenate(parts) if parts else None
