"""A sharable set of members and its sharing plan as the arrays that kernels read (`kernels.program`)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from cepbench.algorithms.engine.kernels.cells import cell_bytes
from cepbench.algorithms.engine.kernels.constants import ANY, NONE
from cepbench.algorithms.trends.gloria.kernels.program import GloriaProgram, GloriaTables
from cepbench.algorithms.trends.gloria.plan import PlannedSet, QSet, part_of
from cepbench.algorithms.trends.gloria.template import TypeState, TypeTransition, states_of
from cepbench.algorithms.trends.online.granularity import EVENT
from cepbench.algorithms.trends.online.template import Row, offsets
from cepbench.algorithms.trends.snapshots.channels import MemberChannels
from cepbench.algorithms.trends.snapshots.compilation import CompiledMembers, SetCompiler
from cepbench.events.schema import Schema
from cepbench.queries.aggregates import MOST_RING
from cepbench.queries.automaton import Position, Transition

CompiledPlan = CompiledMembers[GloriaProgram]


def compile_sets(planned: PlannedSet, schema: Schema, granularity: str) -> tuple[CompiledPlan, ...]:
    """Compiles a planned set; splits it in halves repeatedly if it has more counts and sums than a cell has overflow
    flags.

    Members that sum the same attribute at different states need separate sums.
    """
    compiler, members = _Compiler(planned, schema, granularity), planned.members
    channels = MemberChannels.of_members([part.tables for part in compiler.parts], compiler.states)
    if len(channels.of_set[0]) > MOST_RING and len(members) > 1:
        numbers, half = range(len(members)), len(members) // 2
        first, second = part_of(planned, numbers[:half]), part_of(planned, numbers[half:])
        return (*compile_sets(first, schema, granularity), *compile_sets(second, schema, granularity))
    weights = channels.weights(list(compiler.present))
    program = GloriaProgram(compiler.tables(cell_bytes(weights)), compiler.predicates, weights)
    return (CompiledPlan(members, compiler.read, channels, compiler.negations, program),)


NO_INCOMING = {"incoming": 0, "incoming_end": 0}


class Passing(NamedTuple):
    """Transition `number` of a member's automaton, the state that it comes from, and the member's Q-set."""

    number: int
    transition: Transition
    source: TypeState
    q: QSet


class _Compiler(SetCompiler):
    """Collects the records of all states, positions and Q-sets.

    `q_set`: the number of each Q-set that shares; `value`: its first row with the values of snapshots for a member;
    `leaving`: the rows and the list of vertices of the events that leave a state with a Q-set.
    """

    def __init__(self, planned: PlannedSet, schema: Schema, granularity: str) -> None:
        self.states = [states_of(member) for member in planned.members]
        self.into: defaultdict[tuple[TypeState, int], list[Passing]] = defaultdict(list)
        shared: list[set[int]] = [set() for _ in self.states]
        q_set = {(t, m): q for t, q_sets in planned.sharing.transitions.items() for q in q_sets for m in q.members}
        for m, (states, member) in enumerate(zip(self.states, planned.members, strict=True)):
            for number, t in enumerate(member.automaton.transitions):
                source, target = states[t.source], states[t.target]
                q = q_set[TypeTransition(source, target), m]
                self.into[target, m].append(Passing(number, t, source, q))
                if q.snapshot is not None:
                    shared[m].add(number)
        super().__init__(planned.members, schema, granularity, GloriaTables, shared)
        order = sorted({s for states in self.states for s in states}, key=lambda s: (schema.type_code(s.type), s))
        self.present = {state: [m for m, states in enumerate(self.states) if state in states] for state in order}
        self.number = {state: s for s, state in enumerate(order)}
        positions = ((state, m) for state, members in self.present.items() for m in members)
        self.position_number = {position: p for p, position in enumerate(positions)}
        self.q_set: dict[QSet, int] = {}
        self.value: dict[tuple[QSet, int], int] = {}
        self.leaving: dict[tuple[TypeState, QSet], Row] = {}
        self._add_leaving()
        for state in order:
            self._add_state(state)
        for m, states in enumerate(self.states):
            self.rows["member"].append(self.member(m, [self.position_number[state, m] for state in states]))

    def _add_leaving(self) -> None:
        """Adds the Q-sets that share, and, by state, the rows of sums of events that leave it with a Q-set."""
        passings = (passing for passings in self.into.values() for passing in passings)
        for passing in (passing for passing in passings if passing.q.snapshot is not None):
            q, key = passing.q, (passing.source, passing.q)
            if q not in self.q_set:
                self.q_set[q], members = len(self.q_set), sorted(q.members)
                *starts, fresh = offsets([1, *map(self._span, members)])[1:]  # after the row of an expression
                self.value |= {(q, m): start for m, start in zip(members, starts, strict=True)}
                self.rows["q_set"].append({"rows": fresh, "fresh": fresh})
            if key not in self.leaving:
                self.leaving[key] = {"sums": self._take(q, 2), "vertices": len(self.leaving), "kept": False}
            self.leaving[key]["kept"] |= self._visits(passing)

    def _take(self, q: QSet, count: int) -> int:
        """Adds `count` rows to a Q-set; returns the first."""
        q_set = self.rows["q_set"][self.q_set[q]]
        q_set["rows"] += count
        return int(q_set["rows"] - count)

    def _visits(self, passing: Passing) -> bool:
        """Whether events of a shared transition are visited by those that follow."""
        return self.granularity == EVENT or bool(passing.transition.predicates)

    def _span(self, m: int) -> int:
        return self.members[m].window.overlap

    def _position(self, state: TypeState, m: int) -> Position:
        return self.members[m].automaton.positions[self.states[m].index(state)]

    # --- states -------------------------------------------------------------------------------------------------------

    def _add_state(self, state: TypeState) -> None:
        members = self.present[state]
        into = [passing for m in members for passing in self.into[state, m]]
        row = self.run("before", sorted({self.number[passing.source] for passing in into})) | self._add_tests(state)
        self.incoming_number: dict[int, dict[QSet, int]] = {m: {} for m in members}
        first = len(self.rows["incoming"])
        arriving = dict.fromkeys(passing.q for passing in into if passing.q.snapshot is not None)
        incoming = {q: self._add_incoming(state, q) for q in arriving}
        row |= {"incoming": first, "incoming_end": len(self.rows["incoming"])}
        ending: dict[tuple[QSet, int, int, bool], list[int]] = {}
        for m in members:
            position, shared = self._position(state, m), all(passing.q in incoming for passing in self.into[state, m])
            numbers = self.incoming_number[m]
            if shared and len(numbers) == 1 and position.end == frozenset() and not position.start:
                [(q, number)] = numbers.items()
                ending.setdefault((q, number, self.test[m], position.start is not None), []).append(m)
        outgoing = [
            self._outgoing(state, q, ended, {"incoming": number, "incoming_end": number + 1}, None)
            for (q, number, _, _), ended in ending.items()
        ]
        for (source, q), left in self.leaving.items():
            if source == state:
                outgoing.append(self._outgoing(state, q, sorted(q.members), incoming.get(q, NO_INCOMING), left))
        row |= self.add("outgoing", outgoing)
        positions = [self._query_position(state, m, any(m in ended for ended in ending.values())) for m in members]
        for position_row, value in zip(positions, offsets(map(self._span, members)), strict=False):
            position_row["value"] = value
        row |= self.add("position", positions)
        row |= {"kept": sum(p["kept"] for p in positions), "unshared": any(p["unshared"] for p in positions)}
        self.rows["state"].append(row)

    def _add_tests(self, state: TypeState) -> Row:
        """The different conditions of members."""
        condition = {m: int(self.local[m][self.states[m].index(state)]) for m in self.present[state]}
        tests = list(dict.fromkeys(condition.values()))
        self.test = {m: len(self.lists) + tests.index(row) for m, row in condition.items()}
        return self.run("test", tests)

    def _add_incoming(self, state: TypeState, q: QSet) -> Row:
        """Incoming transitions of a Q-set, apart for members with different predicates on adjacent events."""
        alike: dict[object, list[int]] = {}
        for m in sorted(q.members):
            passings = [passing for passing in self.into[state, m] if passing.q == q]
            predicates = {(p.source, frozenset(c.nameless for c in p.transition.predicates)) for p in passings}
            alike.setdefault(frozenset(predicates), []).append(m)
        rows = [self._incoming(state, q, members) for members in alike.values()]
        for number, members in enumerate(alike.values(), start=len(self.rows["incoming"])):
            for m in members:
                self.incoming_number[m][q] = number
        return self.add("incoming", rows)

    def _incoming(self, state: TypeState, q: QSet, members: Sequence[int]) -> Row:
        transitions = []
        for passing in self.into[state, members[0]]:
            if passing.q == q:
                left = self.leaving[passing.source, q]
                predicates = self.adjacent(members[0], passing.number) if self._visits(passing) else NONE
                transitions.append({"row": left["sums"], "vertices": left["vertices"], "predicates": predicates})
        if [transition["predicates"] for transition in transitions] == [NONE]:
            return {"q_set": self.q_set[q], "row": transitions[0]["row"]} | self.add("shared_transition", [])
        return {"q_set": self.q_set[q], "row": self._take(q, 1)} | self.add("shared_transition", transitions)

    def _outgoing(self, state: TypeState, q: QSet, members: Sequence[int], incoming: Row, left: Row | None) -> Row:
        """Outgoing transitions of a Q-set, or final ones, of which nothing is `left` for later events."""
        positions = [self._position(state, m) for m in members]
        local = left is not None and q.snapshot == state
        leading = any(position.start for position in positions)
        row: Row = {"q_set": self.q_set[q], "local": local, "leading": leading, "final": left is None}
        row |= incoming | {"start": not local and positions[0].start is not None}
        visits = self.granularity == EVENT or any(
            passing.transition.predicates or self.slots[m].visited[passing.number]
            for m in members
            for passing in self.into[state, m]
        )
        row |= {"steady": not leading and not visits} | self.run("test", sorted({self.test[m] for m in members}))
        queries = [{"position": self.position_number[state, m], "value": self.value[q, m]} for m in members]
        sharing = self.add("sharing_query", queries)
        if left is None:
            return row | sharing | {"sums": self._take(q, 1), "vertices": NONE, "kept": False}
        self.rows["q_set"][self.q_set[q]] |= sharing
        return row | sharing | left

    # --- positions ----------------------------------------------------------------------------------------------------

    def _query_position(self, state: TypeState, m: int, ends: bool) -> Row:
        """A member at a state; if it `ends` by final transitions, its events are not final at once."""
        slots, p = self.slots[m], self.states[m].index(state)
        row = self.position(m, p) | {"test": self.test[m]}
        row["direct"] = slots.direct[p] and not ends
        row["unshared"] = bool(slots.feeds[p]) or row["direct"] or row["kept"]
        alone = [
            self.transition(m, passing.number, self.position_number[passing.source, m])
            for passing in self.into[state, m]
            if passing.q.snapshot is None
        ]
        evaluations = [{"incoming": number, "value": self.value[q, m]} for q, number in self.incoming_number[m].items()]
        return row | self.add("evaluation", evaluations) | self.add("transition", alone, "enter")

    # --- the whole ----------------------------------------------------------------------------------------------------

    def tables(self, cell_bytes: int) -> GloriaTables:
        """All records, once all are known."""
        first = max((sum(map(self._span, members)) for members in self.present.values()), default=0)  # of positions
        self.rows["whole"].append(self.place_cells(first, cell_bytes) | {"semantics": ANY, "event_bytes": 0})
        codes = [self.schema.type_code(state.type) for state in self.present]
        for code in range(len(self.schema.types)):
            states = [s for s, state_code in enumerate(codes) if state_code == code]
            row: Row = {"state": states[0] if states else 0, "state_end": states[-1] + 1 if states else 0}
            self.rows["kind"].append(row | {"relevant": bool(states) or code in self.negated})
        return self.sized(GloriaTables(**self.arrays()))
