"""Searches for a plan of graphlets that fits into memory (dissertation Chapter 7, Section 8.3).

`branch_and_bound` is Algorithm 5, whose first phase is `highest_level` (Section 6.3); `greedy` partitioning visits one
plan per level (Section 7.2), and `exhaustive` partitioning every plan.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import NamedTuple

import numpy as np

from cepbench.algorithms.construction.cet.kernels.costs import Ranges
from cepbench.algorithms.construction.cet.kernels.plans import (
    WORD,
    Completions,
    CutSets,
    Plans,
    Stack,
    cheapest,
    complete,
    extend,
    generate,
)
from cepbench.algorithms.construction.cet.partitioning.costs import MAX_ATOMS, Costs
from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.events.errors import CepbenchError

MAX_PLANS = 2**20
"""Maximum number of plans in the queue."""

EXHAUSTIVE_ATOMS = 26
"""Maximum number of atomic graphlets of a graph all of whose plans are visited."""


@dataclass(frozen=True, eq=False)
class FoundPartition:
    """The bounds of the plan, or None if none was found that fits; number of plans visited, bytes of stored plans."""

    bounds: Ints | None
    visited: int
    bytes_peak: int


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
        number = generate(level, ideal, self.least, self.atoms, self.ranges, completions, stack, plans)
        queue = [np.concatenate([old, new[:number]]) for old, new in zip(self.queue, plans, strict=True)]
        order = np.argsort(queue[1], kind="stable")  # the queue is sorted already, which this makes use of
        self.queue = Plans._make(array[order] for array in queue)
        self.visited += number
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


def bounds_of(cuts: CutSets, atoms: Ints) -> Ints:
    """The bounds of the plan with the cuts in the set `cuts`, uint64[W]."""
    chosen = np.unpackbits(cuts.view(np.uint8), bitorder="little")[: len(atoms) - 2].astype(np.bool_)
    bounds: Ints = atoms[np.concatenate([[True], chosen, [True]])]
    return bounds


def _plan_bytes(words: int) -> int:
    """Bytes of a plan in the queue: its cuts and two costs."""
    return 8 * (words + 2)


def ideal_size(atoms: Ints, level: int) -> int:
    """ceil(|V| / k): the maximum number of vertices of a graphlet in a balanced plan with k = `level` graphlets."""
    return -(-int(atoms[-1]) // level)


def balanced(atoms: Ints, level: int, ratio: float = 1.0) -> Ints:
    """The bounds of the plan with `level` graphlets whose i-th cut is the one closest to i |V| / k. O(k log a).

    On a homogeneous graph, the numbers of atomic graphlets per graphlet are as equal as possible, and no plan of the
    level takes less memory (Theorem 6.3). On other graphs this is a heuristic. The target size of the first graphlet is
    `ratio` times that of the others.
    """
    number, steps = len(atoms) - 1, np.arange(1, level)
    aims = (ratio + steps - 1) * int(atoms[-1]) / (ratio + level - 1)
    above = np.searchsorted(atoms, aims)
    nearest = above - (aims - atoms[above - 1] < atoms[above] - aims)
    # Cuts are distinct, and each leaves at least one atomic graphlet per remaining graphlet.
    nearest = np.clip(np.maximum.accumulate(nearest - steps), 0, number - level) + steps
    bounds: Ints = atoms[np.concatenate([[0], nearest, [number]])]
    return bounds


def filled(atoms: Ints, level: int) -> Ints:
    """The bounds of the plan that fills graphlets greedily up to the ideal size, from the first on. O(a).

    Each of the `level` graphlets has at least one atomic graphlet. On a homogeneous graph the plan is nearly balanced.
    """
    number, ideal = len(atoms) - 1, ideal_size(atoms, level)
    ends = [0]
    for left in range(level - 1, 0, -1):
        begin = ends[-1]
        full = int(np.searchsorted(atoms, atoms[begin] + ideal))
        ends.append(min(max(full, begin + 1), number - left))
    bounds: Ints = atoms[[*ends, number]]
    return bounds


class CutLevel(NamedTuple):
    """A number of graphlets, whether its balanced plan fits, and the number of plans examined to find it."""

    graphlets: int
    fits: bool
    visited: int


def highest_level(costs: Costs, limit: int) -> CutLevel:
    """The least number of graphlets whose balanced plan fits into `limit` bytes.

    Infeasible level pruning: if the balanced plan with i graphlets does not fit, no plan with i graphlets does, on a
    homogeneous graph (Theorem 6.3).

    Departure: the binary search only compares the bytes of stored trends, for which Theorem 6.1 holds. The path under
    construction, a few bytes per graphlet, can make a plan with more graphlets larger. So after the binary search, the
    level is lowered step by step until the whole plan fits; on most graphs this takes at most one step. If no balanced
    plan fits, the result is the level of the binary search.

    O(log a) plans, plus one per step, each O(|V| + |E|).
    """
    atoms, number = costs.atoms, len(costs.atoms) - 1
    low, high, lowest, visited = 1, number, number, 0
    while low <= high:
        level = (low + high) // 2
        visited += 1
        if costs.least_bytes(balanced(atoms, level)) <= limit:
            lowest, high = level, level - 1
        else:
            low = level + 1
    for level in range(lowest, number + 1):
        visited += 1
        if costs.cost(balanced(atoms, level)).bytes <= limit:
            return CutLevel(level, True, visited)
    return CutLevel(lowest, False, visited)


def greedy(costs: Costs, limit: int) -> FoundPartition:
    """The first plan that fits, from the highest level down: one per level, each graphlet filled to the ideal size.

    The plan can have more graphlets than necessary. O(a) plans of O(|V| + |E|) time, one stored at a time. The paper
    continues at "level i - 1"; since plans with fewer graphlets need more memory, it is i + 1 here. In windows with
    more than a thousand cuts, some are not considered (`Costs.coarse`).
    """
    costs = costs.coarse(limit)
    highest = highest_level(costs, limit)
    visited = highest.visited
    for graphlets in range(highest.graphlets, len(costs.atoms)):
        bounds = filled(costs.atoms, graphlets)
        visited += 1
        if costs.cost(bounds).bytes <= limit:
            return FoundPartition(bounds, visited, bounds.nbytes)
    return FoundPartition(None, visited, costs.atoms.nbytes)


class TooManyPlans(CepbenchError):
    """A graph has too many plans to visit all of them."""


def exhaustive(costs: Costs, limit: int) -> FoundPartition:
    """The cheapest of all 2^(a - 1) plans of `a` atomic graphlets that fit, level by level from the top.

    O(a 2^a) time, O(2^a / sqrt a) space for two adjacent levels.
    """
    number = len(costs.atoms) - 1
    if number > EXHAUSTIVE_ATOMS:
        raise TooManyPlans(
            f"exhaustive partitioning would visit 2^{number - 1} plans of {number} atomic graphlets; it is limited to "
            f"{EXHAUSTIVE_ATOMS} atomic graphlets"
        )
    ranges = costs.ranges(limit)
    least = np.array([np.inf])
    level = np.zeros(1, np.uint64)
    best, visited, peak = None, 0, 0
    for cuts in range(number):
        visited += len(level)
        row = cheapest(number, level, float(limit), ranges, least)
        if row >= 0:
            best = bounds_of(level[row : row + 1].copy(), costs.atoms)
        children = np.empty(comb(number - 1, cuts + 1), np.uint64)
        if len(children):
            extend(number, level, children)
        peak = max(peak, level.nbytes + children.nbytes)
        level = children
    return FoundPartition(best, visited, peak)
