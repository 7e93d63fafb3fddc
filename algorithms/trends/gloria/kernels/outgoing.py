"""Propagation of an event's snapshot expression by outgoing transitions of a Q-set (Section 3.2).

The expression is a new snapshot where transitions have local snapshots (Node Generation Principle 2), or where the
queries of the Q-set do not extend the same trends. Otherwise it is the sum of the expressions of the predecessors
(Equation 3), extended by the event.
"""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.engine.kernels.cells import begin, clear, copy, counts_only
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
    starting_snapshot,
    time_of,
)
from cepbench.algorithms.trends.gloria.kernels.program import EXPRESSION, GloriaProgram, GloriaTables
from cepbench.algorithms.trends.gloria.kernels.state import Expressions, GloriaState
from cepbench.algorithms.trends.online.kernels.template import Totals
from cepbench.algorithms.trends.snapshots.kernels.vertices import keep

UNMATCHED, EXTENDS, SAME_SNAPSHOT, NEW_SNAPSHOT = range(4)
"""The expression of an event: none, as it matches no query of the Q-set; the incoming one, extended by the event; the
snapshot of the event before; or a new snapshot.
"""


@inlined
def choose_mode(o: int, s: int, now: int, tables: GloriaTables, totals: Totals, shared: Expressions) -> bool:
    """Sets the mode of an event of state s for outgoing transitions o; True if it needs a new snapshot, for which the
    trends that it extends have to be known per query.
    """
    outgoing, current = tables.outgoing[o], shared.outgoing[o]
    any_passed, all_passed = False, not outgoing.leading
    for n in range(outgoing.test, outgoing.test_end):
        any_passed |= shared.passed[tables.lists[n]]
        all_passed &= shared.passed[tables.lists[n]]
    current.mode = NEW_SNAPSHOT
    if not any_passed:
        current.mode = UNMATCHED
    elif outgoing.local:
        if _extends_the_same(o, s, now, tables, totals, shared):
            current.mode = SAME_SNAPSHOT
    elif all_passed and _has_one_expression(o, tables, shared):
        current.mode = EXTENDS
    if current.mode != NEW_SNAPSHOT:
        return False
    for n in range(outgoing.sharing_query, outgoing.sharing_query_end):
        shared.for_snapshot[tables.sharing_query[n].position] = True
    return True


@inner
def _extends_the_same(o: int, s: int, now: int, tables: GloriaTables, totals: Totals, shared: Expressions) -> bool:
    """Whether an event matches the same queries, and extends the same trends, as the event of the last snapshot."""
    outgoing, last, counts = tables.outgoing[o], shared.outgoing[o].last, totals.counts[0]
    q_set = shared.q_set[outgoing.q_set]
    same = outgoing.steady and last >= q_set.oldest
    if same:
        created = time_of(q_set, last, shared.times)
        same = created >= counts.opened and created >= counts.voided
        for n in range(tables.state[s].before, tables.state[s].before_end):
            same &= created == now or shared.latest[tables.lists[n]] < created
    for n in range(outgoing.test, outgoing.test_end):
        same &= shared.last_passed[n] == shared.passed[tables.lists[n]]
        shared.last_passed[n] = shared.passed[tables.lists[n]]
    return same


@inlined
def _has_one_expression(o: int, tables: GloriaTables, shared: Expressions) -> bool:
    """Whether all incoming transitions of the Q-set, before outgoing ones o, have the same expression."""
    outgoing, same = tables.outgoing[o], True
    q_set = shared.q_set[outgoing.q_set]
    first = cell_of(q_set, tables.incoming[outgoing.incoming].row, q_set.oldest)
    for n in range(outgoing.incoming + 1, outgoing.incoming_end):
        expression = cell_of(q_set, tables.incoming[n].row, q_set.oldest)
        same = same and same_run(shared.cells, first, expression, q_set.count - q_set.oldest)
    return same


@inlined
def propagate(
    i: int, s: int, o: int, at_once: bool, events: KernelEvents, program: GloriaProgram, state: GloriaState
) -> None:
    """Adds the expression of event i to the sum that later events read over outgoing transitions o, `at_once` if no
    other event has its time; or, if these are final, to the sum that is evaluated when a window closes.
    """
    tables, totals, shared = program.template, state.totals, state.shared
    outgoing, current, counts = tables.outgoing[o], shared.outgoing[o], totals.counts[0]
    q_set = shared.q_set[outgoing.q_set]
    to = outgoing.sums if at_once or outgoing.final else outgoing.sums + 1
    first, size = q_set.oldest, int(np.int64(0))
    if current.mode == EXTENDS:
        size = _extend(i, s, o, to, events, program, state)
    elif current.mode != UNMATCHED:
        if current.mode == NEW_SNAPSHOT:
            current.last = _snapshot(i, o, events, tables, totals, shared)
            counts.event_snapshots += not outgoing.local
        first, size = current.last, int(np.int64(1))
        counts.additions += 1
        x = cell_of(q_set, EXPRESSION, first)
        clear_run(shared.cells, x, size)
        begin(shared.cells, x)
        append_run(i, s, shared.cells, x, size, events, program.weights)
        add_run(shared.cells, cell_of(q_set, to, first), x, size)
    if size == 0 or outgoing.final:
        return
    if outgoing.kept:
        v = keep(i, outgoing.vertices, size, events, totals, state.vertices)
        vertex, cells = state.vertices.event[v], state.vertices.cells
        vertex.first, vertex.size = first, size
        copy_run(cells, vertex.cell, shared.cells, cell_of(q_set, EXPRESSION, first), size)
    if not at_once and not shared.pending[o].marked:
        shared.pending[o].marked = True
        shared.pending[counts.pending].touched = o
        counts.pending += 1


@inner
def _extend(i: int, s: int, o: int, to: int, events: KernelEvents, program: GloriaProgram, state: GloriaState) -> int:
    """Appends event i at state s to the incoming expression, and adds the result to row `to`; returns its length. O(s).

    The result is in row EXPRESSION then, unless the event is not kept and changes no coefficient.
    """
    totals, shared = state.totals, state.shared
    outgoing, cells, starting = program.template.outgoing[o], shared.cells, int(np.int64(-1))
    q_set, row = shared.q_set[outgoing.q_set], program.template.incoming[outgoing.incoming].row
    if outgoing.start:
        starting = starting_snapshot(outgoing.q_set, events.time[i], program.template, totals, shared)
    size = q_set.count - q_set.oldest
    predecessors, sums = cell_of(q_set, row, q_set.oldest), cell_of(q_set, to, q_set.oldest)
    totals.counts[0].additions += size
    if counts_only(cells) and not outgoing.kept:
        add_run(cells, sums, predecessors, size)
        if outgoing.start:
            begin(cells, cell_of(q_set, to, starting))
        return size
    expression = cell_of(q_set, EXPRESSION, q_set.oldest)
    copy_run(cells, expression, cells, predecessors, size)
    if outgoing.start:
        begin(cells, cell_of(q_set, EXPRESSION, starting))
    append_run(i, s, cells, expression, size, events, program.weights)
    add_run(cells, sums, expression, size)
    return size


@inlined
def _snapshot(i: int, o: int, events: KernelEvents, tables: GloriaTables, totals: Totals, shared: Expressions) -> int:
    """Creates a snapshot for event i before outgoing transitions o: its values are the trends that the event extends,
    for the queries that it matches. Returns its number.
    """
    outgoing = tables.outgoing[o]
    s = new_snapshot(outgoing.q_set, events.time[i], tables, totals, shared)
    q_set = shared.q_set[outgoing.q_set]
    for n in range(outgoing.sharing_query, outgoing.sharing_query_end):
        query = tables.sharing_query[n]
        position = tables.position[query.position]
        span, matched = tables.window[position.window].span, shared.passed[position.test]
        low, high = totals.open[position.window].low, totals.open[position.window].high
        for k in range(low, high + 1):
            cell = cell_of(q_set, query.value + k % span, s)
            if matched:
                copy(shared.cells, cell, totals.cells, position.value + k - low)
            else:
                clear(shared.cells, cell)
    return s
