"""Records that kernels of Hamlet and of Gloria have in common."""

from __future__ import annotations

import numpy as np


class OpenRecord:
    """Windows of a kind: the first and the last that are open."""

    low: int
    high: int


class PendingRecord:
    """Entry n has the n-th of the slots, or outlets, that are `touched`, and whether number n is `marked` as such."""

    touched: int
    marked: np.bool_


class NegationRecord:
    """A match of a negation empties the slots `void` to `void_end` in `lists`."""

    void: int
    void_end: int
