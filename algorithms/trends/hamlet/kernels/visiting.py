"""Visits of kept events by a query, which copies events of shared graphlets into its own graph when it splits."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.engine.kernels.cells import clear, clear_run, copy_run, is_empty
from cepbench.algorithms.engine.kernels.compilation import inlined, inner
from cepbench.algorithms.engine.kernels.constants import NONE
from cepbench.algorithms.engine.kernels.events import KernelEvents, keep_columns
from cepbench.algorithms.trends.hamlet.kernels.program import HamletProgram
from cepbench.algorithms.trends.hamlet.kernels.state import ROW, HamletState
from cepbench.algorithms.trends.online.kernels.store import keep_vertex
from cepbench.algorithms.trends.online.kernels.visits import floor_of, visit
from cepbench.algorithms.trends.snapshots.kernels.cells import follows
from cepbench.algorithms.trends.snapshots.kernels.products import evaluate
from cepbench.algorithms.trends.snapshots.kernels.vertices import add_expressions, first_of_run


@inlined
def visit_all(i: int, e: int, events: KernelEvents, program: HamletProgram, state: HamletState) -> None:
    """Adds the trends that event i extends over transition e to cell k - low, for each open window k from low on.

    O(n) for n live events of the position, and O(n s + w s) for those of shared graphlets over s snapshots.
    """
    template, totals, vertices = program.template, state.totals, state.vertices
    visit(i, e, 0, events, program, state)
    u = template.position[template.transition[e].source].unit
    if u != NONE:
        newest = vertices.last[template.unit[u].group]
        apart = state.graphlets.unit[u].apart  # it has the events before as its own
        floor = max(floor_of(i, e, events, template, totals), apart)
        if newest >= totals.counts[0].oldest_vertex and vertices.event[newest].time >= floor:
            _visit_shared(i, e, u, floor, events, program, state)


@inlined
def _visit_shared(
    i: int, e: int, u: int, floor: int, events: KernelEvents, program: HamletProgram, state: HamletState
) -> None:
    """As `visit_all`, for events of shared graphlets of unit u since time `floor`, by the sum of their expressions."""
    template, totals, vertices, graphlets = program.template, state.totals, state.vertices, state.graphlets
    adjacent, predicates, unit = program.predicates, template.transition[e].predicates, template.unit[u]
    counts, cells, room, now = totals.counts[0], graphlets.cells, len(graphlets.snapshot), events.time[i]
    first, stop = counts.oldest_snapshot, np.int64(0)
    to = ROW.visited * room + first
    v = vertices.last[unit.group]
    while v >= counts.oldest_vertex and vertices.event[v].time >= floor:
        vertex, begin = vertices.event[v], first_of_run(v, now, floor, predicates, adjacent, vertices)
        if (
            vertex.time < now
            and graphlets.among[u, vertex.graphlet]
            and follows(adjacent, predicates, vertices.ints, vertices.reals, v, events.ints, events.reals, i)
        ):
            counts.edges += v - begin + 1
            if stop == 0:
                stop = counts.snapshots
                clear_run(cells, to, stop - first)
            add_expressions(begin, v, cells, to, first, vertices)
        v = vertices.event[begin].before
    w = template.position[unit.position].window
    span, low, high = template.window[w].span, totals.open[w].low, totals.open[w].high
    for k in range(low, high + 1 if stop > 0 else low):
        value = (unit.value + k % span) * room + first
        evaluate(totals.cells, k - low, cells, to, value, stop - first, program.weights, unit.position)


@inner
def split(u: int, program: HamletProgram, state: HamletState) -> None:
    """Splits shared graphlets: copies the kept events of those that unit u shares into its own graph (Section 4.2).

    Values replace snapshots. From now on u visits the events as GRETA does. O(s w) for an event with an expression over
    s snapshots in w windows.
    """
    template, totals, vertices, graphlets = program.template, state.totals, state.vertices, state.graphlets
    unit, counts, cells, room = template.unit[u], totals.counts[0], graphlets.cells, len(graphlets.snapshot)
    position = template.position[unit.position]
    window, low = template.window[position.window], totals.open[position.window].low
    for v in range(counts.oldest_vertex, counts.vertices):
        vertex = vertices.event[v]
        high = vertex.time // window.slide
        if not graphlets.among[u, vertex.graphlet] or high < low:
            continue
        first = max(counts.oldest_snapshot, vertex.first)
        to, size = ROW.visited * room + first, vertex.first + vertex.size - first
        copy_run(cells, to, vertices.cells, vertex.cell + first - vertex.first, size)
        in_trend = False
        for k in range(low, high + 1):
            clear(totals.cells, k - low)
            value = (unit.value + k % window.span) * room + first
            evaluate(totals.cells, k - low, cells, to, value, size, program.weights, unit.position)
            in_trend |= not is_empty(totals.cells, k - low)
        if in_trend:
            kept = keep_vertex(vertex.time, unit.position, high, 0, template, state)
            keep_columns(v, vertices, state.graph.ints, state.graph.reals, kept)
    for x in range(counts.oldest_snapshot, counts.snapshots):
        graphlets.among[u, x] = False
