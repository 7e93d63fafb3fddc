"""Selectivities of conditions, given or measured on a sample of events (MCEP, Section 2: `Stat`)."""

from __future__ import annotations

import operator
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cepbench.algorithms.mcep.planning.patterns import DetectionPattern, EventFilter, PairComparison
from cepbench.events.batch import EventBatch
from cepbench.events.errors import CepbenchError
from cepbench.events.schema import Kind
from cepbench.queries.model import Number, Op

EVENTS_PER_TYPE = 400
"""Of a sample, that a condition is measured on."""

COMPARE: dict[Op, Callable[[Any, Any], Any]] = {
    Op.LT: operator.lt, Op.LE: operator.le, Op.GT: operator.gt, Op.GE: operator.ge, Op.EQ: operator.eq,
    Op.NE: operator.ne,
}  # fmt: skip


@dataclass(frozen=True)
class TypeFilter:
    """A condition on events of a type."""

    type: str
    filter: EventFilter


@dataclass(frozen=True)
class TypePair:
    """A condition between an event of type `left` and one of type `right`."""

    left: str
    right: str
    comparison: PairComparison

    @property
    def flipped(self) -> TypePair:
        """The same condition with its sides exchanged."""
        return TypePair(self.right, self.left, self.comparison.flipped)


@dataclass(frozen=True)
class Selectivities:
    """The probability that a condition holds, by condition; 1 for one that is not given.

    A pair is looked up either way round. `events` is the size of the sample that was measured, `seconds` the time that
    it took. Raises `CepbenchError` unless all are between 0 and 1.
    """

    given: Mapping[TypeFilter | TypePair, float] = field(default_factory=dict)
    events: int = 0
    seconds: float = 0.0

    def __post_init__(self) -> None:
        for condition, value in self.given.items():
            if not 0 <= value <= 1:
                raise CepbenchError(f"the selectivity of {condition} is {value}; it must be between 0 and 1")

    def of(self, condition: TypeFilter | TypePair) -> float:
        """The selectivity of a condition."""
        found = self.given.get(condition)
        if found is None and isinstance(condition, TypePair):
            found = self.given.get(condition.flipped)
        return 1.0 if found is None else found


def conditions_of(patterns: Iterable[DetectionPattern]) -> tuple[TypeFilter | TypePair, ...]:
    """All conditions of some patterns, each once; of a pair, the way round that came first."""
    found: dict[TypeFilter | TypePair, None] = {}
    for pattern in patterns:
        for element in pattern.elements:
            for one in sorted(element.filters, key=repr):
                found.setdefault(TypeFilter(element.type, one))
        for condition in sorted(pattern.conditions, key=repr):
            left, right = pattern.elements[condition.left], pattern.elements[condition.right]
            pair = TypePair(left.type, right.type, condition.comparison)
            if pair.flipped not in found:
                found.setdefault(pair)
    return tuple(found)


def measured_selectivities(
    patterns: Iterable[DetectionPattern], sample: EventBatch, events_per_type: int = EVENTS_PER_TYPE
) -> Selectivities:
    """Selectivities of all conditions of some patterns on a sample of their stream.

    A condition between two types is evaluated on every pair of at most `events_per_type` (k) events of either, spread
    evenly over the sample, and no event with itself: O(k^2) comparisons of arrays per condition. With h pairs of n that
    hold, it is (h + 1) / (n + 2), so that none is taken for impossible; a condition on a type that the sample lacks has
    none. Pairs are drawn from the whole sample, not only from the same window.
    """
    begin = time.perf_counter()
    rows: dict[str, NDArray[np.int64]] = {}
    found: dict[TypeFilter | TypePair, float] = {}

    def rows_of(name: str) -> NDArray[np.int64]:
        if name not in rows:
            every = np.flatnonzero(sample.type == sample.schema.type_code(name))
            some = np.linspace(0, len(every) - 1, min(len(every), events_per_type)).astype(np.int64)
            rows[name] = every[some]
        return rows[name]

    for condition in conditions_of(patterns):
        if isinstance(condition, TypeFilter):
            held = _filtered(condition.filter, sample, rows_of(condition.type))
            hits, total = int(held.sum()), held.size
        else:
            left, right = rows_of(condition.left), rows_of(condition.right)
            holds = _compared(condition.comparison, sample, left, right)
            same = left[:, None] == right[None, :]
            hits, total = int((holds & ~same).sum()), holds.size - int(same.sum())
        if total:
            found[condition] = (hits + 1) / (total + 2)
    return Selectivities(found, len(sample), time.perf_counter() - begin)


def _filtered(one: EventFilter, sample: EventBatch, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    constant = sample.schema.string_code(one.constant) if isinstance(one.constant, str) else one.constant
    held: NDArray[np.bool_] = COMPARE[one.op](_values(sample, one.attribute, one.factor, rows), constant)
    return held


def _compared(
    comparison: PairComparison, sample: EventBatch, left: NDArray[np.int64], right: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """`[len(left), len(right)]`: whether the condition holds."""
    a = _values(sample, comparison.left_attribute, comparison.left_factor, left)
    b = _values(sample, comparison.right_attribute, comparison.right_factor, right)
    held: NDArray[np.bool_] = COMPARE[comparison.op](a[:, None], b[None, :])
    return held


def _values(sample: EventBatch, attribute: str, factor: Number, rows: NDArray[np.int64]) -> NDArray[Any]:
    values = sample.columns[attribute][rows]
    if sample.schema.kinds[attribute] is Kind.STRING or factor == 1:
        return values
    return values.astype(np.float64) * float(factor)
