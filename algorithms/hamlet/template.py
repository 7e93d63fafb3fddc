"""The merged query template of a workload (Section 3.1, Figures 3 and 8)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from cepbench.algorithms.snapshots.members import SetMember


@dataclass(frozen=True)
class MergedTemplate:
    """Each event type once; each transition with the names of the queries for which it holds."""

    transitions: dict[tuple[str, str], frozenset[str]]
    start: dict[str, frozenset[str]]
    end: dict[str, frozenset[str]]

    def predecessors(self, kind: str, query: str) -> frozenset[str]:
        """pt(E, q): the types that may precede E in a trend matched by q."""
        return frozenset(
            source for (source, target), names in self.transitions.items() if target == kind and query in names
        )

    @property
    def shareable(self) -> dict[str, frozenset[str]]:
        """The Kleene sub-patterns E+ that several queries have, by E (Definition 4)."""
        loops = {source: names for (source, target), names in self.transitions.items() if source == target}
        return {name: names for name, names in loops.items() if len(names) > 1}


def merged_template(members: Iterable[SetMember]) -> MergedTemplate:
    """The template of some members of a workload."""
    transitions: dict[tuple[str, str], set[str]] = {}
    start: dict[str, set[str]] = {}
    end: dict[str, set[str]] = {}
    for member in members:
        name, positions = member.query.query.name, member.automaton.positions
        for t in member.automaton.transitions:
            edge = positions[t.source].type, positions[t.target].type
            transitions.setdefault(edge, set()).add(name)
        for position in positions:
            if position.start is not None:
                start.setdefault(position.type, set()).add(name)
            if position.end is not None:
                end.setdefault(position.type, set()).add(name)
    return MergedTemplate(
        {edge: frozenset(names) for edge, names in transitions.items()},
        {kind: frozenset(names) for kind, names in start.items()},
        {kind: frozenset(names) for kind, names in end.items()},
    )
