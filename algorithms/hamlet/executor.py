"""Evaluates a workload: sharable sets, and queries that share nothing beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.hamlet.compilation import CompiledSet
from cepbench.algorithms.hamlet.kernels.stream import COLUMNS
from cepbench.algorithms.hamlet.plan import HamletPlan
from cepbench.algorithms.hamlet.set_executor import SetExecutor
from cepbench.algorithms.hamlet.sharing import Sharing
from cepbench.algorithms.snapshots.sets import OneQuery, SetsExecutor
from cepbench.queries.compile import CompiledQuery


class HamletExecutor(SetsExecutor):
    """Runs each sharable set; a window that counts events is a stream of its own. Raises `OutOfOrder`."""

    def __init__(self, plan: HamletPlan, sharing: Sharing) -> None:
        self.runners = _runners(plan.sets, plan.workload.arithmetic, sharing)
        fresh = {i: partial(_one_query, plan.workload[i], sets, sharing) for i, sets in plan.counting.items()}
        super().__init__(plan.workload, self.runners, fresh)

    def trace(self) -> NDArray[np.float64]:
        """float64[n, COLUMNS]: the newest decisions of each sharable set on windows of time, set by set.

        `kernels.stream` names the columns. None unless decisions are traced.
        """
        return np.concatenate([np.zeros((0, COLUMNS)), *(one.trace.newest for one in self.runners)])

    def details(self) -> Mapping[str, float]:
        """Counted work: `event_visits` (events times the graphlets that they are put into), `edges` (events before that
        were visited one by one), `bursts` of sharable types and the `shared_bursts` of them, their `graphlets` (one
        that is shared, one for each query that does not share), `snapshots` and those of either level, `splits` and
        `merges`; `deciding_seconds`; and, if decisions are traced, their sums by size of burst
        (`DecisionTrace.details`).
        """
        return super().details()


def _runners(sets: Sequence[CompiledSet], arithmetic: str, sharing: Sharing) -> tuple[SetExecutor, ...]:
    return tuple(SetExecutor(compiled, arithmetic, sharing) for compiled in sets)


def _one_query(query: CompiledQuery, sets: Sequence[CompiledSet], sharing: Sharing) -> OneQuery:
    return OneQuery(query, _runners(sets, query.arithmetic, sharing))
