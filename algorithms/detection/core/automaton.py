"""The complex event automaton of a pattern, determinized on the fly (CORE, Sections 4 and 5.1).

The states of a pattern's automaton are its positions: an event that matches a position is marked and leads to it, or
the event is skipped and the state stays. A set of marked events can lead to several positions; such a set of positions
is one state here, so each set of events has one run and is found once. There are at most 2^P states for P positions,
and P + 1 if all types differ; only reachable states are created.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from cepbench.algorithms.detection.core.kernels.automaton import NOTHING, START, UNKNOWN, Cea, EdgeRecord, Lack
from cepbench.queries.automaton import Automaton
from cepbench.queries.compile import Part
from cepbench.queries.model import Condition
from cepbench.queries.records import records_of
from cepbench.queries.tables import csr

Positions = int
"""A set of positions: bit p is position p."""


@dataclass
class _Test:
    """A node of the decision tree that classifies events: tests the predicates that some positions share."""

    kind: int
    asked: int
    passed: Positions
    branch: list[int] = field(default_factory=lambda: [UNKNOWN, UNKNOWN])


@dataclass
class _Edge:
    """An edge from a state for a letter; its target is computed when the first event takes it."""

    source: int
    positions: Positions
    target: int = UNKNOWN
    list: int = UNKNOWN


class SubsetAutomaton:
    """States and letters so far. A letter is the set of positions that an event matches.

    All keys share one automaton (`algorithm.CorePlan`). A key whose tables have an older `version` loads the current
    ones before it requests a new state or decision.

    `codes` are the type codes of the positions, -1 for types that do not occur in the stream. An event that matches no
    position has no letter (`NOTHING`).
    """

    def __init__(self, automaton: Automaton, codes: Sequence[int], kinds: int) -> None:
        self.follow = [0] * len(automaton.positions)
        for transition in automaton.transitions:
            self.follow[transition.source] |= 1 << transition.target
        self.start = _set(p for p, position in enumerate(automaton.positions) if position.start is not None)
        self.end = _set(p for p, position in enumerate(automaton.positions) if position.end is not None)
        self.states: list[Positions] = [0]
        self.letters: list[Positions] = []
        self.edges: list[list[_Edge]] = []
        self.lists: list[tuple[int, int]] = []
        self.tests: list[_Test] = []
        self.version = 0
        self._tables: Cea | None = None
        # The positions of each type, grouped by predicate; those without predicates come first.
        groups: list[dict[tuple[Condition, ...], Positions]] = [{} for _ in range(kinds)]
        for p, (code, position) in enumerate(zip(codes, automaton.positions, strict=True)):
            if code >= 0:
                groups[code][position.predicates] = groups[code].get(position.predicates, 0) | 1 << p
        self.always = [group.pop((), 0) for group in groups]
        self.groups = [list(group.values()) for group in groups]
        self.root = [self._decided(kind, 0, self.always[kind]) for kind in range(kinds)]

    @classmethod
    def of(cls, part: Part) -> SubsetAutomaton:
        """The automaton of a compiled pattern before any event."""
        kinds = len(part.tables.binding_ptr) - 1
        codes = np.full(len(part.automaton.positions), -1, np.int64)
        codes[part.tables.binding] = np.repeat(np.arange(kinds), np.diff(part.tables.binding_ptr))
        return cls(part.automaton, codes.tolist(), kinds)

    def extend(self, lack: int, asked: int, version: int) -> None:
        """Adds what a kernel lacks that has the tables of a version, unless another key has added to them since."""
        if version == self.version:
            self.version += 1
            self._tables = None
            self._decide(asked) if lack == Lack.DECISION else self._take(asked)

    def tables(self) -> Cea:
        """The automaton so far as arrays; `list` is a copy for the caller, since kernels reorder it."""
        if self._tables is None:
            self._tables = self._new_tables()
        return self._tables._replace(list=self._tables.list.copy())

    def _decide(self, asked: int) -> None:
        """Adds the next decision for a new outcome of a test (`kernels.automaton.undecided`)."""
        test, passed = divmod(asked, 2)
        node = self.tests[test]
        positions = node.passed | (self.groups[node.kind][node.asked] if passed else 0)
        node.branch[passed] = self._decided(node.kind, node.asked + 1, positions)

    def _take(self, asked: int) -> None:
        """Adds the target of an edge, by its number in the tables, when the first event takes it."""
        taken = [edge for edges in self.edges for edge in edges][asked]
        if taken.positions not in self.states:
            self.states.append(taken.positions)
            for number, positions in enumerate(self.letters):
                self._add_edge(number, positions, len(self.states) - 1)
        taken.target = self.states.index(taken.positions, 1)
        pair = taken.source, taken.target
        if pair not in self.lists:
            self.lists.append(pair)
        taken.list = self.lists.index(pair)

    def _new_tables(self) -> Cea:
        edge_ptr = np.zeros(len(self.edges) + 1, np.int64)
        np.cumsum([len(edges) for edges in self.edges], out=edge_ptr[1:])
        records = [
            (e.source, e.target, e.list, bool(e.positions & self.end), bool(self._successors(e.positions)))
            for edges in self.edges
            for e in edges
        ]
        list_ptr, lists = csr(
            [[n for n, (_, target) in enumerate(self.lists) if target == state] for state in range(len(self.states))]
        )
        return Cea(
            np.array(self.root, np.int64),
            np.array([self._position(test) for test in self.tests], np.int64),
            np.array([test.branch for test in self.tests], np.int64).reshape(-1, 2),
            edge_ptr,
            np.array(records, records_of(EdgeRecord)),
            np.array([any(edge.target == UNKNOWN for edge in edges) for edges in self.edges], np.bool_),
            list_ptr,
            lists,
            np.array([target for _, target in self.lists], np.int64),
        )

    def _position(self, test: _Test) -> int:
        """A position whose predicates are tested."""
        group = self.groups[test.kind][test.asked]
        return (group & -group).bit_length() - 1

    def _decided(self, kind: int, asked: int, passed: Positions) -> int:
        """The next test of an event, or its letter."""
        if asked < len(self.groups[kind]):
            self.tests.append(_Test(kind, asked, passed))
            return len(self.tests) - 1
        if not passed:
            return NOTHING
        if passed not in self.letters:
            self.letters.append(passed)
            self.edges.append([])
            for state in range(len(self.states)):
                self._add_edge(len(self.letters) - 1, passed, state)
        return NOTHING - 1 - self.letters.index(passed)

    def _add_edge(self, letter: int, positions: Positions, state: int) -> None:
        reached = (self.start if state == START else self._successors(self.states[state])) & positions
        if reached:
            self.edges[letter].append(_Edge(state, reached))

    def _successors(self, state: Positions) -> Positions:
        successors = 0
        for p in _members(state):
            successors |= self.follow[p]
        return successors


def _set(positions: Iterator[int]) -> Positions:
    return sum(1 << p for p in positions)


def _members(positions: Positions) -> Iterator[int]:
    while positions:
        yield (positions & -positions).bit_length() - 1
        positions &= positions - 1
