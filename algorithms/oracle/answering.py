"""The oracle's answer to a query: rows by query, group and window.

`answer` lists all matches. `tally` counts exactly how often each event is bound, for matches that are too many to list:
if no predicate compares events that are not adjacent, a match is a path along the pairs of `MatchSearch.following`. So
the number of matches that bind an event at a leaf is the number of paths to it, times the number of paths from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from cepbench.algorithms.oracle.aggregating import Key, Tally, aggregated, row_head
from cepbench.algorithms.oracle.comparing import without_units
from cepbench.algorithms.oracle.detecting import DetectionMeaning, detect, detection_meaning
from cepbench.algorithms.oracle.matching import Match, MatchSearch, trend
from cepbench.algorithms.oracle.names import Meaning, meaning_of
from cepbench.algorithms.oracle.stream import StreamEvent, stream_of, substreams, value_of, windows
from cepbench.events.errors import CepbenchError
from cepbench.queries.errors import QueryError
from cepbench.queries.model import TIME, AggregateOf, Aggregates, CompleteMatches, CountAll, Query, terms

LIMIT = 1_000_000


class CannotTally(CepbenchError):
    """The matches of a query have to be listed."""


def answer(
    query: Query,
    events: Sequence[Mapping[str, Any]],
    time_unit: str = "s",
    *,
    limit: int = LIMIT,
    modular: bool = False,
) -> list[dict[str, Any]]:
    """Rows of a query over events in any order: `query`, group attributes, `window_start`, `window_end`, and then

    aggregates under `str(item)` and `overflow`, or a `match` of positions in the time-ordered input. Values are exact;
    with `modular`, those that overflow in modular arithmetic are None. `limit` bounds the partial matches per window.
    """
    query, stream = without_units(query, time_unit), stream_of(events)
    if query.span is not None:
        return _detected(query, stream, time_unit, limit)
    meaning = check_query(query)
    check_attributes(meaning, stream)
    matches_of: dict[Key, list[Match]] = {}
    for key, contents in windows_of(query, stream, time_unit):
        matches = _matches(meaning, contents, limit)
        if matches:
            matches_of.setdefault(key, []).extend(matches)
    if isinstance(query.returns, Aggregates):
        counted = {key: (len(matches), Counter(chain.from_iterable(matches))) for key, matches in matches_of.items()}
        return aggregated(meaning, counted, stream, modular)
    return [
        {**row_head(query, key), "match": list(positions)}
        for key in sorted(matches_of, key=lambda key: key[:2])
        for positions in sorted(trend(match) for match in matches_of[key])
    ]


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
    tallies: dict[Key, tuple[int, Tally]] = {}
    for key, contents in windows_of(query, stream, time_unit):
        matches, bound = _tallied(meaning, contents)
        if matches:
            before, tallied = tallies.get(key, (0, {}))
            tallies[key] = (before + matches, {**tallied, **bound})  # two keys have no event in common
    return aggregated(meaning, tallies, stream, modular)


def windows_of(query: Query, stream: Sequence[StreamEvent], time_unit: str) -> Iterator[tuple[Key, list[StreamEvent]]]:
    """The events of each window of each key, with the group and the window to whose row they belong."""
    for partition, substream in substreams(query, stream).items():
        for start, end, contents in windows(query.window, substream, time_unit):
            yield (partition[: len(query.group_by)], start, end), contents


def _detected(query: Query, stream: Sequence[StreamEvent], time_unit: str, limit: int) -> list[dict[str, Any]]:
    """Rows of a detection query, which has no windows: the window of a match is its first and its last time."""
    check_attributes(detection_meaning(query), stream)
    detected = detect(query, stream, time_unit, limit)
    if isinstance(query.returns, Aggregates):
        return [
            {**row_head(query, (group, 0, None)), str(CountAll()): len(matches), "overflow": False}
            for group, matches in detected
            if matches
        ]
    return [
        {**row_head(query, (group, start, end)), "match": positions}
        for group, matches in detected
        for start, end, positions in matches
    ]


def check_query(query: Query) -> Meaning:
    """Resolves the names of a query. Raises `QueryError` for a query without a meaning, even if nothing matches.

    Detection queries use `detection_meaning` instead.
    """
    meaning = meaning_of(query)
    if isinstance(query.returns, Aggregates):
        outside = [name for name in query.returns.group if name not in query.group_by]
        if outside:
            raise QueryError(f"RETURN may list only attributes of GROUP-BY, not {', '.join(outside)}")
        if meaning.is_and and (query.returns.items != (CountAll(),) or len(meaning.parts) != 2):
            raise QueryError("aggregation of AND is COUNT(*) over two parts")
        for item in query.returns.items:
            if not isinstance(item, CountAll):
                meaning.positive(item.name)
    return meaning


def check_attributes(meaning: Meaning | DetectionMeaning, stream: Sequence[StreamEvent]) -> None:
    """Raises an error for events without an attribute that their type needs, even if the search would not read it."""
    needed = needed_attributes(meaning)
    for event in stream:
        for type_name, attribute in needed:
            if event.type == type_name:
                value_of(event, attribute)


def needed_attributes(meaning: Meaning | DetectionMeaning) -> set[tuple[str, str]]:
    """Event types and the attributes that they must have, in addition to those of the partition."""
    needed: set[tuple[str, str]] = set()
    for origin, conditions in meaning.locals.items():
        needed |= {(meaning.types[origin], term.attribute) for condition in conditions for term in terms(condition)}
    for pair in meaning.pairs:
        needed |= {(meaning.types[origin], pair.left.attribute) for origin in pair.first}
        needed |= {(meaning.types[origin], pair.right.attribute) for origin in pair.second}
    if isinstance(meaning, Meaning) and isinstance(meaning.query.returns, Aggregates):
        for item in meaning.query.returns.items:
            if isinstance(item, AggregateOf):
                needed |= {(meaning.types[origin], item.attribute) for origin in meaning.positive(item.name)}
    return {(name, attribute) for name, attribute in needed if attribute != TIME}


def _matches(meaning: Meaning, events: Sequence[StreamEvent], limit: int) -> list[Match]:
    search = MatchSearch(meaning, events, limit)
    combined = [_in_order(combination) for combination in search.combinations()] if meaning.is_and else []
    matches = combined if meaning.is_and else search.matches()
    if isinstance(meaning.query.returns, CompleteMatches):
        trends = {frozenset(trend(match)): match for match in matches}  # several bindings of the same events are one
        matches = [match for bound, match in trends.items() if not any(bound < longer for longer in trends)]
    return matches


def _in_order(combination: tuple[Match, ...]) -> Match:
    """The events of a combination in stream order; an event of two trends occurs once."""
    bounds = {event.position: (event, leaf) for match in combination for event, leaf in match}
    return tuple(bounds[position] for position in sorted(bounds))


def _tallied(meaning: Meaning, events: Sequence[StreamEvent]) -> tuple[int, Tally]:
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
