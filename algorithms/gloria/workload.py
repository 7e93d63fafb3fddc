"""Workload analysis: which members can share transitions, directly or through others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from cepbench.algorithms.gloria.template import TypeState, states_of
from cepbench.algorithms.snapshots.members import SetMember, aggregate_class
from cepbench.queries.aggregates import COUNT_ALL, MOST_RING


def sharable_sets(members: Sequence[SetMember]) -> tuple[tuple[SetMember, ...], ...]:
    """The sharable sets of members, which partition them; one that shares with nobody is a set of its own.

    Members share if their aggregates are of one class and they have a transition in common (Definition 2.3). A set
    takes no more members than have `MOST_RING` counts and sums together, one that all of them keep counted once.
    """
    root = list(range(len(members)))
    kept = [_counts_and_sums(member) for member in members]

    def find(m: int) -> int:
        while root[m] != m:
            root[m] = root[root[m]]
            m = root[m]
        return m

    owner: dict[tuple[object, TypeState, TypeState], int] = {}
    for m, member in enumerate(members):
        class_ = aggregate_class(member.query)
        states = states_of(member)
        for t in member.automaton.transitions:
            first = owner.setdefault((class_, states[t.source], states[t.target]), m)
            one, other = sorted((find(m), find(first)))
            if one != other and len(kept[one] | kept[other]) <= MOST_RING:
                root[other] = one
                kept[one] |= kept[other]
    sets: dict[int, list[SetMember]] = {}
    for m, member in enumerate(members):
        sets.setdefault(find(m), []).append(member)
    return tuple(map(tuple, sets.values()))


def _counts_and_sums(member: SetMember) -> set[object]:
    seen: Counter[object] = Counter()
    found: set[object] = set()
    for channel in member.query.layout.ring:
        key = COUNT_ALL if channel == COUNT_ALL else channel.column
        found.add((key, seen[key]))
        seen[key] += 1
    return found
