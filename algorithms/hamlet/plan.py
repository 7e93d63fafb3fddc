"""What is decided about a workload before the stream: its sharable sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from cepbench.algorithms.base import Plan
from cepbench.algorithms.hamlet.compilation import CompiledSet, compile_set
from cepbench.algorithms.hamlet.template import MergedTemplate, merged_template
from cepbench.algorithms.hamlet.workload import SharableSet, sharable_sets
from cepbench.algorithms.snapshots.members import counts_events, members_of
from cepbench.queries.compile import Workload


@dataclass(frozen=True)
class HamletPlan(Plan):
    """The workload analysis of queries on windows of time, and their sharable sets as compiled; and, by query, those of
    each whose windows count events.
    """

    analysis: tuple[SharableSet, ...]
    sets: tuple[CompiledSet, ...]
    counting: Mapping[int, tuple[CompiledSet, ...]]

    @property
    def templates(self) -> tuple[MergedTemplate, ...]:
        """The merged template of each sharable set."""
        return tuple(merged_template(one.members) for one in self.analysis)


def plan_of(workload: Workload) -> HamletPlan:
    """Workload analysis (Section 3.1)."""
    members = [member for query in workload if not counts_events(query) for member in members_of(query)]
    found = sharable_sets(members)
    counting = {
        query.index: tuple(compile_set(s, workload.schema) for s in sharable_sets(members_of(query)))
        for query in workload
        if counts_events(query)
    }
    groups = [group for one in found for group in one.shared]
    details = {
        "sharable_sets": float(sum(len({m.query.index for m in one.members}) > 1 for one in found)),
        "sharable_sub_patterns": float(len(groups)),
        "sharing_queries": float(
            len({one.members[u.member].query.index for one in found for g in one.shared for u in g})
        ),
    }
    sets = tuple(compile_set(one, workload.schema) for one in found)
    return HamletPlan(workload, found, sets, counting, details=details)
