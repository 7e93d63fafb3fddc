"""What becomes of an event: it has a snapshot, or continues with the expression that reaches it (Section 3.2)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.engine.kernels.cells import begin
from cepbench.algorithms.engine.kernels.compilation import inlined, inner
from cepbench.algorithms.engine.kernels.events import KernelEvents
from cepbench.algorithms.trends.gloria.kernels.expressions import (
    add_run,
    append_run,
    cell_of,
    clear_run,
    copy_run,
    new_snapshot,
    same_run,
    snapshot_of_one,
    time_of,
)
from cepbench.algorithms.trends.gloria.kernels.program import EXPRESSION, GloriaProgram, GloriaTables
from cepbench.algorithms.trends.gloria.kernels.state import Expressions, GloriaState
from cepbench.algorithms.trends.online.kernels.template import Totals
from cepbench.algorithms.trends.snapshots.kernels.cells import clear, copy
from cepbench.algorithms.trends.snapshots.kernels.vertices import keep

NOTHING, REUSED, AGAIN, SNAPSHOT = range(4)
"""What becomes of an event: nothing; it continues with the expression that reaches it; it has the same snapshot as the
event before; or one of its own.
"""


@inlined
def choose(o: int, s: int, now: int, tables: GloriaTables, totals: Totals, shared: Expressions) -> bool:
    """Chooses what becomes of an event of state s at outlet o; True if a snapshot of what reaches its members does."""
    outlet, found = tables.outlet[o], shared.outlet[o]
    some, every = False, not outlet.own
    for n in range(outlet.test, outlet.test_end):
        some |= shared.passed[tables.lists[n]]
        every &= shared.passed[tables.lists[n]]
    found.mode = SNAPSHOT
    if not some:
        found.mode = NOTHING
    elif outlet.local:
        if _unchanged(o, s, now, tables, totals, shared):
            found.mode = AGAIN
    elif every and _alike(o, tables, shared):
        found.mode = REUSED
    if found.mode != SNAPSHOT:
        return False
    for n in range(outlet.share, outlet.share_end):
        shared.wanted[tables.share[n].place] = True
    return True


@inner
def _unchanged(o: int, s: int, now: int, tables: GloriaTables, totals: Totals, shared: Expressions) -> bool:
    """Whether an event has what reaches it in common with the last snapshot of outlet o, and the members it matches."""
    outlet, last, counts = tables.outlet[o], shared.outlet[o].last, totals.counts[0]
    group = shared.group[outlet.group]
    same = outlet.steady and last >= group.oldest
    if same:
        made = time_of(group, last, shared.times)
        same = made >= counts.opened and made >= counts.voided
        for n in range(tables.state[s].before, tables.state[s].before_end):
            same &= made == now or shared.latest[tables.lists[n]] < made
    for n in range(outlet.test, outlet.test_end):
        same &= shared.masks[n] == shared.passed[tables.lists[n]]
        shared.masks[n] = shared.passed[tables.lists[n]]
    return same


@inlined
def _alike(o: int, tables: GloriaTables, shared: Expressions) -> bool:
    """Whether the same expression reaches an event by all inlets of outlet o."""
    outlet, same = tables.outlet[o], True
    group = shared.group[outlet.group]
    first = cell_of(group, tables.inlet[outlet.inlet].row, group.oldest)
    for n in range(outlet.inlet + 1, outlet.inlet_end):
        other = cell_of(group, tables.inlet[n].row, group.oldest)
        same = same and same_run(shared.cells, first, other, group.count - group.oldest)
    return same


@inner
def reuse(
    i: int, s: int, o: int, to: int, events: KernelEvents, program: GloriaProgram, totals: Totals,
    shared: Expressions, only: bool,
) -> int:  # fmt: skip
    """Appends event i at state s to the expression that reaches outlet o, and adds it to row `to`; returns its length.

    The expression is in row EXPRESSION then, unless `only` its counts are needed, as no others are asked for. O(s).
    """
    outlet, cells, one = program.tables.outlet[o], shared.cells, int(np.int64(-1))
    group, row = shared.group[outlet.group], program.tables.inlet[outlet.inlet].row
    if outlet.start:
        one = snapshot_of_one(outlet.group, events.time[i], program.tables, totals, shared)
    size = group.count - group.oldest
    reached, sums = cell_of(group, row, group.oldest), cell_of(group, to, group.oldest)
    totals.counts[0].additions += size
    if only:
        add_run(cells, sums, reached, size)
        if outlet.start:
            begin(cells, cell_of(group, to, one))
        return size
    expression = cell_of(group, EXPRESSION, group.oldest)
    copy_run(cells, expression, cells, reached, size)
    if outlet.start:
        begin(cells, cell_of(group, EXPRESSION, one))
    append_run(cells, expression, size, program.weights, s, events.ints, events.reals, i)
    add_run(cells, sums, expression, size)
    return size


@inlined
def let_out(
    i: int, s: int, o: int, at_once: bool, events: KernelEvents, program: GloriaProgram, state: GloriaState, only: bool
) -> None:
    """Adds the expression of event i at outlet o to what later events see, `at_once` if no other event has its time;
    or, at a final outlet, to what windows evaluate when they close.
    """
    tables, totals, shared = program.tables, state.totals, state.shared
    outlet, found, counts = tables.outlet[o], shared.outlet[o], totals.counts[0]
    group = shared.group[outlet.group]
    to = outlet.sums if at_once or outlet.final else outlet.sums + 1
    first, size = group.oldest, int(np.int64(0))
    if found.mode == REUSED:
        size = reuse(i, s, o, to, events, program, totals, shared, only and not outlet.kept)
    elif found.mode != NOTHING:
        if found.mode == SNAPSHOT:
            found.last = _snapshot(i, o, events, tables, totals, shared)
            counts.event_snapshots += not outlet.local
        first, size = found.last, int(np.int64(1))
        counts.additions += 1
        x = cell_of(group, EXPRESSION, first)
        clear_run(shared.cells, x, size)
        begin(shared.cells, x)
        append_run(shared.cells, x, size, program.weights, s, events.ints, events.reals, i)
        add_run(shared.cells, cell_of(group, to, first), x, size)
    if size == 0 or outlet.final:
        return
    if outlet.kept:
        v = keep(i, outlet.vertices, size, events, totals, state.vertices)
        vertex, cells = state.vertices.event[v], state.vertices.cells
        vertex.first, vertex.size = first, size
        copy_run(cells, vertex.cell, shared.cells, cell_of(group, EXPRESSION, first), size)
    if not at_once and not shared.pending[o].marked:
        shared.pending[o].marked = True
        shared.pending[counts.shared].touched = o
        counts.shared += 1


@inlined
def _snapshot(i: int, o: int, events: KernelEvents, tables: GloriaTables, totals: Totals, shared: Expressions) -> int:
    """The number of a new snapshot of what reaches event i at outlet o, for the members that it matches."""
    outlet = tables.outlet[o]
    s = new_snapshot(outlet.group, events.time[i], tables, totals, shared)
    group = shared.group[outlet.group]
    for n in range(outlet.share, outlet.share_end):
        share = tables.share[n]
        place = tables.position[share.place]
        span, matched = tables.window[place.window].span, shared.passed[place.test]
        low, high = totals.open[place.window].low, totals.open[place.window].high
        for k in range(low, high + 1):
            cell = cell_of(group, share.value + k % span, s)
            if matched:
                copy(shared.cells, cell, totals.cells, place.value + k - low)
            else:
                clear(shared.cells, cell)
    return s
