"""Sums of trends that the open windows of an automaton keep (dissertation Section 15.1; Hamlet, Section 3.2)."""

from __future__ import annotations

from collections.abc import Sequence, Set

from cepbench.algorithms.trends.online.granularity import only_single_events
from cepbench.queries.automaton import Automaton, Negations


class AutomatonSlots:
    """The `count` slots of an automaton, which events at its positions feed, and its transitions read.

    There is one per position that transitions read, and one per transition or END position with negations, which their
    matches empty. Transitions that are `visited` read no slots, and visit the events before; those in `shared` do
    neither, since shared expressions replace both. Between `contiguous` events nothing can match, so there transitions
    need no slots of their own.

    - `feeds`: slots of each position. `direct`: a match may end there without trailing negation. `kept`: its events are
      kept; `late_kept`: they decide matches when the window closes.
    - `read`: the slot of each transition, 0 for those that are `visited` or shared with others. `void`: slots of each
      negation.
    - `late`: slots whose trends are finished when a window closes. They come last.
    """

    def __init__(
        self, automaton: Automaton, visited: Sequence[bool], shared: Set[int] = frozenset(), contiguous: bool = False
    ) -> None:
        ends = [position.end for position in automaton.positions]
        self.count, self.visited = 0, visited
        self.feeds: list[list[int]] = [[] for _ in ends]
        self.void: list[list[int]] = [[] for _ in automaton.negations]
        self.direct = [end is not None and not end for end in ends]
        self.late_kept = [bool(end) and not only_single_events(end or frozenset(), automaton) for end in ends]
        self.kept, self.read = list(self.late_kept), list[int]()
        slots: dict[object, int] = {}
        for n, t in enumerate(automaton.transitions):
            self.kept[t.source] |= visited[n]
            slot = (t.source, n if t.negations and not contiguous else None)
            reads = n not in shared and not visited[n]
            if reads and slot not in slots:
                slots[slot] = self._add(t.source, frozenset() if contiguous else t.negations)
            self.read.append(slots[slot] if reads else 0)
        summed = [(p, end) for p, end in enumerate(ends) if end and not self.late_kept[p]]
        self.late = [self._add(p, end) for p, end in summed]

    def _add(self, position: int, negations: Negations) -> int:
        """A further slot, which a position feeds and matches of negations empty."""
        self.feeds[position].append(self.count)
        for j in sorted(negations):
            self.void[j].append(self.count)
        self.count += 1
        return self.count - 1
