"""Random streams with the events of given queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from random import Random
from typing import Any

from cepbench.algorithms.oracle import Leaf, detection_meaning, meaning_of, needed_attributes
from cepbench.queries.model import Event, Not, Pattern, Plus, Query, Repeat, Star, children, occurrences
from cepbench.verification.draw import Draw
from cepbench.verification.features import Feature
from cepbench.verification.random_detection import detected_types
from cepbench.verification.random_predicates import ATTRIBUTES, STRINGS

IRRELEVANT = "Z"
"""A type that no pattern names; contiguous semantics sees it."""

SHORT = (0, 2, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15)
LONG = (25, 40, 60, 90)
EXPLOSIVE = (100, 120)
"""Numbers of events. Long streams need short windows for the oracle; explosive ones can only be tallied,
and have counts beyond 2**64."""

BIG = 2**62
"""Two of these overflow a sum of integers."""


def random_events(draw: Draw, queries: Sequence[Query]) -> tuple[Mapping[str, Any], ...]:
    """Events in time order, mostly of types that the queries name; some lack attributes that no query needs."""
    random = draw.random
    positive = [event.type for query in queries for event in occurrences(query.pattern, negated=False)]
    relevant = [*positive, *positive, *(e.type for query in queries for e in occurrences(query.pattern, negated=True))]
    explosive = Feature.COUNT_OVERFLOW in draw.wanted
    short = all(_length(query) <= 6 for query in queries)
    few = SHORT[3 if draw.wanted else 0 :]
    size = random.choice(EXPLOSIVE if explosive else LONG if short and random.random() < 0.4 else few)
    several = draw.has(Feature.GROUPS, 0.5)
    groups, drivers = random.choice((2, 3)) if several else 1, random.choice((1, 2)) if several else 1
    big = draw.has(Feature.SUM_OVERFLOW, 0.05)
    ties = random.choice((0.2, 0.4, 0.6)) if draw.has(Feature.TIES, 0.75) else 0.0
    if explosive:
        repeated = [name for query in queries for name in _repeated(query.pattern)]
        relevant = [*positive, *[random.choice(repeated)] * 4 * len(positive)] if repeated else positive
        groups, drivers, ties = min(groups, 2), 1, ties / 4
    walk = _Walk(random, queries)
    irrelevant = random.choice((0.0, 0.02 if explosive else 0.15))
    fitting = 0.1 if explosive else random.choice((0.0, 0.5, 0.8))
    holes = 0.5 if draw.has(Feature.NULLS, 0.3) else 0.0
    needs = _needs(queries)
    time = random.choice((0, 0, 1, 7, 30, 10**12))
    values = random.choice((_scattered, _scattered, _rising, _falling))
    events = []
    for number in range(size):
        time_step = 0 if random.random() < ties else 1 if explosive else random.choice((1, 1, 1, 2, 3))
        if random.random() < irrelevant:
            name = IRRELEVANT
        else:
            name = walk.step() if random.random() < fitting else random.choice(relevant)
        x = random.choice((-BIG, BIG)) if big and random.random() < 0.7 else values(random, number)
        event: dict[str, Any] = {
            "time": time,
            "type": name,
            "g": random.randint(1, groups) if not explosive or random.random() < 0.1 else 1,
            "h": random.randint(1, drivers),
            "x": x,
            "y": values(random, number) + random.randint(0, 3) / 4,  # quarters: sums are exact in any order
            "s": random.choice(STRINGS[1 : 2 if explosive else 4]),
        }
        for attribute in ATTRIBUTES:
            if (name, attribute) not in needs and ("*", attribute) not in needs and random.random() < holes:
                event[attribute] = None
        events.append(event)
        time += time_step
    return tuple(events)


def _length(query: Query) -> float:
    """The number of events in a window; a span, which contains more matches, counts twice."""
    if query.span is not None:
        return 2.0 * float(query.span.amount)
    return inf if query.window is None else float(query.window.within.amount)


def _repeated(pattern: Pattern) -> Iterator[str]:
    """The types of positive events that are the only ones in a loop."""
    match pattern:
        case Plus(Event(name)) | Star(Event(name)) | Repeat(Event(name), _, None):
            yield name
        case Not():
            return
        case _:
            for child in children(pattern):
                yield from _repeated(child)


class _Walk:
    """Types of events that matches of some queries could bind, one after another."""

    def __init__(self, random: Random, queries: Sequence[Query]) -> None:
        self._random = random
        self._patterns = [
            steps for query in queries if query.span is None for part in meaning_of(query).parts for steps in part
        ]
        self._detected = [query for query in queries if query.span is not None]
        self._rest: list[str] = []
        self._next: list[Leaf] = []

    def step(self) -> str:
        """The type of the next event of a match, or of the first of another one."""
        if self._rest or (self._detected and not self._patterns):
            self._rest = self._rest or detected_types(self._random, self._random.choice(self._detected))
            return self._rest.pop(0)
        if not self._next:
            self._steps = self._random.choice(self._patterns)
            self._next = list(self._steps.begin)
        leaf = self._random.choice(self._next)
        ended = leaf in self._steps.end and self._random.random() < 0.4
        self._next = [] if ended else list(self._steps.after[leaf])
        return leaf.type


def _needs(queries: Sequence[Query]) -> set[tuple[str, str]]:
    """Types ('*' for all) and their attributes that some query needs."""
    needed = {("*", attribute) for query in queries for attribute in query.partition}
    meanings = (meaning_of(query) if query.span is None else detection_meaning(query) for query in queries)
    return needed.union(*map(needed_attributes, meanings))


def _scattered(random: Random, number: int) -> int:
    return random.randint(-3, 6)


def _rising(random: Random, number: int) -> int:
    return number // 4 + random.randint(0, 1)


def _falling(random: Random, number: int) -> int:
    return -(number // 4) + random.randint(0, 1)
