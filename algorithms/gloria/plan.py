"""The plan that Gloria's optimiser makes: sharable sets of members, and how each of them shares."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from cepbench.algorithms.base import Plan
from cepbench.algorithms.gloria.sharing_plan import WorkloadSharingPlan
from cepbench.algorithms.gloria.template import GloriaTemplate
from cepbench.algorithms.snapshots.members import SetMember


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
    """The sharable sets of a workload; each member of a query is in one of them.

    Queries whose windows count events are in none of `sets`: `counting` has those of each, by its index, since each is
    a stream of its own.
    """

    sets: tuple[PlannedSet, ...] = ()
    counting: Mapping[int, tuple[PlannedSet, ...]] = field(default_factory=dict)
