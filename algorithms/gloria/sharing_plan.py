"""Sharing plans: who shares which transition with whom, by which snapshots (Definitions 2.6 and 2.7, Section 3.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cepbench.algorithms.gloria.template import GloriaTemplate, TypeState, TypeTransition
from cepbench.events.errors import CepbenchError


class InvalidSharingPlan(CepbenchError):
    """A sharing plan that does not fit its template; the message names the transition."""


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

    def q_set(self, transition: TypeTransition, member: int) -> QSet:
        """The Q-set of a member on a transition that it has."""
        return next(q for q in self.transitions[transition] if member in q.members)

    @property
    def sharing(self) -> frozenset[int]:
        """The members that share some transition."""
        q_sets = (q for plan in self.transitions.values() for q in plan if q.snapshot is not None)
        return frozenset[int]().union(*(q.members for q in q_sets))

    def check(self, template: GloriaTemplate) -> None:
        """Raises `InvalidSharingPlan` unless the plan is valid.

        The Q-sets of each transition (Ei, Ej) partition its members. A Q-set of one member has no snapshots. One of
        several, none of whom must go alone, has snapshots of Ei, which are *local*: each event of Ei makes one. Or it
        *reuses* older ones: then its members have the same transitions into Ei, on each of them they are a Q-set with
        the same snapshots, there is at least one, and either all of them or none may start with Ei. Going back, one
        comes to the transition where the snapshots are local.
        """
        if set(self.transitions) != set(template.transitions):
            raise InvalidSharingPlan("a sharing plan has the transitions of its template, each once")
        for transition, q_sets in self.transitions.items():
            members = [m for q in q_sets for m in sorted(q.members)]
            if sorted(members) != sorted(template.transitions[transition]) or not all(q.members for q in q_sets):
                raise InvalidSharingPlan(f"{transition}: the Q-sets do not partition the queries")
            for q in q_sets:
                fault = self._fault(transition, q, template)
                if fault is not None:
                    raise InvalidSharingPlan(f"{transition}: {q} {fault}")
        for transition, q in self._without_source():
            raise InvalidSharingPlan(f"{transition}: {q} goes round without any snapshot of {q.snapshot}")

    def _fault(self, transition: TypeTransition, q: QSet, template: GloriaTemplate) -> str | None:
        if len(q.members) == 1:
            return None if q.snapshot is None else "is alone, so it has no snapshots"
        if q.members & template.alone.get(transition, frozenset()):
            return "has a query with a negation, which goes alone"
        if q.snapshot is None:
            return "is shared, so it has snapshots"
        if q.snapshot == transition.source:
            return None
        if not reusable(q, transition.source, self.transitions, template):
            return f"has no snapshots of {q.snapshot} to reuse"
        return None

    def _without_source(self) -> set[tuple[TypeTransition, QSet]]:
        """Shared transitions that no transition with local snapshots of the same Q-set leads to."""
        shared = {(t, q) for t, q_sets in self.transitions.items() for q in q_sets if q.snapshot is not None}
        reached = frontier = {(t, q) for t, q in shared if t.source == q.snapshot}
        while frontier:
            frontier = {
                (t, q)
                for t, q in shared - reached
                if any((s, q) in frontier and s.target == t.source for s, _ in frontier)
            }
            reached = reached | frontier
        return shared - reached


def reusable(
    q: QSet, state: TypeState, plans: Mapping[TypeTransition, TransitionPlan], template: GloriaTemplate
) -> bool:
    """Whether a Q-set with these members and snapshots reaches a state whole, so that it can go on from there."""
    into = template.into(state, q.members)
    starting = q.members & template.start.get(state, frozenset())
    return bool(into) and starting in (frozenset(), q.members) and all(q in plans[t] for t in into)


def unshared(template: GloriaTemplate) -> WorkloadSharingPlan:
    """The plan by which nobody shares anything: GRETA's."""
    return WorkloadSharingPlan({t: _alone(members) for t, members in template.transitions.items()})


def _alone(members: Iterable[int]) -> TransitionPlan:
    return tuple(QSet(frozenset({m})) for m in sorted(members))
