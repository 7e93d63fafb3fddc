"""What the positions of a member feed, and what its transitions read (Section 3.2)."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field

from cepbench.algorithms.online.granularity import EVENT, only_single_events
from cepbench.queries.automaton import Automaton


@dataclass
class MemberSlots:
    """The `count` slots of a member; the `compilation` of a system makes records of its lists.

    - `feeds`: slots of each position. `direct`: a match may end there without trailing negation. `kept`: its events are
      kept; `late_kept`: they decide matches when the window closes.
    - `read`: the slot of each transition, 0 for those that are `visited` or shared with others. `void`: slots of each
      negation.
    - `late`: slots that are final when a window closes.
    """

    feeds: list[list[int]]
    kept: list[bool]
    void: list[list[int]]
    direct: list[bool] = field(default_factory=list)
    late_kept: list[bool] = field(default_factory=list)
    read: list[int] = field(default_factory=list)
    visited: list[bool] = field(default_factory=list)
    late: list[int] = field(default_factory=list)
    count: int = 0

    def add(self, position: int, negations: frozenset[int] = frozenset()) -> int:
        """A further slot, which a position feeds and matches of negations empty."""
        self.feeds[position].append(self.count)
        for j in sorted(negations):
            self.void[j].append(self.count)
        self.count += 1
        return self.count - 1


def slots_of(automaton: Automaton, granularity: str, shared: Set[int] = frozenset()) -> MemberSlots:
    """A slot per position that transitions read, and one per transition or END position with negations.

    At event granularity, transitions read no slots, and visit the events before. Transitions in `shared` read no slots
    and visit no events, since the shared expressions replace both.
    """
    positions = len(automaton.positions)
    slots = MemberSlots([[] for _ in range(positions)], [False] * positions, [[] for _ in automaton.negations])
    own: dict[int, int] = {}
    for number, t in enumerate(automaton.transitions):
        if number in shared:
            slots.visited.append(False)
            slots.read.append(0)
            continue
        selective = bool(t.predicates) or not only_single_events(t.negations, automaton)
        slots.visited.append(selective or granularity == EVENT)
        if slots.visited[-1]:
            slots.kept[t.source] = True
            slots.read.append(0)
        elif t.negations:
            slots.read.append(slots.add(t.source, t.negations))
        else:
            if t.source not in own:
                own[t.source] = slots.add(t.source)
            slots.read.append(own[t.source])
    for p, place in enumerate(automaton.positions):
        trailing = place.end or frozenset()
        slots.direct.append(place.end is not None and not trailing)
        slots.late_kept.append(bool(trailing) and not only_single_events(trailing, automaton))
        if slots.late_kept[-1]:
            slots.kept[p] = True
        elif trailing:
            slots.late.append(slots.add(p, trailing))
    return slots
