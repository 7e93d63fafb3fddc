"""Time stamps end, windows close and open (docs/semantics.md, rules 2, 5 and 6)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Ints
from cepbench.algorithms.engine.kernels.clock import has_ended
from cepbench.algorithms.engine.kernels.compilation import inner, kernel
from cepbench.algorithms.trends.gloria.kernels.expressions import add_run, cell_of, clear_run, first_in, forget_before
from cepbench.algorithms.trends.gloria.kernels.program import GloriaProgram, GloriaTables
from cepbench.algorithms.trends.gloria.kernels.state import Expressions, GloriaState
from cepbench.algorithms.trends.online.kernels.lifecycle import any_ends, close_windows, commit, note_size, open_windows
from cepbench.algorithms.trends.online.kernels.template import MemberRows, Totals
from cepbench.algorithms.trends.snapshots.kernels.products import evaluate
from cepbench.algorithms.trends.snapshots.kernels.vertices import LINK_BYTES, forget_vertices
from cepbench.queries.records import Records


@kernel
def note_state(tables: GloriaTables, totals: Totals, q_set: Records, graph: Records) -> None:
    """Notes the state if it is the largest since the last report.

    `q_set` as in `Expressions`, `graph`: `GraphSizeRecord[1]`.
    """
    sizes, counts = tables.whole[0], totals.counts[0]
    snapshots, coefficients = np.int64(0), graph[0].cells + counts.vertex_cells - counts.oldest_cell
    for g in range(len(q_set)):
        live = q_set[g].count - q_set[g].oldest
        snapshots += live
        coefficients += live * tables.q_set[g].rows
    shared = counts.vertices - counts.oldest_vertex
    vertices = graph[0].vertices + shared
    size = vertices * sizes.event_bytes + shared * LINK_BYTES + coefficients * sizes.cell_bytes + snapshots * 8
    note_size(size, vertices, coefficients, snapshots, tables, totals)


@inner
def move_on(now: int, negated: Ints, tables: GloriaTables, totals: Totals, shared: Expressions) -> None:
    """If time moves on, shows later events the trends that ended before, and empties slots that negated events forbid.

    `negated[J]`: as a row of `KernelEvents.negated`.
    """
    counts = totals.counts[0]
    if now <= counts.now:
        return
    for j in range(len(negated)):
        if negated[j] > totals.seen[j]:
            counts.voided = counts.now + 1
    commit(negated, tables, totals)
    for n in range(counts.pending):
        o = shared.pending[n].touched
        shared.pending[o].marked = False
        outgoing = tables.outgoing[o]
        q_set = shared.q_set[outgoing.q_set]
        live = q_set.count - q_set.oldest
        sums, fresh = cell_of(q_set, outgoing.sums, q_set.oldest), cell_of(q_set, outgoing.sums + 1, q_set.oldest)
        add_run(shared.cells, sums, fresh, live)
        clear_run(shared.cells, fresh, live)
        counts.additions += live
    counts.pending, counts.now = 0, now


@inner
def close_until(
    now: int, negated: Ints, program: GloriaProgram, state: GloriaState, rows: MemberRows, size: int
) -> int:
    """Closes windows that end by `now`, before which no event comes any more; returns the number of `rows`.

    There must be room for a row per open window.
    """
    totals, tables = state.totals, program.template
    if not any_ends(now, tables.window, totals.open):
        return size
    note_state(tables, totals, state.shared.q_set, state.graph.size)
    move_on(now, negated, tables, totals, state.shared)
    for w in range(len(totals.open)):
        window, k = tables.window[w], totals.open[w].low
        while has_ended(k, totals.open[w].high, now, window):
            for o in range(len(tables.outgoing)):
                if tables.outgoing[o].final:
                    _finish(o, w, k, program, totals, state.shared)
            k += 1
    size = close_windows(now, negated, tables, state, rows, size)
    forget_vertices(tables, totals, state.vertices, state.graph)
    for g in range(len(state.shared.q_set)):
        forget_before(g, tables, totals.open, state.shared)
    return size


@inner
def _finish(o: int, w: int, k: int, program: GloriaProgram, totals: Totals, shared: Expressions) -> None:
    """Adds the trends that end in window k of kind w, summed as an expression by final transitions o, to the results of
    their queries.
    """
    tables = program.template
    window, outgoing = tables.window[w], tables.outgoing[o]
    q_set, row = shared.q_set[outgoing.q_set], k % window.span
    first = first_in(q_set, shared.times, k * window.slide)
    for n in range(outgoing.sharing_query, outgoing.sharing_query_end):
        query = tables.sharing_query[n]
        position = tables.position[query.position]
        if position.window == w:
            evaluate(
                totals.cells, tables.member[position.member].final + row, shared.cells,
                cell_of(q_set, outgoing.sums, first), cell_of(q_set, query.value + row, first), q_set.count - first,
                program.weights, len(tables.state),
            )  # fmt: skip
            totals.counts[0].evaluations += 1


@inner
def arrive(now: int, negated: Ints, tables: GloriaTables, totals: Totals, shared: Expressions) -> None:
    """Moves on to the time of an event, after windows were closed until then: opens windows."""
    move_on(now, negated, tables, totals, shared)
    if open_windows(now, tables, totals):
        totals.counts[0].opened = now
