"""Events of a batch, one after another, each at the states of its type (Section 3.2)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.gloria.kernels.expressions import append_run, make_room
from cepbench.algorithms.gloria.kernels.inlets import bring, match, reach
from cepbench.algorithms.gloria.kernels.outlets import (
    EACH,
    REUSED,
    choose,
    choose_ending,
    end_each,
    let_out,
    reuse,
)
from cepbench.algorithms.gloria.kernels.program import GloriaProgram, GloriaTables, KindRecord
from cepbench.algorithms.gloria.kernels.state import GloriaState
from cepbench.algorithms.gloria.kernels.windows import arrive, close_until, commit, mark_after
from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.cells import counts_only
from cepbench.algorithms.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.snapshots.kernels.alone import deliver
from cepbench.algorithms.snapshots.kernels.cells import Index
from cepbench.algorithms.snapshots.kernels.template import MemberRows
from cepbench.queries.tables import Predicates

DONE, OUTPUT, ROOM = range(3)


@kernel
def run_events(
    first: int,
    now: int,
    negated: Ints,
    events: KernelEvents,
    program: GloriaProgram,
    state: GloriaState,
    rows: MemberRows,
    modular: bool,
) -> tuple[int, int, int]:
    """Processes events from number `first` on; then closes the windows that end by `now`, as `negated` says.

    Returns (next event, number of `rows`, why it stopped: DONE, OUTPUT or ROOM).
    """
    tables, counts = program.tables, state.totals.counts[0]
    written = int(np.int64(0))  # no literal, for which `close_until` would be compiled once more
    size, only = len(events.time), counts_only(state.totals.cells)
    for i in range(first, size):
        kind = tables.kind[events.kind[i]]
        if not kind.relevant:
            continue
        time = events.time[i]
        if time >= counts.edge:
            if written + tables.whole[0].open > len(rows.closed):
                return i, written, OUTPUT
            written = close_until(time, events.negated[i], program, state, rows, written, modular)
            arrive(time, events.negated[i], tables, state.totals, state.shared)
        elif time > counts.now:
            commit(events.negated[i], tables, state.totals, state.shared)
            counts.now = time
        if not _fits(kind, tables, state):
            return i, written, ROOM
        at_once = kind.single and not tables.whole[0].negated and i + 1 < size and events.time[i + 1] > time
        for s in range(kind.state, kind.state_end):
            if match(i, s, events, tables, program.predicates, state.shared):
                counts.visits += 1
                known = tables.state[s]
                wanted = known.plain
                if known.inlet < known.inlet_end or known.outlet < known.outlet_end:
                    wanted = _prepare(i, s, events, tables, program.predicates, state)
                if wanted:
                    _reach(i, s, events, program, state, only, modular)
                if known.outlet < known.outlet_end or known.ending < known.ending_end:
                    _propagate(i, s, at_once, events, program, state, only)
                if wanted:
                    _deliver(i, s, at_once, events, program, state, only)
    if written + tables.whole[0].open > len(rows.closed):
        return size, written, OUTPUT
    written = close_until(now, negated, program, state, rows, written, modular)
    return size, written, DONE


@inner
def _prepare(
    i: int, s: int, events: KernelEvents, tables: GloriaTables, predicates: Predicates, state: GloriaState
) -> bool:
    """Sums what reaches event i at state s, and chooses what becomes of it; True if places need aggregates."""
    totals, shared = state.totals, state.shared
    known = tables.state[s]
    for n in range(known.inlet, known.inlet_end):
        bring(i, n, events, tables, predicates, totals, state.vertices, shared)
    wanted = known.plain
    for o in range(known.outlet, known.outlet_end):
        wanted |= choose(o, tables, totals, shared)
    for n in range(known.ending, known.ending_end):
        wanted |= choose_ending(n, tables, totals, shared)
    return wanted


@inner
def _reach(
    i: int, s: int, events: KernelEvents, program: GloriaProgram, state: GloriaState, only: bool, modular: bool
) -> None:
    """Computes the trends that event i extends at the places of state s that need them."""
    tables, shared = program.tables, state.shared
    for p in range(tables.state[s].place, tables.state[s].place_end):
        place = tables.position[p]
        shared.wanted[p] = (shared.wanted[p] or place.plain) and shared.passed[place.test]
        if shared.wanted[p]:
            reach(i, p, events, program, state, only, modular)


@inner
def _propagate(
    i: int, s: int, at_once: bool, events: KernelEvents, program: GloriaProgram, state: GloriaState, only: bool
) -> None:
    """Propagates expressions: sums that reach the event are read before it joins them, so endings come first."""
    tables, totals, shared = program.tables, state.totals, state.shared
    known = tables.state[s]
    for n in range(known.ending, known.ending_end):
        if shared.ending[n] == REUSED:
            ending = tables.ending[n]
            reuse(i, s, ending.inlet, ending.start, ending.row, events, program, totals, shared, only)
    for o in range(known.outlet, known.outlet_end):
        let_out(i, s, o, at_once, events, program, state, only)


@inner
def _deliver(
    i: int, s: int, at_once: bool, events: KernelEvents, program: GloriaProgram, state: GloriaState, only: bool
) -> None:
    """Delivers the trends that end with event i at the places of state s, which `_reach` computed."""
    tables, totals, shared = program.tables, state.totals, state.shared
    known = tables.state[s]
    for p in range(known.place, known.place_end):
        if shared.wanted[p]:
            place = tables.position[p]
            at, low, high = place.value, totals.open[place.window].low, totals.open[place.window].high
            if not only:
                append_run(totals.cells, at, high - low + 1, program.weights, s, events.ints, events.reals, i)
            if (
                place.plain
                and deliver(i, p, at, low, high, at_once, events, tables, totals, state.vertices)
                and at_once
                and place.feed < place.feed_end
            ):
                mark_after(s, tables.state, tables.lists, shared.stamp)
    for n in range(known.ending, known.ending_end):
        if shared.ending[n] == EACH:
            end_each(n, tables, totals, shared)
    for p in range(known.place, known.place_end):
        shared.wanted[p] = False


@inlined
def _fits(kind: KindRecord, tables: GloriaTables, state: GloriaState) -> bool:
    """Whether there is room for all that an event of a type may leave behind."""
    counts, shared, vertices = state.totals.counts[0], state.shared, state.vertices
    most = np.int64(2 * (kind.state_end - kind.state))  # snapshots: one for the event, one for those that start
    kept, cells = np.int64(0), np.int64(0)
    for s in range(kind.state, kind.state_end):
        known = tables.state[s]
        kept += known.kept
        cells += known.kept_cells
        for n in range(known.ending, known.ending_end):
            if not _has_room(tables.inlet[tables.ending[n].inlet].group, most, tables, state):
                return False
        for o in range(known.outlet, known.outlet_end):
            outlet = tables.outlet[o]
            if not _has_room(outlet.group, most, tables, state):
                return False
            if outlet.kept:
                kept += 1
                cells += shared.group[outlet.group].count - shared.group[outlet.group].oldest + most
    counts.more_vertices, counts.more_vertex_cells = kept, cells
    return counts.vertices + kept <= len(vertices.event) and counts.vertex_cells + cells <= len(vertices.cells.over)


@inlined
def _has_room(g: int, most: Index, tables: GloriaTables, state: GloriaState) -> bool:
    """Whether group g has room for so many snapshots, or can be given it."""
    group = state.shared.group[g]
    enough = group.count - group.shift + most <= group.room
    return enough or make_room(g, most, tables, state.totals, state.shared)
