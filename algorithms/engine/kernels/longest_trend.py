"""The length of the longest trend in the stacks of a window."""

from __future__ import annotations

from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.compilation import kernel
from cepbench.algorithms.engine.kernels.constants import NONE
from cepbench.algorithms.engine.kernels.stacks import ALONE, Stacks
from cepbench.queries.tables import Tables


@kernel
def longest_trend(earliest: int, ends_from: Ints, tables: Tables, stacks: Stacks, length: Ints) -> int:
    """The length of the longest trend in the window that starts at `earliest`, or 0.

    Overwrites `length[V]` with the length of the longest trend that ends at each event (END or not). `ends_from[P]`:
    END events before this time are invalid. O(V) plus the pairs of events that follow one another.
    """
    longest = 0
    for v in range(stacks.counters[0].events):
        length[v] = 0
        if stacks.time[v] < earliest:
            continue
        p = stacks.position[v]
        best = 1 if tables.start[p] and stacks.barrier[v] < earliest else 0
        for at in range(stacks.pointer_ptr[v], stacks.pointer_ptr[v + 1]):
            u, floor = stacks.target[at], stacks.floor[at]
            while u != NONE and stacks.time[u] >= earliest and stacks.time[u] >= floor:
                if length[u] > 0:
                    best = max(best, length[u] + 1)
                u = NONE if floor == ALONE else stacks.below[u]
        length[v] = best
        if tables.end[p] and stacks.time[v] >= ends_from[p]:
            longest = max(longest, best)
    return longest
