"""The windows that are open at a time: window k covers [k * slide, k * slide + within).

A clock also holds the largest state. The state rises and falls inside a call, but only grows between two boundaries of
windows or time stamps. So a kernel notes the state at a boundary, before it drops anything. A separate array among the
arguments of small kernels slowed them down by a fifth.
"""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Ints, Place
from cepbench.algorithms.engine.kernels.compilation import inlined
from cepbench.algorithms.engine.kernels.constants import NEVER
from cepbench.algorithms.engine.kernels.events import Sliding
from cepbench.queries.records import Records, records_of


class ClockRecord:
    """The clock of a key.

    - `now`: the current time. The open windows are `low..high`; none is open if `low > high`. None of these decreases.
    - `touched`: slots whose new trends wait until the current time ends. `occupied`: an event of the current time came
      that the cells do not show yet (1 or 0: a bool would leave padding, in which pickles of equal clocks differ).
    - `window_cells`: cells of an open window. `most_cells`: the most cells of open windows and of others, as those of
      trends that wait, since the last report.
    """

    now: int
    low: int
    high: int
    touched: int
    occupied: int
    window_cells: int
    most_cells: int


def new_clock(window_cells: int) -> Records:
    """`ClockRecord[1]`: a clock before the first event."""
    clock = np.zeros(1, records_of(ClockRecord))
    clock["now"], clock["high"], clock["window_cells"] = NEVER, -1, window_cells
    return clock


@inlined
def next_boundary(low: int, high: int, window: Sliding) -> int:
    """The time at which one of the windows low..high ends or the next one begins: until then they stay as they are."""
    end, begin = low * window.slide + window.within, (high + 1) * window.slide
    return end if end < begin else begin  # Numba compiles `min` and `max` anew for each kernel that calls them


@inlined
def has_ended(low: int, high: int, now: int, window: Sliding) -> bool:
    """Whether the lowest of the windows low..high, if there is any, ends by `now`."""
    return low <= high and low * window.slide + window.within <= now


@inlined
def opened(low: int, high: int, now: int, window: Sliding) -> tuple[int, int]:
    """The lowest and the highest window opened by `now`, once those of low..high that end by `now` are closed."""
    lowest, highest = (now - window.within) // window.slide + 1, now // window.slide
    return lowest if lowest > low else low, highest if highest > high else high


@inlined
def row_of(k: int, low: int, row: int, span: int) -> int:
    """The row k % span of a window k in low..low + span - 1, without a division; `row` is low % span."""
    place = row + k - low
    return place if place < span else place - span


@inlined
def touch(p: Place, waiting: Ints, clock: ClockRecord) -> None:
    """Lists p once among the first `clock.touched` of `waiting`."""
    for k in range(clock.touched):
        if waiting[k] == p:
            return
    waiting[clock.touched] = p
    clock.touched += 1


@inlined
def note(others: int, clock: ClockRecord) -> None:
    """Notes the state of the windows that are open and of so many other cells."""
    cells = (clock.high - clock.low + 1) * clock.window_cells + others
    if cells > clock.most_cells:
        clock.most_cells = cells
