"""Members of a set of queries that may share: an automaton of a query each, and the classes that may share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from cepbench.algorithms.compose import window_of
from cepbench.events.windows import Window
from cepbench.queries.aggregates import COUNT_ALL, MOST_RING
from cepbench.queries.automaton import Automaton
from cepbench.queries.compile import CompiledQuery, Part, Workload
from cepbench.queries.model import AggregateOf, Aggregates, CountOf, Function


@dataclass(frozen=True, eq=False)
class SetMember:
    """One automaton of a query, `side` of its parts, over windows of time."""

    query: CompiledQuery
    side: int
    window: Window

    @property
    def part(self) -> Part:
        """The part of the query."""
        return self.query.parts[self.side]

    @property
    def automaton(self) -> Automaton:
        """The automaton."""
        return self.part.automaton

    @property
    def place(self) -> tuple[int, int]:
        """Index of the query and side."""
        return self.query.index, self.side


def members_of(workload: Workload) -> list[SetMember]:
    """The members of all queries except those with count windows: each of these windows is a stream of its own."""
    return [
        SetMember(query, side, window_of(query))
        for query in workload
        if not window_of(query).counts_events
        for side in range(len(query.parts))
    ]


def aggregate_class(query: CompiledQuery) -> object:
    """Queries of one class can share: COUNT(*); the same MIN; the same MAX; SUM, AVG and COUNT(E) all together.

    A query that returns several of them shares with those that return the same kinds.
    """
    assert isinstance(query.query.returns, Aggregates)
    names = query.analysis.names
    kinds: set[object] = set()
    for item in query.query.returns.items:
        match item:
            case AggregateOf(function, name, attribute) if function in (Function.MIN, Function.MAX):
                types = frozenset(names.events[i].type for i in names.indices(name))
                kinds.add((function, types, attribute))
            case AggregateOf() | CountOf():
                kinds.add("sum")
    return frozenset(kinds)


def connected(members: Sequence[SetMember], keys: Sequence[Iterable[Hashable]]) -> list[list[int]]:
    """A partition of members by the `keys` of each, if their aggregates are of one class.

    The members of a set have at most `MOST_RING` different counts and sums, since a cell has an overflow flag for each.
    """
    root = list(range(len(members)))
    kept = [_counts_and_sums(member) for member in members]

    def find(m: int) -> int:
        while root[m] != m:
            root[m] = root[root[m]]
            m = root[m]
        return m

    owner: dict[tuple[object, Hashable], int] = {}
    for m, member in enumerate(members):
        class_ = aggregate_class(member.query)
        for key in keys[m]:
            low, high = sorted((find(m), find(owner.setdefault((class_, key), m))))
            if low != high and len(kept[low] | kept[high]) <= MOST_RING:
                root[high] = low
                kept[low] |= kept[high]
    sets: dict[int, list[int]] = {}
    for m in range(len(members)):
        sets.setdefault(find(m), []).append(m)
    return list(sets.values())


def _counts_and_sums(member: SetMember) -> set[object]:
    ring = member.query.layout.ring
    keys = Counter(COUNT_ALL if channel == COUNT_ALL else channel.column for channel in ring)
    return {(key, n) for key, count in keys.items() for n in range(count)}


def negated_types(automaton: Automaton) -> set[str]:
    """The types of all negated events, nested ones included."""
    types: set[str] = set()
    for negation in automaton.negations:
        types |= {position.type for position in negation.positions} | negated_types(negation)
    return types
