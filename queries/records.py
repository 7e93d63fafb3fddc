"""Tables of kernels as arrays of records: a class lists the fields of a record, and `records_of` makes the dtype.

A kernel passes a record as one pointer, and an array of records as one array, however many fields it has.
"""

from __future__ import annotations

from functools import cache
from typing import Any, get_type_hints

import numpy as np
from numpy.typing import NDArray

Records = NDArray[np.void]


@cache
def records_of(record: type) -> np.dtype[np.void]:
    """The dtype of a record: fields are int64, float64 or bool, or as declared: a NumPy type, or another record."""

    def type_of(hint: Any) -> Any:
        if hint in (int, float, bool):
            return np.dtype(hint)
        return hint if issubclass(hint, np.generic) else records_of(hint)

    return np.dtype([(name, type_of(hint)) for name, hint in get_type_hints(record).items()], align=True)
