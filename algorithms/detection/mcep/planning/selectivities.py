"""Selectivities of conditions, given or measured on a sample of events (MCEP, Section 2: `Stat`)."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import prod

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.detection.mcep.planning.patterns import DetectionPattern
from cepbench.events.batch import EventBatch
from cepbench.events.errors import CepbenchError
from cepbench.events.statistics import Statistics
from cepbench.queries.binding import bind, bound_terms, column_of, passing, related
from cepbench.queries.model import TIME, Comparison, Condition, terms

EVENTS_PER_TYPE = 400
"""Maximum number of sampled events on which a condition is measured."""


@dataclass(frozen=True)
class TypeFilters:
    """Conditions on a single event of a type, all of which must hold."""

    type: str
    filters: frozenset[Condition]


@dataclass(frozen=True)
class TypePair:
    """Conditions between an event of type `left` and one of type `right`, all of which must hold."""

    left: str
    right: str
    comparisons: frozenset[Comparison]

    @property
    def flipped(self) -> TypePair:
        """The same conditions with sides exchanged."""
        return TypePair(self.right, self.left, frozenset(comparison.exchanged for comparison in self.comparisons))

    @property
    def alone(self) -> list[TypePair]:
        """Each condition separately, always in the same order."""
        return [
            TypePair(self.left, self.right, frozenset({comparison}))
            for comparison in sorted(self.comparisons, key=repr)
        ]


Selection = TypeFilters | TypePair


@dataclass(frozen=True)
class Selectivities:
    """The probability that conditions hold together; 1 for conditions without a given probability.

    A pair can be looked up in both directions. Conditions between two events are assumed to be independent if only
    their individual probabilities are given. `events`: size of the measured sample; `seconds`: time for measuring.
    Raises `CepbenchError` unless all are between 0 and 1.
    """

    values: Mapping[Selection, float] = field(default_factory=dict)
    events: int = 0
    seconds: float = 0.0

    def __post_init__(self) -> None:
        for condition, value in self.values.items():
            if not 0 <= value <= 1:
                raise CepbenchError(f"the selectivity of {condition} is {value}; it must be between 0 and 1")

    def of(self, condition: Selection) -> float:
        """The selectivity of some conditions."""
        value = self.values.get(condition)
        if value is not None or isinstance(condition, TypeFilters):
            return 1.0 if value is None else value
        value = self.values.get(condition.flipped)
        if value is not None:
            return value
        return prod(map(self.of, condition.alone)) if len(condition.comparisons) > 1 else 1.0


@dataclass(frozen=True)
class SampledStatistics:
    """Rates of some events, and selectivities of conditions measured on at most `events_per_type` of each type."""

    rates: Statistics
    selectivities: Selectivities
    events_per_type: int = EVENTS_PER_TYPE

    def count(self, name: str) -> float:
        """Number of events of a type."""
        return self.rates.rates.get(name, 0.0) * self.rates.duration

    def variance(self, condition: Selection) -> float:
        """Upper bound of the variance of a measured selectivity; many pairs of few events have a high variance."""
        value = self.selectivities.values[condition]
        names = (condition.type,) if isinstance(condition, TypeFilters) else (condition.left, condition.right)
        return value * (1 - value) * sum(1 / max(1.0, min(self.count(name), self.events_per_type)) for name in names)


def conditions_of(patterns: Iterable[DetectionPattern]) -> tuple[Selection, ...]:
    """All distinct conditions of some patterns.

    Plans need those on a type, and those between two types together (sel of Section 2); indices need those between two
    types separately. Pairs have the direction of their first occurrence.
    """
    conditions: dict[Selection, None] = {}
    for pattern in patterns:
        for element in pattern.elements:
            if element.filters:
                conditions.setdefault(TypeFilters(element.type, element.filters))
        between: dict[tuple[int, int], set[Comparison]] = {}
        for paired in pattern.conditions:
            between.setdefault((paired.left, paired.right), set()).add(paired.comparison)
        for (left, right), comparisons in sorted(between.items()):
            pair = TypePair(pattern.elements[left].type, pattern.elements[right].type, frozenset(comparisons))
            for condition in dict.fromkeys([pair, *pair.alone]):
                if condition.flipped not in conditions:
                    conditions.setdefault(condition)
    return tuple(conditions)


def measured_selectivities(
    patterns: Iterable[DetectionPattern], sample: EventBatch, events_per_type: int = EVENTS_PER_TYPE
) -> Selectivities:
    """Selectivities of all conditions of some patterns on a sample of their stream.

    Conditions between two types are evaluated on every pair of at most `events_per_type` (k) events of each, spread
    evenly over the sample, but no event is paired with itself: O(k^2) comparisons of arrays per condition. If they hold
    for h of n pairs, the selectivity is (h + 1) / (n + 2), so that none is considered impossible. Conditions on a type
    that does not occur in the sample have no selectivity. Pairs are drawn from the whole sample, not only from the same
    window.
    """
    begin = time.perf_counter()
    drawn: dict[str, NDArray[np.int64]] = {}
    selectivities: dict[Selection, float] = {}

    def rows_of(name: str) -> NDArray[np.int64]:
        if name not in drawn:
            rows = np.flatnonzero(sample.type == sample.schema.type_code(name))
            drawn[name] = rows[np.linspace(0, len(rows) - 1, min(len(rows), events_per_type)).astype(np.int64)]
        return drawn[name]

    for condition in conditions_of(patterns):
        if isinstance(condition, TypeFilters):
            rows = rows_of(condition.type)
            events = sample.take(rows)
            held = np.logical_and.reduce([passing(bind(local, sample.schema), events) for local in condition.filters])
            hits, total = int(held.sum()), held.size
        else:
            left, right = rows_of(condition.left), rows_of(condition.right)
            holds = np.logical_and.reduce(
                [_compared(comparison, sample, left, right) for comparison in condition.comparisons]
            )
            same = left[:, None] == right[None, :]
            hits, total = int((holds & ~same).sum()), holds.size - int(same.sum())
        if total:
            selectivities[condition] = (hits + 1) / (total + 2)
    return Selectivities(selectivities, len(sample), time.perf_counter() - begin)


def known_selectivities(patterns: Iterable[DetectionPattern], statistics: Statistics) -> Selectivities:
    """Selectivities of all conditions of some patterns, measured on events that the stream's statistics sample.

    Only types and attributes that occur in conditions are sampled. `seconds` includes sampling and measuring. Without a
    stream, every condition has selectivity 1.
    """
    needs: dict[str, set[str]] = {}
    for condition in conditions_of(patterns):
        if isinstance(condition, TypeFilters):
            attributes = {term.attribute for local in condition.filters for term in terms(local)}
            needs.setdefault(condition.type, set()).update(attributes - {TIME})
        else:
            for comparison in condition.comparisons:
                needs.setdefault(condition.left, set()).update({comparison.left.attribute} - {TIME})
                needs.setdefault(condition.right, set()).update({comparison.right.attribute} - {TIME})
    sample = statistics.sample(needs) if needs else None
    if sample is None:
        return Selectivities()
    measured = measured_selectivities(patterns, sample.events)
    return replace(measured, seconds=measured.seconds + sample.seconds)


def _compared(
    comparison: Comparison, sample: EventBatch, left: NDArray[np.int64], right: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """bool[len(left), len(right)]: whether the condition holds."""
    first, second = bound_terms(comparison.left.term, comparison.op, comparison.right.term, sample.schema)
    a, b = column_of(first.attribute, sample)[left], column_of(second.attribute, sample)[right]
    return related(first, comparison.op, second, a[:, None], b[None, :], sample.schema)
