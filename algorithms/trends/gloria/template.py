"""The template of a workload: event types, and transitions with the queries that have them (Section 2.2)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from cepbench.algorithms.trends.snapshots.members import SetMember


class TypeState(NamedTuple):
    """An event type of the template: `nth` counts the positions of a query that have the same type, from 0.

    The paper lets a type occur once in a query; then `nth` is 0.
    """

    type: str
    nth: int = 0

    def __str__(self) -> str:
        return f"{self.type}{self.nth + 1}" if self.nth else self.type


class TypeTransition(NamedTuple):
    """tran(Ei, Ej): events of `target` directly follow events of `source`."""

    source: TypeState
    target: TypeState

    def __str__(self) -> str:
        return f"({self.source}, {self.target})"


@dataclass(frozen=True)
class GloriaTemplate:
    """Each state and transition once, with the members (numbered from 0) that have it.

    - `transitions`: the members of each transition, at least one.
    - `start`, `end`: the members whose trends may start, or end, with an event of a state.
    - `alone`: the members of each transition that do not share it, since it has negations for them.
    - `states`: by member, the states of its automaton's positions.
    """

    transitions: Mapping[TypeTransition, frozenset[int]]
    start: Mapping[TypeState, frozenset[int]]
    end: Mapping[TypeState, frozenset[int]]
    alone: Mapping[TypeTransition, frozenset[int]]
    states: tuple[tuple[TypeState, ...], ...]


def template_of(members: Sequence[SetMember]) -> GloriaTemplate:
    """The template of some members of a workload, transitions in the order in which members name them."""
    transitions, start, end, alone = (defaultdict[Any, set[int]](set) for _ in range(4))
    states = tuple(states_of(member) for member in members)
    for m, member in enumerate(members):
        for t in member.automaton.transitions:
            transition = TypeTransition(states[m][t.source], states[m][t.target])
            transitions[transition].add(m)
            if t.negations:
                alone[transition].add(m)
        for state, position in zip(states[m], member.automaton.positions, strict=True):
            if position.start is not None:
                start[state].add(m)
            if position.end is not None:
                end[state].add(m)
    frozen = [{key: frozenset(numbers) for key, numbers in sets.items()} for sets in (transitions, start, end, alone)]
    return GloriaTemplate(frozen[0], frozen[1], frozen[2], frozen[3], states)


def states_of(member: SetMember) -> tuple[TypeState, ...]:
    """The states of the positions of a member's automaton."""
    seen: Counter[str] = Counter()
    states = []
    for position in member.automaton.positions:
        states.append(TypeState(position.type, seen[position.type]))
        seen[position.type] += 1
    return tuple(states)
