"""Balanced plans of a level (dissertation Section 6.3)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.kernels.arrays import Ints


def ideal_size(atoms: Ints, level: int) -> int:
    """ceil(|V| / k): how many vertices a graphlet of a balanced plan with k = `level` graphlets has at most."""
    return -(-int(atoms[-1]) // level)


def balanced(atoms: Ints, level: int, ratio: float = 1.0) -> Ints:
    """The bounds of the plan with `level` graphlets whose i-th cut is the one closest to i |V| / k. O(k log a).

    On a homogeneous graph the graphlets have as equal numbers of atomic graphlets as can be: no plan of the level takes
    less memory (Theorem 6.3). On others it is an estimate. With a `ratio` the first graphlet aims at so many times the
    size of the others.
    """
    number, steps = len(atoms) - 1, np.arange(1, level)
    aims = (ratio + steps - 1) * int(atoms[-1]) / (ratio + level - 1)
    above = np.searchsorted(atoms, aims)
    nearest = above - (aims - atoms[above - 1] < atoms[above] - aims)
    # Cuts differ, and as many atomic graphlets are left behind each as graphlets have to be.
    nearest = np.clip(np.maximum.accumulate(nearest - steps), 0, number - level) + steps
    bounds: Ints = atoms[np.concatenate([[0], nearest, [number]])]
    return bounds


def filled(atoms: Ints, level: int) -> Ints:
    """The bounds of the plan that greedily fills each graphlet up to the ideal size, from the first on. O(a).

    Each of the `level` graphlets has an atomic graphlet at least. The plan is nearly balanced on a homogeneous graph.
    """
    number, ideal = len(atoms) - 1, ideal_size(atoms, level)
    ends = [0]
    for left in range(level - 1, 0, -1):
        begin = ends[-1]
        full = int(np.searchsorted(atoms, atoms[begin] + ideal))
        ends.append(min(max(full, begin + 1), number - left))
    bounds: Ints = atoms[[*ends, number]]
    return bounds
