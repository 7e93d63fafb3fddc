"""Wider arrays: kernels own none, so their callers make room between calls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

_Scalar = TypeVar("_Scalar", bound=np.generic)
_Arrays = TypeVar("_Arrays", bound=NamedTuple)


def wider(array: NDArray[_Scalar], more: int, axis: int = -1) -> NDArray[_Scalar]:
    """A copy with `more` zeros behind the entries of an axis; room that is never used takes no memory."""
    shape = list(array.shape)
    shape[axis] += more
    wide = np.zeros(shape, array.dtype)
    wide[tuple(slice(size) for size in array.shape)] = array
    return wide


def widened(arrays: _Arrays, names: Iterable[str], more: int, axis: int = -1) -> _Arrays:
    """A named tuple with the arrays of these names made `wider`; it shares the others."""
    grown: dict[str, Any] = {name: wider(getattr(arrays, name), more, axis) for name in names}
    return arrays._replace(**grown)
