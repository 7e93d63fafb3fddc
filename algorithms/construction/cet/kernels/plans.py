"""Searches for a partitioning plan: nearly balanced plans, all plans of a level, the plan with least memory
(dissertation 6.3, 7.1, 8.3).

A plan of `a` atomic graphlets is a set of cuts: bit c - 1 is set if a graphlet ends with atomic graphlet c - 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.construction.cet.kernels.costs import Ranges
from cepbench.algorithms.engine.kernels.arrays import Ints, Reals
from cepbench.algorithms.engine.kernels.compilation import inlined, kernel

CutSets = NDArray[np.uint64]

WORD = 64
"""Cuts per word of a cut set."""

_ONE = np.uint64(1)


class Plans(NamedTuple):
    """Plans with their costs: `cuts[n, W]`, `cpu[n]`, `bytes[n]`."""

    cuts: CutSets
    cpu: Reals
    bytes: Reals


class Completions(NamedTuple):
    """Nearly balanced ways to cut the atomic graphlets from p on into r graphlets, the last ones of a plan.

    `ways[r, p]`: their number; `cpu[r, p]`: the cost of the cheapest; both float64[k + 1, a + 1].
    """

    ways: Reals
    cpu: Reals


class Stack(NamedTuple):
    """A plan under construction: graphlet d is the atomic graphlets begin[d]..end[d]-1; total costs of those before."""

    begin: Ints
    end: Ints
    cpu: Reals
    bytes: Reals


@kernel
def complete(level: int, ideal: int, atoms: Ints, ranges: Ranges, completions: Completions) -> None:
    """Fills the completions of plans with `level` graphlets of `ideal` vertices. O(k a r); r: the longest range."""
    number = len(atoms) - 1
    ways, cpu = completions
    ways[:] = 0.0
    cpu[:] = np.inf
    ways[0, number], cpu[0, number] = 1.0, 0.0
    for left in range(1, level + 1):
        for p in range(number - left + 1):
            for q in range(p + 1, p + 1 + _longest(p, ranges)):
                if ways[left - 1, q] > 0 and _nearly_balanced(p, q, left == level, left == 1, ideal, atoms):
                    ways[left, p] += ways[left - 1, q]
                    cpu[left, p] = min(cpu[left, p], ranges.cpu[ranges.row[p] + q - p - 1] + cpu[left - 1, q])


@kernel
def generate(
    level: int, ideal: int, bound: float, atoms: Ints, ranges: Ranges, completions: Completions, stack: Stack,
    plans: Plans,
) -> int:  # fmt: skip
    """Writes all nearly balanced plans with `level` graphlets and less CPU cost than `bound`; returns their number.

    Depth-first; the caller zeroes `plans`. O(k) per plan, and O(k r) for branches without a plan.
    """
    ways, least = completions
    begin, end, cpu, size = stack
    written, depth = 0, 0
    begin[0], end[0], cpu[0], size[0] = 0, 0, 0.0, 0.0
    while depth >= 0:
        p, left = begin[depth], level - depth
        q = end[depth] + 1
        stop = p + 1 + _longest(p, ranges)
        while q < stop:
            spent = cpu[depth] + ranges.cpu[ranges.row[p] + q - p - 1]
            if (
                ways[left - 1, q] > 0
                and spent + least[left - 1, q] < bound
                and _nearly_balanced(p, q, depth == 0, left == 1, ideal, atoms)
            ):
                break
            q += 1
        if q == stop:
            depth -= 1
            continue
        end[depth] = q
        used = size[depth] + ranges.bytes[ranges.row[p] + q - p - 1]
        if left == 1:
            for d in range(depth):
                c = end[d] - 1
                plans.cuts[written, c // WORD] |= _ONE << np.uint64(c % WORD)
            plans.cpu[written], plans.bytes[written] = spent, used
            written += 1
        else:
            depth += 1
            begin[depth], end[depth], cpu[depth], size[depth] = q, q, spent, used
    return written


@kernel
def extend(number: int, plans: CutSets, children: CutSets) -> None:
    """Writes all plans with one more cut than a plan of at least two atomic graphlets, each once: after its last cut.

    O(1) per child.
    """
    written = 0
    for n in range(len(plans)):
        plan = plans[n]
        cut = _ONE << np.uint64(number - 2)
        while cut > plan:
            children[written] = plan | cut
            written += 1
            cut >>= _ONE


@kernel
def cheapest(number: int, plans: CutSets, limit: float, ranges: Ranges, least: Reals) -> int:
    """The index of the plan with the least CPU cost within `limit` bytes, or -1 if none costs less than `least[0]`.

    `least[0]` is set to its cost. O(a) per plan.
    """
    best = -1
    for n in range(len(plans)):
        plan = plans[n]
        cpu, size = 0.0, 0.0
        p = 0
        for q in range(1, number + 1):
            if q < number and not plan >> np.uint64(q - 1) & _ONE:
                continue
            if q - p > _longest(p, ranges):
                size = np.inf
                break
            cpu += ranges.cpu[ranges.row[p] + q - p - 1]
            size += ranges.bytes[ranges.row[p] + q - p - 1]
            p = q
        if size <= limit and cpu < least[0]:
            best, least[0] = n, cpu
    return best


@kernel
def least_memory(ranges: Ranges, size: Reals, before: Ints) -> None:
    """Sets `size[q]`, the least bytes of atomic graphlets 0..q-1, and `before[q]`, where their last graphlet begins.

    O(a r).
    """
    number = len(size) - 1
    size[:] = np.inf
    size[0] = 0.0
    for p in range(number):
        for q in range(p + 1, p + 1 + _longest(p, ranges)):
            needed = size[p] + ranges.bytes[ranges.row[p] + q - p - 1]
            if needed < size[q]:
                size[q], before[q] = needed, p


@inlined
def _longest(p: int, ranges: Ranges) -> int:
    """Number of atomic graphlets in the longest range from p on that may fit."""
    return ranges.row[p + 1] - ranges.row[p]


@inlined
def _nearly_balanced(p: int, q: int, first: bool, last: bool, ideal: int, atoms: Ints) -> bool:
    """Whether a plan may have this graphlet (Definition 6.4) as its `first`, `last` or a middle one."""
    size = atoms[q] - atoms[p]
    if size <= ideal:
        return True
    return (first or size < ideal + atoms[p + 1] - atoms[p]) and (last or size < ideal + atoms[q] - atoms[q - 1])
