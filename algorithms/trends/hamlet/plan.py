"""What is decided about a workload before the stream: its sharable sets, and the members that share nothing."""

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
    found = sharable_sets(members_of(workload))
    groups = [group for one in found for group in one.shared]
    queries = {one.members[unit.member].query.index for one in found for group in one.shared for unit in group}
    details = {
        "sharable_sets": float(sum(len({m.query.index for m in one.members}) > 1 for one in found)),
        "sharable_sub_patterns": float(len(groups)),
        "sharing_queries": float(len(queries)),
    }
    sharing = [one for one in found if shares and one.shared]
    sets = tuple(compile_set(one, workload.schema, granularity) for one in sharing)
    alone = tuple(member for one in found if one not in sharing for member in one.members)
    return HamletPlan(workload, sets, alone, granularity, details=details)
