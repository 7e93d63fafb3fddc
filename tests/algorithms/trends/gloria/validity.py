"""Which sharing plans are valid (Definitions 2.6 and 2.7, Section 3.2)."""

from __future__ import annotations

from collections.abc import Mapping

from cepbench.algorithms.trends.gloria.plan import QSet, TransitionPlan, WorkloadSharingPlan
from cepbench.algorithms.trends.gloria.template import GloriaTemplate, TypeState, TypeTransition


class InvalidSharingPlan(Exception):
    """A sharing plan that does not fit its template; the message names the transition."""


def check(plan: WorkloadSharingPlan, template: GloriaTemplate) -> None:
    """Raises `InvalidSharingPlan` unless the plan is valid.

    The Q-sets of each transition (Ei, Ej) partition its members. A Q-set of one member has no snapshots. One of
    several, none of whom must go alone, has snapshots of Ei, which are *local*: each event of Ei makes one. Or it
    *reuses* older ones: then its members have the same transitions into Ei, on each of them they are a Q-set with
    the same snapshots, there is at least one, and either all of them or none may start with Ei. Going back, one
    comes to the transition where the snapshots are local.
    """
    if set(plan.transitions) != set(template.transitions):
        raise InvalidSharingPlan("a sharing plan has the transitions of its template, each once")
    for transition, q_sets in plan.transitions.items():
        members = [m for q in q_sets for m in sorted(q.members)]
        if sorted(members) != sorted(template.transitions[transition]) or not all(q.members for q in q_sets):
            raise InvalidSharingPlan(f"{transition}: the Q-sets do not partition the queries")
        for q in q_sets:
            fault = _fault(plan, transition, q, template)
            if fault is not None:
                raise InvalidSharingPlan(f"{transition}: {q} {fault}")
    for transition, q in _without_source(plan):
        raise InvalidSharingPlan(f"{transition}: {q} goes round without any snapshot of {q.snapshot}")


def reusable(
    q: QSet, state: TypeState, plans: Mapping[TypeTransition, TransitionPlan], template: GloriaTemplate
) -> bool:
    """Whether a Q-set with these members and snapshots reaches a state whole, so that it can continue from there."""
    into = [t for t, having in template.transitions.items() if t.target == state and having & q.members]
    starting = q.members & template.start.get(state, frozenset())
    return bool(into) and starting in (frozenset(), q.members) and all(q in plans[t] for t in into)


def unshared(template: GloriaTemplate) -> WorkloadSharingPlan:
    """The plan by which no members share anything: GRETA's."""
    alone = {t: tuple(QSet(frozenset({m})) for m in sorted(own)) for t, own in template.transitions.items()}
    return WorkloadSharingPlan(alone)


def _fault(plan: WorkloadSharingPlan, transition: TypeTransition, q: QSet, template: GloriaTemplate) -> str | None:
    if len(q.members) == 1:
        return None if q.snapshot is None else "is alone, so it has no snapshots"
    if q.members & template.alone.get(transition, frozenset()):
        return "has a query with a negation, which goes alone"
    if q.snapshot is None:
        return "is shared, so it has snapshots"
    if q.snapshot == transition.source:
        return None
    if not reusable(q, transition.source, plan.transitions, template):
        return f"has no snapshots of {q.snapshot} to reuse"
    return None


def _without_source(plan: WorkloadSharingPlan) -> set[tuple[TypeTransition, QSet]]:
    """Shared transitions that no transition with local snapshots of the same Q-set leads to."""
    shared = {(t, q) for t, q_sets in plan.transitions.items() for q in q_sets if q.snapshot is not None}
    reached = frontier = {(t, q) for t, q in shared if t.source == q.snapshot}
    while frontier:
        frontier = {
            (t, q) for t, q in shared - reached if any((s, q) in frontier and s.target == t.source for s, _ in frontier)
        }
        reached = reached | frontier
    return shared - reached
