"""Attributes of a batch of events as the columns that kernels read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepbench.events.batch import EventBatch
from cepbench.queries.aggregates import Column, Transform
from cepbench.queries.binding import Flags, column_of, passing
from cepbench.queries.model import Condition


@dataclass(frozen=True, eq=False)
class ColumnSet:
    """The kernel columns and conditions that some tables refer to, by their rows in `ints`, `reals` and `flags`.

    Sets are compared by identity: queries of a workload that read the same columns share one set.
    """

    ints: tuple[Column, ...]
    reals: tuple[Column, ...]
    flags: tuple[Condition, ...] = ()

    @cached_property
    def _keys(self) -> tuple[str, ...]:
        """The conditions as written, whose hashes Python keeps."""
        return tuple(map(repr, self.flags))

    def matrices(self, events: EventBatch) -> tuple[NDArray[np.int64], NDArray[np.float64], Flags]:
        """`ints[I, n]`, `reals[F, n]` and `flags[C, n]` of a batch, as the tables number them; `flags[c, i]`: event i
        passes condition c. Views of the batch where that is possible.

        O(n) per column. A column that several sets contain is computed once per batch.
        """
        ints = [_once(events, column) for column in self.ints]
        reals = [column_of(column.attribute, events) for column in self.reals]
        flags = [
            events.once(key, partial(_passing, condition, events))
            for key, condition in zip(self._keys, self.flags, strict=True)
        ]
        size = len(events)
        return _stacked(ints, size, np.int64), _stacked(reals, size, np.float64), _stacked(flags, size, np.bool_)


def int_column(events: EventBatch, column: Column) -> NDArray[np.int64]:
    """An attribute as an int64 kernel column."""
    values = column_of(column.attribute, events)
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


def _passing(condition: Condition, events: EventBatch) -> Flags:
    with np.errstate(over="ignore"):  # of values that no event of the condition's type has
        return passing(condition, events)


def _stacked(columns: Sequence[NDArray[Any]], size: int, dtype: type[np.generic]) -> NDArray[Any]:
    """Columns as the rows of a matrix; that of a single one is a view."""
    if len(columns) == 1:
        return np.ascontiguousarray(columns[0], dtype).reshape(1, size)
    matrix = np.empty((len(columns), size), dtype)
    for row, column in enumerate(columns):
        matrix[row] = column
    return matrix
