"""A partitioning plan of a window's CET graph (dissertation Definition 6.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cepbench.algorithms.kernels.arrays import Ints


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
