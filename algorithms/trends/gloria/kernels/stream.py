"""Events of a batch, one after another, each at the states of its type (Section 3.2)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.cells import counts_only
from cepbench.algorithms.engine.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.engine.kernels.events import KernelEvents
from cepbench.algorithms.engine.kernels.lanes import DONE, ROOM, ROWS
from cepbench.algorithms.trends.gloria.kernels.expressions import append_run, has_room
from cepbench.algorithms.trends.gloria.kernels.inlets import bring, match, reach
from cepbench.algorithms.trends.gloria.kernels.outlets import choose, let_out
from cepbench.algorithms.trends.gloria.kernels.program import GloriaProgram, GloriaTables, KindRecord
from cepbench.algorithms.trends.gloria.kernels.state import GloriaState
from cepbench.algorithms.trends.gloria.kernels.windows import arrive, close_until, move_on
from cepbench.algorithms.trends.online.kernels.step import deliver
from cepbench.algorithms.trends.online.kernels.template import MemberRows
from cepbench.algorithms.trends.snapshots.kernels.vertices import has_space


@kernel
def run_events(
    first: int, now: int, negated: Ints, events: KernelEvents, program: GloriaProgram, state: GloriaState,
    rows: MemberRows,
) -> tuple[int, int, int]:  # fmt: skip
    """Processes events from number `first` on; then closes the windows that end by `now`, as `negated` says.

    Returns (next event, number of `rows`, why it stopped: DONE, ROWS or ROOM).
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
            if written + tables.whole[0].open > len(rows.window):
                return i, written, ROWS
            written = close_until(time, events.negated[i], program, state, rows, written)
            arrive(time, events.negated[i], tables, state.totals, state.shared)
        elif time > counts.now:
            move_on(time, events.negated[i], tables, state.totals, state.shared)
        if not _fits(kind, tables, state):
            return i, written, ROOM
        at_once = (
            kind.state_end == kind.state + 1
            and len(tables.negation) == 0
            and i + 1 < size
            and events.time[i + 1] > time
        )
        for s in range(kind.state, kind.state_end):
            if match(i, s, events, tables, state.shared):
                counts.visits += 1
                _extend(i, s, at_once, events, program, state, only)
                state.shared.latest[s] = time
    if written + tables.whole[0].open > len(rows.window):
        return size, written, ROWS
    written = close_until(now, negated, program, state, rows, written)
    return size, written, DONE


@inner
def _extend(
    i: int, s: int, at_once: bool, events: KernelEvents, program: GloriaProgram, state: GloriaState, only: bool
) -> None:
    """Propagates expressions by event i at state s, and delivers the trends that end with it where places need them.

    Sums that reach the event are read before it joins them, so final outlets come first.
    """
    tables, totals, shared = program.tables, state.totals, state.shared
    known = tables.state[s]
    for n in range(known.inlet, known.inlet_end):
        bring(i, n, events, tables, program.predicates, totals, state.vertices, shared)
    wanted = known.plain
    for o in range(known.outlet, known.outlet_end):
        wanted |= choose(o, s, events.time[i], tables, totals, shared)
    if wanted:
        for p in range(known.place, known.place_end):
            place = tables.position[p]
            if shared.passed[place.test] and (place.plain or shared.wanted[p]):
                reach(i, p, events, program, state, only)
            shared.wanted[p] = False
    for o in range(known.outlet, known.outlet_end):
        let_out(i, s, o, at_once, events, program, state, only)
    if known.plain:
        for p in range(known.place, known.place_end):
            place = tables.position[p]
            if place.plain and shared.passed[place.test]:
                low, high = totals.open[place.window].low, totals.open[place.window].high
                if not only:
                    append_run(
                        totals.cells, place.value, high - low + 1, program.weights, s, events.ints, events.reals, i
                    )
                deliver(i, p, place.value, at_once, events, tables, totals, state.graph)


@inlined
def _fits(kind: KindRecord, tables: GloriaTables, state: GloriaState) -> bool:
    """Whether there is room for all that an event of a type may leave behind."""
    shared = state.shared
    most = np.int64(2 * (kind.state_end - kind.state))  # snapshots: one for the event, one for those that start
    kept, cells, blocks = np.int64(0), np.int64(0), np.int64(0)
    for s in range(kind.state, kind.state_end):
        known = tables.state[s]
        blocks += known.kept
        for o in range(known.outlet, known.outlet_end):
            g = tables.outlet[o].group
            if not has_room(g, most, tables, shared):
                return False
            if tables.outlet[o].kept:
                kept += 1
                cells += shared.group[g].count - shared.group[g].oldest + most
    return has_space(kept, cells, blocks, state.totals, state.vertices, state.graph)
