"""The clock of the kernels beside `events.windows`."""

import pytest

from cepbench.algorithms.kernels import clock
from cepbench.algorithms.kernels.compilation import in_python
from cepbench.algorithms.running.batches import sliding
from cepbench.events.windows import Window

has_ended, next_boundary, opened = map(in_python, (clock.has_ended, clock.next_boundary, clock.opened))


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
