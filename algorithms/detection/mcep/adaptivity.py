"""When a plan is replaced: statistics of the latest events, and drastic changes of them (MCEP, Section 6.2.3)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt

import numpy as np

from cepbench.algorithms.detection.mcep.engine.tables import EngineTables, tables_of
from cepbench.algorithms.detection.mcep.planning.optimizer import PlanningOptions, planned
from cepbench.algorithms.detection.mcep.planning.patterns import DetectionPattern, patterns_of
from cepbench.algorithms.detection.mcep.planning.selectivities import SampledStatistics, measured_selectivities
from cepbench.events.batch import EventBatch
from cepbench.events.statistics import statistics_of
from cepbench.queries.compile import Workload

SAMPLE = 4096
"""Number of latest events on which statistics are measured."""
CHECKS_PER_SAMPLE = 4
"""Number of measurements per sample length."""
EVENTS_PER_TYPE = 64
"""Maximum number of sampled events on which a condition is measured."""
SIGMAS = 5.0
"""Two samples differ if they are this many standard deviations of their difference apart. Workloads have hundreds of
rates and selectivities, so that some exceed three deviations at nearly every check.
"""


@dataclass(frozen=True)
class AdaptivePlanner:
    """Replans a workload if a rate or a selectivity is `ratio` times higher or lower than at the time of planning.

    With an infinite `ratio` it plans once, at the beginning of the stream. `sample`: number of latest events on which
    statistics are measured. Measuring takes O(k^2) per condition for k events of each type; a new plan takes the time
    of the optimizer.
    """

    workload: Workload
    options: PlanningOptions
    ratio: float
    sample: int = SAMPLE

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
            other = earlier.get(condition)
            if other is not None and self._differ(value, other):
                noise = sqrt(now.variance(condition) + before.variance(condition))
                if abs(value - other) > SIGMAS * noise:
                    return True
        return False

    def plan(self, statistics: SampledStatistics) -> tuple[EngineTables, float]:
        """Makes a new plan; returns its tables and the seconds it took."""
        begin = time.perf_counter()
        found = planned(self.patterns, statistics.rates, statistics.selectivities, self.options)
        return tables_of(self.workload, found.plan), time.perf_counter() - begin

    def _differ(self, one: float, other: float) -> bool:
        return max(one, other) > self.ratio * min(one, other)


def _last_events(batches: Sequence[EventBatch], most: int) -> EventBatch:
    """The last events of some batches, as one batch."""
    parts: list[EventBatch] = []
    left = most
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
