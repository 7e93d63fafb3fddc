"""The input and output of partitioners."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cepbench.algorithms.cet.kernels.plans import CutSets
from cepbench.algorithms.cet.partitioning.costs import Costs
from cepbench.algorithms.kernels.arrays import Ints


@dataclass(frozen=True, eq=False)
class FoundPartition:
    """The bounds of the plan, or None if none was found that fits; number of plans visited, bytes of stored plans."""

    bounds: Ints | None
    visited: int
    bytes_peak: int


Search = Callable[[Costs, int], FoundPartition]
"""Searches for a plan that fits into the given number of bytes."""


def bounds_of(cuts: CutSets, atoms: Ints) -> Ints:
    """The bounds of the plan with the cuts in the set `cuts`, uint64[W]."""
    chosen = np.unpackbits(cuts.view(np.uint8), bitorder="little")[: len(atoms) - 2].astype(np.bool_)
    bounds: Ints = atoms[np.concatenate([[True], chosen, [True]])]
    return bounds
