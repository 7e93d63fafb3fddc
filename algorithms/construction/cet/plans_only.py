"""The optimizer without detection, to measure partitioning on graphs with too many trends to construct."""

from __future__ import annotations

from collections.abc import Mapping

from cepbench.algorithms.construction.cet.detector import Detector, MemoryLimit
from cepbench.algorithms.construction.cet.graph import CetGraph, window_bytes
from cepbench.algorithms.construction.cet.stored import PER_VERTEX, Partition
from cepbench.algorithms.rows import QueryRows
from cepbench.metrics.details import merged


class PlansOnly(Detector):
    """Plans the graphlets of each window as H-CET does, within the same limit, but finds no trends (Section 8.3).

    Its details are statistics of the partitioner's search, and CPU costs, bytes and number of graphlets of the plans.
    """

    def __init__(self, limit: MemoryLimit, partition: Partition, *, summarised: bool) -> None:
        super().__init__(limit, summarised=summarised)
        self.partition = partition
        self.numbers: dict[str, float] = {}

    def details(self) -> Mapping[str, float]:
        """Sums over all windows; maxima for peaks."""
        return merged([super().details(), self.numbers])

    def detect(self, graph: CetGraph, window: int, following: int) -> list[QueryRows]:
        """Returns no rows. Raises `NotEnoughMemory` if no plan fits."""
        live = graph.live()
        if len(live.time):
            fixed = graph.bytes + window_bytes(live) + PER_VERTEX * len(live.time)
            self.limit.hold(fixed, {}, f"the graph of a window of {len(live.time)} events")
            plan = self.partition(live, limit=self.limit.bytes - fixed)
            costs = {"plan_cpu": plan.cpu, "plan_bytes": float(plan.bytes), "plan_graphlets": float(plan.graphlets)}
            self.numbers = merged([self.numbers, plan.details, costs, {"windows_planned": 1.0}])
        return []
