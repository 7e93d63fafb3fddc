"""The largest state that kernels note."""

import numpy as np

from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.clock import HIGH
from cepbench.algorithms.kernels.compilation import in_python
from cepbench.algorithms.kernels.peak import note
from cepbench.algorithms.running.peak import Sizes

SIZES = Sizes(cell_bytes=100, window_cells=1, kept_cells=0, kept_bytes=7)


def largest(kept: int, clock: Ints) -> tuple[int, int]:
    """Windows and kept things."""
    kinds = SIZES.largest(np.array([kept]), clock[np.newaxis]).kinds
    return kinds["aggregates"], kinds["events"]


def test_the_state_of_most_bytes_is_reported_and_then_forgotten() -> None:
    clock = SIZES.clock()
    for windows, kept in [(1, 3), (2, 1), (1, 15), (0, 20)]:
        clock[HIGH] = windows - 1
        in_python(note)(kept, clock)
    assert largest(5, clock) == (2, 1)
    assert largest(5, clock) == (0, 5)


def test_it_may_be_that_of_now() -> None:
    clock = SIZES.clock()
    clock[HIGH] = 0
    in_python(note)(3, clock)
    assert largest(4, clock) == (1, 4)
