"""What a worker costs without an algorithm: executors and pools that do nothing."""

from __future__ import annotations

from dataclasses import replace

from cepbench.algorithms.base import Executor, ExecutorPool, Pieces, StateSize
from cepbench.algorithms.rows import PooledRows, Rows
from cepbench.events.batch import EventBatch
from cepbench.pipeline.loop import Family
from cepbench.pipeline.pooled_loop import PoolFamily


class Idle(Executor):
    """An executor that does nothing."""

    def process(self, events: EventBatch) -> Rows:
        """No rows."""
        return {}

    def finish(self) -> Rows:
        """No rows."""
        return {}

    def state(self) -> StateSize:
        """Nothing."""
        return StateSize()


class IdlePool(ExecutorPool):
    """A pool that does nothing."""

    def process(self, events: EventBatch, pieces: Pieces) -> PooledRows:
        """No rows."""
        return {}

    def finish(self) -> PooledRows:
        """No rows."""
        return {}

    def state(self) -> StateSize:
        """Nothing."""
        return StateSize()


def idle_family(family: Family) -> Family:
    """The same queries without an algorithm."""
    return replace(family, pool=IdlePool) if isinstance(family, PoolFamily) else replace(family, executor=Idle)
