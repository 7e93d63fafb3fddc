"""A sharable set of members, and the plan by which they share, as the arrays that kernels read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from cepbench.algorithms.gloria.channels import channels_of
from cepbench.algorithms.gloria.collecting import QSetRows, RecordCollector
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
from cepbench.algorithms.gloria.plan import PlannedSet
from cepbench.algorithms.gloria.sharing_plan import QSet
from cepbench.algorithms.gloria.template import TypeState, TypeTransition
from cepbench.algorithms.online.granularity import EVENT
from cepbench.algorithms.snapshots.compilation import Row, compile_part, joined, negated_codes, offsets, records
from cepbench.algorithms.snapshots.kernels.records import NegationRecord, TransitionRecord, WindowRecord
from cepbench.algorithms.snapshots.predicates import anonymous
from cepbench.algorithms.snapshots.sets import CompiledMembers
from cepbench.algorithms.snapshots.slots import slots_of
from cepbench.events.schema import Schema
from cepbench.queries.automaton import Transition
from cepbench.queries.columns import ColumnSet
from cepbench.queries.compile import Part
from cepbench.queries.tables import Columns


@dataclass(frozen=True, eq=False)
class CompiledPlan(CompiledMembers):
    """A sharable set; `masks` is the length of `Expressions.masks`."""

    program: GloriaProgram
    masks: int


def compile_set(planned: PlannedSet, schema: Schema, granularity: str) -> CompiledPlan:
    """The template and the plan of a set as tables."""
    members = planned.members
    columns = Columns(schema)
    parts = [compile_part(m.automaton, m.query.layout, schema, columns, m.query.analysis.names) for m in members]
    states = {state for own in planned.template.states for state in own}
    order = sorted(states, key=lambda state: (schema.type_code(state.type), state))
    channels, weights = channels_of([part.tables for part in parts], planned.template.states, order)
    read = ColumnSet(tuple(columns.ints), tuple(columns.reals))
    compiler = _Compiler(planned, parts, order, schema, granularity)
    cell = 8 * (1 + sum(len(family.column) for family in weights))
    tables = compiler.tables(cell, 40 + 8 * (len(read.ints) + len(read.reals)))
    predicates = joined([part.tables.local for part in parts] + [part.tables.adjacent for part in parts])
    negations = tuple((n, member.window) for member, part in zip(members, parts, strict=True) for n in part.negations)
    return CompiledPlan(members, read, channels, negations, GloriaProgram(tables, predicates, weights), compiler.masks)


class _Compiler(RecordCollector):
    """Collects the records of all states, places and groups."""

    def __init__(
        self,
        planned: PlannedSet,
        parts: Sequence[Part],
        order: Sequence[TypeState],
        schema: Schema,
        granularity: str,
    ) -> None:
        self.members, self.template, self.plan = planned.members, planned.template, planned.sharing
        self.parts, self.order, self.schema, self.granularity = parts, order, schema, granularity
        self.number = {state: s for s, state in enumerate(order)}
        self.windows = list(dict.fromkeys(member.window for member in self.members))
        self.window = [self.windows.index(member.window) for member in self.members]
        self.first_local = offsets(len(part.tables.start) for part in parts)
        self.first_adjacent = [self.first_local[-1] + n for n in offsets(len(part.tables.source) for part in parts)]
        super().__init__()
        self.masks = 0
        self.q_set = {(t, m): q for t, q_sets in self.plan.transitions.items() for q in q_sets for m in q.members}
        self.present: dict[TypeState, list[int]] = {state: [] for state in order}
        for m, states in enumerate(self.template.states):
            for state in states:
                self.present[state].append(m)
        self.groups: dict[QSet, QSetRows] = {}
        self.inlet: dict[tuple[TypeState, QSet], int] = {}
        self.outlet: dict[tuple[TypeState, QSet], int] = {}
        self.place: dict[tuple[TypeState, int], int] = {}
        self.finish: list[list[Row]] = [[] for _ in self.members]
        self._find_groups()
        self._add_slots()
        self._number()
        for state in order:
            self._add_state(state)
        self._add_members()
        self._add_groups()

    # --- what there is ------------------------------------------------------------------------------------------------

    def _position(self, state: TypeState, m: int) -> int:
        return self.template.states[m].index(state)

    def _transitions(self, m: int) -> Iterator[tuple[int, Transition, TypeTransition, QSet]]:
        """The transitions of a member: number, of the automaton, of the template, and the member's Q-set."""
        states = self.template.states[m]
        for e, t in enumerate(self.members[m].automaton.transitions):
            transition = TypeTransition(states[t.source], states[t.target])
            yield e, t, transition, self.q_set[transition, m]

    def _find_groups(self) -> None:
        self.shared: list[set[int]] = [set() for _ in self.members]
        self.into: dict[tuple[TypeState, int], list[tuple[int, Transition, TypeTransition, QSet]]] = {}
        self.after: dict[TypeState, set[TypeState]] = {state: set() for state in self.order}
        self.visited: dict[tuple[TypeTransition, QSet], bool] = {}
        for m in range(len(self.members)):
            for e, t, transition, q in self._transitions(m):
                self.into.setdefault((transition.target, m), []).append((e, t, transition, q))
                self.after[transition.source].add(transition.target)
                if q.snapshot is not None:
                    self.shared[m].add(e)
                    self.groups.setdefault(q, QSetRows(q, len(self.groups)))
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

    def _add_slots(self) -> None:
        own = zip(self.members, self.shared, strict=True)
        self.slots = [slots_of(member.automaton, self.granularity, shared) for member, shared in own]
        self.first_slot = offsets(slots.count for slots in self.slots)
        self.first_negation = offsets(len(slots.void) for slots in self.slots)
        for m, slots in enumerate(self.slots):
            states = self.template.states[m]
            owner = {slot: self.number[states[p]] for p, feeds in enumerate(slots.feeds) for slot in feeds}
            self.rows[StateSlotRecord] += [{"state": owner[n], "window": self.window[m]} for n in range(slots.count)]
            self.rows[NegationRecord] += [self.run("void", void, self.first_slot[m]) for void in slots.void]

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
        row |= self.add("inlet", InletRecord, [self._inlet(state, q) for q in self.reached[state]])
        row |= self.add("outlet", OutletRecord, [self._outlet(state, q) for q in self.left[state]])
        row |= self._add_endings(state, members)
        value, places = 0, []
        for m in members:
            places.append(self._place(state, m) | {"value": value})
            value += self.members[m].window.overlap
        row |= self.add("place", PlaceRecord, places)
        kept = [m for m, place in zip(members, places, strict=True) if place["kept"]]
        row |= {"kept": len(kept), "kept_cells": sum(self.members[m].window.overlap for m in kept)}
        self.rows[StateRecord].append(row | {"plain": any(place["plain"] for place in places)})

    def _add_tests(self, state: TypeState, members: Sequence[int]) -> Row:
        """Classes of members by their local predicates."""
        first = len(self.rows[TestRecord])
        classes: dict[frozenset[object], int] = {}
        tests: list[Row] = []
        self.test: dict[int, int] = {}
        for m in members:
            p = self._position(state, m)
            predicates = frozenset(map(anonymous, self.members[m].automaton.positions[p].predicates))
            if predicates not in classes:
                classes[predicates] = first + len(tests)
                tests.append({"predicates": self.first_local[m] + p, "selective": bool(predicates)})
            self.test[m] = classes[predicates]
        return self.add("test", TestRecord, tests)

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
        return row | self.run("read", read) | self.add("link", VisitingLinkRecord, links)

    def _matches(self, transition: TypeTransition, q: QSet) -> list[int]:
        """The different lists of predicates on adjacent events that members have on a transition."""
        found: dict[object, int] = {}
        for m in sorted(q.members):
            for e, t, own, _ in self.into[transition.target, m]:
                if own == transition:
                    found.setdefault(frozenset(map(anonymous, t.predicates)), self.first_adjacent[m] + e)
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
        row |= self.add("share", ShareRecord, shares)
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
            group, number = self.groups[q], len(self.rows[EndingRecord]) + len(rows)
            row: Row = {"inlet": self.inlet[state, q], "row": group.take(1, fresh=True), "start": start}
            row |= self.run("test", self._tests(own)) | self.run("place", [self.place[state, m] for m in own])
            rows.append(row)
            for m in own:
                self.finish[m].append({"ending": number, "value": group.value[m]})
        return self.add("ending", EndingRecord, rows)

    # --- places -------------------------------------------------------------------------------------------------------

    def _place(self, state: TypeState, m: int) -> Row:
        p, slots, tables = self._position(state, m), self.slots[m], self.parts[m].tables
        leading = tables.leading[tables.leading_ptr[p] : tables.leading_ptr[p + 1]]
        trailing = tables.trailing[tables.trailing_ptr[p] : tables.trailing_ptr[p + 1]]
        row: Row = {"member": m, "window": self.window[m], "test": self.test[m], "start": tables.start[p]}
        row |= self.run("feed", slots.feeds[p], self.first_slot[m])
        row |= self.run("leading", leading, self.first_negation[m])
        row |= self.run("trailing", trailing, self.first_negation[m])
        row |= {"direct": slots.direct[p] and m not in self.ends, "kept": slots.kept[p]}
        row |= {"plain": bool(slots.feeds[p]) or row["direct"] or row["kept"]}
        return row | self._entering(state, m)

    def _entering(self, state: TypeState, m: int) -> Row:
        """How trends of a member reach a state."""
        sources: dict[int, Row] = {}
        reads, alone = [], []
        tables = self.parts[m].tables
        for e, _, transition, q in self.into.get((state, m), []):
            predicates = self.first_adjacent[m] + e
            if q.snapshot is None:
                between = tables.between[tables.between_ptr[e] : tables.between_ptr[e + 1]]
                slot = self.first_slot[m] + self.slots[m].read[e]
                row = {"source": self.place[transition.source, m], "read": slot, "predicates": predicates}
                row |= {"visited": self.slots[m].visited[e]}
                alone.append(row | self.run("between", between, self.first_negation[m]))
                continue
            source = {"inlet": self.inlet[state, q], "value": self.groups[q].value[m]}
            sources.setdefault(source["inlet"], source)
            row = source | {"outlet": self.outlet[transition.source, q], "predicates": predicates}
            reads.append(row | {"visited": self.visited[transition, q]})
        found = self.add("source", SourceRecord, sources.values()) | self.add("read", ReadRecord, reads)
        return found | self.add("enter", TransitionRecord, alone)

    # --- members, groups and the whole --------------------------------------------------------------------------------

    def _add_members(self) -> None:
        for m, slots in enumerate(self.slots):
            late = [self.place[self.template.states[m][p], m] for p, kept in enumerate(slots.late_kept) if kept]
            row = {"window": self.window[m], "slot": self.first_slot[m], "slot_end": self.first_slot[m + 1]}
            row |= self.run("late", slots.late, self.first_slot[m]) | self.run("place", late)
            self.rows[FinishingMemberRecord].append(row | self.add("finish", FinishRecord, self.finish[m]))

    def _add_groups(self) -> None:
        for group in self.groups.values():
            members = sorted(group.q.members)
            contexts = [{"window": self.window[m], "value": group.value[m]} for m in members]
            row = {"rows": group.rows} | self.run("fresh", group.fresh)
            row |= self.run("window", sorted({self.window[m] for m in members}))
            self.rows[QSetRecord].append(row | self.add("context", ContextRecord, contexts))

    def tables(self, cell_bytes: int, vertex_bytes: int) -> GloriaTables:
        """All records, once all are known."""
        whole = self._place_cells()
        whole |= {"bound": len(self.order), "vertex_bytes": vertex_bytes, "cell_bytes": cell_bytes}
        whole |= {"negated": self.first_negation[-1] > 0}
        self.rows[WindowRecord] = [self._window(w, cell_bytes) for w in range(len(self.windows))]
        found = {record: records(record, rows) for record, rows in self.rows.items()}
        kind = records(KindRecord, self._kinds())
        return GloriaTables(
            kind=kind,
            state=found[StateRecord],
            test=found[TestRecord],
            position=found[PlaceRecord],
            transition=found[TransitionRecord],
            source=found[SourceRecord],
            read=found[ReadRecord],
            inlet=found[InletRecord],
            link=found[VisitingLinkRecord],
            outlet=found[OutletRecord],
            share=found[ShareRecord],
            ending=found[EndingRecord],
            group=found[QSetRecord],
            context=found[ContextRecord],
            member=found[FinishingMemberRecord],
            finish=found[FinishRecord],
            window=found[WindowRecord],
            slot=found[StateSlotRecord],
            negation=found[NegationRecord],
            lists=np.array(self.lists, np.int64),
            whole=records(TemplateRecord, [whole]),
        )

    def _place_cells(self) -> Row:
        """Places the cells of slots, those of their pending trends, and those of members behind those to work with."""
        spans = [member.window.overlap for member in self.members]
        first = max(
            (sum(spans[m] for m in self.present[state]) for state in self.order), default=0
        )  # all places of a state
        slots = self.rows[StateSlotRecord]
        of_slots = offsets(self.windows[slot["window"]].overlap for slot in slots)
        for slot, at in zip(slots, of_slots, strict=False):
            slot |= {"cell": first + at, "pending": first + of_slots[-1] + at}
        final = first + 2 * of_slots[-1]
        for member, at in zip(self.rows[FinishingMemberRecord], offsets(spans), strict=False):
            member["final"] = final + at
        return {"open": sum(spans), "cells": final + sum(spans)}

    def _kinds(self) -> list[Row]:
        codes = [self.schema.type_code(state.type) for state in self.order]
        negated = set().union(*(negated_codes(member.automaton, self.schema) for member in self.members))
        rows = []
        for code in range(len(self.schema.types)):
            own = [s for s, found in enumerate(codes) if found == code]
            first = own[0] if own else 0
            row: Row = {"state": first, "state_end": first + len(own), "single": len(own) == 1}
            rows.append(row | {"relevant": bool(own) or code in negated})
        return rows

    def _window(self, w: int, cell_bytes: int) -> Row:
        window = self.windows[w]
        own = [m for m, found in enumerate(self.window) if found == w]
        cells = sum(2 * self.slots[m].count + 1 for m in own)
        row = {"within": window.within, "slide": window.slide, "span": window.overlap, "bytes": cells * cell_bytes}
        return row | self.run("member", own)
