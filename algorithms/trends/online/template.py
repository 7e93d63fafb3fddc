"""The template of one or several queries that are evaluated together, as the records that kernels read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Annotated, Any, get_origin, get_type_hints

import numpy as np

from cepbench.algorithms.engine.kernels.cells import empty_cells
from cepbench.algorithms.trends.online.kernels.records import OpenRecord, PendingRecord
from cepbench.algorithms.trends.online.kernels.template import Template, Totals
from cepbench.algorithms.trends.online.slots import AutomatonSlots
from cepbench.events.windows import Window
from cepbench.queries.aggregates import Layout
from cepbench.queries.automaton import Automaton
from cepbench.queries.records import records_of
from cepbench.queries.tables import Ints

Row = dict[str, Any]
"""The fields of a record."""


class TemplateCompiler:
    """Collects the records of members by table, and the `lists` that they refer to.

    A member has an automaton, a window and slots. `tables`: the named tuple of the tables, whose annotations name their
    records. The positions of member m are numbered from `first_position[m]` on; transitions, slots and negations
    likewise. `local`: the rows of the conditions of each member's positions.
    """

    def __init__(
        self,
        automata: Sequence[Automaton],
        windows: Sequence[Window],
        slots: Sequence[AutomatonSlots],
        local: Sequence[Ints],
        tables: type,
    ) -> None:
        self.automata, self.slots, self.local, self.records = automata, slots, local, _records(tables)
        self.windows = list(dict.fromkeys(windows))
        self.window = [self.windows.index(window) for window in windows]
        self.first_position = offsets(len(automaton.positions) for automaton in automata)
        self.first_transition = offsets(len(automaton.transitions) for automaton in automata)
        self.first_slot = offsets(of_member.count for of_member in slots)
        self.first_negation = offsets(len(of_member.void) for of_member in slots)
        self.lists: list[int] = []
        self.rows: dict[str, list[Row]] = {name: [] for name in self.records}
        for m, of_member in enumerate(slots):
            self.rows["negation"] += [self.run("void", void, self.first_slot[m]) for void in of_member.void]
            self.rows["slot"] += [
                {"window": self.window[m], "late": s in of_member.late} for s in range(of_member.count)
            ]

    def run(self, name: str, items: Iterable[int], shift: int = 0) -> Row:
        """Adds a list; returns fields `name` and `name_end`."""
        first = len(self.lists)
        self.lists.extend(int(item) + shift for item in items)
        return {name: first, f"{name}_end": len(self.lists)}

    def add(self, table: str, rows: Iterable[Row], name: str = "") -> Row:
        """Adds records to a table; returns fields `name` and `name_end`, by default named as the table."""
        records, name = self.rows[table], name or table
        first = len(records)
        records.extend(rows)
        return {name: first, f"{name}_end": len(records)}

    def add_member(self, m: int, fields: Row) -> None:
        """Adds a member with all its positions and transitions; positions have `fields` in addition."""
        first, edges = self.first_position[m], self.automata[m].transitions
        for p in range(len(self.automata[m].positions)):
            into = [self.transition(m, e, first + t.source) for e, t in enumerate(edges) if t.target == p]
            self.rows["position"].append(self.position(m, p) | fields | self.add("transition", into, "enter"))
        self.rows["member"].append(self.member(m, range(first, self.first_position[m + 1])))

    def position(self, m: int, p: int) -> Row:
        """Position p of a member."""
        slots, place = self.slots[m], self.automata[m].positions[p]
        row: Row = {"member": m, "window": self.window[m], "start": place.start is not None}
        row |= {"direct": slots.direct[p], "kept": slots.kept[p], "condition": self.local[m][p]}
        row |= self.run("feed", slots.feeds[p], self.first_slot[m])
        row |= self.run("leading", sorted(place.start or ()), self.first_negation[m])
        return row | self.run("trailing", sorted(place.end or ()), self.first_negation[m])

    def transition(self, m: int, e: int, source: int) -> Row:
        """Transition e of a member, from the position with the number `source`."""
        slots, negations = self.slots[m], self.automata[m].transitions[e].negations
        row = {"source": source, "read": self.first_slot[m] + slots.read[e], "visited": slots.visited[e]}
        row |= {"predicates": self.adjacent(m, e)}
        return row | self.run("between", sorted(negations), self.first_negation[m])

    def adjacent(self, m: int, e: int) -> int:
        """The number of the predicates on adjacent events of a member's transition."""
        return self.first_transition[m] + e

    def member(self, m: int, numbers: Sequence[int]) -> Row:
        """A member, whose positions have these numbers."""
        slots = self.slots[m]
        row = {"window": self.window[m], "slot": self.first_slot[m], "slot_end": self.first_slot[m + 1]}
        row |= self.run("late", slots.late, self.first_slot[m])
        return row | self.run(
            "late_position", [number for number, late in zip(numbers, slots.late_kept, strict=True) if late]
        )

    def place_cells(self, first: int, cell_bytes: int) -> Row:
        """Places the cells of slots, those of their pending trends, and those of members, from cell `first` on; adds
        the kinds of windows. Returns fields of `WholeRecord`.
        """
        spans = [self.windows[w].overlap for w in self.window]
        of_slots = offsets(self.windows[slot["window"]].overlap for slot in self.rows["slot"])
        for slot, at in zip(self.rows["slot"], of_slots, strict=False):
            slot |= {"cell": first + at, "pending": first + of_slots[-1] + at}
        final = first + 2 * of_slots[-1]
        for member, at in zip(self.rows["member"], offsets(spans), strict=False):
            member["final"] = final + at
        for w, window in enumerate(self.windows):
            members = [m for m, kind in enumerate(self.window) if kind == w]
            cells = sum(2 * self.slots[m].count + 1 for m in members)
            row = {"within": window.within, "slide": window.slide, "span": window.overlap, "bytes": cells * cell_bytes}
            self.rows["window"].append(row | self.run("member", members))
        return {"span": max(spans), "open": sum(spans), "cells": final + sum(spans), "cell_bytes": cell_bytes}

    def arrays(self) -> dict[str, Any]:
        """The tables and `lists`, once all records are known."""
        arrays: dict[str, Any] = {"lists": np.array(self.lists, np.int64)}
        for table, record in self.records.items():
            arrays[table] = np.zeros(len(self.rows[table]), records_of(record))
            for name in arrays[table].dtype.names:
                arrays[table][name] = [row[name] for row in self.rows[table]]
        return arrays


def empty_totals(template: Template, layout: Layout, arithmetic: str, counts: type) -> Totals:
    """Totals before the first event, with `counts` of that record."""
    opened, count = np.zeros(len(template.window), records_of(OpenRecord)), np.zeros(1, records_of(counts))
    opened["high"] = -1
    count["now"] = count["edge"] = -1
    pending = np.zeros(len(template.slot), records_of(PendingRecord))
    cells = empty_cells(int(template.whole["cells"][0]), layout, arithmetic)
    return Totals(cells, pending, np.full(len(template.negation), -1, np.int64), opened, count)


@cache
def _records(tables: type) -> Mapping[str, type]:
    """The record of each table of a named tuple."""
    hints = get_type_hints(tables, include_extras=True)
    return {name: hint.__metadata__[0] for name, hint in hints.items() if get_origin(hint) is Annotated}


def offsets(sizes: Iterable[int]) -> list[int]:
    """The start of each run of these sizes, and the end of the last."""
    return [0, *np.cumsum(list(sizes)).tolist()]
