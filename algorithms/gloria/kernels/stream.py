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
    deliver,
    end_each,
    let_out,
    reuse,
)
from cepbench.algorithms.gloria.kernels.program import GloriaProgram, GloriaTables, KindRecord
from cepbench.algorithms.gloria.kernels.state import GloriaState
from cepbench.algorithms.gloria.kernels.windows import arrive, close_until, commit
from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.compilation import inner, kernel
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.snapshots.kernels.rows import MemberRows

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
    size = len(events.time)
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
            if match(i, s, events, tables, program.predicates, state.totals):
                counts.visits += 1
                _put(i, s, at_once, events, program, state, modular)
    if written + tables.whole[0].open > len(rows.closed):
        return size, written, OUTPUT
    written = close_until(now, negated, program, state, rows, written, modular)
    return size, written, DONE


@inner
def _put(
    i: int, s: int, at_once: bool, events: KernelEvents, program: GloriaProgram, state: GloriaState, modular: bool
) -> None:
    """Puts event i into state s: what reaches it, then what becomes of it.

    Sums that reach the event are read before it joins them, endings first.
    """
    tables, totals, shared = program.tables, state.totals, state.shared
    known = tables.state[s]
    for n in range(known.inlet, known.inlet_end):
        bring(i, n, events, tables, program.predicates, totals, state.vertices, shared)
    wanted = known.plain
    for o in range(known.outlet, known.outlet_end):
        wanted |= choose(o, tables, totals, shared)
    for n in range(known.ending, known.ending_end):
        wanted |= choose_ending(n, tables, totals, shared)
    if wanted:
        for p in range(known.place, known.place_end):
            place = tables.place[p]
            totals.wanted[p] = (totals.wanted[p] or place.plain) and totals.passed[place.test]
            if totals.wanted[p]:
                reach(i, p, events, program, state, modular)
    for n in range(known.ending, known.ending_end):
        if shared.ending[n] == REUSED:
            ending = tables.ending[n]
            reuse(i, s, ending.inlet, ending.start, ending.row, events, program, totals, shared)
    for o in range(known.outlet, known.outlet_end):
        let_out(i, s, o, at_once, events, program, state)
    if wanted:
        for p in range(known.place, known.place_end):
            if totals.wanted[p]:
                place = tables.place[p]
                windows = totals.open[place.window].high - totals.open[place.window].low + 1
                append_run(totals.cells, place.value, windows, program.weights, s, events.ints, events.reals, i)
                if place.plain:
                    deliver(i, p, at_once, events, tables, state)
        for n in range(known.ending, known.ending_end):
            if shared.ending[n] == EACH:
                end_each(n, tables, totals)
        for p in range(known.place, known.place_end):
            totals.wanted[p] = False


@inner
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
            if not make_room(tables.inlet[tables.ending[n].inlet].group, most, tables, state.totals, shared):
                return False
        for o in range(known.outlet, known.outlet_end):
            outlet = tables.outlet[o]
            if not make_room(outlet.group, most, tables, state.totals, shared):
                return False
            if outlet.kept:
                kept += 1
                cells += shared.group[outlet.group].count - shared.group[outlet.group].oldest + most
    counts.more_vertices, counts.more_vertex_cells = kept, cells
    return counts.vertices + kept <= len(vertices.event) and counts.vertex_cells + cells <= len(vertices.cells.over)
