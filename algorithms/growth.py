"""Arrays that make room for more items. Kernels own no array, so their callers do it between calls."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

_Scalar = TypeVar("_Scalar", bound=np.generic)


def resized(array: NDArray[_Scalar], more: int, axis: int = -1, fill: Any = None) -> NDArray[_Scalar]:
    """A copy with `more` entries behind those of an axis, of `fill` or zeros; with fewer entries if `more` is negative.

    Zeros that are never used take no memory.
    """
    shape = list(array.shape)
    shape[axis] += more
    copy = np.zeros(shape, array.dtype)
    common = tuple(map(slice, map(min, shape, array.shape)))
    copy[common] = array[common]
    if fill is not None and more > 0:
        np.moveaxis(copy, axis, 0)[-more:] = fill
    return copy


def with_room(array: NDArray[_Scalar], items: int, fill: Any = None, axis: int = 0) -> NDArray[_Scalar]:
    """The array with room for so many items, such as keys: for half as many more, where there were any before."""
    room = array.shape[axis]
    return resized(array, max(items, room * 3 // 2) - room, axis, fill) if items > room else array
