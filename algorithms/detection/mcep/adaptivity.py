"""Replaces the plan when statistics of the latest events change drastically (MCEP, Section 6.2.3)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from math import isinf, sqrt

import numpy as np

from cepbench.algorithms.base import Executor, StateSize
from cepbench.algorithms.detection.mcep.engine.executor import DetectionExecutor
from cepbench.algorithms.detection.mcep.engine.tables import EngineTables, tables_of
from cepbench.algorithms.detection.mcep.planning.optimizer import PlanningOptions, planned
from cepbench.algorithms.detection.mcep.planning.patterns import DetectionPattern, patterns_of
from cepbench.algorithms.detection.mcep.planning.selectivities import SampledStatistics, measured_selectivities
from cepbench.algorithms.rows import Rows
from cepbench.events.batch import EventBatch
from cepbench.events.statistics import statistics_of
from cepbench.events.windows import Window
from cepbench.queries.compile import Workload

SAMPLE = 4096
"""Number of latest events on which statistics are measured."""

CHECKS_PER_SAMPLE = 4
"""Number of measurements per sample length."""

EVENTS_PER_TYPE = 64
"""Maximum number of sampled events on which a condition is measured."""

SECONDS = ("detection_seconds", "check_seconds", "replan_seconds", "migration_seconds")
"""The time of the engines without that of measuring statistics, of planning, and of the hand-over to another engine."""

SIGMAS = 5.0
"""Two samples differ if they are this many standard deviations of their difference apart. Workloads have hundreds of
rates and selectivities, so that some exceed three deviations at nearly every check.
"""


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
        self.numbers = dict.fromkeys(("checks", "migrations", *SECONDS), 0.0)
        self.before: dict[str, float] = {}

    def process(self, events: EventBatch) -> Rows:
        with self._clocked("detection_seconds"):
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
        with self._clocked("detection_seconds"):
            return self.engine.finish()

    def state(self) -> StateSize:
        """State of the engine, and the events that are kept for replanning."""
        kept = sum(batch.nbytes for batch in self.history)
        return self.engine.state() + StateSize(kept)

    def details(self) -> Mapping[str, float]:
        """Details of the engines, summed; numbers of checks and of replaced plans; `SECONDS`."""
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
        with self._clocked("check_seconds"):
            statistics = self.planner.measured(self.history)
            if self.planned_for is not None and not self.planner.is_drastic(self.planned_for, statistics):
                return
        with self._clocked("replan_seconds"):
            tables = self.planner.plan(statistics)
        self.planned_for = statistics
        with self._clocked("migration_seconds"):
            self.migrate(tables)

    @contextmanager
    def _clocked(self, name: str) -> Iterator[None]:
        begin = time.perf_counter()
        yield
        self.numbers[name] += time.perf_counter() - begin

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


@dataclass(frozen=True)
class AdaptivePlanner:
    """Replans a workload if a rate or a selectivity is `ratio` times higher or lower than at the time of planning.

    With an infinite `ratio` it plans once, at the beginning of the stream. `sample`: number of latest events on which
    statistics are measured. Unless it is `indexed`, the engine scans instances. Measuring takes O(k^2) per condition
    for k events of each type; a new plan takes the time of the optimizer.
    """

    workload: Workload
    options: PlanningOptions
    ratio: float
    sample: int = SAMPLE
    indexed: bool = True

    @property
    def period(self) -> int:
        """Number of events between two measurements."""
        return max(1, self.sample // CHECKS_PER_SAMPLE)

    @cached_property
    def patterns(self) -> tuple[DetectionPattern, ...]:
        """The patterns of the workload."""
        return patterns_of(self.workload)

    def measured(self, latest: Sequence[EventBatch]) -> SampledStatistics:
        """Statistics of the last `sample` events of some batches, which hold at least one."""
        sample = _last_events(latest, self.sample)
        counts = np.bincount(sample.type, minlength=len(sample.schema.types)).tolist()
        by_type = dict(zip(sample.schema.types, counts, strict=False))
        rates = statistics_of(by_type, int(sample.time[0]), int(sample.time[-1]))
        selectivities = measured_selectivities(self.patterns, sample, EVENTS_PER_TYPE)
        return SampledStatistics(rates, selectivities, EVENTS_PER_TYPE)

    def is_drastic(self, before: SampledStatistics, now: SampledStatistics) -> bool:
        """Whether the stream's statistics differ from those of the plan by more than chance explains."""
        types = {element.type for pattern in self.patterns for element in pattern.elements}
        scale = now.rates.duration / max(1, before.rates.duration)
        for name in sorted(types):
            seen, expected = now.count(name), before.count(name) * scale
            noise = sqrt(seen + expected * scale)
            if self._differ(seen, expected) and abs(seen - expected) > SIGMAS * noise:
                return True
        earlier = before.selectivities.values
        for condition, value in now.selectivities.values.items():
            before_value = earlier.get(condition)
            if before_value is not None and self._differ(value, before_value):
                noise = sqrt(now.variance(condition) + before.variance(condition))
                if abs(value - before_value) > SIGMAS * noise:
                    return True
        return False

    def plan(self, statistics: SampledStatistics) -> EngineTables:
        """The tables of a new plan."""
        outcome = planned(self.patterns, statistics.rates, statistics.selectivities, self.options)
        return tables_of(self.workload, outcome.plan, indexed=self.indexed)

    def _differ(self, now: float, before: float) -> bool:
        return max(now, before) > self.ratio * min(now, before)


def _last_events(batches: Sequence[EventBatch], number: int) -> EventBatch:
    """The last events of some batches, as one batch."""
    parts: list[EventBatch] = []
    left = number
    for batch in reversed(batches):
        parts.insert(0, batch.slice(max(0, len(batch) - left), len(batch)))
        left -= len(parts[0])
        if left <= 0:
            break
    first = parts[0]
    return replace(
        first,
        time=np.concatenate([part.time for part in parts]),
        type=np.concatenate([part.type for part in parts]),
        columns={name: np.concatenate([part.columns[name] for part in parts]) for name in first.columns},
        position=np.concatenate([part.position for part in parts]),
    )
