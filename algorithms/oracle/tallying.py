"""Aggregates of matches that are too many to list: counts exactly how often each event is bound.

If no predicate compares events that are not adjacent, a match is a path along the pairs of `MatchSearch.following`. So
the number of matches that bind an event at a leaf is the number of paths to it, times the number of paths from it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cepbench.algorithms.oracle.aggregating import Key, Tally, aggregated
from cepbench.algorithms.oracle.answering import LIMIT, check_attributes, check_query, windows_of
from cepbench.algorithms.oracle.comparing import without_units
from cepbench.algorithms.oracle.matching import MatchSearch
from cepbench.algorithms.oracle.names import Meaning
from cepbench.algorithms.oracle.stream import StreamEvent, stream_of
from cepbench.events.errors import CepbenchError
from cepbench.queries.model import Aggregates, Query


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
    query = without_units(query, time_unit)
    meaning = check_query(query)
    if not isinstance(query.returns, Aggregates) or meaning.is_and or meaning.pairwise or len(meaning.parts[0]) > 1:
        raise CannotTally("only aggregates without AND, OR at the top and pairwise predicates can be tallied")
    stream = stream_of(events)
    check_attributes(meaning, stream)
    found: dict[Key, tuple[int, Tally]] = {}
    for key, contents in windows_of(query, stream, time_unit):
        matches, bound = _window(meaning, contents)
        if matches:
            before, tallied = found.get(key, (0, {}))
            found[key] = (before + matches, {**tallied, **bound})  # two keys have no event in common
    return aggregated(meaning, found, stream, modular)


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
