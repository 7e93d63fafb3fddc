"""The largest state of an evaluator, which rises and falls inside a call of its kernel.

The state is that of open windows and of what else is kept: vertices, waiting events or pending cells. It only
grows between two boundaries of windows or time stamps, so a kernel notes it there, before it drops anything.

What is noted lies in the clock: another array among the arguments of small kernels slowed them down by a fifth.
"""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.clock import HIGH, LOW
from cepbench.algorithms.kernels.compilation import inlined

_PER_WINDOW, _PER_KEPT, _BYTES, _WINDOWS, _KEPT = 5, 6, 7, 8, 9


def new_clock(per_window: int, per_kept: int) -> Ints:
    """int64[10]: a clock before the first event, with two entries for its user; bytes of an open window and of a kept
    thing; the most bytes noted, and the windows and kept things then.
    """
    return np.array([-1, 0, -1, 0, 0, per_window, per_kept, 0, 0, 0], np.int64)


@inlined
def note(kept: int, clock: Ints) -> None:
    """Notes the state of the windows that are open and of `kept` things."""
    windows = clock[HIGH] - clock[LOW] + 1
    size = windows * clock[_PER_WINDOW] + kept * clock[_PER_KEPT]
    if size > clock[_BYTES]:
        clock[_BYTES], clock[_WINDOWS], clock[_KEPT] = size, windows, kept
