"""Runs a SPASS plan: one evaluator per window that queries have in common."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from cepbench.algorithms.base import Executor, StateSize
from cepbench.algorithms.rows import Rows, join
from cepbench.algorithms.running.per_query import check_order
from cepbench.algorithms.spass.construction import SharedConstruction
from cepbench.algorithms.spass.plan import SpassPlan
from cepbench.events.batch import EventBatch
from cepbench.metrics.details import merged


class SpassExecutor(Executor):
    """Queries of different windows share nothing. Raises `OutOfOrder`."""

    def __init__(self, plan: SpassPlan) -> None:
        self.sets = [SharedConstruction(plan, window) for window in plan.tables]
        self.now = 0

    def process(self, events: EventBatch) -> Rows:
        self.now = check_order(events, self.now)
        return join([shared.process(events) for shared in self.sets])

    def finish(self) -> Rows:
        return join([shared.finish() for shared in self.sets])

    def state(self) -> StateSize:
        return reduce(StateSize.__add__, (shared.state() for shared in self.sets), StateSize())

    def details(self) -> Mapping[str, float]:
        return merged(shared.details() for shared in self.sets)
