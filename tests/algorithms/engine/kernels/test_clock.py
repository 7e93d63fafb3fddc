"""The clock of the kernels beside `events.windows`, and the largest state that it notes."""

import numpy as np
import pytest

from cepbench.algorithms.engine.batches import sliding
from cepbench.algorithms.engine.kernels import clock
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.clock import HIGH, note
from cepbench.algorithms.engine.kernels.compilation import in_python
from cepbench.algorithms.engine.peak import Sizes
from cepbench.events.windows import Window

has_ended, next_boundary, opened = map(in_python, (clock.has_ended, clock.next_boundary, clock.opened))

SIZES = Sizes(cell_bytes=100, window_cells=20)


@pytest.mark.parametrize("window", [Window(6, 6), Window(6, 2), Window(7, 3), Window(2, 5)], ids=str)
def test_it_tells_the_windows_of_every_time(window: Window) -> None:
    low, high = 0, -1
    boundary = 0
    for now in [*range(40), 100]:
        if now < boundary:
            assert (window.first_at(now), window.last_at(now)) == (low, high)
            continue
        while has_ended(low, high, now, sliding(window)):
            assert window.end(low) <= now
            low += 1
        assert low > high or window.end(low) > now, "a window that has ended is not closed"
        low, high = opened(low, high, now, sliding(window))
        assert window.end(low) > now
        assert low == 0 or window.end(low - 1) <= now
        assert window.start(high) <= now < window.start(high + 1)
        boundary = next_boundary(low, high, sliding(window))
        assert boundary == min(window.end(low), window.start(high + 1))


def largest(others: int, now: Ints) -> int:
    """The most cells."""
    found = SIZES.largest(np.array([others]), now[np.newaxis])
    assert found.bytes == 100 * found.kinds["aggregates"]
    return found.kinds["aggregates"]


def test_the_state_of_most_cells_is_reported_and_then_forgotten() -> None:
    now = SIZES.clock()
    for windows, others in [(1, 3), (2, 1), (1, 15), (0, 20)]:
        now[HIGH] = windows - 1
        in_python(note)(others, now)
    assert largest(5, now) == 2 * 20 + 1
    assert largest(5, now) == 5


def test_it_may_be_that_of_now() -> None:
    now = SIZES.clock()
    now[HIGH] = 0
    in_python(note)(3, now)
    assert largest(4, now) == 20 + 4
