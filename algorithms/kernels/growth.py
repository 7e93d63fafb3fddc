"""Wider arrays: kernels own none, so whoever calls them makes room between calls."""

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


def with_more_places(arena: _Arrays, names: Iterable[str]) -> _Arrays:
    """Twice the places of an arena; the arrays of these names have them along their first axis.

    It has a stack `free[N]` of free places, of which there are `left[0]`, and `ints`, `reals` and `cells` with as many
    entries for each place as for any other.
    """
    more: Any = arena
    places, count = len(more.free), int(more.left[0])
    free = wider(more.free, places)
    free[count : count + places] = np.arange(places, 2 * places)
    more = widened(widened(more, names, places, axis=0), ("ints", "reals"), more.ints.shape[1])
    cells = widened(more.cells, more.cells._fields, len(more.cells.over), axis=0)
    grown: _Arrays = more._replace(cells=cells, free=free, left=more.left + places)
    return grown
