"""Exhaustive partitioning: every plan is visited (dissertation Section 8.3)."""

from __future__ import annotations

from math import comb

import numpy as np

from cepbench.algorithms.construction.cet.kernels.plans import cheapest, extend
from cepbench.algorithms.construction.cet.partitioning.costs import Costs
from cepbench.algorithms.construction.cet.partitioning.plan import FoundPartition, bounds_of
from cepbench.events.errors import CepbenchError

MAX_ATOMS = 26


class TooManyPlans(CepbenchError):
    """A graph has too many plans to visit all of them."""


def exhaustive(costs: Costs, limit: int) -> FoundPartition:
    """The cheapest of all 2^(a - 1) plans of `a` atomic graphlets that fit, level by level from the top.

    O(a 2^a) time, O(2^a / sqrt a) space for two adjacent levels.
    """
    number = len(costs.atoms) - 1
    if number > MAX_ATOMS:
        raise TooManyPlans(
            f"exhaustive partitioning would visit 2^{number - 1} plans of {number} atomic graphlets; it is limited to "
            f"{MAX_ATOMS} atomic graphlets"
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
