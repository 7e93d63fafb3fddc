"""A partitioning plan of a window's CET graph (dissertation Definition 6.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cepbench.algorithms.kernels.arrays import Ints


@dataclass(frozen=True, eq=False)
class PartitionPlan:
    """Graphlet i holds vertices `bounds[i]..bounds[i + 1] - 1`, int64[k + 1], of the V vertices of the window.

    - `cpu`: edges traversed and trends updated, Table 5.1 with exact numbers of trends (may be infinite).
    - `bytes`: of stored trends and of the path under construction; the graph itself is not in it.
    - `details`: CPU seconds and plans visited of the search, and bytes of the plans that it stored at a time.
    """

    bounds: Ints
    cpu: float
    bytes: int
    details: Mapping[str, float] = field(default_factory=dict)

    @property
    def graphlets(self) -> int:
        """How many there are."""
        return len(self.bounds) - 1
