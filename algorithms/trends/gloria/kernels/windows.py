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
from cepbench.algorithms.trends.online.kernels.store import CELLS, LIVE
from cepbench.algorithms.trends.online.kernels.template import MemberRows, Totals
from cepbench.algorithms.trends.snapshots.kernels.products import evaluate
from cepbench.algorithms.trends.snapshots.kernels.vertices import LINK_BYTES, forget_vertices
from cepbench.queries.records import Records


@kernel
def note_state(tables: GloriaTables, totals: Totals, group: Records, counters: Ints) -> None:
    """Notes the state if it is the largest since the last report.

    `group` as in `Expressions`, `counters` as in `Graph`.
    """
    sizes, counts = tables.whole[0], totals.counts[0]
    snapshots, coefficients = np.int64(0), counters[CELLS] + counts.vertex_cells - counts.oldest_cell
    for g in range(len(group)):
        live = group[g].count - group[g].oldest
        snapshots += live
        coefficients += live * tables.group[g].rows
    shared = counts.vertices - counts.oldest_vertex
    vertices = counters[LIVE] + shared
    size = vertices * sizes.event_bytes + shared * LINK_BYTES + coefficients * sizes.cell_bytes + snapshots * 8
    note_size(size, vertices, coefficients, snapshots, tables, totals)


@inner
def move_on(now: int, negated: Ints, tables: GloriaTables, totals: Totals, shared: Expressions) -> None:
    """If time moves on, lets later events see the trends that ended before, and empties what negated events forbid.

    `negated[J]`: as a row of `KernelEvents.negated`.
    """
    counts = totals.counts[0]
    if now <= counts.now:
        return
    for j in range(len(negated)):
        if negated[j] > totals.seen[j]:
            counts.voided = counts.now + 1
    commit(negated, tables, totals)
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
    counts.shared, counts.now = 0, now


@inner
def close_until(
    now: int, negated: Ints, program: GloriaProgram, state: GloriaState, rows: MemberRows, size: int
) -> int:
    """Closes windows that end by `now`, before which no event comes any more; returns the number of `rows`.

    There must be room for a row per open window.
    """
    totals, tables = state.totals, program.tables
    if not any_ends(now, tables.window, totals.open):
        return size
    note_state(tables, totals, state.shared.group, state.graph.counters)
    move_on(now, negated, tables, totals, state.shared)
    for w in range(len(totals.open)):
        window, k = tables.window[w], totals.open[w].low
        while has_ended(k, totals.open[w].high, now, window):
            for o in range(len(tables.outlet)):
                if tables.outlet[o].final:
                    _finish(o, w, k, program, totals, state.shared)
            k += 1
    size = close_windows(now, negated, tables, totals, state.graph, rows, size)
    forget_vertices(tables, totals, state.vertices, state.graph)
    for g in range(len(state.shared.group)):
        forget_before(g, tables, totals.open, state.shared)
    return size


@inner
def _finish(o: int, w: int, k: int, program: GloriaProgram, totals: Totals, shared: Expressions) -> None:
    """Adds the trends that end in window k of kind w, whose sum final outlet o has, to its members' results."""
    tables = program.tables
    window, outlet = tables.window[w], tables.outlet[o]
    group, row = shared.group[outlet.group], k % window.span
    first = first_in(group, shared.times, k * window.slide)
    for n in range(outlet.share, outlet.share_end):
        share = tables.share[n]
        place = tables.position[share.place]
        if place.window == w:
            evaluate(
                totals.cells, tables.member[place.member].final + row, shared.cells,
                cell_of(group, outlet.sums, first), cell_of(group, share.value + row, first), group.count - first,
                program.weights, len(tables.state),
            )  # fmt: skip
            totals.counts[0].evaluations += 1


@inner
def arrive(now: int, negated: Ints, tables: GloriaTables, totals: Totals, shared: Expressions) -> None:
    """Moves on to the time of an event, after windows were closed until then: opens windows."""
    move_on(now, negated, tables, totals, shared)
    if open_windows(now, tables, totals):
        totals.counts[0].opened = now
