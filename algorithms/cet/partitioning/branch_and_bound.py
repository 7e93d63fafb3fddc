"""Branch-and-bound partitioning (dissertation Section 7.1, Algorithm 5)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.cet.kernels.costs import Ranges
from cepbench.algorithms.cet.kernels.plans import (
    PEAK,
    PUSHED,
    SIZE,
    WORD,
    Completions,
    Heap,
    Stack,
    complete,
    generate,
    search_heap,
)
from cepbench.algorithms.cet.partitioning.balanced import balanced, ideal_size
from cepbench.algorithms.cet.partitioning.costs import MAX_ATOMS, Costs
from cepbench.algorithms.cet.partitioning.levels import highest_level
from cepbench.algorithms.cet.partitioning.search import FoundPartition, bounds_of
from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.growth import wider

MAX_PLANS = 2**20
"""Maximum number of plans in the heap."""


def branch_and_bound(costs: Costs, limit: int) -> FoundPartition:
    """The cheapest nearly balanced plan that fits; on a homogeneous graph, the cheapest of all plans (Theorem 7.1).

    - Infeasible level pruning: level search skips the levels whose balanced plans do not fit (`highest_level`).
    - Unbalanced node pruning: only nearly balanced plans of a level are generated (Definition 6.4).
    - Inefficient branch pruning: once a plan fits, plans that are not cheaper are neither generated nor examined.

    The cheapest plan is on top of the heap. When a plan of the lowest level so far is popped, the next level is pushed.
    A level whose plans are all pruned ends the search.

    Departures. The paper prunes by the cuts of plans that fit, whose descendants cost more. Here costs are compared
    instead of cuts, since a plan that costs less than the best has no such ancestor. While no plan fits, the search
    continues with the next level, down to the lowest. Plans with a graphlet that exceeds the memory by itself are not
    generated. A plan of exactly `limit` bytes fits. In windows with more than a thousand cuts, some are not considered
    (`Costs.coarse`). The search ends when a level would put more than MAX_PLANS plans into the heap; if none fits by
    then, the result is the balanced plan of level search.

    O(2^a) time and space in the worst case, for `a` atomic graphlets.
    """
    costs = costs.coarse(limit)
    atoms = costs.atoms
    if len(atoms) - 1 > MAX_ATOMS:
        return FoundPartition(None, 0, 0)
    level = highest_level(costs, limit)
    if level.graphlets == 1 and level.fits:
        return FoundPartition(balanced(atoms, 1), level.visited, _plan_bytes(1))
    search = _NodeSearch(atoms, costs.ranges(limit), limit)
    ended = search.run(level.graphlets)
    bounds = search.best if search.found else None
    if not ended and bounds is None and level.fits:
        bounds = balanced(atoms, level.graphlets)
    return FoundPartition(bounds, level.visited + search.visited, search.bytes_peak)


class _NodeSearch:
    """The second phase of Algorithm 5: the heap and its inputs, with space for one more level of plans."""

    def __init__(self, atoms: Ints, ranges: Ranges, limit: int) -> None:
        self.atoms, self.ranges, self.limit = atoms, ranges, limit
        self.number = len(atoms) - 1
        words = -(-self.number // WORD)
        self.heap = Heap(
            cuts=np.zeros((0, words), np.uint64),
            cpu=np.zeros(0),
            bytes=np.zeros(0),
            counters=np.zeros(3, np.int64),
            best=np.zeros(words, np.uint64),
            least_cpu=np.array([np.inf]),
        )

    @property
    def found(self) -> bool:
        """Whether a plan fits."""
        return bool(np.isfinite(self.heap.least_cpu[0]))

    @property
    def best(self) -> Ints:
        """The bounds of the best plan."""
        return bounds_of(self.heap.best, self.atoms)

    @property
    def visited(self) -> int:
        """Number of generated plans."""
        return int(self.heap.counters[PUSHED])

    @property
    def bytes_peak(self) -> int:
        """Peak number of bytes of the plans in the heap."""
        return int(self.heap.counters[PEAK]) * _plan_bytes(self.heap.cuts.shape[1])

    def run(self, level: int) -> bool:
        """Searches from `level` down; False if there were too many plans."""
        if not self._push_level(level):
            return False
        while self.heap.counters[SIZE] > 0 or (not self.found and level < self.number):
            reached = search_heap(level, float(self.limit), self.heap)
            if level < self.number and (reached or not self.found):
                level += 1
                if not self._push_level(level):
                    return False
        return True

    def _push_level(self, level: int) -> bool:
        completions = Completions(np.empty((level + 1, self.number + 1)), np.empty((level + 1, self.number + 1)))
        ideal = ideal_size(self.atoms, level)
        complete(level, ideal, self.atoms, self.ranges, completions)
        if not completions.cpu[level, 0] < self.heap.least_cpu[0]:
            return True
        size = int(self.heap.counters[SIZE])
        if size + completions.ways[level, 0] > MAX_PLANS:
            return False
        room = int(completions.ways[level, 0])
        self.heap = self.heap._replace(
            **{name: wider(getattr(self.heap, name)[:size], room, axis=0) for name in ("cuts", "cpu", "bytes")}
        )
        stack = Stack(np.zeros(level, np.int64), np.zeros(level, np.int64), np.zeros(level), np.zeros(level))
        generate(level, ideal, self.atoms, self.ranges, completions, stack, self.heap)
        return True


def _plan_bytes(words: int) -> int:
    """Bytes of a plan in the heap: its cuts and two costs."""
    return 8 * (words + 2)
