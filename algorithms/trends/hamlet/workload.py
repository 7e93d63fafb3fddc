"""Workload analysis (Section 3.1): the Kleene sub-patterns that queries can share.

A *member* is a query, or one of the automata of a conjunction (both sides and their common trends, Section 5).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cepbench.algorithms.trends.online.granularity import only_single_events, selects
from cepbench.algorithms.trends.snapshots.members import SetMember, connected, negated_types
from cepbench.queries.automaton import Automaton

PredicateClass = tuple[frozenset[object], frozenset[object]]
"""Conditions of a position, and predicates of its transition to itself, without the names of events."""


@dataclass(frozen=True)
class KleeneSubPattern:
    """E+ at a position of a `member` of a sharable set: a sub-pattern that may be shared (Definition 4)."""

    position: int
    type: str
    predicates: PredicateClass
    member: int = 0


@dataclass(frozen=True, eq=False)
class SharableSet:
    """Queries that can share, directly or through others (Definition 5), and their sharable Kleene sub-patterns.

    `shared` has those of each type that at least two members, or positions, have; by type.
    """

    members: tuple[SetMember, ...]
    shared: tuple[tuple[KleeneSubPattern, ...], ...]


def sharable_sets(members: Sequence[SetMember]) -> tuple[SharableSet, ...]:
    """The sharable query sets of a workload; a member that shares with no other is a set of its own.

    Queries share if they have E+ in common, their aggregates are of one class, and they group alike (an executor sees
    one key, so they do). Windows begin with the stream, so those of any two queries overlap.
    """
    patterns = [kleene_sub_patterns(member.automaton) for member in members]
    sets = []
    for indices in connected(members, [[pattern.type for pattern in of_member] for of_member in patterns]):
        by_type: dict[str, list[KleeneSubPattern]] = {}
        for number, m in enumerate(indices):
            for pattern in patterns[m]:
                by_type.setdefault(pattern.type, []).append(replace(pattern, member=number))
        shared = tuple(tuple(same_type) for same_type in by_type.values() if len(same_type) > 1)
        sets.append(SharableSet(tuple(members[m] for m in indices), shared))
    return tuple(sets)


def kleene_sub_patterns(automaton: Automaton) -> tuple[KleeneSubPattern, ...]:
    """The positions of E+ that may be shared.

    The value of a graphlet's snapshot must not change within a burst of E. So no other position of type E may come next
    to this one, no negation may name E or lie inside the loop, and neither predicates nor a negated sequence may select
    some of the events before the loop. Nor may such a sequence end the pattern, right behind the loop: its last events
    are selected when the window closes.
    """
    patterns = []
    negated = negated_types(automaton)
    loops = {t.source: t for t in automaton.transitions if t.source == t.target}
    for p, loop in loops.items():
        position = automaton.positions[p]
        into = [t for t in automaton.transitions if t.target == p and t.source != p]
        beside = {t.source for t in into} | {t.target for t in automaton.transitions if t.source == p and t.target != p}
        if loop.negations or position.type in negated:
            continue
        if any(automaton.positions[q].type == position.type for q in beside):
            continue
        if any(selects(t, automaton) for t in into):
            continue
        if not only_single_events(position.end or frozenset(), automaton):
            continue
        predicates = frozenset(position.predicates), frozenset(p.nameless for p in loop.predicates)
        patterns.append(KleeneSubPattern(p, position.type, predicates))
    return tuple(patterns)
