"""Tables of kernels as arrays of records: a class lists the fields of a record, and `records_of` makes the dtype.

A kernel passes a record as one pointer, and an array of records as one array, however many fields it has. Python reads
and writes a field of a record by its name, as kernels do.
"""

from __future__ import annotations

from functools import cache
from typing import Any, get_type_hints

import numpy as np
from numpy.typing import NDArray

Records = NDArray[np.void]


class Record(np.void):  # type: ignore[misc] # NumPy's own `np.record` inherits from it, too
    """A record with its fields as attributes, before those of NumPy's scalars (`real`)."""

    def __getattribute__(self, name: str) -> Any:
        try:
            return np.void.__getitem__(self, name)
        except ValueError:  # no field
            return super().__getattribute__(name)

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


@cache
def records_of(record: type) -> np.dtype[np.void]:
    """The dtype of a record: fields are int64, float64 or bool, or as declared: a NumPy type, or another record."""

    def type_of(hint: Any) -> Any:
        if hint in (int, float, bool):
            return np.dtype(hint)
        return hint if issubclass(hint, np.generic) else records_of(hint)

    fields = np.dtype([(name, type_of(hint)) for name, hint in get_type_hints(record).items()], align=True)
    return np.dtype((Record, fields))
