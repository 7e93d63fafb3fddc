"""The windows that are open at a time: window k covers [k * slide, k * slide + within).

A clock holds the current time and the lowest and the highest window opened so far; it never goes back. Kernels that let
what events of one time stamp add wait keep there, too, how many slots are TOUCHED, and whether an event OCCUPIED the
current time, or windows were only closed up to it.

Behind them is the largest state, which rises and falls inside a call: the cells of open windows and others, as those of
trends that wait. It only grows between two boundaries of windows or time stamps, so a kernel notes it there,
before it drops anything. It lies in the clock, since another array among the arguments of small kernels slowed them
down by a fifth.
"""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Ints, Place
from cepbench.algorithms.engine.kernels.compilation import inlined
from cepbench.algorithms.engine.kernels.events import Sliding

NOW, LOW, HIGH, TOUCHED, OCCUPIED = range(5)
PER_WINDOW, MOST = 5, 6


def new_clock(window_cells: int) -> Ints:
    """int64[7]: a clock before the first event; the cells of an open window, and the most cells noted."""
    return np.array([-1, 0, -1, 0, 0, window_cells, 0], np.int64)


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
    found = row + k - low
    return found if found < span else found - span


@inlined
def touch(p: Place, waiting: Ints, clock: Ints) -> None:
    """Lists p once among the first `clock[TOUCHED]` of `waiting`."""
    for k in range(clock[TOUCHED]):
        if waiting[k] == p:
            return
    waiting[clock[TOUCHED]] = p
    clock[TOUCHED] += 1


@inlined
def note(others: int, clock: Ints) -> None:
    """Notes the state of the windows that are open and of so many other cells."""
    cells = (clock[HIGH] - clock[LOW] + 1) * clock[PER_WINDOW] + others
    if cells > clock[MOST]:
        clock[MOST] = cells
