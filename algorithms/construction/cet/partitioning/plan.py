"""Partitioning plans of a window's CET graph (dissertation Definition 6.1), and what partitioners return."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from cepbench.algorithms.construction.cet.kernels.plans import CutSets
from cepbench.algorithms.construction.cet.partitioning.costs import Costs
from cepbench.algorithms.engine.kernels.arrays import Ints


@dataclass(frozen=True, eq=False)
class PartitionPlan:
    """Graphlet i holds the vertices `bounds[i]..bounds[i + 1] - 1` of the window's V vertices; `bounds`: int64[k + 1].

    - `cpu`: traversed edges and updated trends, Table 5.1 with exact numbers of trends (can be infinite).
    - `bytes`: size of stored trends and of the path under construction, without the graph itself.
    - `details`: CPU seconds of the search, plans visited, and peak bytes of stored plans.
    """

    bounds: Ints
    cpu: float
    bytes: int
    details: Mapping[str, float] = field(default_factory=dict)

    @property
    def graphlets(self) -> int:
        """Number of graphlets."""
        return len(self.bounds) - 1


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
