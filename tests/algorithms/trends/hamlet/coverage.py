"""Counts the features of random workloads that are hard for Hamlet."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from cepbench.algorithms.trends.hamlet.plan import HamletPlan, plan_of
from cepbench.algorithms.trends.hamlet.sharing import Sharing
from cepbench.algorithms.trends.hamlet.workload import SharableSet, sharable_sets
from cepbench.algorithms.trends.snapshots.members import SetMember, members_of
from cepbench.queries.automaton import Position
from cepbench.queries.compile import compile_workload
from cepbench.queries.model import Aggregates, CountAll
from cepbench.verification.random_cases import Case, batch_of
from tests.algorithms.trends.hamlet.decisions import Coins
from tests.algorithms.trends.sets import hamlet

FEATURES = (
    "shared", "Kleene in front", "Kleene in the middle", "Kleene at the end", "Kleene alone", "Kleene nested",
    "predicates of some queries only", "predicates on adjacent events", "windows of different length",
    "sliding windows", "several groups", "simultaneous events", "alternations", "a burst cut by a batch",
    "a burst cut by a pane", "pickled between batches", "COUNT(*)", "COUNT", "MIN", "MAX", "SUM", "AVG",
    "splits", "merges",
)  # fmt: skip


def covered(case: Case) -> set[str]:
    """Which of `FEATURES` a workload has; splits and merges are those of random decisions on its whole stream."""
    workload = compile_workload(case.queries, batch_of(()).schema)
    plan = plan_of(workload)
    features = set(_of_stream(case))
    for one in sharable_sets(members_of(workload)):
        if one.shared:
            features |= {"shared", *_of_set(one, case)}
    return features | _of_decisions(plan, case)


def _of_set(one: SharableSet, case: Case) -> Iterator[str]:
    sharing = [one.members[m] for m in {unit.member for group in one.shared for unit in group}]
    windows = {member.window for member in sharing}
    if len({window.within for window in windows}) > 1:
        yield "windows of different length"
    if any(window.slide < window.within for window in windows):
        yield "sliding windows"
    for group in one.shared:
        classes = {unit.predicates for unit in group}
        if len(classes) > 1:
            yield "predicates of some queries only"
        if any(loop for _, loop in classes):
            yield "predicates on adjacent events"
        for unit in group:
            yield _place(one.members[unit.member], one.members[unit.member].automaton.positions[unit.position])
        if _cut_by_pane(case, group[0].type, sharing):
            yield "a burst cut by a pane"
        times = [(e["type"], n) for n, e in enumerate(case.events)]
        if any((group[0].type, n - 1) in times and (group[0].type, n) in times for n in case.cuts):
            yield "a burst cut by a batch"
    for member in sharing:
        assert isinstance(member.query.query.returns, Aggregates)
        for item in member.query.query.returns.items:
            yield str(item) if isinstance(item, CountAll) else str(item).partition("(")[0]


def _place(member: SetMember, position: Position) -> str:
    if any(t.source > t.target for t in member.automaton.transitions):
        return "Kleene nested"
    if position.start is not None:
        return "Kleene alone" if position.end is not None else "Kleene in front"
    return "Kleene at the end" if position.end is not None else "Kleene in the middle"


def _cut_by_pane(case: Case, kind: str, sharing: list[SetMember]) -> bool:
    """Whether a window begins between two events of a burst."""
    slides = {member.window.slide for member in sharing if member.window.slide < 10**6}
    return any(
        one["type"] == other["type"] == kind and any(one["time"] // s < other["time"] // s for s in slides)
        for one, other in pairwise(case.events)
    )


def _of_stream(case: Case) -> Iterator[str]:
    kinds = "".join(event["type"] for event in case.events)
    if re.search(r"(?<!A)A([BCD])A\1(?!\1)", kinds):
        yield "alternations"
    if any(one["time"] == other["time"] for one, other in pairwise(case.events)):
        yield "simultaneous events"
    if case.queries[0].group_by and len({event["g"] for event in case.events}) > 1:
        yield "several groups"
    if case.pickled and case.cuts:
        yield "pickled between batches"


def _of_decisions(plan: HamletPlan, case: Case) -> set[str]:
    executor = hamlet(plan, Sharing(decide=Coins(case.seed)))
    executor.process(batch_of(case.events))
    executor.finish()
    return {name for name in ("splits", "merges") if executor.details().get(name)}
