"""Evaluates a workload: sharable sets, and what shares nothing beside them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.hamlet.kernels.stream import COLUMNS
from cepbench.algorithms.hamlet.plan import HamletPlan
from cepbench.algorithms.hamlet.set_executor import SetExecutor
from cepbench.algorithms.hamlet.sharing import Sharing
from cepbench.algorithms.snapshots.sets import SetsExecutor


class HamletExecutor(SetsExecutor):
    """Runs each sharable set, and members that share nothing as COGRA, or GRETA, does. Raises `OutOfOrder`."""

    sets: tuple[SetExecutor, ...]

    def __init__(self, plan: HamletPlan, sharing: Sharing) -> None:
        sets = [SetExecutor(compiled, plan.workload.arithmetic, sharing) for compiled in plan.sets]
        super().__init__(plan.workload, sets, plan.alone, plan.granularity)

    def trace(self) -> NDArray[np.float64]:
        """float64[n, COLUMNS]: the newest decisions of each sharable set on windows of time, set by set.

        `kernels.stream` names the columns. None unless decisions are traced.
        """
        return np.concatenate([np.zeros((0, COLUMNS)), *(one.trace.newest for one in self.sets)])

    def details(self) -> Mapping[str, float]:
        """Counted work: `event_visits` (events times the graphlets that they are put into), `edges` (events before that
        were visited one by one), `bursts` of sharable types and the `shared_bursts` of them, their `graphlets` (one
        that is shared, one for each query that does not share), `snapshots` and those of either level, `splits` and
        `merges`; `deciding_seconds`; and, if decisions are traced, their sums by size of burst
        (`DecisionTrace.details`).
        """
        return super().details()
