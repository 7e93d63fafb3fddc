"""The plan of a workload: sets of members that share, the sharing plan of each set, and members that do not share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from cepbench.algorithms.base import Plan
from cepbench.algorithms.gloria.sharing_plan import QSet, TransitionPlan, WorkloadSharingPlan
from cepbench.algorithms.gloria.template import GloriaTemplate, TypeState, states_of, template_of
from cepbench.algorithms.online.granularity import COARSEST
from cepbench.algorithms.snapshots.members import SetMember, connected


@dataclass(frozen=True, eq=False)
class PlannedSet:
    """A sharable set of members, their template, and the plan by which they share it.

    Template and plan number the members by their place in `members`.
    """

    members: tuple[SetMember, ...]
    template: GloriaTemplate
    sharing: WorkloadSharingPlan


@dataclass(frozen=True)
class GloriaPlan(Plan):
    """The sets whose members share, and the members that share nothing."""

    sets: tuple[PlannedSet, ...] = ()
    alone: tuple[SetMember, ...] = ()
    granularity: str = COARSEST


def sharable_sets(members: Sequence[SetMember], block: int | None = None) -> tuple[tuple[SetMember, ...], ...]:
    """The sharable sets, a partition of the members; a member that shares with no other is a set by itself.

    Members share if their aggregates are of one class and they have a transition in common (Definition 2.3), and if
    their queries are in the same block of `block` consecutive queries.
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


def separated(planned: PlannedSet) -> tuple[tuple[PlannedSet, ...], tuple[SetMember, ...]]:
    """The part of a set whose members share some transition, if there is any, and the members that share none."""
    shared = planned.sharing.sharing
    alone = tuple(member for m, member in enumerate(planned.members) if m not in shared)
    if not alone:
        return (planned,), ()
    return ((part_of(planned, sorted(shared)),) if shared else ()), alone


def part_of(planned: PlannedSet, numbers: Sequence[int]) -> PlannedSet:
    """The members `numbers` of a set with their sharing plan; a Q-set that is left with one member does not share."""
    members = tuple(planned.members[m] for m in numbers)
    template, place = template_of(members), {m: n for n, m in enumerate(numbers)}
    plans = {t: _part(planned.sharing.transitions[t], place) for t in template.transitions}
    return PlannedSet(members, template, WorkloadSharingPlan(plans))


def _part(plan: TransitionPlan, place: dict[int, int]) -> TransitionPlan:
    found = []
    for q in plan:
        members = frozenset(place[m] for m in q.members if m in place)
        if members:
            found.append(QSet(members, q.snapshot if len(members) > 1 else None))
    return tuple(found)
