"""Statistics of a workload's conditions for the optimizer (MCEP, Section 2, Stat)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cepbench.algorithms.mcep.planning.patterns import DetectionPattern
from cepbench.algorithms.mcep.planning.selectivities import (
    EVENTS_PER_TYPE,
    Condition,
    Selectivities,
    TypeFilters,
    conditions_of,
    measured_selectivities,
)
from cepbench.events.statistics import Statistics


@dataclass(frozen=True)
class SampledStatistics:
    """Rates of some events, and selectivities of conditions measured on at most `events_per_type` of each type."""

    rates: Statistics
    selectivities: Selectivities
    events_per_type: int = EVENTS_PER_TYPE

    def count(self, name: str) -> float:
        """Number of events of a type."""
        return self.rates.rates.get(name, 0.0) * self.rates.duration

    def variance(self, condition: Condition) -> float:
        """Upper bound of the variance of a measured selectivity; many pairs of few events have a high variance."""
        value = self.selectivities.given[condition]
        names = (condition.type,) if isinstance(condition, TypeFilters) else (condition.left, condition.right)
        return value * (1 - value) * sum(1 / max(1.0, min(self.count(name), self.events_per_type)) for name in names)


def known_selectivities(patterns: Sequence[DetectionPattern], statistics: Statistics) -> Selectivities:
    """Selectivities of all conditions of some patterns, measured on events that the stream's statistics sample.

    Only types and attributes that occur in conditions are sampled. `seconds` includes sampling and measuring. Without a
    stream, every condition has selectivity 1.
    """
    needs: dict[str, set[str]] = {}
    for condition in conditions_of(patterns):
        if isinstance(condition, TypeFilters):
            needs.setdefault(condition.type, set()).update(one.attribute for one in condition.filters)
        else:
            compared = condition.comparisons
            needs.setdefault(condition.left, set()).update(one.left_attribute for one in compared)
            needs.setdefault(condition.right, set()).update(one.right_attribute for one in compared)
    sample = statistics.sample(needs) if needs else None
    if sample is None:
        return Selectivities()
    measured = measured_selectivities(patterns, sample.events)
    return replace(measured, seconds=measured.seconds + sample.seconds)
