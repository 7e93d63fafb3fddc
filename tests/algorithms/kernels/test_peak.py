"""The largest state that kernels note."""

import numpy as np

from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.clock import HIGH
from cepbench.algorithms.kernels.compilation import in_python
from cepbench.algorithms.kernels.peak import new_clock, note
from cepbench.algorithms.running.peak import largest_of_all


def largest(kept: int, clock: Ints) -> tuple[int, int]:
    return largest_of_all(np.array([kept]), clock[np.newaxis])


def test_the_state_of_most_bytes_is_reported_and_then_forgotten() -> None:
    clock = new_clock(100, 7)
    for windows, kept in [(1, 3), (2, 1), (1, 15), (0, 20)]:
        clock[HIGH] = windows - 1
        in_python(note)(kept, clock)
    assert largest(5, clock) == (2, 1)
    assert largest(5, clock) == (0, 5)


def test_it_may_be_that_of_now() -> None:
    clock = new_clock(100, 7)
    clock[HIGH] = 0
    in_python(note)(3, clock)
    assert largest(4, clock) == (1, 4)
