"""The complex event automaton of a pattern, determinized on the fly (CORE, Sections 4 and 5.1).

The positions of a pattern are the states of its automaton: an event that fits a position is marked and leads there, or
it is skipped and changes nothing. A set of marked events may lead to several positions, which are one state here. So
each set of events has one run, and is found once. There are at most 2^P states for P positions, P + 1 of them where
types differ; only those are made that some events lead to.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from cepbench.algorithms.core.kernels.automaton import NOTHING, START, UNKNOWN, Cea, EdgeRecord
from cepbench.queries.automaton import Automaton
from cepbench.queries.compile import Part
from cepbench.queries.model import Local, Number, Op
from cepbench.queries.records import records_of
from cepbench.queries.tables import csr

Positions = int
"""A set of positions: bit p is position p."""

Asked = tuple[str, Number, Op, str]
"""A predicate without the name of its operand; 2 and 2.0 compare in different ways."""


@dataclass
class _Test:
    """A node of the decisions that classify an event: the predicates of some positions are asked for."""

    kind: int
    asked: int
    passed: Positions
    branch: list[int] = field(default_factory=lambda: [UNKNOWN, UNKNOWN])


@dataclass
class _Edge:
    """From a state by a letter; the target is found when the first event takes the edge."""

    source: int
    positions: Positions
    target: int = UNKNOWN
    list: int = UNKNOWN


class SubsetAutomaton:
    """States and letters as far as they are known. A letter is the set of positions that an event fits.

    All keys share one (`algorithm.CorePlan`). A key that has tables of an older `version` takes the current ones before
    it asks for something new.

    `codes` are the type codes of positions, -1 for a type that the stream lacks. An event that fits no position has no
    letter (`NOTHING`).
    """

    def __init__(self, automaton: Automaton, codes: Sequence[int], kinds: int) -> None:
        self.follow = [0] * len(automaton.positions)
        for transition in automaton.transitions:
            self.follow[transition.source] |= 1 << transition.target
        self.start = _set(p for p, one in enumerate(automaton.positions) if one.start is not None)
        self.end = _set(p for p, one in enumerate(automaton.positions) if one.end is not None)
        self.states: list[Positions] = [0]
        self.letters: list[Positions] = []
        self.edges: list[list[_Edge]] = []
        self.lists: list[tuple[int, int]] = []
        self.tests: list[_Test] = []
        self.version = 0
        self._tables: Cea | None = None
        # Positions of a type by their predicates, those without any first.
        groups: list[dict[tuple[Asked, ...], Positions]] = [{} for _ in range(kinds)]
        for p, (code, one) in enumerate(zip(codes, automaton.positions, strict=True)):
            if code >= 0:
                asked = tuple(map(_asked, one.predicates))
                groups[code][asked] = groups[code].get(asked, 0) | 1 << p
        self.always = [group.pop((), 0) for group in groups]
        self.groups = [list(group.values()) for group in groups]
        self.root = [self._decided(kind, 0, self.always[kind]) for kind in range(kinds)]

    @classmethod
    def of(cls, part: Part) -> SubsetAutomaton:
        """That of a compiled pattern, before any event."""
        kinds = len(part.tables.binding_ptr) - 1
        codes = np.full(len(part.automaton.positions), -1, np.int64)
        codes[part.tables.binding] = np.repeat(np.arange(kinds), np.diff(part.tables.binding_ptr))
        return cls(part.automaton, codes.tolist(), kinds)

    def decide(self, asked: int) -> None:
        """Adds the decision after a test, of which the outcome (`kernels.automaton.undecided`) is new."""
        self._changed()
        test, passed = divmod(asked, 2)
        node = self.tests[test]
        found = node.passed | (self.groups[node.kind][node.asked] if passed else 0)
        node.branch[passed] = self._decided(node.kind, node.asked + 1, found)

    def take(self, asked: int) -> None:
        """Adds the target of an edge, by its number in the tables, that an event takes for the first time."""
        self._changed()
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

    def tables(self) -> Cea:
        """What is known as arrays; `list` is for the caller alone, since kernels reorder it."""
        if self._tables is None:
            self._tables = self._new_tables()
        return self._tables._replace(list=self._tables.list.copy())

    def _changed(self) -> None:
        self.version += 1
        self._tables = None

    def _new_tables(self) -> Cea:
        edge_ptr = np.zeros(len(self.edges) + 1, np.int64)
        np.cumsum([len(edges) for edges in self.edges], out=edge_ptr[1:])
        records = [
            (one.source, one.target, one.list, bool(one.positions & self.end), bool(self._successors(one.positions)))
            for edges in self.edges
            for one in edges
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
            np.array([any(one.target == UNKNOWN for one in edges) for edges in self.edges], np.bool_),
            list_ptr,
            lists,
            np.array([target for _, target in self.lists], np.int64),
        )

    def _position(self, test: _Test) -> int:
        """A position whose predicates the test asks for."""
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
        found = 0
        for p in _members(state):
            found |= self.follow[p]
        return found


def _asked(predicate: Local) -> Asked:
    operand = predicate.operand
    return operand.attribute, operand.factor, predicate.op, repr(predicate.constant)


def _set(positions: Iterator[int]) -> Positions:
    return sum(1 << p for p in positions)


def _members(positions: Positions) -> Iterator[int]:
    while positions:
        yield (positions & -positions).bit_length() - 1
        positions &= positions - 1
