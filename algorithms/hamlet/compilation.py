"""A sharable set of queries as the arrays that kernels read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from cepbench.algorithms.hamlet.kernels.program import (
    NONE,
    AlikeRecord,
    GroupRecord,
    Groups,
    HamletProgram,
    SetRecord,
    TemplateTables,
    TypeRecord,
    UnitPositionRecord,
    UnitRecord,
)
from cepbench.algorithms.hamlet.kernels.state import VALUES
from cepbench.algorithms.hamlet.kernels.summing import NOTHING, ROWS, TRENDS
from cepbench.algorithms.hamlet.workload import SharableSet
from cepbench.algorithms.online.granularity import EVENT
from cepbench.algorithms.online.kernels.type_tables import END
from cepbench.algorithms.snapshots.channels import MemberChannels
from cepbench.algorithms.snapshots.compilation import Row, compile_part, joined, negated_codes, offsets, records
from cepbench.algorithms.snapshots.kernels.cells import Weighing
from cepbench.algorithms.snapshots.kernels.records import (
    MemberRecord,
    NegationRecord,
    SlotRecord,
    TransitionRecord,
    WindowRecord,
)
from cepbench.algorithms.snapshots.members import SetMember
from cepbench.algorithms.snapshots.sets import CompiledMembers
from cepbench.algorithms.snapshots.slots import MemberSlots, slots_of
from cepbench.events.schema import Schema
from cepbench.queries.columns import ColumnSet
from cepbench.queries.compile import Part
from cepbench.queries.tables import Columns


@dataclass(frozen=True, eq=False)
class CompiledSet(CompiledMembers):
    """A sharable set."""

    program: HamletProgram

    @property
    def contexts(self) -> int:
        """Queries times windows that hold an event, over the units of the group that has most."""
        return int(self.program.template.whole["contexts"][0])


def compile_set(chosen: SharableSet, schema: Schema, granularity: str) -> CompiledSet:
    """The merged template of a set (Section 3.1) with slots, groups and channels."""
    members = chosen.members
    columns = Columns(schema)
    parts = [compile_part(m.automaton, m.query.layout, schema, columns, m.query.analysis.names) for m in members]
    channels = MemberChannels.of_members([part.tables for part in parts])
    offset = offsets(len(part.tables.start) for part in parts)
    by_type = [[offset[s.member] + s.position for s in group] for group in chosen.shared]
    merged = _Merger(members, parts, schema, granularity)
    merged.add_groups(chosen, by_type)
    predicates = joined([part.tables.local for part in parts] + [part.tables.adjacent for part in parts])
    weights = Weighing(*channels.weights(offset, by_type))
    read = ColumnSet(tuple(columns.ints), tuple(columns.reals))
    program = HamletProgram(merged.template(weights, read), merged.groups(), predicates, weights)
    negations = tuple((n, member.window) for member, part in zip(members, parts, strict=True) for n in part.negations)
    return CompiledSet(members, read, channels, negations, program)


class _Merger:
    """Collects the records of all members."""

    def __init__(self, members: Sequence[SetMember], parts: Sequence[Part], schema: Schema, granularity: str) -> None:
        self.schema, self.granularity = schema, granularity
        self.lists: list[int] = []
        self.windows = list(dict.fromkeys(member.window for member in members))
        self.bound: list[list[int]] = [[] for _ in schema.types]
        self.negated: set[int] = set()
        self.position: list[Row] = []
        self.transition: list[Row] = []
        self.member: list[Row] = []
        self.slot: list[Row] = []
        self.negation: list[Row] = []
        self.group: list[Row] = []
        self.unit: list[Row] = []
        self.alike: list[Row] = []
        self.contexts: list[int] = []
        for member, part in zip(members, parts, strict=True):
            self._add(member, part)
        for e, edge in enumerate(self.transition):
            edge["predicates"] = len(self.position) + e  # behind those of positions

    def _run(self, name: str, items: Iterable[int], shift: int = 0) -> Row:
        """Fields `name` and `name_end` of a list."""
        first = len(self.lists)
        self.lists.extend(int(item) + shift for item in items)
        return {name: first, f"{name}_end": len(self.lists)}

    def _add(self, member: SetMember, part: Part) -> None:
        """The template of a member, and its slots."""
        tables, m, window = part.tables, len(self.member), self.windows.index(member.window)
        slot, negation, first, edge = len(self.slot), len(self.negation), len(self.position), len(self.transition)
        slots = slots_of(member.automaton, self.granularity)
        for t, known in enumerate(self.bound):
            known += [first + int(p) for p in tables.binding[tables.binding_ptr[t] : tables.binding_ptr[t + 1]]]
        self._add_positions(part, slots, {"member": m, "window": window, "unit": NONE}, (slot, negation, edge))
        for e, source in enumerate(tables.source.tolist()):
            between = tables.between[tables.between_ptr[e] : tables.between_ptr[e + 1]]
            row = {"source": first + source, "read": slot + slots.read[e], "visited": slots.visited[e]}
            self.transition.append(row | self._run("between", between, negation))
        self.negation += [self._run("void", void, slot) for void in slots.void]
        self.slot += [{"window": window} for _ in range(slots.count)]
        runs = {"slot": slot, "slot_end": len(self.slot)} | self._run("late", slots.late, slot)
        runs |= self._run("place", np.flatnonzero(slots.late_kept), first)
        self.member.append({"window": window} | runs)
        self.negated |= negated_codes(member.automaton, self.schema)

    def _add_positions(self, part: Part, slots: MemberSlots, same: Row, first: tuple[int, int, int]) -> None:
        """Positions of a member whose slots, negations and transitions begin with the numbers `first`."""
        tables, (slot, negation, edge) = part.tables, first
        for p, feeds in enumerate(slots.feeds):
            leading = tables.leading[tables.leading_ptr[p] : tables.leading_ptr[p + 1]]
            trailing = tables.trailing[tables.trailing_ptr[p] : tables.trailing_ptr[p + 1]]
            row = same | self._run("feed", feeds, slot)
            row |= self._run("leading", leading, negation) | self._run("trailing", trailing, negation)
            row |= {"enter": edge + tables.enter_ptr[p], "enter_end": edge + tables.enter_ptr[p + 1]}
            row |= {"start": tables.start[p], "selective": tables.local.ptr[p] < tables.local.ptr[p + 1]}
            row |= {"direct": slots.direct[p], "kept": slots.kept[p]}
            self.position.append(row)

    def add_groups(self, chosen: SharableSet, by_type: Sequence[Sequence[int]]) -> None:
        """The sharable Kleene sub-patterns."""
        for g, (patterns, own) in enumerate(zip(chosen.shared, by_type, strict=True)):
            unit, first = len(self.unit), len(self.alike)
            found = [pattern.predicates for pattern in patterns]
            classes = list(dict.fromkeys(found))
            most = max(classes, key=found.count)
            contexts = 0
            for predicates, p in zip(found, own, strict=True):
                self.position[p]["unit"] = len(self.unit)
                row = {"group": g, "position": p, "loop": self._loop(p), "value": VALUES + contexts}
                self.unit.append(row | {"alike": first + classes.index(predicates)})
                contexts += self.windows[self.position[p]["window"]].overlap
            for known in classes:
                p = own[found.index(known)]
                loop = self._loop(p) if known[1] else NONE
                self.alike.append({"sample": p, "loop": loop, "same_loop": known[1] == most[1]})
            row = {"unit": unit, "unit_end": len(self.unit), "alike": first, "alike_end": len(self.alike)}
            row |= {"reference": first + classes.index(most), "bound": len(self.position) + g}
            self.group.append(row | {"stores": any(self.position[p]["kept"] for p in own)})
            self.contexts.append(contexts)
        self.group_of = {self.schema.type_code(same[0].type): g for g, same in enumerate(chosen.shared)}

    def _loop(self, p: int) -> int:
        """The transition of a position to itself."""
        first = int(self.position[p]["enter"])
        return next(e for e, edge in enumerate(self._into(p), first) if edge["source"] == p)

    def groups(self) -> Groups:
        return Groups(
            records(GroupRecord, self.group), records(UnitRecord, self.unit), records(AlikeRecord, self.alike)
        )

    def template(self, weights: Weighing, columns: ColumnSet) -> TemplateTables:
        """The records of members, once all are known."""
        whole = self._place_cells()
        cell = 8 * (1 + sum(len(family.column) for family in weights))
        attributes = 8 * (len(columns.ints) + len(columns.reals))
        contexts = max(self.contexts, default=0)
        whole |= {"contexts": contexts, "rows": VALUES + contexts, "cell_bytes": cell, "event_bytes": 16 + attributes}
        whole |= {"vertex_bytes": 16 + attributes + whole["most"] * cell, "stored_bytes": 48 + attributes}
        whole["longest"] = max(range(len(self.windows)), key=lambda w: self.windows[w].within)
        whole["every"] = self.granularity == EVENT
        types = [self._type(code, own) for code, own in enumerate(self.bound)]
        most = whole["most"]
        loops = [TRENDS if self._loops(p) else NOTHING for p in range(len(self.position))]
        windows = [self._window(w, cell) for w in range(len(self.windows))]
        return TemplateTables(
            kind=records(TypeRecord, types),
            position=records(UnitPositionRecord, self.position),
            transition=records(TransitionRecord, self.transition),
            member=records(MemberRecord, self.member),
            window=records(WindowRecord, windows),
            slot=records(SlotRecord, self.slot),
            negation=records(NegationRecord, self.negation),
            lists=np.array(self.lists, np.int64),
            whole=records(SetRecord, [whole]),
            sources=np.array([(0, row * most, END) for row in loops], np.uint64).ravel(),
        )

    def _place_cells(self) -> Row:
        """Places the cells of slots, those of their pending trends, and those of members one after another."""
        spans = [self.windows[member["window"]].overlap for member in self.member]
        of_slots = offsets(self.windows[slot["window"]].overlap for slot in self.slot)
        first = ROWS * max(spans)
        for slot, at in zip(self.slot, of_slots, strict=False):
            slot |= {"cell": first + at, "pending": first + of_slots[-1] + at}
        final = first + 2 * of_slots[-1]
        for member, at in zip(self.member, offsets(spans), strict=False):
            member["final"] = final + at
        return {"most": max(spans), "open": sum(spans), "cells": final + sum(spans)}

    def _type(self, code: int, own: Sequence[int]) -> Row:
        kept = sum(bool(self.position[p]["kept"]) for p in own)
        row = {"group": self.group_of.get(code, NONE), "kept": kept, "relevant": bool(own) or code in self.negated}
        row["summed"] = kept == 0 and code not in self.negated and all(self._apart(p, own) for p in own)
        return row | self._run("binding", own)

    def _into(self, p: int) -> list[Row]:
        return self.transition[self.position[p]["enter"] : self.position[p]["enter_end"]]

    def _loops(self, p: int) -> bool:
        return any(edge["source"] == p for edge in self._into(p))

    def _apart(self, p: int, own: Sequence[int]) -> bool:
        """Whether a position reads sums, and none that others of its type feed."""
        return not any(edge["visited"] or edge["source"] in set(own) - {p} for edge in self._into(p))

    def _window(self, w: int, cell: int) -> Row:
        window = self.windows[w]
        own = [m for m, member in enumerate(self.member) if member["window"] == w]
        cells = sum(2 * (self.member[m]["slot_end"] - self.member[m]["slot"]) + 1 for m in own)
        row = {"within": window.within, "slide": window.slide, "span": window.overlap, "bytes": cells * cell}
        return row | self._run("member", own)
