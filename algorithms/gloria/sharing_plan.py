"""Sharing plans: which members share which transitions, by which snapshots (Definitions 2.6, 2.7, Section 3.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cepbench.algorithms.gloria.template import GloriaTemplate, TypeState, TypeTransition


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

    @property
    def sharing(self) -> frozenset[int]:
        """The members that share some transition."""
        q_sets = (q for plan in self.transitions.values() for q in plan if q.snapshot is not None)
        return frozenset[int]().union(*(q.members for q in q_sets))


def reusable(
    q: QSet, state: TypeState, plans: Mapping[TypeTransition, TransitionPlan], template: GloriaTemplate
) -> bool:
    """Whether a Q-set with these members and snapshots reaches a state whole, so that it can continue from there."""
    into = template.into(state, q.members)
    starting = q.members & template.start.get(state, frozenset())
    return bool(into) and starting in (frozenset(), q.members) and all(q in plans[t] for t in into)


def unshared(template: GloriaTemplate) -> WorkloadSharingPlan:
    """The plan by which no members share anything: GRETA's."""
    return WorkloadSharingPlan({t: _alone(members) for t, members in template.transitions.items()})


def _alone(members: Iterable[int]) -> TransitionPlan:
    return tuple(QSet(frozenset({m})) for m in sorted(members))
