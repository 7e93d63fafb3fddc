"""Wider copies of arrays."""

from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from cepbench.algorithms.engine.kernels.growth import widened, wider


class Kept(NamedTuple):
    time: NDArray[np.int64]
    reals: NDArray[np.float64]
    counters: NDArray[np.int64]


@pytest.mark.parametrize(("axis", "shape"), [(-1, (2, 8)), (1, (2, 8)), (0, (7, 3)), (-2, (7, 3))])
def test_entries_stay_where_they_are_and_zeros_follow(axis: int, shape: tuple[int, int]) -> None:
    array = np.arange(1, 7, dtype=np.int32).reshape(2, 3)
    wide = wider(array, 5, axis)
    assert wide.shape == shape
    assert wide.dtype == np.int32
    assert wide[:2, :3].tolist() == array.tolist()
    assert wide.sum() == array.sum()


@pytest.mark.parametrize("array", [np.zeros(0), np.zeros((3, 0)), np.zeros((0, 2)), np.ones(4, np.bool_)])
def test_arrays_may_be_empty(array: NDArray[Any]) -> None:
    wide = wider(array, 2)
    assert wide.shape == (*array.shape[:-1], array.shape[-1] + 2)
    assert wide.dtype == array.dtype


def test_a_copy_shares_no_entries() -> None:
    array = np.zeros(3)
    wider(array, 0)[0] = 1
    assert array[0] == 0


def test_named_arrays_of_a_tuple_grow_and_the_others_are_shared() -> None:
    kept = Kept(np.arange(3), np.ones((2, 3)), np.zeros(1, np.int64))
    wide = widened(kept, ("time", "reals"), 3)
    assert isinstance(wide, Kept)
    assert wide.time.tolist() == [0, 1, 2, 0, 0, 0]
    assert wide.reals.tolist() == [[1, 1, 1, 0, 0, 0]] * 2
    assert wide.counters is kept.counters
