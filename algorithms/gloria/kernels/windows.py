"""Time stamps end, windows close and open (docs/semantics.md, rules 2, 5 and 6)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.gloria.kernels.expressions import (
    add_run,
    cell_of,
    clear_run,
    evaluate,
    first_in,
    forget_before,
)
from cepbench.algorithms.gloria.kernels.program import GloriaProgram, GloriaTables
from cepbench.algorithms.gloria.kernels.state import Expressions, GloriaState, TemplateCells, VisitedEvents
from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.snapshots.kernels.cells import add, clear, copy, is_empty
from cepbench.algorithms.snapshots.kernels.panes import next_edge
from cepbench.algorithms.snapshots.kernels.rows import MemberRows
from cepbench.queries.records import Records


@kernel
def note_state(
    whole: Records, window: Records, known: Records, opened: Records, group: Records, count: Records
) -> None:
    """Notes the state if it is the largest since it was told.

    `whole`, `window` and `known` as `whole`, `window` and `group` in `GloriaTables`, `opened` and `count` as `open` and
    `counts` in `TemplateCells`, `group` as in `Expressions`.
    """
    sizes, counts = whole[0], count[0]
    windows, snapshots, coefficients = np.int64(0), np.int64(0), np.int64(0)
    for w in range(len(window)):
        windows += (opened[w].high - opened[w].low + 1) * window[w].bytes
    for g in range(len(group)):
        live = group[g].count - group[g].oldest
        snapshots += live
        coefficients += live * known[g].rows
    vertices = counts.vertices - counts.oldest_vertex
    coefficients += counts.vertex_cells
    size = windows + vertices * sizes.vertex_bytes + coefficients * sizes.cell_bytes + snapshots * 8
    if size > counts.peak:
        counts.peak, counts.peak_windows, counts.peak_vertices = size, windows, vertices
        counts.peak_snapshots, counts.peak_coefficients = snapshots, coefficients


@inlined
def note(tables: GloriaTables, state: GloriaState) -> None:
    """As `note_state`."""
    totals = state.totals
    note_state(tables.whole, tables.window, tables.group, totals.open, state.shared.group, totals.counts)


@inner
def commit(negated: Ints, tables: GloriaTables, totals: TemplateCells, shared: Expressions) -> None:
    """Lets later events see the trends that ended at the current time, and empties what negated events forbid.

    `negated[J]`: as a row of `KernelEvents.negated`.
    """
    counts, cells = totals.counts[0], totals.cells
    for j in range(len(negated)):
        if negated[j] > totals.seen[j]:
            totals.seen[j] = negated[j]
            for n in range(tables.negation[j].void, tables.negation[j].void_end):
                slot = tables.slot[tables.lists[n]]
                span = tables.window[slot.window].span
                for k in range(totals.open[slot.window].low, totals.open[slot.window].high + 1):
                    clear(cells, slot.cell + k % span, np.int64(1))
                tell_after(slot.state, tables.state, tables.lists, totals.stamp)
    for n in range(counts.touched):
        s = totals.pending[n].touched
        totals.pending[s].marked = False
        slot = tables.slot[s]
        span = tables.window[slot.window].span
        for k in range(totals.open[slot.window].low, totals.open[slot.window].high + 1):
            row = k % span
            add(cells, slot.cell + row, cells, slot.pending + row)
            clear(cells, slot.pending + row, np.int64(1))
        tell_after(slot.state, tables.state, tables.lists, totals.stamp)
    counts.touched = 0
    for n in range(counts.shared):
        o = shared.pending[n].touched
        shared.pending[o].marked = False
        outlet = tables.outlet[o]
        group = shared.group[outlet.group]
        live = group.count - group.oldest
        sums, fresh = cell_of(group, outlet.sums, group.oldest), cell_of(group, outlet.sums + 1, group.oldest)
        add_run(shared.cells, sums, fresh, live)
        clear_run(shared.cells, fresh, live)
        counts.additions += live
        tell_after(outlet.state, tables.state, tables.lists, totals.stamp)
    counts.shared = 0


@inner
def tell_after(s: int, states: Records, lists: Ints, stamp: Ints) -> None:
    """Lets the states after state s know that what leads there has changed."""
    for n in range(states[s].after, states[s].after_end):
        stamp[lists[n]] += 1


@inner
def close_until(
    now: int, negated: Ints, program: GloriaProgram, state: GloriaState, rows: MemberRows, size: int, modular: bool
) -> int:
    """Closes windows that end by `now`, before which no event comes any more; returns the number of `rows`.

    There must be room for a row per open window.
    """
    totals, tables = state.totals, program.tables
    opened, counts = totals.open, totals.counts[0]
    due = False
    for w in range(len(opened)):
        end = opened[w].low * tables.window[w].slide + tables.window[w].within
        due |= opened[w].low <= opened[w].high and end <= now
    if not due:
        return size
    note(tables, state)
    if now > counts.now:
        commit(negated, tables, totals, state.shared)
        counts.now = now
    for w in range(len(opened)):
        window = tables.window[w]
        while opened[w].low <= opened[w].high and opened[w].low * window.slide + window.within <= now:
            for n in range(window.member, window.member_end):
                size = _close(tables.lists[n], opened[w].low, negated, program, state, rows, size, modular)
            opened[w].low += 1
    _forget(tables, totals, state.vertices, state.shared)
    return size


@inner
def _close(
    m: int, k: int, negated: Ints, program: GloriaProgram, state: GloriaState, rows: MemberRows, size: int,
    modular: bool,
) -> int:  # fmt: skip
    """Writes the row of a member's window k, if it has a trend, and forgets the window."""
    tables, totals, shared = program.tables, state.totals, state.shared
    member, cells = tables.member[m], totals.cells
    window = tables.window[member.window]
    row = k % window.span
    final = member.final + row
    for n in range(member.late, member.late_end):
        add(cells, final, cells, tables.slot[tables.lists[n]].cell + row)
    for n in range(member.place, member.place_end):
        _add_valid_ends(tables.lists[n], k, row, final, negated, tables, totals, state.vertices)
    for n in range(member.finish, member.finish_end):
        finish = tables.finish[n]
        ending = tables.ending[finish.ending]
        group = shared.group[tables.inlet[ending.inlet].group]
        first = first_in(group, shared.times, k * window.slide)
        evaluate(
            cells, final, shared.cells, cell_of(group, ending.row, first), cell_of(group, finish.value + row, first),
            group.count - first, program.weights, tables.whole[0].bound, modular,
        )  # fmt: skip
        totals.counts[0].evaluations += 1
    if not is_empty(cells, final):
        rows.closed[size].member, rows.closed[size].window = m, k
        copy(rows.cells, size, cells, final)
        size += 1
    clear(cells, final, np.int64(1))
    for s in range(member.slot, member.slot_end):
        clear(cells, tables.slot[s].cell + row, np.int64(1))
    return size


@inlined
def _add_valid_ends(
    p: int,
    k: int,
    row: int,
    final: int,
    negated: Ints,
    tables: GloriaTables,
    totals: TemplateCells,
    vertices: VisitedEvents,
) -> None:
    """Adds the END events at a place that no trailing negated sequence invalidates."""
    place = tables.place[p]
    slide = tables.window[place.window].slide
    floor = k * slide
    for n in range(place.trailing, place.trailing_end):
        floor = max(floor, negated[tables.lists[n]])
    v = vertices.last[p]
    while v >= totals.counts[0].oldest_vertex and vertices.event[v].time >= floor:
        if vertices.event[v].time // slide >= k:
            add(totals.cells, final, vertices.cells, vertices.event[v].cell + row)
        v = vertices.event[v].before


@inlined
def _forget(tables: GloriaTables, totals: TemplateCells, vertices: VisitedEvents, shared: Expressions) -> None:
    """Drops events and snapshots that have left all windows."""
    counts = totals.counts[0]
    oldest = np.int64(2**62)
    for w in range(len(totals.open)):
        oldest = min(oldest, totals.open[w].low * tables.window[w].slide)
    while counts.oldest_vertex < counts.vertices and vertices.event[counts.oldest_vertex].time < oldest:
        counts.oldest_vertex += 1
    for g in range(len(shared.group)):
        forget_before(shared.group[g], tables.group[g], tables, totals.open, shared.times)


@inner
def arrive(now: int, negated: Ints, tables: GloriaTables, totals: TemplateCells, shared: Expressions) -> None:
    """Moves on to the time of an event, after windows were closed until then: opens windows."""
    counts = totals.counts[0]
    if now > counts.now:
        commit(negated, tables, totals, shared)
        counts.now = now
    for w in range(len(totals.open)):
        window, opened = tables.window[w], totals.open[w]
        low = max(opened.low, (now - window.within) // window.slide + 1, 0)
        high = max(opened.high, now // window.slide)
        if high > opened.high:
            counts.opened += 1
        opened.low, opened.high = low, high
    counts.edge = next_edge(now, tables.window)
