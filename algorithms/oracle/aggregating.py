"""Aggregates over the matches of one row, by definition: each bound event of each match counts (Figure 2.4)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from cepbench.algorithms.oracle.matching import Bound
from cepbench.algorithms.oracle.names import Meaning
from cepbench.algorithms.oracle.stream import StreamEvent, Value, value_of
from cepbench.queries.errors import QueryError
from cepbench.queries.model import AggregateOf, Aggregates, CountAll, CountOf, Function, Item, Query

COUNT_LIMIT = 2**64
SUM_LIMIT = 2**63

Key = tuple[tuple[Value, ...], int, int | None]
"""Group, window start, window end."""

Tally = Mapping[Bound, int]
"""In how many matches a leaf binds an event."""


@dataclass(frozen=True)
class Aggregate:
    """An exact value, and whether it overflows in modular arithmetic."""

    value: int | float | None
    overflow: bool = False


def row_head(query: Query, key: Key) -> dict[str, Any]:
    """The columns that identify a row."""
    group, start, end = key
    groups = dict(zip(query.group_by, group, strict=True))
    return {"query": query.name, **groups, "window_start": start, "window_end": end}


def aggregated(
    meaning: Meaning, tallies: Mapping[Key, tuple[int, Tally]], stream: Sequence[StreamEvent], modular: bool
) -> list[dict[str, Any]]:
    """The rows of an aggregation query, from the number of matches (at least one) and the tally of each key."""
    assert isinstance(meaning.query.returns, Aggregates)
    floats = frozenset(name for event in stream for name, value in event.attributes.items() if isinstance(value, float))
    rows = []
    for key in sorted(tallies, key=lambda key: key[:2]):
        row, overflow = row_head(meaning.query, key), False
        for item in meaning.query.returns.items:
            result = _aggregate(item, meaning, *tallies[key], floats)
            row[str(item)] = None if modular and result.overflow else result.value
            overflow |= result.overflow
        rows.append({**row, "overflow": overflow})
    return rows


def _aggregate(item: Item, meaning: Meaning, matches: int, tally: Tally, floats: frozenset[str]) -> Aggregate:
    """One RETURN item; `floats` names the attributes that are floats."""
    if isinstance(item, CountAll):
        return Aggregate(matches, matches >= COUNT_LIMIT)
    origins = meaning.positive(item.name)
    bound = [(event, times) for (event, leaf), times in tally.items() if leaf.origin in origins]
    match item:
        case CountOf():
            count = sum(times for _, times in bound)
            return Aggregate(count, count >= COUNT_LIMIT)
        case AggregateOf(function, _, attribute):
            values = [(_number(event, attribute), times) for event, times in bound]
            return _of_values(function, values, attribute in floats)


def _number(event: StreamEvent, attribute: str) -> int | float:
    """The value of an aggregated attribute. Raises `QueryError` for a string."""
    value = value_of(event, attribute)
    if isinstance(value, str):
        raise QueryError(f"attribute {attribute!r} is a string and cannot be aggregated")
    return value


def _of_values(function: Function, values: Sequence[tuple[int | float, int]], is_float: bool) -> Aggregate:
    """MIN, MAX, SUM or AVG of values with their numbers of occurrences."""
    if function in (Function.MIN, Function.MAX):
        least = min if function is Function.MIN else max
        return Aggregate(least((value for value, _ in values), default=None))
    count = sum(times for _, times in values)
    if not count:
        return Aggregate(None if function is Function.AVG else 0.0 if is_float else 0)
    try:
        total = sum(Fraction(value) * times for value, times in values)
        exact = float(total) if is_float else int(total)
        average = float(total / count)
    except OverflowError:  # beyond the range of float64, or an infinite value
        return Aggregate(math.inf, True)
    magnitude = sum(abs(Fraction(value)) * times for value, times in values)
    overflow = count >= COUNT_LIMIT if is_float else magnitude >= SUM_LIMIT
    if function is Function.SUM:
        return Aggregate(exact, overflow)
    return Aggregate(average, overflow or count >= COUNT_LIMIT)
