"""Sorts matches by window, then by the positions of their events."""

from __future__ import annotations

from cepbench.algorithms.engine.kernels.arrays import Flags, Ints
from cepbench.algorithms.engine.kernels.compilation import inlined, kernel


@kernel
def order_matches(window: Ints, offsets: Ints, positions: Ints, order: Ints, scratch: Ints) -> None:
    """Writes the order of n matches (`algorithms.rows.MatchRows`) to `order[n]`; `scratch[n]` is overwritten.

    Bottom-up stable merge sort: O(n log n) comparisons of matches.
    """
    n = len(window)
    for i in range(n):
        order[i] = i
    width = 1
    while width < n:
        for low in range(0, n, 2 * width):
            middle, high = min(low + width, n), min(low + 2 * width, n)
            i, j = low, middle
            for at in range(low, high):
                if j >= high or (i < middle and not _before(order[j], order[i], window, offsets, positions)):
                    scratch[at] = order[i]
                    i += 1
                else:
                    scratch[at] = order[j]
                    j += 1
        for i in range(n):
            order[i] = scratch[i]
        width *= 2


@kernel
def mark_distinct(window: Ints, offsets: Ints, positions: Ints, order: Ints, distinct: Flags) -> None:
    """Sets `distinct[i]` where match `order[i]` differs from the one before it; `order[n]` sorts the matches."""
    for i in range(len(order)):
        distinct[i] = i == 0 or _before(order[i - 1], order[i], window, offsets, positions)


@inlined
def _before(a: int, b: int, window: Ints, offsets: Ints, positions: Ints) -> bool:
    """Whether match a comes before match b."""
    if window[a] != window[b]:
        return window[a] < window[b]
    first, second = offsets[a], offsets[b]
    both = min(offsets[a + 1] - first, offsets[b + 1] - second)
    for k in range(both):
        if positions[first + k] != positions[second + k]:
            return positions[first + k] < positions[second + k]
    return offsets[a + 1] - first < offsets[b + 1] - second
