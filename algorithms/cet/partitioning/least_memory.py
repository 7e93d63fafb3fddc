"""The plan that takes the least memory of all."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.cet.kernels.plans import least_memory as least_memory_of
from cepbench.algorithms.cet.partitioning.costs import Costs
from cepbench.algorithms.kernels.arrays import Ints


def least_memory(costs: Costs, limit: int) -> Ints | None:
    """The bounds of the plan with the least memory, or None if it takes more than `limit` bytes.

    In the paper that is the plan with most graphlets (Theorem 6.1). Here each graphlet takes a few bytes of the path
    under construction, so that chains take less uncut. Of windows with more than a thousand cuts, not all are
    considered (`Costs.coarse`), but the plan with most graphlets is.

    O(a r) time for ranges of up to r atomic graphlets that may fit.
    """
    coarse = costs.coarse(limit)
    atoms = coarse.atoms
    size, before = np.empty(len(atoms)), np.zeros(len(atoms), np.int64)
    least_memory_of(coarse.ranges(limit), size, before)
    if size[-1] > limit:
        return costs.atoms if costs.cost(costs.atoms).bytes <= limit else None
    ends = [len(atoms) - 1]
    while ends[-1] > 0:
        ends.append(int(before[ends[-1]]))
    bounds: Ints = atoms[ends[::-1]]
    return bounds
