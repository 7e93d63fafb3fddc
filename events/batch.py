"""A batch of events: immutable columns."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from cepbench.events.schema import Kind, Schema

DTYPES: dict[Kind, type[np.generic]] = {Kind.INT: np.int64, Kind.FLOAT: np.float64, Kind.STRING: np.int32}

_Value = TypeVar("_Value")


@dataclass(frozen=True, eq=False)
class EventBatch:
    """`n` events in time order, cut from a stream anywhere (even inside one time stamp).

    - `time`: int64[n], >= 0, not decreasing, in `schema.time_unit`.
    - `type`: int32[n], codes into `schema.types`.
    - `columns`: an array[n] per attribute, of the dtype in `DTYPES` (strings are codes into `schema.strings`).
    - `position`: int64[n], each event's place in the whole time-ordered input (stable for equal times).
    - `watermark`: no later batch contains an event before this time, so windows that end by then are complete. None
      gives no bound beyond the order of the stream.

    Arrays are views wherever possible and are never written. `once` caches what readers compute from a batch; its
    slices start with an empty cache.
    """

    schema: Schema
    time: NDArray[np.int64]
    type: NDArray[np.int32]
    columns: Mapping[str, NDArray[np.generic]]
    position: NDArray[np.int64]
    watermark: int | None = None
    _computed: dict[Hashable, Any] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        return len(self.time)

    def slice(self, start: int, stop: int, watermark: int | None = None) -> "EventBatch":
        """Events start..stop-1 as views; `watermark` as given."""
        return EventBatch(
            self.schema,
            self.time[start:stop],
            self.type[start:stop],
            {name: column[start:stop] for name, column in self.columns.items()},
            self.position[start:stop],
            watermark,
        )

    def take(self, rows: NDArray[np.int64]) -> "EventBatch":
        """The events at `rows` (in the order given, which must keep time order), as copies."""
        return EventBatch(
            self.schema,
            self.time[rows],
            self.type[rows],
            {name: column[rows] for name, column in self.columns.items()},
            self.position[rows],
            self.watermark,
        )

    def once(self, key: Hashable, compute: Callable[[], _Value]) -> _Value:
        """The result of `compute` on these events, computed once per batch and `key`."""
        cached = self._computed.get(key)
        if cached is None:
            cached = self._computed[key] = compute()
        value: _Value = cached
        return value

    @property
    def nbytes(self) -> int:
        """Bytes of all columns."""
        columns = sum(column.nbytes for column in self.columns.values())
        return self.time.nbytes + self.type.nbytes + self.position.nbytes + columns
