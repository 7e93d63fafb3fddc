"""What reaches an event: expressions of a group, shared, and aggregates of a member, window by window."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.gloria.kernels.expressions import add_run, cell_of, clear_run, first_in
from cepbench.algorithms.gloria.kernels.program import EXPRESSION, NONE, GloriaProgram, GloriaTables, ReadRecord
from cepbench.algorithms.gloria.kernels.state import Expressions, GloriaState
from cepbench.algorithms.kernels.arrays import Flags, Ints
from cepbench.algorithms.kernels.compilation import inlined, inner
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.snapshots.kernels.alone import reach as reach_alone
from cepbench.algorithms.snapshots.kernels.cells import fits, follows
from cepbench.algorithms.snapshots.kernels.products import evaluate, evaluate_counts
from cepbench.algorithms.snapshots.kernels.template import SetTotals, VertexQueue
from cepbench.algorithms.snapshots.kernels.vertices import add_expression, visit
from cepbench.queries.tables import Predicates

NOBODY, SOME, ALL = 0, 1, 2


@inlined
def match(
    i: int, s: int, events: KernelEvents, tables: GloriaTables, predicates: Predicates, shared: Expressions
) -> bool:
    """Sets `Expressions.passed` to the members that event i matches at state s; False if it matches none."""
    state, found = tables.state[s], False
    for c in range(state.test, state.test_end):
        test = tables.test[c]
        passed = not test.selective or fits(predicates, test.predicates, events.ints, events.reals, i)
        shared.passed[c] = passed
        found |= passed
    return found


@inner
def matching(first: int, stop: int, lists: Ints, passed: Flags) -> int:
    """Which of the classes `first` to `stop` in `lists` match the event: NOBODY, SOME or ALL."""
    yes, no = False, False
    for n in range(first, stop):
        if passed[lists[n]]:
            yes = True
        else:
            no = True
    return NOBODY if not yes else SOME if no else ALL


@inlined
def bring(
    i: int, n: int, events: KernelEvents, tables: GloriaTables, predicates: Predicates, totals: SetTotals,
    vertices: VertexQueue, shared: Expressions,
) -> None:  # fmt: skip
    """Sums the expressions by which event i is reached at inlet n, once for all members of its group.

    O(s) per transition for s snapshots, whose sum is kept; O(n s) for one whose n events before are visited.
    """
    inlet, found = tables.inlet[n], shared.inlet[n]
    group = shared.group[inlet.group]
    found.stop, found.differs, found.start = group.count, False, -1
    if inlet.only != NONE:
        found.row = tables.outlet[inlet.only].sums
        return
    found.row = inlet.row
    live = group.count - group.oldest
    to = cell_of(group, inlet.row, group.oldest)
    clear_run(shared.cells, to, live)
    for r in range(inlet.read, inlet.read_end):
        add_run(shared.cells, to, cell_of(group, tables.outlet[tables.lists[r]].sums, group.oldest), live)
        totals.counts[0].additions += live
    for r in range(inlet.link, inlet.link_end):
        if not found.differs:
            found.differs = not _visit_alike(i, r, to, events, tables, predicates, totals, vertices, shared)


@inner
def _visit_alike(
    i: int, r: int, to: int, events: KernelEvents, tables: GloriaTables, predicates: Predicates, totals: SetTotals,
    vertices: VertexQueue, shared: Expressions,
) -> bool:  # fmt: skip
    """Adds the expressions of the events that event i follows by link r to those from cell `to` on.

    Stops and returns False if it does not follow the same ones for all members.
    """
    link, counts = tables.link[r], totals.counts[0]
    oldest = shared.group[tables.outlet[link.outlet].group].oldest
    v = vertices.last[len(tables.position) + link.outlet]
    while v >= counts.oldest_vertex:
        vertex = vertices.event[v]
        if vertex.time < events.time[i]:
            yes, no = False, False
            for c in range(link.match, link.match_end):
                if follows(predicates, tables.lists[c], vertices.ints, vertices.reals, v, events.ints, events.reals, i):
                    yes = True
                else:
                    no = True
            if yes and no:
                return False
            if yes:
                counts.edges += 1
                counts.additions += vertex.size
                add_expression(v, shared.cells, to, oldest, vertices)
        v = vertex.before
    return True


@inlined
def reach(
    i: int, p: int, events: KernelEvents, program: GloriaProgram, state: GloriaState, only: bool, modular: bool
) -> None:
    """Sets the cells of place p to the trends that event i starts there, or extends, window by window.

    O(l) per window for l transitions that the member has alone, and O(s) for s snapshots of a group that it comes from;
    O(n) or O(n s) where events before are visited.
    """
    tables, totals, shared = program.tables, state.totals, state.shared
    place = tables.position[p]
    low, high = totals.open[place.window].low, totals.open[place.window].high
    reach_alone(i, p, place.value, low, high, events, tables, totals)
    apart = False
    for n in range(place.source, place.source_end):
        source = tables.source[n]
        if not shared.inlet[source.inlet].differs:
            row = shared.inlet[source.inlet].row
            _add_values(source.inlet, row, source.value, p, program, totals, shared, only, modular)
        else:
            apart = True
    if apart:
        _add_values_apart(i, p, events, program, state, modular)
    for e in range(place.enter, place.enter_end):
        if tables.transition[e].visited:
            visit(i, e, place.value, low, high, events, tables, program.predicates, totals, state.vertices)


@inlined
def _add_values(
    n: int,
    row: int,
    value: int,
    p: int,
    program: GloriaProgram,
    totals: SetTotals,
    shared: Expressions,
    only: bool,
    modular: bool,
) -> None:
    """Adds the values of the expression in a row, which reaches inlet n, to the cells of place p."""
    tables = program.tables
    place, inlet, group = tables.position[p], shared.inlet[n], shared.group[tables.inlet[n].group]
    window = tables.window[place.window]
    low, high = totals.open[place.window].low, totals.open[place.window].high
    if inlet.start != low * window.slide:
        inlet.start = low * window.slide
        inlet.first = first_in(group, shared.times, inlet.start)
    first = inlet.first
    for k in range(low, high + 1):
        while first < inlet.stop and shared.times[group.times + first - group.shift] < k * window.slide:
            first += 1
        cell, count = place.value + k - low, inlet.stop - first
        coefficient, values = cell_of(group, row, first), cell_of(group, value + k % window.span, first)
        if only:
            evaluate_counts(totals.cells, cell, shared.cells, coefficient, values, count, modular)
        else:
            evaluate(
                totals.cells, cell, shared.cells, coefficient, values, count, program.weights, tables.whole[0].bound,
                modular,
            )  # fmt: skip
    totals.counts[0].evaluations += max(high - low + 1, 0)


@inner
def _add_values_apart(
    i: int, p: int, events: KernelEvents, program: GloriaProgram, state: GloriaState, modular: bool
) -> None:
    """Adds the values of expressions that members have different ones of to the cells of place p."""
    tables, totals, shared = program.tables, state.totals, state.shared
    for n in range(tables.position[p].read, tables.position[p].read_end):
        read = tables.read[n]
        if shared.inlet[read.inlet].differs:
            row = tables.outlet[read.outlet].sums
            if read.visited:
                row = np.int64(EXPRESSION)
                _visit_shared(i, read, events, program, totals, state.vertices, shared)
            _add_values(read.inlet, row, read.value, p, program, totals, shared, False, modular)


@inner
def _visit_shared(
    i: int, read: ReadRecord, events: KernelEvents, program: GloriaProgram, totals: SetTotals,
    vertices: VertexQueue,
    shared: Expressions,
) -> None:  # fmt: skip
    """Sums the expressions of the events that event i follows for one member, in the row EXPRESSION of their group."""
    group, counts = shared.group[program.tables.outlet[read.outlet].group], totals.counts[0]
    to = cell_of(group, EXPRESSION, group.oldest)
    clear_run(shared.cells, to, group.count - group.oldest)
    v = vertices.last[len(program.tables.position) + read.outlet]
    while v >= counts.oldest_vertex:
        if vertices.event[v].time < events.time[i] and follows(
            program.predicates, read.predicates, vertices.ints, vertices.reals, v, events.ints, events.reals, i
        ):
            counts.edges += 1
            counts.additions += vertices.event[v].size
            add_expression(v, shared.cells, to, group.oldest, vertices)
        v = vertices.event[v].before
