"""The sharing plan: the members that share each transition, and their snapshots (Definitions 2.6, 2.7, Section 3.2)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cepbench.algorithms.base import Plan
from cepbench.algorithms.trends.gloria.template import TypeState, TypeTransition, states_of
from cepbench.algorithms.trends.online.granularity import COARSEST
from cepbench.algorithms.trends.snapshots.members import SetMember, connected


@dataclass(frozen=True)
class QSet:
    """Members that share a transition; `snapshot` is the state whose events have the snapshots, None for one alone."""

    members: frozenset[int]
    snapshot: TypeState | None = None

    def __str__(self) -> str:
        names = ",".join(str(m + 1) for m in sorted(self.members))
        return f"({names})" if self.snapshot is None else f"({names})^{self.snapshot}"


TransitionPlan = tuple[QSet, ...]
"""The Q-sets of a transition: a partition of its members (Definition 2.6)."""


@dataclass(frozen=True)
class WorkloadSharingPlan:
    """A workload sharing plan (Definition 2.7): the plan of each transition of a template."""

    transitions: Mapping[TypeTransition, TransitionPlan]


@dataclass(frozen=True, eq=False)
class PlannedSet:
    """A sharable set of members, and the plan by which they share, which numbers them by their place in `members`."""

    members: tuple[SetMember, ...]
    sharing: WorkloadSharingPlan


@dataclass(frozen=True)
class GloriaPlan(Plan):
    """The sets whose members share, and the members that share nothing."""

    sets: tuple[PlannedSet, ...] = ()
    alone: tuple[SetMember, ...] = ()
    granularity: str = COARSEST


def sharable_sets(members: Sequence[SetMember], block: int | None = None) -> tuple[tuple[SetMember, ...], ...]:
    """The sharable sets, a partition of the members; a member that cannot share is a set by itself.

    Members share if their aggregates are of one class and they have a transition in common (Definition 2.3), and if
    their queries are in the same block of `block` consecutive queries.
    """
    blocks: dict[int, list[SetMember]] = {}
    for member in members:
        blocks.setdefault(member.query.index // block if block else 0, []).append(member)
    sets = []
    for block_members in blocks.values():
        keys = []
        for member in block_members:
            states = states_of(member)
            keys.append([(states[t.source], states[t.target]) for t in member.automaton.transitions])
        sets += [tuple(block_members[m] for m in numbers) for numbers in connected(block_members, keys)]
    return tuple(sets)


Separated = tuple[tuple[PlannedSet, ...], tuple[SetMember, ...]]
"""The part of a set whose members share some transition, if there is any, and the members that share none."""


def separated(planned: PlannedSet) -> Separated:
    """Both parts of a set."""
    q_sets = (q for plan in planned.sharing.transitions.values() for q in plan if q.snapshot is not None)
    shared = frozenset[int]().union(*(q.members for q in q_sets))
    alone = tuple(member for m, member in enumerate(planned.members) if m not in shared)
    return ((part_of(planned, sorted(shared)),) if shared else ()), alone


def part_of(planned: PlannedSet, numbers: Sequence[int]) -> PlannedSet:
    """The members `numbers` of a set with their sharing plan; a Q-set that is left with one member does not share."""
    place = {m: n for n, m in enumerate(numbers)}
    sharing: dict[TypeTransition, TransitionPlan] = {}
    for t, plan in planned.sharing.transitions.items():
        left = [(frozenset(place[m] for m in q.members if m in place), q.snapshot) for q in plan]
        if kept := [QSet(part, snapshot if len(part) > 1 else None) for part, snapshot in left if part]:
            sharing[t] = tuple(kept)
    return PlannedSet(tuple(planned.members[m] for m in numbers), WorkloadSharingPlan(sharing))
