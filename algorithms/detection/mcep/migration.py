"""Executes a plan, and replaces it when the stream changes, without losing or repeating a match (MCEP, Section 6.2.3).

All events of a match lie within its window. So the new engine first processes the events of the longest window with its
output muted. It then has all instances that a later event can complete; complete ones were reported by the old engine.
Matches that wait for the end of their spans are copied.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isinf

from cepbench.algorithms.base import Executor, StateSize
from cepbench.algorithms.detection.mcep.adaptivity import AdaptivePlanner
from cepbench.algorithms.detection.mcep.engine.executor import DetectionExecutor
from cepbench.algorithms.detection.mcep.engine.tables import EngineTables
from cepbench.algorithms.detection.mcep.planning.selectivities import SampledStatistics
from cepbench.algorithms.rows import Rows
from cepbench.events.batch import EventBatch
from cepbench.events.windows import Window


class AdaptiveExecutor(Executor):
    """A `DetectionExecutor` that is replaced between two batches when statistics have changed drastically.

    It keeps the batches that contain the sample of the latest events and those within reach of the longest window.
    Without `planned_for`, the first plan has no statistics, and the first check replaces it.
    """

    def __init__(
        self,
        planner: AdaptivePlanner,
        tables: EngineTables,
        windows: Mapping[int, Window],
        planned_for: SampledStatistics | None = None,
    ) -> None:
        self.planner, self.windows = planner, windows
        self.engine = DetectionExecutor(planner.workload, tables, windows)
        self.history: list[EventBatch] = []
        self.since_check = planner.period - planner.sample  # so that the first check has a full sample
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
        """Whether the plan is final, since nothing counts as a drastic change."""
        return self.planned_for is not None and isinf(self.planner.ratio)

    def finish(self) -> Rows:
        return self.engine.finish()

    def state(self) -> StateSize:
        """State of the engine, and the events that are kept for replanning."""
        kept = sum(batch.nbytes for batch in self.history)
        return self.engine.state() + StateSize(kept)

    def details(self) -> Mapping[str, float]:
        """Details of the engines, summed; numbers of checks and of replaced plans; seconds of planning."""
        now = self.engine.details()
        return {**{name: value + self.before.get(name, 0.0) for name, value in now.items()}, **self.numbers}

    def load(self) -> None:
        self.engine.load()

    def migrate(self, tables: EngineTables) -> None:
        """Continues with another plan of the same patterns."""
        old = self.engine
        for name, value in old.details().items():
            self.before[name] = self.before.get(name, 0.0) + value
        self.engine = DetectionExecutor(self.planner.workload, tables, self.windows)
        self.engine.take_over(old, self.history)
        self.numbers["migrations"] += 1

    def _adapt(self) -> None:
        """Measures the latest events, and replans if they differ drastically from the plan's statistics."""
        self.numbers["checks"] += 1
        found = self.planner.measured(self.history)
        if self.planned_for is not None and not self.planner.is_drastic(self.planned_for, found):
            return
        tables, seconds = self.planner.plan(found)
        self.planned_for = found
        self.numbers["replan_seconds"] += seconds
        self.migrate(tables)

    def _forget(self) -> None:
        """Drops the oldest batches that neither the sample nor a window reaches; all if the plan is final."""
        if self.settled:
            self.history.clear()
            return
        sizes = [len(batch) for batch in self.history]
        longest_time, longest_events = self.engine.tables.longest.tolist()
        first, behind = 0, sum(sizes)
        now = int(self.history[-1].time[-1])
        for batch, size in zip(self.history, sizes, strict=True):
            behind -= size  # number of events after this batch
            if behind < max(self.planner.sample, longest_events) or int(batch.time[-1]) >= now - longest_time:
                break
            first += 1
        del self.history[:first]
