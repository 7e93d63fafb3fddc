"""Attributes of a batch of events as the columns that kernels read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepbench.events.batch import EventBatch
from cepbench.queries.aggregates import Column, Transform


@dataclass(frozen=True, eq=False)
class ColumnSet:
    """The kernel columns that some tables refer to, by their rows in `ints` and `reals`.

    Sets are compared by identity: queries of a workload that read the same columns share one set.
    """

    ints: tuple[Column, ...]
    reals: tuple[Column, ...]

    def matrices(self, events: EventBatch) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """`ints[I, n]` and `reals[F, n]` of a batch, as the tables number them; a view of it where that is possible.

        O(n) per column. A column that several sets contain is computed once per batch.
        """
        ints = [_once(events, column) for column in self.ints]
        reals = [events.columns[column.attribute] for column in self.reals]
        return _stacked(ints, len(events), np.int64), _stacked(reals, len(events), np.float64)


def int_column(events: EventBatch, column: Column) -> NDArray[np.int64]:
    """An attribute as an int64 kernel column."""
    values = events.columns[column.attribute]
    if column.transform is Transform.INT:
        return values.astype(np.int64, copy=False)
    if column.transform is Transform.MAGNITUDE:
        magnitude: NDArray[np.int64] = np.abs(values.astype(np.int64, copy=False))
        return magnitude  # |-2**63| wraps to 2**63 in the ring, as required
    keys = sortable(values)
    return keys if column.transform is Transform.KEY else np.invert(keys)


def sortable(values: NDArray[np.generic]) -> NDArray[np.int64]:
    """int64 keys in the order of int64 or float64 values; `unsortable` inverts it."""
    if values.dtype != np.float64:
        return values.astype(np.int64, copy=False)
    positive_zero = np.add(values, 0.0, dtype=np.float64)  # -0.0 + 0.0 is 0.0: equal values get equal keys
    bits = positive_zero.view(np.int64)
    keys: NDArray[np.int64] = np.where(bits >= 0, bits, bits ^ np.int64(2**63 - 1))
    return keys


def unsortable(keys: NDArray[np.int64]) -> NDArray[np.float64]:
    """float64 values of their sortable keys."""
    return np.where(keys >= 0, keys, keys ^ np.int64(2**63 - 1)).view(np.float64)


def _once(events: EventBatch, column: Column) -> NDArray[np.int64]:
    return events.once(column, lambda: int_column(events, column))


def _stacked(columns: Sequence[NDArray[Any]], size: int, dtype: type[np.generic]) -> NDArray[Any]:
    """Columns as the rows of a matrix; that of a single one is a view."""
    if len(columns) == 1:
        return np.ascontiguousarray(columns[0], dtype).reshape(1, size)
    matrix = np.empty((len(columns), size), dtype)
    for row, column in enumerate(columns):
        matrix[row] = column
    return matrix
