"""What the loop over panes reads of a query with negation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.cogra.kernels.pane_tables import EMPTY, PaneTables, listed
from cepbench.algorithms.kernels.arrays import Flags, Ints
from cepbench.algorithms.online.kernels.lifecycle import ANY, make_slots
from cepbench.algorithms.online.kernels.type_tables import template_of
from cepbench.queries.tables import Tables, csr


class VoidableTables(NamedTuple):
    """The automaton as linear maps on slots (`algorithms.online.kernels.lifecycle`).

    A map has a column for each slot that is read, or final, and one for the trend of no event that START positions
    follow after the same leading negations. Row 0 is that of a window that begins, row c + 1 that of column c.

    - `feed`: the columns that trends at a position are added to, from `feed_ptr[p]` up to `feed_ptr[p + 1]`.
    - `void`: the columns that a match of negation j empties, from `void_ptr[j]` up to `void_ptr[j + 1]`.
    """

    panes: PaneTables
    feed_ptr: Ints
    feed: Ints
    void_ptr: Ints
    void: Ints


def voidable_tables_of(tables: Tables, negations: int) -> VoidableTables:
    """The tables of an automaton with so many negations of single events, without predicates on adjacent events."""
    positions = range(len(tables.start))
    every = np.ones(len(positions), np.bool_)
    slots = make_slots(tables, negations, every, every, contiguous=False)
    read = [slots.read[tables.enter_ptr[p] : tables.enter_ptr[p + 1]].tolist() for p in positions]
    final = {*np.flatnonzero(slots.direct).tolist(), *slots.late.tolist()}
    number = {slot: column for column, slot in enumerate(sorted(final.union(*read)))}  # of slots that are of use
    begins: dict[tuple[int, ...], int] = {}
    sources = [[number[slot] for slot in read[p]] for p in positions]
    for p in np.flatnonzero(tables.start):
        leading = tuple(tables.leading[tables.leading_ptr[p] : tables.leading_ptr[p + 1]].tolist())
        sources[p].append(begins.setdefault(leading, len(number) + len(begins)))
    columns = len(number) + len(begins)
    feeds = [[number[slot] for slot in _list(slots.feed_ptr, slots.feed, p) if slot in number] for p in positions]
    voids = [
        [
            *(number[slot] for slot in _list(slots.void_ptr, slots.void, j)),
            *(column for leading, column in begins.items() if j in leading),
        ]
        for j in range(negations)
    ]
    enters = np.eye(columns + 1, columns, -1, np.bool_)
    enters[0, list(begins.values())] = True
    end = np.zeros(columns, np.bool_)
    end[[number[slot] for slot in final]] = True
    enter_ptr, source = csr(sources)
    template = template_of(tables._replace(enter_ptr=enter_ptr, source=source), ANY, EMPTY * enters.size)
    leads = _leads(sources, feeds, columns)
    rows = [np.concatenate(([0], np.flatnonzero(leads[:, p]) + 1)) for p in positions]
    first_row, row = listed(rows, columns)
    panes = PaneTables(
        template.first_binding,
        template.binding,
        template.first_source,
        template.source,
        first_row,
        row,
        np.zeros_like(row),
        enters,
        np.arange(1, columns + 1, dtype=np.uint64),
        end,
        tables.local,
        tables.ring,
        tables.real,
        tables.least,
        whole=True,
    )
    return VoidableTables(panes, *csr(feeds), *csr(voids))


def _list(ptr: Ints, items: Ints, i: int) -> list[int]:
    """List i of a CSR."""
    found: list[int] = items[ptr[i] : ptr[i + 1]].tolist()
    return found


def _leads(sources: list[list[int]], feeds: list[list[int]], columns: int) -> Flags:
    """bool[columns, P]: whether trends in a column may go on to an event at a position, now or later."""
    found = np.zeros((columns, len(sources)), np.bool_)
    for p, read in enumerate(sources):
        found[read, p] = True
    for _ in range(columns):
        for p, fed in enumerate(feeds):
            found |= found[:, [p]] & found[fed].any(axis=0)
    return found
