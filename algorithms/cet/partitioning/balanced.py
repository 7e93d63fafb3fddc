"""Balanced plans of a level (dissertation Section 6.3)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.kernels.arrays import Ints


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
