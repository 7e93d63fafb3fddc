"""Runs a plan, and another one when the stream has changed, without a lost or doubled match (MCEP, Section 6.2.3).

All events of a match lie within its window. So the new engine is handed the events that lie within the longest window
of now, and told to keep quiet meanwhile: it then has all the instances that a later event can complete, and those that
are complete were told by the old one. Matches that wait for the end of their spans move over as they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isinf

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.base import Executor, StateSize
from cepbench.algorithms.mcep.adaptivity import AdaptivePlanner
from cepbench.algorithms.mcep.engine.executor import DetectionExecutor
from cepbench.algorithms.mcep.engine.tables import EngineTables
from cepbench.algorithms.mcep.statistics import SampledStatistics
from cepbench.algorithms.rows import Rows
from cepbench.events.batch import EventBatch
from cepbench.events.windows import Window


class AdaptiveExecutor(Executor):
    """A `DetectionExecutor` that is exchanged between two batches when statistics have changed drastically.

    It keeps the batches that hold the sample of the latest events and those in reach of the longest window. Without
    `planned_for`, the first plan was made for nothing in particular, and the first check makes another one.
    """

    def __init__(
        self,
        planner: AdaptivePlanner,
        tables: EngineTables,
        queries: NDArray[np.int64],
        windows: Mapping[int, Window],
        planned_for: SampledStatistics | None = None,
    ) -> None:
        self.planner, self.queries, self.windows = planner, queries, windows
        self.engine = DetectionExecutor(planner.workload, tables, queries, windows)
        self.history: list[EventBatch] = []
        self.since_check = planner.period - planner.sample  # the first check takes a whole sample
        self.planned_for = planned_for
        self.numbers = {"checks": 0.0, "migrations": 0.0, "replan_seconds": 0.0}
        self.before: dict[str, float] = {}

    def process(self, events: EventBatch) -> Rows:
        rows = self.engine.process(events)
        if len(events):
            self.history.append(events.slice(0, len(events)))
            self._forget()
            self.since_check += len(events)
            if self.since_check >= self.planner.period and not self.settled:
                self.since_check = 0
                self._adapt()
        return rows

    @property
    def settled(self) -> bool:
        """Whether the plan is that for the whole stream, since nothing counts as a drastic change."""
        return self.planned_for is not None and isinf(self.planner.ratio)

    def finish(self) -> Rows:
        return self.engine.finish()

    def state(self) -> StateSize:
        """That of the engine, and the events that are kept for another one."""
        kept = sum(batch.nbytes for batch in self.history)
        return self.engine.state() + StateSize(kept)

    def details(self) -> Mapping[str, float]:
        """What the engines tell, all added up; how often statistics were checked, plans exchanged, and how long
        planning took.
        """
        now = self.engine.details()
        return {**{name: value + self.before.get(name, 0.0) for name, value in now.items()}, **self.numbers}

    def load(self) -> None:
        self.engine.load()

    def migrate(self, tables: EngineTables) -> None:
        """Goes on with another plan of the same patterns."""
        old = self.engine
        for name, value in old.details().items():
            self.before[name] = self.before.get(name, 0.0) + value
        self.engine = DetectionExecutor(self.planner.workload, tables, self.queries, self.windows)
        self.engine.take_over(old, self.history)
        self.numbers["migrations"] += 1

    def _adapt(self) -> None:
        """Measures the latest events, and plans anew if they are not what the plan was made for."""
        self.numbers["checks"] += 1
        found = self.planner.measured(self.history)
        if self.planned_for is not None and not self.planner.is_drastic(self.planned_for, found):
            return
        tables, seconds = self.planner.plan(found)
        self.planned_for = found
        self.numbers["replan_seconds"] += seconds
        self.migrate(tables)

    def _forget(self) -> None:
        """Drops the oldest batches that neither the sample nor a window reaches; all if there will be no other plan."""
        if self.settled:
            self.history.clear()
            return
        sizes = [len(batch) for batch in self.history]
        longest_time, longest_events = self.engine.tables.longest.tolist()
        first, behind = 0, sum(sizes)
        now = int(self.history[-1].time[-1])
        for batch, size in zip(self.history, sizes, strict=True):
            behind -= size  # events after this batch
            if behind < max(self.planner.sample, longest_events) or int(batch.time[-1]) >= now - longest_time:
                break
            first += 1
        del self.history[:first]
