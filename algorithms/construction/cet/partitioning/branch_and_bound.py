"""Branch-and-bound partitioning (dissertation Section 7.1, Algorithm 5)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.construction.cet.kernels.costs import Ranges
from cepbench.algorithms.construction.cet.kernels.plans import (
    WORD,
    Completions,
    CutSets,
    Plans,
    Stack,
    complete,
    generate,
)
from cepbench.algorithms.construction.cet.partitioning.costs import MAX_ATOMS, Costs
from cepbench.algorithms.construction.cet.partitioning.levels import balanced, highest_level, ideal_size
from cepbench.algorithms.construction.cet.partitioning.plan import FoundPartition, bounds_of
from cepbench.algorithms.engine.kernels.arrays import Ints

MAX_PLANS = 2**20
"""Maximum number of plans in the queue."""


def branch_and_bound(costs: Costs, limit: int) -> FoundPartition:
    """The cheapest nearly balanced plan that fits; on a homogeneous graph, the cheapest of all plans (Theorem 7.1).

    - Infeasible level pruning: level search skips the levels whose balanced plans do not fit (`highest_level`).
    - Unbalanced node pruning: only nearly balanced plans of a level are generated (Definition 6.4).
    - Inefficient branch pruning: once a plan fits, plans that are not cheaper are neither generated nor examined.

    The cheapest plan is first in the queue. When a plan of the lowest level so far is taken, the next level is added. A
    level whose plans are all pruned ends the search.

    Departures. The queue is sorted whenever a level is added, instead of being a heap. The paper prunes by the cuts of
    plans that fit, whose descendants cost more. Here costs are compared instead of cuts, since a plan that costs less
    than the best has no such ancestor. While no plan fits, the search continues with the next level, down to the
    lowest. Plans with a graphlet that exceeds the memory by itself are not generated. A plan of exactly `limit` bytes
    fits. In windows with more than a thousand cuts, some are not considered (`Costs.coarse`). The search ends when a
    level would put more than MAX_PLANS plans into the queue; if none fits by then, the result is the balanced plan of
    level search.

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
    bounds = None if search.best is None else bounds_of(search.best, atoms)
    if not ended and bounds is None and level.fits:
        bounds = balanced(atoms, level.graphlets)
    return FoundPartition(bounds, level.visited + search.visited, search.bytes_peak)


class _NodeSearch:
    """The second phase of Algorithm 5. `visited`: number of generated plans; `best`: the cuts of the best that fits."""

    def __init__(self, atoms: Ints, ranges: Ranges, limit: int) -> None:
        self.atoms, self.ranges, self.limit = atoms, ranges, limit
        self.number = len(atoms) - 1
        self.queue = self._plans(0)
        self.best: CutSets | None = None
        self.least = np.inf
        self.visited = self.peak = 0

    @property
    def bytes_peak(self) -> int:
        """Peak number of bytes of the plans in the queue."""
        return self.peak * _plan_bytes(self.queue.cuts.shape[1])

    def run(self, level: int) -> bool:
        """Searches from `level` down; False if there were too many plans."""
        if not self.add(level):
            return False
        while len(self.queue.cpu) or (self.best is None and level < self.number):
            reached = self._take(level)
            if level < self.number and (reached or self.best is None):
                level += 1
                if not self.add(level):
                    return False
        return True

    def add(self, level: int) -> bool:
        """Adds the nearly balanced plans of a level which are cheaper than the best; False if there are too many."""
        completions = Completions(np.empty((level + 1, self.number + 1)), np.empty((level + 1, self.number + 1)))
        ideal = ideal_size(self.atoms, level)
        complete(level, ideal, self.atoms, self.ranges, completions)
        if not completions.cpu[level, 0] < self.least:
            return True
        if len(self.queue.cpu) + completions.ways[level, 0] > MAX_PLANS:
            return False
        plans = self._plans(int(completions.ways[level, 0]))
        stack = Stack(np.zeros(level, np.int64), np.zeros(level, np.int64), np.zeros(level), np.zeros(level))
        found = generate(level, ideal, self.least, self.atoms, self.ranges, completions, stack, plans)
        queue = [np.concatenate([old, new[:found]]) for old, new in zip(self.queue, plans, strict=True)]
        order = np.argsort(queue[1], kind="stable")  # the queue is sorted already, which this makes use of
        self.queue = Plans._make(array[order] for array in queue)
        self.visited += found
        self.peak = max(self.peak, len(order))
        return True

    def _take(self, level: int) -> bool:
        """Takes plans from the queue until one of `level`, or one that fits; whether it was of this level.

        The plans behind one that fits are not cheaper: they are dropped, with their descendants, which cost more.
        """
        size, fits = len(self.queue.cpu), self.queue.bytes <= self.limit
        of_level = 1 + np.bitwise_count(self.queue.cuts).sum(axis=1) == level
        at = int(np.argmax(np.append(fits | of_level, True)))
        reached = at < size and bool(of_level[at])
        if at < size and fits[at]:
            self.best, self.least, at = self.queue.cuts[at], self.queue.cpu[at], size
        self.queue = Plans._make(array[at + 1 :] for array in self.queue)
        return reached

    def _plans(self, number: int) -> Plans:
        words = -(-self.number // WORD)
        return Plans(np.zeros((number, words), np.uint64), np.zeros(number), np.zeros(number))


def _plan_bytes(words: int) -> int:
    """Bytes of a plan in the queue: its cuts and two costs."""
    return 8 * (words + 2)
