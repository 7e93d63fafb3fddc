"""The plan that Gloria's optimiser makes: sets of members that share, and how each of them does."""

from __future__ import annotations

from dataclasses import dataclass

from cepbench.algorithms.base import Plan
from cepbench.algorithms.gloria.sharing_plan import WorkloadSharingPlan
from cepbench.algorithms.gloria.template import GloriaTemplate
from cepbench.algorithms.online.granularity import COARSEST
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
    """The sets whose members share, and the members that share nothing."""

    sets: tuple[PlannedSet, ...] = ()
    alone: tuple[SetMember, ...] = ()
    granularity: str = COARSEST
