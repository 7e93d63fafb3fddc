"""Parts of sharable sets: members that share nothing, and sets that keep too many counts and sums."""

from __future__ import annotations

from collections.abc import Sequence

from cepbench.algorithms.gloria.compilation import CompiledPlan, compile_set
from cepbench.algorithms.gloria.plan import PlannedSet
from cepbench.algorithms.gloria.sharing_plan import QSet, TransitionPlan, WorkloadSharingPlan
from cepbench.algorithms.gloria.template import template_of
from cepbench.algorithms.snapshots.members import SetMember
from cepbench.events.schema import Schema
from cepbench.queries.aggregates import MOST_RING


def separated(planned: PlannedSet) -> tuple[tuple[PlannedSet, ...], tuple[SetMember, ...]]:
    """The part of a set whose members share some transition, if there is any, and the members that share none."""
    shared = planned.sharing.sharing
    alone = tuple(member for m, member in enumerate(planned.members) if m not in shared)
    if not alone:
        return (planned,), ()
    return ((part_of(planned, sorted(shared)),) if shared else ()), alone


def compile_sets(planned: PlannedSet, schema: Schema, granularity: str) -> tuple[CompiledPlan, ...]:
    """A planned set, compiled; in halves, and halves of these, as long as there are too many counts and sums for the
    flags of overflow in a cell.

    Members may sum the same attribute at different states: then they cannot have one sum in common.
    """
    found = compile_set(planned, schema, granularity)
    if len(found.channels.columns[0]) <= MOST_RING or len(planned.members) == 1:
        return (found,)
    half = len(planned.members) // 2
    numbers = range(len(planned.members))
    return tuple(
        one
        for part in (numbers[:half], numbers[half:])
        for one in compile_sets(part_of(planned, part), schema, granularity)
    )  # fmt: skip


def part_of(planned: PlannedSet, numbers: Sequence[int]) -> PlannedSet:
    """Some members of a set, by their numbers, who share as they did; a Q-set with one of them is no longer shared."""
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
