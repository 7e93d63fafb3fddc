"""Why a query has no match on a stream, or which events it matches."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from cepbench.algorithms.oracle import TooManyMatches, detection_meaning, meaning_of, needed_attributes, plain_events
from cepbench.algorithms.oracle.stream import StreamEvent, stream_of
from cepbench.events.errors import InputError
from cepbench.events.reading import Reading, reading_of
from cepbench.events.schema import Schema
from cepbench.events.units import NANOSECONDS
from cepbench.pipeline.in_process import whole_stream
from cepbench.queries.compile import compile_workload
from cepbench.queries.errors import QueryError
from cepbench.queries.model import (
    CompleteMatches,
    Length,
    Matches,
    Pattern,
    Plus,
    Query,
    Semantics,
    children,
    occurrences,
)
from cepbench.queries.source import QuerySource
from cepbench.queries.workloads import parse_with_sources
from cepbench.verification.explaining.attempts import Attempt, Lack, Search
from cepbench.verification.explaining.clauses import Clause, clauses_of, doubled, without
from cepbench.verification.explaining.counts import Position, event_name, positions_of

FIRST = 500
"""Events that the search looks at by default: its time grows with their square."""
MOST_MATCHES = 5


@dataclass(frozen=True)
class BoundEvent:
    """An event of the input, numbered from 0 in time order, and the event of the pattern that it is bound to."""

    name: str
    number: int
    time: int
    values: tuple[tuple[str, Any], ...]
    shown_time: str

    def __str__(self) -> str:
        values = "".join(f", {name} {value}" for name, value in self.values)
        return f"{self.name} = event {self.number} (time {self.shown_time}{values})"


Binding = tuple[BoundEvent, ...]


@dataclass(frozen=True)
class Remedy:
    """Clauses without which there is a match: their texts, the words for it, the query without them, and the match."""

    clauses: tuple[str, ...]
    changes: tuple[str, ...]
    query: Query
    match: Binding


@dataclass(frozen=True)
class Beginning:
    """The latest of the partial matches that come furthest, and what each event lacks that could be next."""

    bound: Binding
    lacks: tuple[Lack, ...]


@dataclass(frozen=True)
class Explanation:
    """Why a query has no match, or its first matches. `str()` is the text that `cepbench explain` prints.

    - `events`, `searched`: the number of events, and of those that the search looked at; `cut`: whether it left out
      events that matter; `stopped`: whether it ended before it had seen all their partial matches; `undecided`: whether
      that happened without some of the clauses.
    - `matches`: the first matches, if there are any; `more`: whether there are others.
    - `remedies`: clauses without which there is a match; each alone, or together where none is enough.
    - `beginnings`: how far partial matches come; of an AND, one for each side without a match.
    - `positions`: the events of the pattern, with the numbers of events that pass each condition; `reached`: how many
      events some partial match binds there.
    """

    query: str
    events: int
    searched: int
    cut: bool
    positions: tuple[Position, ...]
    stopped: bool = False
    undecided: bool = False
    matches: tuple[Binding, ...] = ()
    more: bool = False
    remedies: tuple[Remedy, ...] = ()
    beginnings: tuple[Beginning, ...] = ()
    reached: tuple[int, ...] = ()

    def __str__(self) -> str:
        return "\n".join(_lines(self))


def explain(
    workload_text: str,
    events: str | Path | pd.DataFrame,
    reading: Reading | str = "s",
    notify: Callable[[str], None] = warnings.warn,
    where: str | None = None,
    first: int = FIRST,
) -> tuple[Explanation, ...]:
    """Explain why queries have no match, or which events they match.

    Parameters
    ----------
    workload_text, events, reading, notify, where
        As those of `cepbench.evaluate`.
    first
        The number of events that the search for matches looks at: the first ones that matter to a query. Its time grows
        with their square. Numbers of events count the whole stream.

    Returns
    -------
    tuple of Explanation
        One for each query, which `print` shows as text: the first matches (`matches`); without a match, the clauses
        without which there is one (`remedies`), the partial matches that come furthest (`beginnings`), and how many
        events pass each condition (`positions`).

    Raises
    ------
    CepbenchError
        If queries or events cannot be used.

    Examples
    --------
    >>> import pandas as pd
    >>> from cepbench import explain
    >>> events = pd.DataFrame({"time": [1, 2, 9], "type": ["A", "B", "B"], "x": [5, 4, 7]})
    >>> [explanation] = explain("PATTERN SEQ(A, B) WHERE A.x < B.x WITHIN 5 s", events)
    >>> print(explanation)
    """
    if first < 1:
        raise InputError(f"the search needs at least 1 event, not {first}")
    parsed = parse_with_sources(workload_text)
    queries = [query for query, _ in parsed]
    schema, batch, _, check = whole_stream(events, queries, reading_of(reading, where), notify)
    check(compile_workload(queries, schema).needs)
    stream = stream_of(plain_events(batch))
    return tuple(explained(query, source, stream, schema, first) for query, source in parsed)


def explained(
    query: Query, source: QuerySource, stream: Sequence[StreamEvent], schema: Schema, first: int = FIRST
) -> Explanation:
    """The explanation of a query on a stream in time order."""
    return _Explainer(query, source, stream, schema, first).explanation()


class _Explainer:
    def __init__(
        self, query: Query, source: QuerySource, stream: Sequence[StreamEvent], schema: Schema, first: int
    ) -> None:
        self._query, self._stream, self._schema = query, stream, schema
        self._matching = replace(query, returns=Matches())
        self._clauses = clauses_of(query, source)
        types = {event.type for event in occurrences(query.pattern)}
        within = query.span if query.window is None else query.window.within
        every = query.semantics is Semantics.CONTIGUOUS or (within is not None and within.unit == "events")
        relevant = [event for event in stream if every or event.type in types]
        self._searched = relevant[:first]
        self._cut = first < len(relevant)
        self._undecided = False
        self._work = 2 * max(first, FIRST) ** 2
        meaning = meaning_of(query) if query.span is None else detection_meaning(query)
        self._shown = {*needed_attributes(meaning), *((name, key) for name in types for key in query.partition)}

    def explanation(self) -> Explanation:
        query = self._query
        positions = positions_of(query, self._clauses, self._stream, self._schema.time_unit)
        empty = Explanation(query.name, len(self._stream), len(self._searched), self._cut, positions)
        try:
            match = next(self._search(self._matching).matches(), None)
        except TooManyMatches:
            match, empty = None, replace(empty, stopped=True)
        if match is not None:
            listed = self._matches()
            more = not 0 < len(listed) <= MOST_MATCHES or (query.span is not None and _repeats(query.pattern))
            return replace(empty, matches=tuple(listed[:MOST_MATCHES] or [self._binding(match)]), more=more)
        reached, beginnings, stopped = self._beginnings(len(positions))
        return replace(
            empty,
            remedies=tuple(self._remedies()),
            beginnings=beginnings,
            reached=reached,
            stopped=empty.stopped or stopped,
            undecided=self._undecided,
        )

    def _search(self, query: Query) -> Search:
        shown = partial(time_text, schema=self._schema)
        return Search(query, self._searched, self._schema.time_unit, self._work, shown)

    def _matches(self) -> list[Binding]:
        """The first matches, without those of the same events; none if they are too many to be searched."""
        bindings: dict[frozenset[int], Binding] = {}
        complete = isinstance(self._query.returns, CompleteMatches)
        try:
            for match in self._search(self._matching).matches(every=True):
                bindings.setdefault(frozenset(event.position for event, _ in match), self._binding(match))
                if len(bindings) > MOST_MATCHES and not complete:
                    break
        except TooManyMatches:
            return []
        return [
            binding
            for numbers, binding in sorted(bindings.items(), key=lambda item: sorted(item[0]))
            if not complete or not any(numbers < larger for larger in bindings)
        ]

    # --- why there is no match --------------------------------------------------------------------------------------

    def _remedies(self) -> Iterator[Remedy]:
        """Each clause without which there is a match; else several, none of which can stay."""
        alone = False
        for clause in self._clauses:
            longer = doubled(clause)
            for change in (clause,) if longer is None else (longer, clause):
                if (remedy := self._remedy([change])) is not None:
                    alone = True
                    yield remedy
                    break
        if alone or (together := self._remedy(self._clauses)) is None:
            return
        lifted = self._clauses
        for clause in self._clauses:
            fewer = [kept for kept in lifted if kept is not clause]
            attempts = [fewer] if (longer := doubled(clause)) is None else [fewer, [*fewer, longer]]
            for attempt in attempts:
                if (remedy := self._remedy(attempt)) is not None:
                    lifted, together = attempt, remedy
                    break
        yield together

    def _remedy(self, lifted: Sequence[Clause]) -> Remedy | None:
        """The match without some clauses, if there is one that the search sees."""
        query = without(self._matching, lifted, self._length())
        try:
            match = next(self._search(query).matches(), None)
        except TooManyMatches:
            self._undecided = True
            return None
        except QueryError:  # the negations of a pattern may be needed to give it a meaning
            return None
        if match is None:
            return None
        texts, changes = (tuple(clause.text for clause in lifted), tuple(clause.change for clause in lifted))
        return Remedy(texts, changes, query, self._binding(match, query))

    def _length(self) -> Length:
        """The length of the searched stream, in the unit of a span."""
        if self._query.span is not None and self._query.span.unit == "events":
            return Length(Fraction(len(self._searched) + 1), "events")
        times = [event.time for event in self._searched] or [0]
        return Length(Fraction(max(times) - min(times) + 1), self._schema.time_unit)

    def _beginnings(self, positions: int) -> tuple[tuple[int, ...], tuple[Beginning, ...], bool]:
        """How many events partial matches bind at each position, how far they come, and whether the search stopped."""
        search = self._search(self._matching)
        reached: list[set[int]] = [set() for _ in range(positions)]
        furthest: dict[int, tuple[_Progress, Attempt]] = {}
        stopped = False
        try:
            for attempt in search.attempts():
                for event, origin in attempt.bound:
                    reached[origin].add(event.position)
                progress = _progress(attempt, search)
                if attempt.part not in furthest or furthest[attempt.part][0] < progress:
                    furthest[attempt.part] = progress, attempt
        except TooManyMatches:
            stopped = True
        attempts = [furthest[part][1] for part in range(search.parts) if part in furthest]
        if not stopped:
            attempts += [search.nothing(part) for part in range(search.parts) if part not in furthest]
        beginnings = tuple(
            Beginning(self._binding(attempt.bound), search.lacks(attempt, self._clauses))
            for attempt in attempts
            if not attempt.complete
        )
        return tuple(map(len, reached)), beginnings, stopped

    def _binding(self, match: Sequence[tuple[StreamEvent, int]], query: Query | None = None) -> Binding:
        events = list(occurrences((query or self._query).pattern))
        return tuple(
            BoundEvent(
                event_name(events[origin]),
                event.position,
                event.time,
                tuple((name, value) for name, value in event.attributes.items() if (event.type, name) in self._shown),
                time_text(event.time, self._schema),
            )
            for event, origin in match
        )


_Progress = tuple[bool, int, int, int, int]


def _progress(attempt: Attempt, search: Search) -> _Progress:
    """Attempts that are further are greater; then those that an event could continue, then later and shorter ones."""
    last, _ = attempt.bound[-1]
    return attempt.complete, -attempt.missing, search.followed(attempt), last.time, -len(attempt.bound)


def _repeats(pattern: Pattern) -> bool:
    return isinstance(pattern, Plus) or any(map(_repeats, children(pattern)))


def time_text(time: int, schema: Schema) -> str:
    """A time as answers show it: as a number, or as a timestamp where the input has timestamps."""
    if schema.zone is None:
        return str(time)
    try:
        moment = pd.Timestamp(time * NANOSECONDS[schema.time_unit], unit="ns", tz="UTC")
    except (OverflowError, ValueError):  # beyond the calendar
        return str(time)
    return str(moment.tz_convert(schema.zone or None))


# --- text -----------------------------------------------------------------------------------------------------------


def _lines(explanation: Explanation) -> Iterator[str]:
    name = explanation.query
    if explanation.matches:
        yield f"{name} has matches{', such as' if explanation.more else ''}"
        yield from (f"  {_text(match)}" for match in explanation.matches)
        return
    events = _number(explanation.events, "event")
    place = f"the first {explanation.searched} of its events ({events} in all)" if explanation.cut else events
    found = "no match was found" if explanation.stopped else "no match"
    unknown = explanation.stopped or explanation.undecided
    rest = "; there is one" if explanation.remedies else "" if unknown else ", with or without its conditions"
    yield f"{name}: {found} in {place}{rest}"
    for remedy in explanation.remedies:
        yield f"  {' and '.join(remedy.changes)}: {_text(remedy.match)}"
    if unknown:
        which = "search" if explanation.stopped else "search without some clauses"
        yield f"The {which} stopped after many partial matches; it sees all of fewer events"
    for beginning in explanation.beginnings:
        if beginning.bound:
            yield f"Furthest partial match: {_text(beginning.bound)}"
        else:
            yield "No partial match begins"
        for lack in beginning.lacks:
            yield f"  {_lack(lack, explanation.positions, bool(beginning.bound))}"
    if not explanation.beginnings and not explanation.stopped:
        yield "Each side of AND has a match, but no two of them go together"
    yield "Events by position"
    for number, (position, reached) in enumerate(zip(explanation.positions, explanation.reached, strict=True), 1):
        counts = [_number(position.events, "event")]
        counts += [] if position.negated else [f"{reached} in partial matches"]
        counts += [f"{passing} with {text}" for text, passing in position.passing]
        yield f"  {number} {'NOT ' if position.negated else ''}{position.name}: {', '.join(counts)}"


def _lack(lack: Lack, positions: Sequence[Position], continues: bool) -> str:
    if lack.position is None:
        return f"complete, but {', '.join(f'{count} {text}' for text, count in lack.counts)}"
    counts = ", ".join(
        _number(count, "event") if text == "events" else f"{count} {text}" for text, count in lack.counts
    )
    return f"{'next' if continues else 'first'} {positions[lack.position].name}: {counts}"


def _text(binding: Binding) -> str:
    return ", ".join(map(str, binding))


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
