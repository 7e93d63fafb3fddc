"""What reaches an event: expressions of a group, shared, and aggregates of a member, window by window."""

from __future__ import annotations

from cepbench.algorithms.engine.kernels.compilation import inlined
from cepbench.algorithms.engine.kernels.events import KernelEvents, fits
from cepbench.algorithms.trends.gloria.kernels.expressions import add_run, cell_of, clear_run, first_in, time_of
from cepbench.algorithms.trends.gloria.kernels.program import NONE, GloriaProgram, GloriaTables
from cepbench.algorithms.trends.gloria.kernels.state import Expressions, GloriaState
from cepbench.algorithms.trends.online.kernels.reach.visits import visit
from cepbench.algorithms.trends.online.kernels.step import reach as reach_alone
from cepbench.algorithms.trends.online.kernels.template import Totals
from cepbench.algorithms.trends.snapshots.kernels.cells import follows
from cepbench.algorithms.trends.snapshots.kernels.products import evaluate, evaluate_counts
from cepbench.algorithms.trends.snapshots.kernels.vertices import VertexQueue, add_expressions
from cepbench.queries.tables import Predicates


@inlined
def match(i: int, s: int, events: KernelEvents, tables: GloriaTables, shared: Expressions) -> bool:
    """Sets `Expressions.passed` for the members that event i matches at state s; False if it matches none."""
    found = False
    for n in range(tables.state[s].test, tables.state[s].test_end):
        passed = fits(tables.lists[n], i, events)
        shared.passed[n] = passed
        found |= passed
    return found


@inlined
def bring(
    i: int, n: int, events: KernelEvents, tables: GloriaTables, predicates: Predicates, totals: Totals,
    vertices: VertexQueue, shared: Expressions,
) -> None:  # fmt: skip
    """Sums the expressions by which event i is reached at inlet n, once for all members that it has.

    O(s) per transition for s snapshots, whose sum is kept; O(n s) for one whose n events before are visited.
    """
    inlet = tables.inlet[n]
    if inlet.link == inlet.link_end:
        return
    group, counts = shared.group[inlet.group], totals.counts[0]
    live, to = group.count - group.oldest, cell_of(group, inlet.row, group.oldest)
    clear_run(shared.cells, to, live)
    for r in range(inlet.link, inlet.link_end):
        link = tables.link[r]
        if link.predicates == NONE:
            add_run(shared.cells, to, cell_of(group, link.row, group.oldest), live)
            counts.additions += live
            continue
        v = vertices.last[link.vertices]
        while v >= counts.oldest_vertex:
            vertex = vertices.event[v]
            if vertex.time < events.time[i] and follows(
                predicates, link.predicates, vertices.ints, vertices.reals, v, events.ints, events.reals, i
            ):
                counts.edges += 1
                counts.additions += vertex.size
                add_expressions(v, v, shared.cells, to, group.oldest, vertices)
            v = vertex.before


@inlined
def reach(i: int, p: int, events: KernelEvents, program: GloriaProgram, state: GloriaState, only: bool) -> None:
    """Sets the cells of place p to the trends that event i starts there, or extends, window by window.

    O(l) per window for l transitions that the member has alone, and O(s) for s snapshots of a group that it comes from;
    O(n) or O(n s) where events before are visited.
    """
    tables, totals = program.tables, state.totals
    place = tables.position[p]
    reach_alone(i, p, place.value, False, events, tables, totals)
    for n in range(place.source, place.source_end):
        _add_values(n, p, program, totals, state.shared, only)
    for e in range(place.enter, place.enter_end):
        if tables.transition[e].visited:
            visit(i, e, place.value, events, tables, program.predicates, totals, state.graph)


@inlined
def _add_values(n: int, p: int, program: GloriaProgram, totals: Totals, shared: Expressions, only: bool) -> None:
    """Adds the values of the expression of source n to the cells of place p."""
    tables = program.tables
    source, place = tables.source[n], tables.position[p]
    inlet, window = tables.inlet[source.inlet], tables.window[place.window]
    group = shared.group[inlet.group]
    low, high = totals.open[place.window].low, totals.open[place.window].high
    if group.start != low * window.slide:
        group.start = low * window.slide
        group.first = first_in(group, shared.times, group.start)
    first = group.first
    for k in range(low, high + 1):
        while first < group.count and time_of(group, first, shared.times) < k * window.slide:
            first += 1
        cell, count = place.value + k - low, group.count - first
        coefficient, values = cell_of(group, inlet.row, first), cell_of(group, source.value + k % window.span, first)
        if only:
            evaluate_counts(totals.cells, cell, shared.cells, coefficient, values, count)
        else:
            evaluate(
                totals.cells, cell, shared.cells, coefficient, values, count, program.weights, len(tables.state),
            )  # fmt: skip
    totals.counts[0].evaluations += max(high - low + 1, 0)
