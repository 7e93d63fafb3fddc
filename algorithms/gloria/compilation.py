"""A sharable set of members, and the plan by which they share, as the arrays that kernels read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from cepbench.algorithms.gloria.kernels.program import (
    NONE,
    ContextRecord,
    EndingRecord,
    FinishingMemberRecord,
    FinishRecord,
    GloriaProgram,
    GloriaTables,
    InletRecord,
    KindRecord,
    OutletRecord,
    PlaceRecord,
    QSetRecord,
    ReadRecord,
    ShareRecord,
    SourceRecord,
    StateRecord,
    StateSlotRecord,
    TemplateRecord,
    TestRecord,
    VisitingLinkRecord,
)
from cepbench.algorithms.gloria.plan import PlannedSet, part_of
from cepbench.algorithms.gloria.sharing_plan import QSet
from cepbench.algorithms.gloria.template import TypeState, TypeTransition
from cepbench.algorithms.online.granularity import EVENT
from cepbench.algorithms.snapshots.channels import MemberChannels
from cepbench.algorithms.snapshots.compilation import Row, SetCompiler, cell_bytes_of, records
from cepbench.algorithms.snapshots.kernels.records import NegationRecord, TransitionRecord, WindowRecord
from cepbench.algorithms.snapshots.members import SetMember, anonymous
from cepbench.algorithms.snapshots.sets import CompiledMembers
from cepbench.events.schema import Schema
from cepbench.queries.aggregates import MOST_RING
from cepbench.queries.automaton import Transition

TABLES = {
    "kind": KindRecord,
    "state": StateRecord,
    "test": TestRecord,
    "position": PlaceRecord,
    "transition": TransitionRecord,
    "source": SourceRecord,
    "read": ReadRecord,
    "inlet": InletRecord,
    "link": VisitingLinkRecord,
    "outlet": OutletRecord,
    "share": ShareRecord,
    "ending": EndingRecord,
    "group": QSetRecord,
    "context": ContextRecord,
    "member": FinishingMemberRecord,
    "finish": FinishRecord,
    "window": WindowRecord,
    "slot": StateSlotRecord,
    "negation": NegationRecord,
}


@dataclass(frozen=True, eq=False)
class CompiledPlan(CompiledMembers):
    """A sharable set; `masks` is the length of `Expressions.masks`."""

    program: GloriaProgram
    masks: int


def compile_sets(planned: PlannedSet, schema: Schema, granularity: str) -> tuple[CompiledPlan, ...]:
    """Compiles a planned set; splits it in halves repeatedly if it has more counts and sums than a cell has overflow
    flags.

    Members that sum the same attribute at different states need separate sums.
    """
    found = _compile_set(planned, schema, granularity)
    if len(found.channels.columns[0]) <= MOST_RING or len(planned.members) == 1:
        return (found,)
    half = len(planned.members) // 2
    numbers = range(len(planned.members))
    return tuple(
        one
        for part in (numbers[:half], numbers[half:])
        for one in compile_sets(part_of(planned, part), schema, granularity)
    )  # fmt: skip


def _compile_set(planned: PlannedSet, schema: Schema, granularity: str) -> CompiledPlan:
    """The template and the plan of a set as tables."""
    compiler = _Compiler(planned, schema, granularity)
    parts = [part.tables for part in compiler.parts]
    channels = MemberChannels.of_members(parts, planned.template.states)
    weights = channels.weights(compiler.order)
    program = GloriaProgram(compiler.tables(cell_bytes_of(weights)), compiler.predicates, weights)
    return CompiledPlan(planned.members, compiler.read, channels, compiler.negations, program, compiler.masks)


Passing = tuple[int, Transition, TypeTransition, QSet]
"""A transition of a member: its number, that of the automaton and of the template, and the member's Q-set."""


@dataclass
class _QSetRows:
    """A Q-set, the rows that it has so far, and by member the first that has values of its snapshots."""

    q: QSet
    number: int
    rows: int = 1  # EXPRESSION
    fresh: list[int] = field(default_factory=list)
    value: dict[int, int] = field(default_factory=dict)

    def take(self, count: int, *, fresh: bool = False) -> int:
        """The first of some further rows; those that are `fresh` have no part of a new snapshot yet."""
        first = self.rows
        self.rows += count
        if fresh:
            self.fresh += range(first, self.rows)
        return first


class _Compiler(SetCompiler):
    """Collects the records of all states, places and groups."""

    def __init__(self, planned: PlannedSet, schema: Schema, granularity: str) -> None:
        self.template, self.plan = planned.template, planned.sharing
        self.q_set = {(t, m): q for t, q_sets in self.plan.transitions.items() for q in q_sets for m in q.members}
        own = [list(self._transitions(m, member)) for m, member in enumerate(planned.members)]
        shared = [{e for e, _, _, q in found if q.snapshot is not None} for found in own]
        super().__init__(planned.members, schema, granularity, TABLES, shared)
        states = {state for own in self.template.states for state in own}
        self.order = sorted(states, key=lambda state: (schema.type_code(state.type), state))
        self.number = {state: s for s, state in enumerate(self.order)}
        self.masks = 0
        self.present: dict[TypeState, list[int]] = {state: [] for state in self.order}
        for m, states_ in enumerate(self.template.states):
            for state in states_:
                self.present[state].append(m)
        self.groups: dict[QSet, _QSetRows] = {}
        self.inlet: dict[tuple[TypeState, QSet], int] = {}
        self.outlet: dict[tuple[TypeState, QSet], int] = {}
        self.place: dict[tuple[TypeState, int], int] = {}
        self.finish: list[list[Row]] = [[] for _ in self.members]
        self._find_groups(own)
        for m in range(len(self.members)):
            self._add_slots(m)
        self._number()
        for state in self.order:
            self._add_state(state)
        self._add_members()
        self._add_groups()

    # --- what there is ------------------------------------------------------------------------------------------------

    def _position(self, state: TypeState, m: int) -> int:
        return self.template.states[m].index(state)

    def _transitions(self, m: int, member: SetMember) -> Iterator[Passing]:
        states = self.template.states[m]
        for e, t in enumerate(member.automaton.transitions):
            transition = TypeTransition(states[t.source], states[t.target])
            yield e, t, transition, self.q_set[transition, m]

    def _find_groups(self, passing: Sequence[Sequence[Passing]]) -> None:
        self.into: dict[tuple[TypeState, int], list[Passing]] = {}
        self.after: dict[TypeState, set[TypeState]] = {state: set() for state in self.order}
        self.visited: dict[tuple[TypeTransition, QSet], bool] = {}
        for m, own in enumerate(passing):
            for e, t, transition, q in own:
                self.into.setdefault((transition.target, m), []).append((e, t, transition, q))
                self.after[transition.source].add(transition.target)
                if q.snapshot is not None:
                    self.groups.setdefault(q, _QSetRows(q, len(self.groups)))
                    self.inlet.setdefault((transition.target, q), NONE)
                    self.outlet.setdefault((transition.source, q), NONE)
                    known = self.visited.get((transition, q), self.granularity == EVENT)
                    self.visited[transition, q] = known or bool(t.predicates)
        self.leaving: dict[tuple[TypeState, QSet], list[bool]] = {}
        for (transition, q), visited in self.visited.items():
            self.leaving.setdefault((transition.source, q), []).append(visited)
        for group in self.groups.values():
            for m in sorted(group.q.members):
                group.value[m] = group.take(self.members[m].window.overlap)

    def _add_slots(self, m: int) -> None:
        self.add_slots(m)
        for p, feeds in enumerate(self.slots[m].feeds):
            for slot in feeds:
                self.rows["slot"][self.first_slot[m] + slot]["state"] = self.number[self.template.states[m][p]]

    def _number(self) -> None:
        """Numbers places, inlets and outlets in the order of their states."""
        numbers = 0
        for state in self.order:
            for m in self.present[state]:
                self.place[state, m] = numbers
                numbers += 1
        self.reached: dict[TypeState, list[QSet]] = {state: [] for state in self.order}
        self.left: dict[TypeState, list[QSet]] = {state: [] for state in self.order}
        for numbered, q_sets in ((self.inlet, self.reached), (self.outlet, self.left)):
            for n, (state, q) in enumerate(sorted(numbered, key=lambda key: self.number[key[0]])):
                numbered[state, q] = n
                q_sets[state].append(q)

    # --- states -------------------------------------------------------------------------------------------------------

    def _add_state(self, state: TypeState) -> None:
        members = self.present[state]
        row = self.run("after", sorted(self.number[s] for s in self.after[state]))
        row |= self._add_tests(state, members)
        row |= self.add("inlet", [self._inlet(state, q) for q in self.reached[state]])
        row |= self.add("outlet", [self._outlet(state, q) for q in self.left[state]])
        row |= self._add_endings(state, members)
        value, places = 0, []
        for m in members:
            places.append(self._place(state, m) | {"value": value})
            value += self.members[m].window.overlap
        row |= self.add("position", places, "place")
        kept = [m for m, place in zip(members, places, strict=True) if place["kept"]]
        row |= {"kept": len(kept), "kept_cells": sum(self.members[m].window.overlap for m in kept)}
        self.rows["state"].append(row | {"plain": any(place["plain"] for place in places)})

    def _add_tests(self, state: TypeState, members: Sequence[int]) -> Row:
        """Classes of members by their local predicates."""
        first = len(self.rows["test"])
        classes: dict[frozenset[object], int] = {}
        tests: list[Row] = []
        self.test: dict[int, int] = {}
        for m in members:
            p = self._position(state, m)
            predicates = frozenset(map(anonymous, self.members[m].automaton.positions[p].predicates))
            if predicates not in classes:
                classes[predicates] = first + len(tests)
                tests.append({"predicates": self.first_position[m] + p, "selective": bool(predicates)})
            self.test[m] = classes[predicates]
        return self.add("test", tests)

    def _tests(self, members: Iterable[int]) -> list[int]:
        return sorted({self.test[m] for m in members})

    def _inlet(self, state: TypeState, q: QSet) -> Row:
        read, links = [], []
        some = min(q.members)
        for _, _, transition, own in self.into[state, some]:
            if own != q:
                continue
            outlet = self.outlet[transition.source, q]
            if self.visited[transition, q]:
                links.append({"outlet": outlet} | self.run("match", self._matches(transition, q)))
            else:
                read.append(outlet)
        row = {"group": self.groups[q].number, "row": self.groups[q].take(1)}
        row |= {"only": read[0] if len(read) == 1 and not links else NONE}
        return row | self.run("read", read) | self.add("link", links)

    def _matches(self, transition: TypeTransition, q: QSet) -> list[int]:
        """The different lists of predicates on adjacent events that members have on a transition."""
        found: dict[object, int] = {}
        for m in sorted(q.members):
            for e, t, own, _ in self.into[transition.target, m]:
                if own == transition:
                    found.setdefault(frozenset(map(anonymous, t.predicates)), self.adjacent(m, e))
        return list(found.values())

    def _outlet(self, state: TypeState, q: QSet) -> Row:
        members = sorted(q.members)
        places = [self.members[m].automaton.positions[self._position(state, m)] for m in members]
        local = q.snapshot == state
        group = self.groups[q]
        row: Row = {"group": self.groups[q].number, "state": self.number[state], "local": local}
        row |= {"inlet": NONE if local else self.inlet[state, q], "sums": group.take(2, fresh=True)}
        row |= self.run("test", self._tests(members)) | {"mask": self.masks}
        self.masks += row["test_end"] - row["test"]
        shares = [{"place": self.place[state, m], "value": group.value[m]} for m in members]
        row |= self.add("share", shares)
        own = any(place.start for place in places)
        row |= {"start": not local and places[0].start is not None, "own": own}
        visits = self.granularity == EVENT or any(self._visits(state, m) for m in members)
        row |= {"steady": not own and not visits}
        return row | {"kept": any(self.leaving[state, q])}

    def _visits(self, state: TypeState, m: int) -> bool:
        """Whether an event at a state visits events before for a member."""
        found = self.into.get((state, m), [])
        return any(self.visited[t, q] if q.snapshot is not None else self.slots[m].visited[e] for e, _, t, q in found)

    def _add_endings(self, state: TypeState, members: Sequence[int]) -> Row:
        """Members whose trends end at a state, all that lead there being one Q-set's."""
        found: dict[tuple[QSet, bool], list[int]] = {}
        self.ends: set[int] = set()
        for m in members:
            position = self.members[m].automaton.positions[self._position(state, m)]
            q_sets = {q for *_, q in self.into.get((state, m), [])}
            if position.end is None or position.end or position.start or len(q_sets) != 1:
                continue
            [q] = q_sets
            if q.snapshot is not None:
                found.setdefault((q, position.start is not None), []).append(m)
                self.ends.add(m)
        rows: list[Row] = []
        for (q, start), own in found.items():
            group, number = self.groups[q], len(self.rows["ending"]) + len(rows)
            row: Row = {"inlet": self.inlet[state, q], "row": group.take(1, fresh=True), "start": start}
            row |= self.run("test", self._tests(own)) | self.run("place", [self.place[state, m] for m in own])
            rows.append(row)
            for m in own:
                self.finish[m].append({"ending": number, "value": group.value[m]})
        return self.add("ending", rows)

    # --- places -------------------------------------------------------------------------------------------------------

    def _place(self, state: TypeState, m: int) -> Row:
        slots, p = self.slots[m], self._position(state, m)
        row = self.position(m, p) | {"test": self.test[m]}
        row["direct"] = slots.direct[p] and m not in self.ends
        row |= {"plain": bool(slots.feeds[p]) or row["direct"] or row["kept"]}
        return row | self._entering(state, m)

    def _entering(self, state: TypeState, m: int) -> Row:
        """How trends of a member reach a state."""
        sources: dict[int, Row] = {}
        reads, alone = [], []
        for e, _, transition, q in self.into.get((state, m), []):
            if q.snapshot is None:
                alone.append(self.transition(m, e, self.place[transition.source, m]))
                continue
            source = {"inlet": self.inlet[state, q], "value": self.groups[q].value[m]}
            sources.setdefault(source["inlet"], source)
            row = source | {"outlet": self.outlet[transition.source, q], "predicates": self.adjacent(m, e)}
            reads.append(row | {"visited": self.visited[transition, q]})
        found = self.add("source", sources.values()) | self.add("read", reads)
        return found | self.add("transition", alone, "enter")

    # --- members, groups and the whole --------------------------------------------------------------------------------

    def _add_members(self) -> None:
        for m, states in enumerate(self.template.states):
            row = self.member(m, [self.place[state, m] for state in states])
            self.rows["member"].append(row | self.add("finish", self.finish[m]))

    def _add_groups(self) -> None:
        for group in self.groups.values():
            members = sorted(group.q.members)
            contexts = [{"window": self.window[m], "value": group.value[m]} for m in members]
            row = {"rows": group.rows} | self.run("fresh", group.fresh)
            row |= self.run("window", sorted({self.window[m] for m in members}))
            self.rows["group"].append(row | self.add("context", contexts))

    def tables(self, cell_bytes: int) -> GloriaTables:
        """All records, once all are known."""
        spans = [member.window.overlap for member in self.members]
        first = max((sum(spans[m] for m in self.present[state]) for state in self.order), default=0)  # of places
        whole = self.place_cells(first) | {"bound": len(self.order), "cell_bytes": cell_bytes}
        whole |= {"vertex_bytes": 40 + self.attribute_bytes, "negated": self.first_negation[-1] > 0}
        self.add_windows(cell_bytes)
        self._add_kinds()
        lists = np.array(self.lists, np.int64)
        return GloriaTables(**self.arrays(TABLES), lists=lists, whole=records(TemplateRecord, [whole]))

    def _add_kinds(self) -> None:
        codes = [self.schema.type_code(state.type) for state in self.order]
        for code in range(len(self.schema.types)):
            own = [s for s, found in enumerate(codes) if found == code]
            first = own[0] if own else 0
            row: Row = {"state": first, "state_end": first + len(own), "single": len(own) == 1}
            self.rows["kind"].append(row | {"relevant": bool(own) or code in self.negated})
