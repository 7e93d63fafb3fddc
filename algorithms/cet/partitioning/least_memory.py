"""The plan with the least memory."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.cet.kernels.plans import least_memory as least_memory_of
from cepbench.algorithms.cet.partitioning.costs import Costs
from cepbench.algorithms.kernels.arrays import Ints


def least_memory(costs: Costs, limit: int) -> Ints | None:
    """The bounds of the plan with the least memory, or None if it takes more than `limit` bytes.

    In the paper, that is the plan with most graphlets (Theorem 6.1). Here each graphlet adds a few bytes for the path
    under construction, so chains take less memory uncut. In windows with more than a thousand cuts, some are not
    considered (`Costs.coarse`), but the plan with most graphlets always is.

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
