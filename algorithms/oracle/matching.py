"""All matches of a query in one window of one key, by exhaustive search (docs/semantics.md, rules 1 to 5)."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import permutations, product

from cepbench.algorithms.oracle.comparing import holds_pair, passes
from cepbench.algorithms.oracle.names import Meaning, Pair
from cepbench.algorithms.oracle.steps import Leaf, NegatedPattern, Negations, Steps
from cepbench.algorithms.oracle.stream import StreamEvent
from cepbench.events.errors import CepbenchError
from cepbench.queries.model import Semantics

Bound = tuple[StreamEvent, Leaf]
Match = tuple[Bound, ...]


class TooManyMatches(CepbenchError):
    """The search exceeded its limit."""


class MatchSearch:
    """The search in one window. `limit`: the maximum number of partial matches to visit."""

    def __init__(self, meaning: Meaning, events: Sequence[StreamEvent], limit: int):
        self.meaning = meaning
        self._events = events
        self._limit = limit
        self._visited = 0
        self._successors: dict[Bound, list[Bound]] = {}
        self._candidates: dict[Leaf, list[StreamEvent]] = {}
        self._spans: dict[NegatedPattern, Collection[tuple[int, int]]] = {}

    def matches(self) -> list[Match]:
        """Matches of the query's pattern, which must not be an AND."""
        [part] = self.meaning.parts
        return [match for match in self._union(part) if self._holds_pairwise(match)]

    def combinations(self) -> list[tuple[Match, ...]]:
        """One binding per combination of distinct trends, one of each part of an AND, in any order."""
        binding_of: dict[frozenset[tuple[int, ...]], tuple[Match, ...]] = {}
        parts = [[match for match in self._union(part) if self._holds_pairwise(match)] for part in self.meaning.parts]
        if math.prod(map(len, parts)) > self._limit:
            raise TooManyMatches(f"more than {self._limit} combinations in one window; raise the limit")
        for combination in product(*parts):
            trends = frozenset(trend(match) for match in combination)
            if len(trends) == len(combination) and self._holds_across(combination):
                binding_of.setdefault(trends, combination)
        return list(binding_of.values())

    def _union(self, alternatives: tuple[Steps, ...]) -> list[Match]:
        """Bindings of the first alternative, and bindings of later ones whose trend no earlier one has."""
        semantics = self.meaning.query.semantics
        union: list[Match] = []
        trends: set[tuple[int, ...]] = set()
        for steps in alternatives:
            fresh = [match for match in self._matches(steps, semantics) if trend(match) not in trends]
            union += fresh
            trends |= {trend(match) for match in fresh}
        return union

    def begins(self, steps: Steps, bound: Bound) -> bool:
        """Whether a match can begin with a bound event."""
        event, leaf = bound
        return leaf in steps.begin and self._binds(event, leaf) and not self.negated(steps.begin[leaf], None, event)

    def ends(self, steps: Steps, bound: Bound) -> bool:
        """Whether a match can end with a bound event."""
        event, leaf = bound
        return leaf in steps.end and not self.negated(steps.end[leaf], event, None)

    def following(self, steps: Steps, semantics: Semantics) -> dict[Bound, list[Bound]]:
        """All bound events that partial matches reach, and what can follow each of them."""
        pending = [(e, leaf) for e in self._events for leaf in steps.begin if self.begins(steps, (e, leaf))]
        successors: dict[Bound, list[Bound]] = {}
        while pending:
            bound = pending.pop()
            if bound not in successors:
                successors[bound] = self.successors(steps, semantics, bound)
                pending.extend(successors[bound])
        return successors

    def partial_matches(self, steps: Steps, every: bool) -> Iterator[Match]:
        """Matches and their beginnings: `every` one, or enough to bind each event that any of them binds to a leaf.

        One to each bound event is enough unless there are pairwise predicates, which look at the events before it, too.
        """
        every = every or bool(self.meaning.pairwise)
        reached: set[Bound] = set()
        pending: list[Match] = [
            ((event, leaf),) for event in self._events for leaf in steps.begin if self.begins(steps, (event, leaf))
        ]
        while pending:
            partial = pending.pop()
            if not every and partial[-1] in reached:
                continue
            reached.add(partial[-1])
            self._visited += 1
            if self._visited > self._limit:
                raise TooManyMatches(f"more than {self._limit} partial matches in one window; raise the limit")
            yield partial
            longer = ((*partial, bound) for bound in self.successors(steps, self.meaning.query.semantics, partial[-1]))
            pending += (match for match in longer if self._holds_with_last(match))

    def _matches(self, steps: Steps, semantics: Semantics) -> Iterator[Match]:
        for event in self._events:
            for leaf in steps.begin:
                if self.begins(steps, (event, leaf)):
                    yield from self._extensions(steps, semantics, ((event, leaf),))

    def _extensions(self, steps: Steps, semantics: Semantics, partial: Match) -> Iterator[Match]:
        """The partial match itself if it can end here, and all its extensions."""
        self._visited += 1
        if self._visited > self._limit:
            raise TooManyMatches(f"more than {self._limit} partial matches in one window; raise the limit")
        if self.ends(steps, partial[-1]):
            yield partial
        for successor in self.successors(steps, semantics, partial[-1]):
            yield from self._extensions(steps, semantics, (*partial, successor))

    def successors(self, steps: Steps, semantics: Semantics, bound: Bound) -> list[Bound]:
        """The bound events that can follow a bound event. A leaf belongs to one pattern, and so to one semantics."""
        if bound not in self._successors:
            successors = self._next_under_any(steps, bound)
            if semantics is not Semantics.ANY and successors:
                earliest = min(event.time for event, _ in successors)
                successors = [successor for successor in successors if successor[0].time == earliest]
                if semantics is Semantics.CONTIGUOUS and self._anything_between(bound[0].time, earliest):
                    successors = []
            self._successors[bound] = successors
        return self._successors[bound]

    def _next_under_any(self, steps: Steps, bound: Bound) -> list[Bound]:
        event, leaf = bound
        return [
            (later, successor)
            for successor, negations in steps.after[leaf].items()
            for later in self._bindable(successor)
            if event.time < later.time
            and self._holds_adjacent(bound, (later, successor))
            and not self.negated(negations, event, later)
        ]

    def _bindable(self, leaf: Leaf) -> list[StreamEvent]:
        """The events of the window that a leaf can bind."""
        if leaf not in self._candidates:
            self._candidates[leaf] = [event for event in self._events if self._binds(event, leaf)]
        return self._candidates[leaf]

    def _binds(self, event: StreamEvent, leaf: Leaf) -> bool:
        conditions = self.meaning.locals.get(leaf.origin, ())
        return event.type == leaf.type and all(passes(condition, event) for condition in conditions)

    def _holds_adjacent(self, bound: Bound, successor: Bound) -> bool:
        return all(
            holds_pair(pair, bound[0], successor[0])
            for pair in self.meaning.adjacent
            if bound[1].origin in pair.first and successor[1].origin in pair.second
        )

    def _anything_between(self, after: int, before: int) -> bool:
        return any(after < event.time < before for event in self._events)

    def negated(self, negations: Negations, after: StreamEvent | None, before: StreamEvent | None) -> bool:
        """Whether a negated pattern has a match after one event and before another (None: no bound)."""
        return any(
            (after is None or after.time < start) and (before is None or end < before.time)
            for negation in negations
            for start, end in self._spans_of(negation)
        )

    def _spans_of(self, negation: NegatedPattern) -> Collection[tuple[int, int]]:
        """Start and end times of the matches of a negated pattern; of those with the same start, the first end."""
        if negation not in self._spans:
            following = self.following(negation.steps, Semantics.ANY)
            first: dict[int, float] = {}
            for start in following:
                if self.begins(negation.steps, start):
                    ends = [e.time for e, leaf in _reached(start, following) if self.ends(negation.steps, (e, leaf))]
                    first[start[0].time] = min([*ends, first.get(start[0].time, math.inf)])
            self._spans[negation] = {(start, int(end)) for start, end in first.items() if end < math.inf}
        return self._spans[negation]

    def _holds_pairwise(self, match: Match) -> bool:
        """Whether pairwise predicates hold for every pair of bound events, in the order of the match."""
        return all(
            self._holds_pair(pair, earlier, later)
            for pair in self.meaning.pairwise
            for index, earlier in enumerate(match)
            for later in match[index + 1 :]
        )

    def _holds_with_last(self, match: Match) -> bool:
        """Whether pairwise predicates hold for the last event and all events before it."""
        pairs = self.meaning.pairwise
        return all(self._holds_pair(pair, earlier, match[-1]) for pair in pairs for earlier in match[:-1])

    def _holds_across(self, combination: tuple[Match, ...]) -> bool:
        """Whether they hold for every pair of events bound by different parts, in any order: AND has no order."""
        return all(
            self._holds_pair(pair, left, right)
            for pair in self.meaning.pairwise
            for left_match, right_match in permutations(combination, 2)
            for left, right in product(left_match, right_match)
        )

    def _holds_pair(self, pair: Pair, left: Bound, right: Bound) -> bool:
        applies = left[1].origin in pair.first and right[1].origin in pair.second
        return not applies or holds_pair(pair, left[0], right[0])


def _reached(start: Bound, following: Mapping[Bound, Sequence[Bound]]) -> set[Bound]:
    """A bound event and all that can come after it, at any distance."""
    reached = {start}
    pending = [start]
    while pending:
        fresh = set(following[pending.pop()]) - reached
        reached |= fresh
        pending.extend(fresh)
    return reached


def trend(match: Match) -> tuple[int, ...]:
    """The positions of a match's events."""
    return tuple(event.position for event, _ in match)
