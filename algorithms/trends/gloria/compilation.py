"""A sharable set of members, and the plan by which they share, as the arrays that kernels read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from cepbench.algorithms.engine.kernels.cells import cell_bytes
from cepbench.algorithms.trends.gloria.kernels.program import NONE, GloriaProgram, GloriaTables
from cepbench.algorithms.trends.gloria.plan import PlannedSet, QSet, part_of
from cepbench.algorithms.trends.gloria.template import TypeState, TypeTransition, states_of
from cepbench.algorithms.trends.online.granularity import EVENT
from cepbench.algorithms.trends.online.kernels.template import ANY
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
    if len(channels.known[0]) > MOST_RING and len(members) > 1:
        numbers, half = range(len(members)), len(members) // 2
        first, second = part_of(planned, numbers[:half]), part_of(planned, numbers[half:])
        return (*compile_sets(first, schema, granularity), *compile_sets(second, schema, granularity))
    weights = channels.weights(list(compiler.present))
    program = GloriaProgram(compiler.tables(cell_bytes(weights)), compiler.predicates, weights)
    return (CompiledPlan(members, compiler.read, channels, compiler.negations, program),)


NO_INLET = {"inlet": 0, "inlet_end": 0}


class Passing(NamedTuple):
    """Transition `number` of a member's automaton, the state that it comes from, and the member's Q-set."""

    number: int
    transition: Transition
    source: TypeState
    q: QSet


class _Compiler(SetCompiler):
    """Collects the records of all states, places and groups.

    `group`: the number of each Q-set that shares; `value`: its first row with the values of snapshots for a member;
    `leaving`: what is kept of the events that leave a state with a Q-set.
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
        order = sorted({s for own in self.states for s in own}, key=lambda s: (schema.type_code(s.type), s))
        self.present = {state: [m for m, own in enumerate(self.states) if state in own] for state in order}
        self.number = {state: s for s, state in enumerate(order)}
        self.place = {place: n for n, place in enumerate((s, m) for s, own in self.present.items() for m in own)}
        self.group: dict[QSet, int] = {}
        self.value: dict[tuple[QSet, int], int] = {}
        self.leaving: dict[tuple[TypeState, QSet], Row] = {}
        self._add_leaving()
        for state in order:
            self._add_state(state)
        for m, states in enumerate(self.states):
            self.rows["member"].append(self.member(m, [self.place[state, m] for state in states]))

    def _add_leaving(self) -> None:
        """The Q-sets that share; of the events that leave a state with one, their sums, and themselves if visited."""
        for passing in (passing for found in self.into.values() for passing in found if passing.q.snapshot is not None):
            q, key = passing.q, (passing.source, passing.q)
            if q not in self.group:
                self.group[q], members = len(self.group), sorted(q.members)
                *starts, fresh = offsets([1, *map(self._span, members)])[1:]  # behind the row of an expression
                self.value |= {(q, m): start for m, start in zip(members, starts, strict=True)}
                self.rows["group"].append({"rows": fresh, "fresh": fresh})
            if key not in self.leaving:
                self.leaving[key] = {"sums": self._take(q, 2), "vertices": len(self.leaving), "kept": False}
            self.leaving[key]["kept"] |= self._visits(passing)

    def _take(self, q: QSet, count: int) -> int:
        """The first of some further rows of a Q-set."""
        group = self.rows["group"][self.group[q]]
        group["rows"] += count
        return int(group["rows"] - count)

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
        self.inlets: dict[int, dict[QSet, int]] = {m: {} for m in members}
        first = len(self.rows["inlet"])
        reaching = dict.fromkeys(passing.q for passing in into if passing.q.snapshot is not None)
        inlets = {q: self._add_inlets(state, q) for q in reaching}
        row |= {"inlet": first, "inlet_end": len(self.rows["inlet"])}
        ending: dict[tuple[QSet, int, int, bool], list[int]] = {}
        for m in members:
            position, shared = self._position(state, m), all(passing.q in inlets for passing in self.into[state, m])
            if shared and len(self.inlets[m]) == 1 and position.end == frozenset() and not position.start:
                [(q, inlet)] = self.inlets[m].items()
                ending.setdefault((q, inlet, self.test[m], position.start is not None), []).append(m)
        outlets = [
            self._outlet(state, q, own, {"inlet": inlet, "inlet_end": inlet + 1}, None)
            for (q, inlet, _, _), own in ending.items()
        ]
        for (source, q), left in self.leaving.items():
            if source == state:
                outlets.append(self._outlet(state, q, sorted(q.members), inlets.get(q, NO_INLET), left))
        row |= self.add("outlet", outlets)
        places = [self._place(state, m, any(m in own for own in ending.values())) for m in members]
        for place, value in zip(places, offsets(map(self._span, members)), strict=False):
            place["value"] = value
        row |= self.add("position", places, "place")
        row |= {"kept": sum(place["kept"] for place in places), "plain": any(place["plain"] for place in places)}
        self.rows["state"].append(row)

    def _add_tests(self, state: TypeState) -> Row:
        """The different conditions of members."""
        condition = {m: int(self.local[m][self.states[m].index(state)]) for m in self.present[state]}
        tests = list(dict.fromkeys(condition.values()))
        self.test = {m: len(self.lists) + tests.index(row) for m, row in condition.items()}
        return self.run("test", tests)

    def _add_inlets(self, state: TypeState, q: QSet) -> Row:
        """An inlet for the members with the same predicates on adjacent events."""
        found: dict[object, list[int]] = {}
        for m in sorted(q.members):
            own = [passing for passing in self.into[state, m] if passing.q == q]
            lists = {(passing.source, frozenset(p.nameless for p in passing.transition.predicates)) for passing in own}
            found.setdefault(frozenset(lists), []).append(m)
        rows = [self._inlet(state, q, members) for members in found.values()]
        for number, members in enumerate(found.values(), start=len(self.rows["inlet"])):
            for m in members:
                self.inlets[m][q] = number
        return self.add("inlet", rows)

    def _inlet(self, state: TypeState, q: QSet, members: Sequence[int]) -> Row:
        links = []
        for passing in self.into[state, members[0]]:
            if passing.q == q:
                left = self.leaving[passing.source, q]
                predicates = self.adjacent(members[0], passing.number) if self._visits(passing) else NONE
                links.append({"row": left["sums"], "vertices": left["vertices"], "predicates": predicates})
        if [link["predicates"] for link in links] == [NONE]:
            return {"group": self.group[q], "row": links[0]["row"]} | self.add("link", [])
        return {"group": self.group[q], "row": self._take(q, 1)} | self.add("link", links)

    def _outlet(self, state: TypeState, q: QSet, members: Sequence[int], inlets: Row, left: Row | None) -> Row:
        """An outlet, final if nothing is left for later events."""
        positions = [self._position(state, m) for m in members]
        local = left is not None and q.snapshot == state
        own = any(position.start for position in positions)
        row: Row = {"group": self.group[q], "local": local, "own": own, "final": left is None}
        row |= inlets | {"start": not local and positions[0].start is not None}
        visits = self.granularity == EVENT or any(
            passing.transition.predicates or self.slots[m].visited[passing.number]
            for m in members
            for passing in self.into[state, m]
        )
        row |= {"steady": not own and not visits} | self.run("test", sorted({self.test[m] for m in members}))
        share = self.add("share", [{"place": self.place[state, m], "value": self.value[q, m]} for m in members])
        if left is None:
            return row | share | {"sums": self._take(q, 1), "vertices": NONE, "kept": False}
        self.rows["group"][self.group[q]] |= share
        return row | share | left

    # --- places -------------------------------------------------------------------------------------------------------

    def _place(self, state: TypeState, m: int, ends: bool) -> Row:
        """A place; if it `ends` at a final outlet, its events are not final at once."""
        slots, p = self.slots[m], self.states[m].index(state)
        row = self.position(m, p) | {"test": self.test[m]}
        row["direct"] = slots.direct[p] and not ends
        row["plain"] = bool(slots.feeds[p]) or row["direct"] or row["kept"]
        alone = [
            self.transition(m, passing.number, self.place[passing.source, m])
            for passing in self.into[state, m]
            if passing.q.snapshot is None
        ]
        sources = [{"inlet": inlet, "value": self.value[q, m]} for q, inlet in self.inlets[m].items()]
        return row | self.add("source", sources) | self.add("transition", alone, "enter")

    # --- the whole ----------------------------------------------------------------------------------------------------

    def tables(self, cell_bytes: int) -> GloriaTables:
        """All records, once all are known."""
        first = max((sum(map(self._span, own)) for own in self.present.values()), default=0)  # of places
        self.rows["whole"].append(self.place_cells(first, cell_bytes) | {"semantics": ANY, "event_bytes": 0})
        codes = [self.schema.type_code(state.type) for state in self.present]
        for code in range(len(self.schema.types)):
            own = [s for s, found in enumerate(codes) if found == code]
            row: Row = {"state": own[0] if own else 0, "state_end": own[-1] + 1 if own else 0}
            self.rows["kind"].append(row | {"relevant": bool(own) or code in self.negated})
        return self.sized(GloriaTables(**self.arrays()))
