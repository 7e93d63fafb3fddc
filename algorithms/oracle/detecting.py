"""Detection (`WITHIN ... PER MATCH`) by enumeration, directly from docs/semantics.md, rule 8.

Every assignment of events to operands is tried; nothing is assumed about their order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations, product
from typing import Any

from cepbench.algorithms.oracle.comparing import holds_pair, passes
from cepbench.algorithms.oracle.matching import TooManyMatches
from cepbench.algorithms.oracle.names import Origins, Pair, names_of, predicates_of
from cepbench.algorithms.oracle.stream import StreamEvent, substreams
from cepbench.events.units import in_units
from cepbench.queries.errors import QueryError
from cepbench.queries.model import (
    Aggregates,
    And,
    Condition,
    CountAll,
    Event,
    Matches,
    Not,
    Or,
    Pattern,
    Plus,
    Query,
    Semantics,
    Seq,
)

Chosen = tuple[StreamEvent, ...]
"""The events of an operand, in time order."""


@dataclass(frozen=True)
class DetectedPart:
    """A part of an alternative of a pattern: an operand or a negated type.

    It represents the event types of some origins: a single one, or those of an OR.
    """

    types: tuple[tuple[int, str], ...]
    several: bool = False
    negated: bool = False

    @property
    def origins(self) -> Origins:
        """The origins that it represents."""
        return frozenset(origin for origin, _ in self.types)


@dataclass(frozen=True)
class Alternative:
    """SEQ (`ordered`) or AND of parts, in the order of the pattern."""

    ordered: bool
    parts: tuple[DetectedPart, ...]

    @property
    def operands(self) -> tuple[DetectedPart, ...]:
        """The parts that bind events."""
        return tuple(part for part in self.parts if not part.negated)


@dataclass(frozen=True, eq=False)
class DetectionMeaning:
    """A detection query with resolved names; `types`: of each origin; `counts`: the span counts events."""

    query: Query
    alternatives: tuple[Alternative, ...]
    types: tuple[str, ...]
    locals: dict[int, tuple[Condition, ...]]
    pairs: tuple[Pair, ...]
    counts: bool


def detection_meaning(query: Query) -> DetectionMeaning:
    """Resolves the names of a detection query. Raises `QueryError` for a query without a meaning."""
    if query.span is None or query.window is not None:
        raise QueryError("detection has a span per match and no window")
    counts = isinstance(query.returns, Aggregates) and query.returns.items == (CountAll(),)
    if not (isinstance(query.returns, Matches) or counts) or query.semantics is not Semantics.ANY:
        raise QueryError("detection returns matches under skip-till-any-match, or their number")
    tops = query.pattern.parts if isinstance(query.pattern, Or) and not query.pattern.alias else (query.pattern,)
    alternatives: list[Alternative] = []
    events: list[Event] = []
    aliases: dict[str, Origins] = {}
    for top in tops:
        parts: list[DetectedPart] = []
        for part in top.parts if isinstance(top, Seq | And) else (top,):
            either, alias = _events(part)
            parts.append(_part(part, either, len(events)))
            if alias is not None:
                aliases[alias] = parts[-1].origins
            events += either
        alternatives.append(Alternative(not isinstance(top, And), tuple(parts)))
    names = names_of(events) | aliases
    locals_, comparisons = predicates_of(query, names)
    for pair, is_next in comparisons:
        _check_comparison(pair, is_next, alternatives)
    types, pairs = tuple(event.type for event in events), tuple(pair for pair, _ in comparisons)
    return DetectionMeaning(query, tuple(alternatives), types, locals_, pairs, query.span.unit == "events")


def detect(
    query: Query, stream: Sequence[StreamEvent], time_unit: str, limit: int
) -> list[tuple[tuple[Any, ...], list[tuple[int, int, list[int]]]]]:
    """Matches per group, in order: the times of the first and the last event, and the positions of the events.

    `limit`: maximum number of event choices for a prefix of the operands, per key.
    """
    meaning = detection_meaning(query)
    matches_of: dict[tuple[Any, ...], set[tuple[int, int, tuple[int, ...]]]] = {}
    for partition, substream in substreams(query, stream).items():
        search = DetectionSearch(meaning, substream, span_length(query, time_unit), limit)
        matches_of.setdefault(partition[: len(query.group_by)], set()).update(
            (match[0].time, match[-1].time, tuple(event.position for event in match))
            for alternative in meaning.alternatives
            for match in search.matches(alternative)
        )
    by_positions = {group: sorted(matches, key=lambda match: match[2]) for group, matches in matches_of.items()}
    return [(group, [(a, b, list(p)) for a, b, p in by_positions[group]]) for group in sorted(by_positions)]


class DetectionSearch:
    """All matches of an alternative in a key. `length`: the span, in units of time or in events."""

    def __init__(self, meaning: DetectionMeaning, events: Sequence[StreamEvent], length: int, limit: int) -> None:
        self._meaning = meaning
        self._events = events
        self._length = length
        self._limit = limit
        self._visited = 0

    def matches(self, alternative: Alternative) -> Iterator[Chosen]:
        """The events of each match in stream order; a match with several bindings occurs several times."""
        for binding in self._bindings(alternative.operands):
            if alternative.ordered and not _in_order(binding):
                continue
            if self._compared(alternative.operands, binding) and not self.negated(alternative, binding):
                yield _events_of(binding)

    def prefixes(self, alternative: Alternative) -> Iterator[tuple[Chosen, ...]]:
        """Choices of one event, or of two, for each of the first operands, within the span, that pass all conditions.

        Fewer events pass more conditions, and only the first and the last one of an operand decide what is negated
        beside it. So there is a match if and only if there is a choice for all operands that is not `negated`.
        """
        operands = alternative.operands
        able = [[event for event in self._events if self._passes(operand, event)] for operand in operands]
        negates = len(operands) < len(alternative.parts)
        pending: list[tuple[Chosen, ...]] = [()]
        while pending:
            chosen = pending.pop()
            singles = [(event,) for event in able[len(chosen)] if self._extends(alternative, chosen, (event,))]
            twos = [
                (a, b)
                for (a,), (b,) in permutations(singles if negates and operands[len(chosen)].several else (), 2)
                if a.time < b.time and self._extends(alternative, chosen, (a, b))
            ]
            for events in (*twos, *singles):
                yield (*chosen, events)
                if len(chosen) + 1 < len(operands):
                    pending.append((*chosen, events))

    def _extends(self, alternative: Alternative, chosen: tuple[Chosen, ...], events: Chosen) -> bool:
        """Whether a choice for the next operand passes all conditions beside those for the operands before it."""
        self._visited += 1
        if self._visited > self._limit:
            raise TooManyMatches(f"more than {self._limit} choices of events in one key; raise the limit")
        longer = (*chosen, events)
        bound = _events_of(longer)
        own = len({event.position for event in bound}) == len(bound)
        in_order = not alternative.ordered or _in_order(longer)
        return own and in_order and self.within(bound) and self._compared(alternative.operands[: len(longer)], longer)

    def _bindings(self, operands: Sequence[DetectedPart], chosen: tuple[Chosen, ...] = ()) -> Iterator[list[Chosen]]:
        """Every choice of events for the operands that lies within the span."""
        self._visited += 1
        if self._visited > self._limit:
            raise TooManyMatches(f"more than {self._limit} choices of events in one key; raise the limit")
        if len(chosen) == len(operands):
            yield list(chosen)
            return
        taken = {event.position for events in chosen for event in events}
        for events in self._choices(operands[len(chosen)], chosen):
            if not any(event.position in taken for event in events):
                yield from self._bindings(operands, (*chosen, events))

    def _choices(self, operand: DetectedPart, chosen: tuple[Chosen, ...]) -> Iterator[Chosen]:
        """The events that an operand can bind within the span, given those of other operands."""
        able = [event for event in self._events if self._passes(operand, event)]
        pending: list[Chosen] = [(event,) for event in able]
        while pending:
            events = pending.pop()
            if not self.within(_events_of([*chosen, events])):
                continue
            self._visited += 1
            yield events
            if operand.several:
                pending += [(*events, later) for later in able if events[-1].time < later.time]

    def within(self, events: Chosen) -> bool:
        """Whether events in stream order lie within the span."""
        first, last = events[0], events[-1]
        if self._meaning.counts:
            return last.ordinal - first.ordinal < self._length
        return last.time - first.time <= self._length

    def _passes(self, part: DetectedPart, event: StreamEvent) -> bool:
        return any(
            event.type == name and all(passes(condition, event) for condition in self._meaning.locals.get(origin, ()))
            for origin, name in part.types
        )

    def _compared(self, operands: Sequence[DetectedPart], binding: Sequence[Chosen]) -> bool:
        """Whether the conditions hold for every pair of events of two operands."""
        bound = list(zip(operands, binding, strict=True))
        return all(
            holds_pair(pair, left, right)
            for pair in self._meaning.pairs
            for (left_part, lefts), (right_part, rights) in product(bound, bound)
            if left_part.origins <= pair.first and right_part.origins <= pair.second
            for left, right in product(lefts, rights)
        )

    def negated(self, alternative: Alternative, binding: Sequence[Chosen]) -> bool:
        """Whether an event of a negated type lies where it must not."""
        events = _events_of(binding)
        first, last = events[0], events[-1]
        done = 0
        for part in alternative.parts:
            if not part.negated:
                done += 1
                continue
            after = binding[done - 1][-1] if done else None
            before = binding[done][0] if done < len(binding) else None
            for event in self._events:
                if not self._passes(part, event):
                    continue
                if (after is None or after.time < event.time) and (before is None or event.time < before.time):
                    if after is None and not self.within((event, last)):
                        continue
                    if before is None and not self.within((first, event)):
                        continue
                    return True
        return False


def _part(part: Pattern, either: Sequence[Event], origin: int) -> DetectedPart:
    types = tuple((number, event.type) for number, event in enumerate(either, origin))
    return DetectedPart(types, isinstance(part, Plus), isinstance(part, Not))


def _events(part: Pattern) -> tuple[list[Event], str | None]:
    """The event type that a part of an alternative represents, or those of an OR, with its alias."""
    single = part.part if isinstance(part, Plus | Not) else part
    alias = single.alias if isinstance(single, Or) else None
    either = list(single.parts) if isinstance(single, Or) else [single]
    events = [event for event in either if isinstance(event, Event)]
    if len(events) < len(either):
        raise QueryError("detection joins single event types")
    return events, alias


def _check_comparison(pair: Pair, is_next: bool, alternatives: Sequence[Alternative]) -> None:
    parts = [part for alternative in alternatives for part in alternative.parts]
    negated = {origin for part in parts if part.negated for origin in part.origins}
    if any(part.origins & side and not part.origins <= side for part in parts for side in (pair.first, pair.second)):
        raise QueryError("a comparison of detection relates whole operands")
    if is_next or pair.first & pair.second or (pair.first | pair.second) & negated:
        raise QueryError("a comparison of detection relates two operands")


def _in_order(binding: Sequence[Chosen]) -> bool:
    """Whether all events of an operand are strictly before those of the next one."""
    return all(events[-1].time < following[0].time for events, following in pairwise(binding))


def _events_of(binding: Sequence[Chosen]) -> Chosen:
    return tuple(sorted((event for events in binding for event in events), key=lambda event: event.position))


def span_length(query: Query, time_unit: str) -> int:
    """The span of a match, in units of time or in events."""
    assert query.span is not None
    if query.span.unit == "events":
        return int(query.span.amount)
    return in_units(query.span.amount, query.span.unit, time_unit, "WITHIN")
