"""A sharable set as the arrays that kernels read: what is the same for Hamlet and for Gloria."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Generic, TypeVar, get_origin, get_type_hints

import numpy as np

from cepbench.algorithms.online.granularity import EVENT, selects
from cepbench.algorithms.online.slots import AutomatonSlots
from cepbench.algorithms.snapshots.channels import MemberChannels
from cepbench.algorithms.snapshots.kernels.cells import Weighing
from cepbench.algorithms.snapshots.members import SetMember, negated_types
from cepbench.events.schema import Schema
from cepbench.events.windows import Window
from cepbench.queries.automaton import Automaton
from cepbench.queries.columns import ColumnSet
from cepbench.queries.compile import Part, compile_part
from cepbench.queries.records import records_of
from cepbench.queries.tables import Columns, predicate_tables

Row = dict[str, Any]
"""The fields of a record."""

Program = TypeVar("Program")


@dataclass(frozen=True, eq=False)
class CompiledMembers(Generic[Program]):
    """A sharable set as its kernels read it: the columns that its tables refer to, its channels and its `program`.

    `negations` are the negated sub-patterns of all members, as they are numbered, with the length of their windows.
    """

    members: tuple[SetMember, ...]
    columns: ColumnSet
    channels: MemberChannels
    negations: tuple[tuple[Part, Window], ...]
    program: Program


class SetCompiler:
    """Collects the records of a sharable set by table, and the `lists` that they refer to.

    `tables`: the named tuple of the tables, whose annotations name their records. Transitions in `shared`, by member,
    read no slot. The positions of member m are numbered from `first_position[m]` on; transitions, slots and negations
    likewise. `negated`: type codes. Lists of `predicates`: local ones of all positions, then those on adjacent events
    of all transitions.
    """

    def __init__(
        self,
        members: Sequence[SetMember],
        schema: Schema,
        granularity: str,
        tables: type,
        shared: Sequence[Set[int]] = (),
    ) -> None:
        columns = Columns(schema)
        self.members, self.schema, self.granularity, self.records = members, schema, granularity, _records(tables)
        self.parts = [compile_part(m.automaton, m.query.layout, columns, m.query.analysis.names) for m in members]
        self.read = ColumnSet(tuple(columns.ints), tuple(columns.reals))
        local = [place.predicates for member in members for place in member.automaton.positions]
        adjacent = [t.predicates for member in members for t in member.automaton.transitions]
        self.predicates = predicate_tables([*local, *adjacent], columns)
        self.windows = list(dict.fromkeys(member.window for member in members))
        self.window = [self.windows.index(member.window) for member in members]
        self.slots = [
            _slots(member.automaton, granularity, shared[m] if shared else frozenset())
            for m, member in enumerate(members)
        ]
        self.first_position = offsets(len(part.tables.start) for part in self.parts)
        self.first_transition = offsets(len(part.tables.source) for part in self.parts)
        self.first_slot = offsets(slots.count for slots in self.slots)
        self.first_negation = offsets(len(slots.void) for slots in self.slots)
        self.negated = {schema.type_code(name) for m in members for name in negated_types(m.automaton)} - {-1}
        self.lists: list[int] = []
        self.rows: dict[str, list[Row]] = {name: [] for name in self.records}
        for m, slots in enumerate(self.slots):
            self.rows["negation"] += [self.run("void", void, self.first_slot[m]) for void in slots.void]
            self.rows["slot"] += [{"window": self.window[m]} for _ in range(slots.count)]

    @property
    def negations(self) -> tuple[tuple[Part, Window], ...]:
        """The negated sub-patterns of all members, with the length of their windows."""
        found = zip(self.members, self.parts, strict=True)
        return tuple((negation, member.window) for member, part in found for negation in part.negations)

    @property
    def attribute_bytes(self) -> int:
        """Bytes of the attributes of a kept event."""
        return 8 * (len(self.read.ints) + len(self.read.reals))

    def run(self, name: str, items: Iterable[int], shift: int = 0) -> Row:
        """Fields `name` and `name_end` of a list."""
        first = len(self.lists)
        self.lists.extend(int(item) + shift for item in items)
        return {name: first, f"{name}_end": len(self.lists)}

    def add(self, table: str, rows: Iterable[Row], name: str = "") -> Row:
        """Fields `name` and `name_end` of further records of a table; the name is by default that of the table."""
        found, name = self.rows[table], name or table
        first = len(found)
        found.extend(rows)
        return {name: first, f"{name}_end": len(found)}

    def position(self, m: int, p: int) -> Row:
        """Position p of a member."""
        slots, place = self.slots[m], self.members[m].automaton.positions[p]
        row: Row = {"member": m, "window": self.window[m], "start": place.start is not None}
        row |= {"direct": slots.direct[p], "kept": slots.kept[p]} | self.run("feed", slots.feeds[p], self.first_slot[m])
        row |= self.run("leading", sorted(place.start or ()), self.first_negation[m])
        return row | self.run("trailing", sorted(place.end or ()), self.first_negation[m])

    def transition(self, m: int, e: int, source: int) -> Row:
        """Transition e of a member, from the position with the number `source`."""
        slots, negations = self.slots[m], self.members[m].automaton.transitions[e].negations
        row = {"source": source, "read": self.first_slot[m] + slots.read[e], "visited": slots.visited[e]}
        row |= {"predicates": self.adjacent(m, e)}
        return row | self.run("between", sorted(negations), self.first_negation[m])

    def adjacent(self, m: int, e: int) -> int:
        """The number of the predicates on adjacent events of a member's transition."""
        return self.first_position[-1] + self.first_transition[m] + e

    def member(self, m: int, numbers: Sequence[int]) -> Row:
        """A member, whose positions have these numbers."""
        slots = self.slots[m]
        row = {"window": self.window[m], "slot": self.first_slot[m], "slot_end": self.first_slot[m + 1]}
        row |= self.run("late", slots.late, self.first_slot[m])
        return row | self.run("place", [number for number, late in zip(numbers, slots.late_kept, strict=True) if late])

    def place_cells(self, first: int, cell_bytes: int) -> Row:
        """Places the cells of slots, those of their pending trends, and those of members, from cell `first` on; adds
        the kinds of windows. Returns what the set has as a whole.
        """
        spans = [member.window.overlap for member in self.members]
        of_slots = offsets(self.windows[slot["window"]].overlap for slot in self.rows["slot"])
        for slot, at in zip(self.rows["slot"], of_slots, strict=False):
            slot |= {"cell": first + at, "pending": first + of_slots[-1] + at}
        final = first + 2 * of_slots[-1]
        for member, at in zip(self.rows["member"], offsets(spans), strict=False):
            member["final"] = final + at
        for w, window in enumerate(self.windows):
            own = [m for m, found in enumerate(self.window) if found == w]
            cells = sum(2 * self.slots[m].count + 1 for m in own)
            row = {"within": window.within, "slide": window.slide, "span": window.overlap, "bytes": cells * cell_bytes}
            self.rows["window"].append(row | self.run("member", own))
        return {"most": max(spans), "open": sum(spans), "cells": final + sum(spans), "cell_bytes": cell_bytes}

    def arrays(self) -> dict[str, Any]:
        """The tables and `lists`, once all records are known."""
        found: dict[str, Any] = {"lists": np.array(self.lists, np.int64)}
        for table, record in self.records.items():
            found[table] = np.zeros(len(self.rows[table]), records_of(record))
            for name in found[table].dtype.names:
                found[table][name] = [row[name] for row in self.rows[table]]
        return found


def _slots(automaton: Automaton, granularity: str, shared: Set[int]) -> AutomatonSlots:
    """The slots of a member; at event granularity its transitions visit all events before."""
    transitions = enumerate(automaton.transitions)
    visited = [n not in shared and (granularity == EVENT or selects(t, automaton)) for n, t in transitions]
    return AutomatonSlots(automaton, visited, shared)


@cache
def _records(tables: type) -> Mapping[str, type]:
    """The record of each table of a named tuple."""
    hints = get_type_hints(tables, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items() if get_origin(hint) is Annotated}


def cell_bytes_of(weights: Weighing) -> int:
    """Bytes of a cell with these channels."""
    return 8 * (1 + sum(len(family.column) for family in weights))


def offsets(sizes: Iterable[int]) -> list[int]:
    """Where each of some runs begins; behind them, the end of all."""
    return [0, *np.cumsum(list(sizes)).tolist()]
