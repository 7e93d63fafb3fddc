"""The plan of a workload, made before the stream: its sharable sets, and the members that share nothing."""

from __future__ import annotations

from dataclasses import dataclass

from cepbench.algorithms.base import Plan
from cepbench.algorithms.trends.hamlet.compilation import CompiledSet, compile_set
from cepbench.algorithms.trends.hamlet.workload import sharable_sets
from cepbench.algorithms.trends.online.granularity import COARSEST
from cepbench.algorithms.trends.snapshots.members import SetMember, members_of
from cepbench.queries.compile import Workload


@dataclass(frozen=True)
class HamletPlan(Plan):
    """The sharable sets in which some members share, as compiled, and the members that share nothing."""

    sets: tuple[CompiledSet, ...]
    alone: tuple[SetMember, ...]
    granularity: str


def plan_of(workload: Workload, granularity: str = COARSEST, *, shares: bool = True) -> HamletPlan:
    """Workload analysis (Section 3.1); without `shares`, no set is compiled."""
    sets = sharable_sets(members_of(workload))
    groups = [patterns for sharable in sets for patterns in sharable.shared]
    queries = {s.members[unit.member].query.index for s in sets for patterns in s.shared for unit in patterns}
    details = {
        "sharable_sets": float(sum(len({m.query.index for m in s.members}) > 1 for s in sets)),
        "sharable_sub_patterns": float(len(groups)),
        "sharing_queries": float(len(queries)),
    }
    sharing = [sharable for sharable in sets if shares and sharable.shared]
    compiled = tuple(compile_set(sharable, workload.schema, granularity) for sharable in sharing)
    alone = tuple(member for sharable in sets if sharable not in sharing for member in sharable.members)
    return HamletPlan(workload, compiled, alone, granularity, details=details)
