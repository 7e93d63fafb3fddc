"""Aggregates of matches that are too many to list: counts exactly how often each event is bound.

If no predicate compares events that are not adjacent, a match is a path along the pairs of `MatchSearch.following`. So
the number of matches that bind an event at a leaf is the number of paths to it, times the number of paths from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from cepbench.algorithms.oracle.aggregating import COUNT_LIMIT, SUM_LIMIT, Aggregate, number_of
from cepbench.algorithms.oracle.answering import LIMIT, Key, check_attributes, check_query, row_head
from cepbench.algorithms.oracle.matching import Bound, MatchSearch
from cepbench.algorithms.oracle.names import Meaning
from cepbench.algorithms.oracle.stream import StreamEvent, stream_of, substreams, windows
from cepbench.events.errors import CepbenchError
from cepbench.queries.model import AggregateOf, Aggregates, CountAll, CountOf, Function, Item, Query

Tally = dict[Bound, int]
"""In how many matches a leaf binds an event."""


class CannotTally(CepbenchError):
    """The matches of a query have to be listed."""


def tally(
    query: Query, events: Sequence[Mapping[str, Any]], time_unit: str = "s", *, modular: bool = False
) -> list[dict[str, Any]]:
    """The same as `answer`, in time polynomial in the events.

    Raises `CannotTally` unless the query aggregates trends of one pattern whose predicates are local or adjacent.
    """
    if query.span is not None:
        raise CannotTally("matches of detection have to be listed")
    meaning = check_query(query)
    if not isinstance(query.returns, Aggregates) or meaning.is_and or meaning.pairwise or len(meaning.parts[0]) > 1:
        raise CannotTally("only aggregates without AND, OR at the top and pairwise predicates can be tallied")
    stream = stream_of(events)
    check_attributes(meaning, stream)
    found: dict[Key, tuple[int, Tally]] = {}
    for partition, substream in substreams(query, stream).items():
        for start, end, contents in windows(query.window, substream, time_unit):
            matches, bound = _window(meaning, contents)
            if matches:
                key = (partition[: len(query.group_by)], start, end)
                before, tallied = found.get(key, (0, {}))
                found[key] = (before + matches, tallied | bound)  # two keys have no event in common
    floats = frozenset(name for event in stream for name, value in event.attributes.items() if isinstance(value, float))
    rows = []
    for key in sorted(found, key=lambda key: key[:2]):
        row, overflow = row_head(query, key), False
        for item in query.returns.items:
            result = _aggregate(item, meaning, *found[key], floats)
            row[str(item)] = None if modular and result.overflow else result.value
            overflow |= result.overflow
        rows.append({**row, "overflow": overflow})
    return rows


def _window(meaning: Meaning, events: Sequence[StreamEvent]) -> tuple[int, Tally]:
    """The number of matches in a window, and the numbers of those that bind an event to a leaf."""
    search = MatchSearch(meaning, events, LIMIT)  # the limit is for negated patterns, whose matches are listed
    [[steps]] = meaning.parts
    following = search.following(steps, meaning.query.semantics)
    by_time = sorted(following, key=lambda bound: bound[0].time)
    to, onwards = dict.fromkeys(by_time, 0), dict.fromkeys(by_time, 0)
    for bound in by_time:
        to[bound] += search.begins(steps, bound)
        for successor in following[bound]:
            to[successor] += to[bound]
    for bound in reversed(by_time):
        onwards[bound] = search.ends(steps, bound) + sum(onwards[successor] for successor in following[bound])
    matches = sum(onwards[bound] for bound in by_time if search.begins(steps, bound))
    return matches, {bound: to[bound] * onwards[bound] for bound in by_time if to[bound] * onwards[bound]}


def _aggregate(item: Item, meaning: Meaning, matches: int, tallied: Tally, floats: frozenset[str]) -> Aggregate:
    match item:
        case CountAll():
            return Aggregate(matches, matches >= COUNT_LIMIT)
        case CountOf(name):
            origins = meaning.positive(name)
            count = sum(times for (_, leaf), times in tallied.items() if leaf.origin in origins)
            return Aggregate(count, count >= COUNT_LIMIT)
        case AggregateOf(function, name, attribute):
            origins = meaning.positive(name)
            values = [
                (number_of(event, attribute), times)
                for (event, leaf), times in tallied.items()
                if leaf.origin in origins
            ]
            return _of_values(function, values, attribute in floats)


def _of_values(function: Function, values: Sequence[tuple[int | float, int]], is_float: bool) -> Aggregate:
    """MIN, MAX, SUM or AVG of values with their numbers of occurrences."""
    if function in (Function.MIN, Function.MAX):
        least = min if function is Function.MIN else max
        return Aggregate(least((value for value, _ in values), default=None))
    total = sum((Fraction(value) * times for value, times in values), Fraction(0))
    count = sum(times for _, times in values)
    magnitude = sum(abs(Fraction(value)) * times for value, times in values)
    overflow = count >= COUNT_LIMIT if is_float else magnitude >= SUM_LIMIT
    if function is Function.SUM:
        return Aggregate(float(total) if is_float else int(total), overflow)
    return Aggregate(float(total / count) if count else None, overflow or count >= COUNT_LIMIT)
