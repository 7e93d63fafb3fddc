"""The executor's loop over the events of a batch, each at the states of its type (Section 3.2).

An event sums the expressions of its predecessors (`incoming`), and propagates its own expression (`outgoing`), for each
Q-set at its state. `program` explains the words.
"""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.engine.kernels.cells import counts_only
from cepbench.algorithms.engine.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.engine.kernels.events import KernelEvents
from cepbench.algorithms.engine.kernels.lanes import DONE, ROOM, ROWS
from cepbench.algorithms.trends.gloria.kernels.expressions import append_run, has_room
from cepbench.algorithms.trends.gloria.kernels.incoming import collect, match, sum_expressions
from cepbench.algorithms.trends.gloria.kernels.outgoing import choose_mode, propagate
from cepbench.algorithms.trends.gloria.kernels.program import GloriaProgram, GloriaTables, KindRecord
from cepbench.algorithms.trends.gloria.kernels.state import GloriaState
from cepbench.algorithms.trends.gloria.kernels.windows import arrive, close_until, move_on
from cepbench.algorithms.trends.online.kernels.step import deliver
from cepbench.algorithms.trends.online.kernels.template import MemberRows
from cepbench.algorithms.trends.snapshots.kernels.vertices import has_space


@kernel
def run_events(
    first: int, now: int, events: KernelEvents, program: GloriaProgram, state: GloriaState, rows: MemberRows
) -> tuple[int, int, int]:
    """Processes events from number `first` on; then closes the windows that end by `now`.

    Returns (next event, number of `rows`, why it stopped: DONE, ROWS or ROOM).
    """
    tables, counts = program.template, state.totals.counts[0]
    written = int(np.int64(0))  # no literal, for which `close_until` would be compiled once more
    size = len(events.time)
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
                _extend(i, s, at_once, events, program, state)
                state.shared.latest[s] = time
    if written + tables.whole[0].open > len(rows.window):
        return size, written, ROWS
    written = close_until(now, events.negated[size], program, state, rows, written)
    return size, written, DONE


@inner
def _extend(i: int, s: int, at_once: bool, events: KernelEvents, program: GloriaProgram, state: GloriaState) -> None:
    """Propagates expressions by event i at state s, shared by Q-sets, and the aggregates of single queries.

    In a loop the row of incoming transitions may be that of the state's own outgoing transitions, which the event
    changes at once. So final transitions, which read the row, come first.
    """
    tables, totals, shared = program.template, state.totals, state.shared
    here = tables.state[s]
    for n in range(here.incoming, here.incoming_end):
        sum_expressions(i, n, events, program, state)
    by_query = here.unshared
    for o in range(here.outgoing, here.outgoing_end):
        by_query |= choose_mode(o, s, events.time[i], tables, totals, shared)
    if by_query:
        for p in range(here.position, here.position_end):
            position = tables.position[p]
            if shared.passed[position.test] and (position.unshared or shared.for_snapshot[p]):
                collect(i, p, events, program, state)
            shared.for_snapshot[p] = False
    for o in range(here.outgoing, here.outgoing_end):
        propagate(i, s, o, at_once, events, program, state)
    if here.unshared:
        for p in range(here.position, here.position_end):
            position = tables.position[p]
            if position.unshared and shared.passed[position.test]:
                low, high = totals.open[position.window].low, totals.open[position.window].high
                if not counts_only(totals.cells):
                    append_run(i, s, totals.cells, position.value, high - low + 1, events, program.weights)
                deliver(i, p, position.value, at_once, events, tables, state)


@inlined
def _fits(kind: KindRecord, tables: GloriaTables, state: GloriaState) -> bool:
    """Whether there is room for all that an event of a type may leave behind."""
    shared = state.shared
    fresh = np.int64(2 * (kind.state_end - kind.state))  # snapshots: of the event, and of trends that start
    kept, cells, blocks = np.int64(0), np.int64(0), np.int64(0)
    for s in range(kind.state, kind.state_end):
        here = tables.state[s]
        blocks += here.kept
        for o in range(here.outgoing, here.outgoing_end):
            g = tables.outgoing[o].q_set
            if not has_room(g, fresh, tables, shared):
                return False
            if tables.outgoing[o].kept:
                kept += 1
                cells += shared.q_set[g].count - shared.q_set[g].oldest + fresh
    return has_space(kept, cells, blocks, state.totals, state.vertices, state.graph)
