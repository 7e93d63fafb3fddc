"""Workload analysis: which members can share transitions, directly or through others."""

from __future__ import annotations

from collections.abc import Sequence

from cepbench.algorithms.gloria.template import TypeState, states_of
from cepbench.algorithms.snapshots.connecting import connected
from cepbench.algorithms.snapshots.members import SetMember


def sharable_sets(members: Sequence[SetMember], block: int | None = None) -> tuple[tuple[SetMember, ...], ...]:
    """The sharable sets of members, which partition them; one that shares with nobody is a set of its own.

    Members share if their aggregates are of one class and they have a transition in common (Definition 2.3), and if
    their queries are of one `block`: every so many that follow one another.
    """
    blocks: dict[int, list[SetMember]] = {}
    for member in members:
        blocks.setdefault(member.query.index // block if block else 0, []).append(member)
    return tuple(
        tuple(own[m] for m in together)
        for own in blocks.values()
        for together in connected(own, [_transitions(member) for member in own])
    )


def _transitions(member: SetMember) -> list[tuple[TypeState, TypeState]]:
    states = states_of(member)
    return [(states[t.source], states[t.target]) for t in member.automaton.transitions]
