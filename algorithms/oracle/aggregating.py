"""Aggregates over the matches of one row, by definition: each bound event of each match counts (Figure 2.4)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from cepbench.algorithms.oracle.matching import Match
from cepbench.algorithms.oracle.names import Meaning, Origins
from cepbench.algorithms.oracle.stream import StreamEvent, value_of
from cepbench.queries.errors import QueryError
from cepbench.queries.model import AggregateOf, CountAll, CountOf, Function, Item

COUNT_LIMIT = 2**64
SUM_LIMIT = 2**63


@dataclass(frozen=True)
class Aggregate:
    """An exact value, and whether it overflows in modular arithmetic."""

    value: int | float | None
    overflow: bool = False


def aggregate(item: Item, meaning: Meaning, matches: Sequence[Match], floats: frozenset[str]) -> Aggregate:
    """One RETURN item over the matches of a row (at least one); `floats` names the attributes that are floats."""
    match item:
        case CountAll():
            return Aggregate(len(matches), len(matches) >= COUNT_LIMIT)
        case CountOf(name):
            count = sum(leaf.origin in meaning.positive(name) for match in matches for _, leaf in match)
            return Aggregate(count, count >= COUNT_LIMIT)
        case AggregateOf(function, name, attribute):
            values = _bound_values(meaning.positive(name), attribute, matches)
            nothing = 0.0 if attribute in floats else 0
            return _sum(values, nothing) if function is Function.SUM else _FUNCTIONS[function](values)


def _bound_values(origins: Origins, attribute: str, matches: Sequence[Match]) -> list[int | float]:
    bound = [event for match in matches for event, leaf in match if leaf.origin in origins]
    return [number_of(event, attribute) for event in bound]


def number_of(event: StreamEvent, attribute: str) -> int | float:
    """The value of an aggregated attribute. Raises `QueryError` for a string."""
    value = value_of(event, attribute)
    if isinstance(value, str):
        raise QueryError(f"attribute {attribute!r} is a string and cannot be aggregated")
    return value


def _sum(values: list[int | float], nothing: int | float) -> Aggregate:
    if not values:
        return Aggregate(nothing)
    if any(isinstance(value, float) for value in values):
        total = _float_sum(values)
        return Aggregate(total, len(values) >= COUNT_LIMIT or not math.isfinite(total))
    return Aggregate(sum(values), sum(abs(value) for value in values) >= SUM_LIMIT)


def _float_sum(values: list[int | float]) -> float:
    try:
        return math.fsum(values)
    except (OverflowError, ValueError):  # beyond the range of float64, or infinities of both signs
        return math.inf


def _average(values: list[int | float]) -> Aggregate:
    if not values:
        return Aggregate(None)
    total = _sum(values, 0)
    assert total.value is not None
    return Aggregate(float(total.value) / float(len(values)), total.overflow or len(values) >= COUNT_LIMIT)


def _least(values: list[int | float]) -> Aggregate:
    return Aggregate(min(values, default=None))


def _greatest(values: list[int | float]) -> Aggregate:
    return Aggregate(max(values, default=None))


_FUNCTIONS = {Function.MIN: _least, Function.MAX: _greatest, Function.AVG: _average}
