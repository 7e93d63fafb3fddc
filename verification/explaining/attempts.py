"""Matches and their beginnings, from the oracle's search, and what the next event of a beginning lacks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice, product

from cepbench.algorithms.oracle import Leaf, Meaning, Pair, Steps, TooManyMatches, detection_meaning, meaning_of
from cepbench.algorithms.oracle.answering import windows_of
from cepbench.algorithms.oracle.comparing import holds_pair, passes, without_units
from cepbench.algorithms.oracle.detecting import Alternative, Chosen, DetectionMeaning, DetectionSearch, span_length
from cepbench.algorithms.oracle.matching import Match, MatchSearch, trend
from cepbench.algorithms.oracle.steps import NegatedPattern, Negations, size
from cepbench.algorithms.oracle.stream import StreamEvent, Value, substreams, value_of
from cepbench.queries.model import (
    And,
    Comparison,
    Length,
    Local,
    Not,
    Pattern,
    Query,
    Semantics,
    WindowClause,
    children,
)
from cepbench.verification.explaining.clauses import Clause

Bound = tuple[tuple[StreamEvent, int], ...]
"""Events with the positions of the pattern to which they are bound."""

Test = Callable[[StreamEvent, int], bool]
"""Whether an event can be bound to a position next."""


@dataclass(frozen=True)
class Lack:
    """The events that could come next at a position: how many pass each condition and all those before it.

    Without a position: at the end of a match.
    """

    position: int | None
    counts: tuple[tuple[str, int], ...]


@dataclass(frozen=True, eq=False)
class Step:
    """The continuation of a partial match: positions with their types, none at the end, and what is negated before it.

    `allowed`: by the first position of each negated pattern, whether none of its matches comes before an event.
    """

    types: tuple[tuple[int, str], ...]
    allowed: Mapping[int, Test]


@dataclass(frozen=True, eq=False)
class Attempt:
    """A match, or the beginning of one.

    `missing`: the fewest events that would end it; `part`: of an AND, whose `complete` attempts are not yet matches;
    `steps`: what brings it closer to its end; the others are the conditions on the next event: that it is `free`, lies
    `inside` the window or span, passes a comparison, and is what the semantics takes.
    """

    bound: Bound
    missing: int
    complete: bool
    part: int
    steps: Callable[[], list[Step]]
    free: tuple[str, Test]
    inside: tuple[str, Test]
    compared: Callable[[Meaning | DetectionMeaning, StreamEvent, int], bool]
    taken: Test


@dataclass(frozen=True, eq=False)
class Search:
    """The search for matches of a query, which raises `TooManyMatches` after about `work` comparisons of events."""

    query: Query
    stream: Sequence[StreamEvent]
    time_unit: str
    work: int
    shown: Callable[[int], str] = str

    def matches(self, every: bool = False) -> Iterator[Bound]:
        """Matches, or at least one if there is any."""
        if not self._joined:
            yield from (attempt.bound for attempt in self.attempts(every) if attempt.complete)
            return
        for _, _, search in self._windows():
            listed = every or search.meaning.pairwise
            for combination in search.combinations() if listed else _combinations(search):
                bound = [pair for match in combination for pair in _positions(match)]
                yield tuple(sorted(bound, key=lambda pair: pair[0].position))

    def attempts(self, every: bool = False) -> Iterator[Attempt]:
        """All attempts, or enough to bind each event that any of them binds to a position."""
        if self.query.span is not None:
            yield from self._detected()
            return
        work = 0
        for window, contents, search in self._windows():
            inside = {event.position for event in contents}
            for number, part in enumerate(search.meaning.parts):
                for steps in part:
                    missing = _missing(steps)
                    for match in search.partial_matches(steps, every):
                        work += 10 * len(match)
                        if work > self.work:
                            raise TooManyMatches("the search stopped")
                        yield self._attempt(search, steps, missing, match, number, (window, partial(_is_in, inside)))

    @property
    def parts(self) -> int:
        """The number of parts of an AND, or 1."""
        return len(self.query.pattern.parts) if self._joined and isinstance(self.query.pattern, And) else 1

    def nothing(self, part: int) -> Attempt:
        """The attempt that binds no event yet."""
        inside = _always
        if self.query.span is None:
            inside = partial(_is_in, {event.position for _, contents, _ in self._windows() for event in contents})
            begins = [steps.begin for steps in meaning_of(self._plain).parts[part]]
            first = [
                Step(((leaf.origin, leaf.type),), {negation.first: _never for negation in negations})
                for begin in begins
                for leaf, negations in begin.items()
            ]
        else:
            first = [Step(top.operands[0].types, {}) for top in detection_meaning(self._plain).alternatives]
        free = ("", _always)
        return Attempt((), 1, False, part, lambda: first, free, ("", inside), lambda *compared: True, _always)

    @property
    def _joined(self) -> bool:
        """Whether matches are combinations of trends."""
        return isinstance(self.query.pattern, And) and self.query.span is None

    @cached_property
    def _plain(self) -> Query:
        return without_units(self.query, self.time_unit)

    def _windows(self) -> Iterator[tuple[str, Sequence[StreamEvent], MatchSearch]]:
        """Each window with other events than the one before it."""
        work, before = 0, None
        for (_, start, end), contents in windows_of(self._plain, self.stream, self.time_unit):
            if contents != before:
                before = contents
                work += len(contents) ** 2
                if work > self.work:
                    raise TooManyMatches("the search stopped")
                yield (
                    self._window_text(start, end),
                    contents,
                    MatchSearch(meaning_of(self._plain), contents, self.work // 50),
                )

    def _window_text(self, start: int, end: int | None) -> str:
        if self.query.window is None or end is None:
            return ""
        if self.query.window.within.unit == "events":
            return f" (events {start} to {end - 1})"
        return f" ({self.shown(start)} to {self.shown(end)})"

    def _attempt(
        self,
        search: MatchSearch,
        steps: Steps,
        missing: Mapping[Leaf, int],
        match: Match,
        part: int,
        inside: tuple[str, Test],
    ) -> Attempt:
        last, leaf = match[-1]
        bound = _positions(match)

        def allowed(negations: Negations) -> dict[int, Test]:
            def test(negation: NegatedPattern) -> Test:
                return lambda event, _: not search.negated(frozenset({negation}), last, event)

            return {negation.first: test(negation) for negation in negations}

        def following() -> list[Step]:
            if not missing[leaf]:
                return [Step((), {negation.first: _never for negation in steps.end[leaf]})]
            after = steps.after[leaf].items()
            nearer = [(later, negations) for later, negations in after if missing[later] < missing[leaf]]
            return [Step(((later.origin, later.type),), allowed(negations)) for later, negations in nearer]

        def compared(meaning: Meaning | DetectionMeaning, event: StreamEvent, origin: int) -> bool:
            assert isinstance(meaning, Meaning)
            adjacent = all(_holds(pair, (last, leaf.origin), (event, origin)) for pair in meaning.adjacent)
            return adjacent and all(_holds(pair, e, (event, origin)) for pair in meaning.pairwise for e in bound)

        def taken(event: StreamEvent, origin: int) -> bool:
            successors = search.successors(steps, self.query.semantics, match[-1])
            return any(later is event and successor.origin == origin for later, successor in successors)

        free = ("later", lambda event, _: last.time < event.time)
        complete = search.ends(steps, match[-1])
        return Attempt(bound, missing[leaf], complete, part, following, free, inside, compared, taken)

    def _detected(self) -> Iterator[Attempt]:
        meaning, length = detection_meaning(self._plain), span_length(self._plain, self.time_unit)
        for substream in substreams(self._plain, self.stream).values():
            work = self.work * len(substream) // (10 * len(self.stream))
            search = DetectionSearch(meaning, substream, length, work)
            own = {event.position: event for event in substream}
            for alternative in meaning.alternatives:
                for chosen in search.prefixes(alternative):
                    yield _detection_attempt(search, alternative, chosen, own)

    # --- what the next event lacks ----------------------------------------------------------------------------------

    def lacks(self, attempt: Attempt, clauses: Sequence[Clause]) -> tuple[Lack, ...]:
        """Why no event continues an attempt, in the words of the query's clauses."""
        return tuple(self._lack(attempt, step, clauses) for step in attempt.steps())

    def followed(self, attempt: Attempt) -> int:
        """2 if events of its key come later that have a type that could be next, 1 if such events of another key do."""
        last, _ = attempt.bound[-1]
        types = [name for step in attempt.steps() for _, name in step.types]
        own = any(last.time < self._last.get((*self._key(last), name), last.time) for name in types)
        return own + any(last.time < self._last.get((name,), last.time) for name in types)

    @cached_property
    def _last(self) -> dict[tuple[Value, ...], int]:
        """The last time of each type, and of each key and type."""
        last: dict[tuple[Value, ...], int] = {}
        for event in self.stream:
            last[event.type,] = last[*self._key(event), event.type] = event.time
        return last

    def _key(self, event: StreamEvent) -> tuple[Value, ...]:
        return tuple(value_of(event, name) for name in self.query.partition)

    def _lack(self, attempt: Attempt, step: Step, clauses: Sequence[Clause]) -> Lack:
        """The numbers of events that pass one condition after another, up to the first that none passes."""
        first = _first_positions(self.query.pattern)
        refusing = [clause.text for clause in clauses if first.get(id(clause.part)) in step.allowed]
        if not step.types:
            return Lack(None, tuple((f"with {text}", 0) for text in refusing))
        able = [(event, origin) for event in self.stream for origin, name in step.types if name == event.type]
        counts = [("events", len({event.position for event, _ in able}))]
        tests = [self._test(attempt, step, clause) for clause in sorted(clauses, key=_order)]
        for text, test in (attempt.free, *tests):
            able = [(event, origin) for event, origin in able if test(event, origin)]
            number = len({event.position for event, _ in able})
            if number < counts[-1][1]:
                counts.append((text, number))
        return Lack(step.types[0][0], tuple(counts))

    def _test(self, attempt: Attempt, step: Step, clause: Clause) -> tuple[str, Test]:
        text = f"with {clause.text}"
        test: Test = _always
        match clause.part:
            case Local():
                test = partial(_passes, meaning_of_clause(self.query, clause, self.time_unit))
            case Comparison():
                test = partial(attempt.compared, meaning_of_clause(self.query, clause, self.time_unit))
            case WindowClause() | Length():
                text, test = text + attempt.inside[0], attempt.inside[1]
            case Semantics():
                test = attempt.taken
            case Not():
                test = step.allowed.get(_first_positions(self.query.pattern)[id(clause.part)], _always)
            case _:
                test = partial(_agrees, clause, attempt.bound)
        return text, test


def meaning_of_clause(query: Query, clause: Clause, time_unit: str) -> Meaning | DetectionMeaning:
    """The meaning of a query with one predicate only."""
    assert isinstance(clause.part, Local | Comparison)
    single = without_units(replace(query, predicates=(clause.part,)), time_unit)
    return meaning_of(single) if query.span is None else detection_meaning(single)


def _detection_attempt(
    search: DetectionSearch, alternative: Alternative, chosen: tuple[Chosen, ...], own: Mapping[int, StreamEvent]
) -> Attempt:
    """The attempt of a choice for the first operands; `own`: the events of its key by position."""
    operands = alternative.operands
    bound = tuple(
        (event, next(origin for origin, name in operand.types if name == event.type))
        for operand, events in zip(operands, chosen, strict=False)
        for event in events
    )
    events = [event for event, _ in bound]

    def following() -> list[Step]:
        if len(chosen) < len(operands):
            return [Step(operands[len(chosen)].types, {})]
        return [Step((), {part.types[0][0]: _never for part in alternative.parts if part.negated})]

    def inside(event: StreamEvent, _: int) -> bool:
        return search.within(tuple(sorted([*events, own[event.position]], key=lambda event: event.position)))

    def compared(meaning: Meaning | DetectionMeaning, event: StreamEvent, origin: int) -> bool:
        return all(
            _holds(pair, e, (event, origin)) and _holds(pair, (event, origin), e)
            for pair in meaning.pairs
            for e in bound
        )

    later: Test = lambda event, _: events[-1].time < event.time  # noqa: E731
    fresh: Test = lambda event, _: all(event.position != other.position for other in events)  # noqa: E731
    free = ("later", later) if alternative.ordered else ("not bound", fresh)
    missing = len(operands) - len(chosen)
    complete = not missing and not search.negated(alternative, chosen)
    return Attempt(bound, missing, complete, 0, following, free, ("", inside), compared, _always)


def _combinations(search: MatchSearch) -> Iterator[tuple[Match, ...]]:
    """A combination of distinct trends of the parts of an AND, if there is one.

    As many trends of a part as there are parts are enough: first of those that are found fast, then of all.
    """
    parts = search.meaning.parts
    for every in (False, True):
        trends = [list(islice(_trends(search, part, every), len(parts))) for part in parts]
        for combination in product(*trends):
            if len({trend(match) for match in combination}) == len(parts):
                yield combination
                return
        if not all(trends):
            return


def _trends(search: MatchSearch, part: Sequence[Steps], every: bool) -> Iterator[Match]:
    """Matches of a part of an AND with different events."""
    trends: set[tuple[int, ...]] = set()
    for steps in part:
        for match in search.partial_matches(steps, every):
            if search.ends(steps, match[-1]) and trend(match) not in trends:
                trends.add(trend(match))
                yield match


def _missing(steps: Steps) -> dict[Leaf, int]:
    """For each leaf, the fewest events after it that end a match."""
    missing = dict.fromkeys(steps.end, 0)
    while len(missing) < len(steps.after):
        least = max(missing.values()) + 1
        missing |= {
            leaf: least
            for leaf, after in steps.after.items()
            if leaf not in missing and not missing.keys().isdisjoint(after)
        }
    return missing


def _positions(match: Match) -> Bound:
    return tuple((event, leaf.origin) for event, leaf in match)


def _first_positions(pattern: Pattern, first: int = 0) -> dict[int, int]:
    """The position of the first event of each sub-pattern, by the identity of the sub-pattern."""
    positions = {id(pattern): first}
    for part in children(pattern):
        positions |= _first_positions(part, first)
        first += size(part)
    return positions


def _order(clause: Clause) -> int:
    """The order in which conditions on the next event are tried."""
    kinds: tuple[type | tuple[type, ...], ...] = ((WindowClause, Length), Local, Comparison, Not, Semantics)
    return next((place for place, kind in enumerate(kinds) if isinstance(clause.part, kind)), -1)


def _holds(pair: Pair, first: tuple[StreamEvent, int], second: tuple[StreamEvent, int]) -> bool:
    """Whether two events pass a comparison, if it is about their positions."""
    applies = first[1] in pair.first and second[1] in pair.second
    return not applies or holds_pair(pair, first[0], second[0])


def _is_in(positions: set[int], event: StreamEvent, _: int) -> bool:
    return event.position in positions


def _agrees(clause: Clause, bound: Bound, event: StreamEvent, _: int) -> bool:
    return all(value_of(event, name) == value_of(first, name) for first, _ in bound[:1] for name in clause.attributes)


def _passes(meaning: Meaning | DetectionMeaning, event: StreamEvent, origin: int) -> bool:
    return all(passes(condition, event) for condition in meaning.locals.get(origin, ()))


def _always(event: StreamEvent, origin: int) -> bool:
    return True


def _never(event: StreamEvent, origin: int) -> bool:
    return False
