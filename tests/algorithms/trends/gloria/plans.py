"""Sharing plans drawn at random among the valid ones, and an algorithm that executes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import ClassVar

from cepbench.algorithms.base import Algorithm, Operator, Plan
from cepbench.algorithms.trends.gloria.plan import (
    GloriaPlan,
    PlannedSet,
    QSet,
    TransitionPlan,
    WorkloadSharingPlan,
    separated,
)
from cepbench.algorithms.trends.gloria.template import GloriaTemplate, TypeState, TypeTransition, template_of
from cepbench.algorithms.trends.greta import Greta
from cepbench.algorithms.trends.online.granularity import COARSEST, GRANULARITIES
from cepbench.algorithms.trends.snapshots.members import SetMember, aggregate_class, members_of
from cepbench.events.statistics import Statistics
from cepbench.queries.compile import Workload
from cepbench.queries.model import Query
from tests.algorithms.trends.gloria.validity import InvalidSharingPlan, check, reusable, unshared
from tests.algorithms.trends.sets import gloria

PLANS = 3
"""Plans drawn for each workload."""

Plans = Mapping[TypeTransition, TransitionPlan]


def random_sharing(random: Random, template: GloriaTemplate) -> WorkloadSharingPlan:
    """A valid plan: a few times some queries share some transitions, which others did before."""
    plans: Plans = unshared(template).transitions
    for _ in range(random.choice((0, 2, 4, 8, 16))):
        proposed = _proposal(random, template, plans)
        try:
            check(WorkloadSharingPlan(proposed), template)
        except InvalidSharingPlan:
            continue
        plans = proposed
    sharing = WorkloadSharingPlan(plans)
    check(sharing, template)
    return sharing


def _proposal(random: Random, template: GloriaTemplate, plans: Plans) -> Plans:
    """Some queries that have a transition share it, and all that they can of some others, by the same snapshots."""
    first = random.choice(list(template.transitions))
    free = sorted(template.transitions[first] - template.alone.get(first, frozenset()))
    if len(free) < 2:
        return plans
    size = len(free) if random.random() < 0.5 else random.randint(2, len(free))
    q = QSet(frozenset(random.sample(free, size)), first.source)
    reached = random.choice((0.0, 0.7, 1.0, 1.0))
    chosen = {
        t
        for t, members in template.transitions.items()
        if q.members <= members - template.alone.get(t, frozenset()) and (t == first or random.random() < reached)
    }
    while True:
        sharing = {t: (q,) if t in chosen else () for t in template.transitions}
        wrong = {t for t in chosen if t.source != q.snapshot and not reusable(q, t.source, sharing, template)}
        if not wrong:
            break
        chosen -= wrong
    return {t: _with(random, q, t.source, own) if t in chosen else own for t, own in plans.items()}


def _with(random: Random, q: QSet, source: TypeState, plan: TransitionPlan) -> TransitionPlan:
    """A transition's plan with a Q-set, which others leave to it; what is left of them shares on, or does not."""
    q_sets = [q]
    for other in plan:
        rest = other.members - q.members
        if rest == other.members:
            q_sets.append(other)
        elif len(rest) > 1 and random.random() < 0.7:
            q_sets.append(QSet(rest, source))
        else:
            q_sets += [QSet(frozenset({m})) for m in sorted(rest)]
    return tuple(q_sets)


def random_plan(seed: int, workload: Workload, granularity: str = COARSEST) -> GloriaPlan:
    """A random plan of a workload: all members of an aggregate class are one set; or only those that share are."""
    random = Random(seed)
    sets = [_planned(random, own) for own in _classes(members_of(workload))]
    if random.random() < 0.5:
        return GloriaPlan(workload, tuple(sets), granularity=granularity)
    parts = [separated(one) for one in sets]
    shared = tuple(one for q_sets, _ in parts for one in q_sets)
    return GloriaPlan(workload, shared, tuple(member for _, alone in parts for member in alone), granularity)


def _classes(members: Iterable[SetMember]) -> Iterable[Sequence[SetMember]]:
    classes: dict[object, list[SetMember]] = {}
    for member in members:
        classes.setdefault(aggregate_class(member.query), []).append(member)
    return classes.values()


def _planned(random: Random, members: Sequence[SetMember]) -> PlannedSet:
    template = template_of(members)
    sharing = random_sharing(random, template) if template.transitions else WorkloadSharingPlan({})
    return PlannedSet(tuple(members), sharing)


def drawn(seed: int) -> list[Drawn]:
    """PLANS algorithms with a random plan each, of either granularity."""
    return [Drawn(PLANS * seed + n, GRANULARITIES[n % 2]) for n in range(PLANS)]


class Drawn(Algorithm):
    """Gloria's executor with random plans."""

    name: ClassVar[str] = "drawn"
    paper: ClassVar[str] = "none"

    def __init__(self, seed: int, granularity: str = COARSEST) -> None:
        self.seed, self.granularity = seed, granularity

    def unsupported(self, query: Query) -> str | None:
        return Greta().unsupported(query)

    def plan(self, workload: Workload, statistics: Statistics) -> Plan:
        return random_plan(self.seed, workload, self.granularity)

    def operator(self, plan: Plan) -> Operator:
        assert isinstance(plan, GloriaPlan)
        return gloria(plan).operator
