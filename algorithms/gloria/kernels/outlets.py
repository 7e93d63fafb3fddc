"""What becomes of an event: it has a snapshot, or continues with the expression that reaches it (Section 3.2)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.gloria.kernels.expressions import (
    add_run,
    append_run,
    cell_of,
    clear_run,
    copy_run,
    new_snapshot,
    snapshot_of_one,
)
from cepbench.algorithms.gloria.kernels.inlets import ALL, NOBODY, matching
from cepbench.algorithms.gloria.kernels.program import EXPRESSION, GloriaProgram, GloriaTables
from cepbench.algorithms.gloria.kernels.state import Expressions, GloriaState
from cepbench.algorithms.gloria.kernels.windows import mark_after
from cepbench.algorithms.kernels.cells import begin
from cepbench.algorithms.kernels.compilation import inlined, inner
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.snapshots.kernels.cells import add, add_counts, clear, copy
from cepbench.algorithms.snapshots.kernels.template import SetTotals, VertexQueue
from cepbench.algorithms.snapshots.kernels.vertices import keep

NOTHING, REUSED, AGAIN, SNAPSHOT, EACH = range(5)
"""What becomes of an event: nothing; it continues with the expression that reaches it; it has the same snapshot as the
event before; one of its own; and, at an ending, each member has its value."""


@inlined
def choose(o: int, tables: GloriaTables, totals: SetTotals, shared: Expressions) -> bool:
    """Chooses what becomes of an event at outlet o; True if the trends that reach its members are needed."""
    outlet, found, lists = tables.outlet[o], shared.outlet[o], tables.lists
    group, matched = shared.group[outlet.group], matching(outlet.test, outlet.test_end, tables.lists, shared.passed)
    found.mode = SNAPSHOT
    if matched == NOBODY:
        found.mode = NOTHING
    elif outlet.local:
        stamp = shared.stamp[outlet.state]
        same = outlet.steady and found.last >= group.oldest
        same = same and found.stamp == stamp and found.opened == totals.counts[0].opened
        for n in range(outlet.test_end - outlet.test):
            passed = shared.passed[lists[outlet.test + n]]
            same = same and shared.masks[outlet.mask + n] == passed
            shared.masks[outlet.mask + n] = passed
        found.stamp, found.opened = stamp, totals.counts[0].opened
        if same:
            found.mode = AGAIN
    elif matched == ALL and not outlet.own and not shared.inlet[outlet.inlet].differs:
        found.mode = REUSED
    if found.mode != SNAPSHOT:
        return False
    for n in range(outlet.share, outlet.share_end):
        shared.wanted[tables.share[n].place] = True
    return True


@inlined
def choose_ending(n: int, tables: GloriaTables, totals: SetTotals, shared: Expressions) -> bool:
    """As `choose`, at ending n."""
    ending = tables.ending[n]
    matched = matching(ending.test, ending.test_end, tables.lists, shared.passed)
    if matched == NOBODY:
        shared.ending[n] = NOTHING
        return False
    if matched == ALL and not shared.inlet[ending.inlet].differs:
        shared.ending[n] = REUSED
        return False
    shared.ending[n] = EACH
    for place in range(ending.place, ending.place_end):
        shared.wanted[tables.lists[place]] = True
    return True


@inner
def reuse(
    i: int, s: int, n: int, start: bool, to: int, events: KernelEvents, program: GloriaProgram, totals: SetTotals,
    shared: Expressions, only: bool,
) -> int:  # fmt: skip
    """Appends event i at state s to the expression that reaches inlet n, and adds it to row `to`; returns its length.

    The expression is in row EXPRESSION then, unless `only` its counts are needed, as no others are asked for. O(s).
    """
    tables = program.tables
    inlet = shared.inlet[n]
    group, one = shared.group[tables.inlet[n].group], int(np.int64(-1))
    if start:
        one = snapshot_of_one(tables.inlet[n].group, events.time[i], tables, totals, shared)
    live, stop = inlet.stop - group.oldest, max(inlet.stop, one + 1)
    totals.counts[0].additions += stop - group.oldest
    if only:
        add_counts(shared.cells, cell_of(group, to, group.oldest), cell_of(group, inlet.row, group.oldest), live)
        if start:
            begin(shared.cells, cell_of(group, to, one))
        return stop - group.oldest
    expression = cell_of(group, EXPRESSION, group.oldest)
    copy_run(shared.cells, expression, shared.cells, cell_of(group, inlet.row, group.oldest), live)
    clear_run(shared.cells, expression + live, stop - inlet.stop)
    if start:
        begin(shared.cells, cell_of(group, EXPRESSION, one))
    size = stop - group.oldest
    append_run(shared.cells, expression, size, program.weights, s, events.ints, events.reals, i)
    add_run(shared.cells, cell_of(group, to, group.oldest), expression, size)
    return size


@inlined
def let_out(
    i: int, s: int, o: int, at_once: bool, events: KernelEvents, program: GloriaProgram, state: GloriaState, only: bool
) -> None:
    """Adds the expression of event i at outlet o to what later events see; `at_once` if no other event has its time."""
    tables, totals, shared = program.tables, state.totals, state.shared
    outlet, found, counts = tables.outlet[o], shared.outlet[o], totals.counts[0]
    group = shared.group[outlet.group]
    to = outlet.sums if at_once else outlet.sums + 1
    first, size = group.oldest, int(np.int64(0))
    if found.mode == REUSED:
        size = reuse(i, s, outlet.inlet, outlet.start, to, events, program, totals, shared, only and not outlet.kept)
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
    if size == 0:
        return
    if outlet.kept:
        _keep(i, o, first, size, events, tables, totals, state.vertices, shared)
    if at_once:
        mark_after(s, tables.state, tables.lists, shared.stamp)
    elif not shared.pending[o].marked:
        shared.pending[o].marked = True
        shared.pending[counts.shared].touched = o
        counts.shared += 1


@inlined
def _snapshot(
    i: int, o: int, events: KernelEvents, tables: GloriaTables, totals: SetTotals, shared: Expressions
) -> int:
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


@inlined
def _keep(
    i: int, o: int, first: int, size: int, events: KernelEvents, tables: GloriaTables, totals: SetTotals,
    vertices: VertexQueue, shared: Expressions,
) -> None:  # fmt: skip
    """Keeps event i with its expression, for those that visit it."""
    group = shared.group[tables.outlet[o].group]
    v = keep(i, len(tables.position) + o, size, events, totals, vertices)
    vertex = vertices.event[v]
    vertex.first, vertex.size = first, size
    copy_run(vertices.cells, vertex.cell, shared.cells, cell_of(group, EXPRESSION, first), size)


@inlined
def end_each(n: int, tables: GloriaTables, totals: SetTotals, shared: Expressions) -> None:
    """Adds the trends of the members of ending n, which are in the cells of their places, to what is final."""
    ending, cells = tables.ending[n], totals.cells
    for at in range(ending.place, ending.place_end):
        place = tables.position[tables.lists[at]]
        if shared.passed[place.test]:
            span = tables.window[place.window].span
            low, high = totals.open[place.window].low, totals.open[place.window].high
            for k in range(low, high + 1):
                add(cells, tables.member[place.member].final + k % span, cells, place.value + k - low)
