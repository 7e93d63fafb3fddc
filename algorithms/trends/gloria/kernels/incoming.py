"""Trends that an event extends: as an expression that a Q-set shares, and as aggregates of one query, by window.

An expression is evaluated by Equation 4 (`_evaluate`).
"""

from __future__ import annotations

from cepbench.algorithms.engine.kernels.cells import counts_only
from cepbench.algorithms.engine.kernels.compilation import inlined
from cepbench.algorithms.engine.kernels.constants import NONE
from cepbench.algorithms.engine.kernels.events import KernelEvents, fits
from cepbench.algorithms.trends.gloria.kernels.expressions import add_run, cell_of, clear_run, first_in, time_of
from cepbench.algorithms.trends.gloria.kernels.program import GloriaProgram, GloriaTables
from cepbench.algorithms.trends.gloria.kernels.state import Expressions, GloriaState
from cepbench.algorithms.trends.online.kernels.step import collect_sums
from cepbench.algorithms.trends.online.kernels.template import Totals
from cepbench.algorithms.trends.online.kernels.visits import visit
from cepbench.algorithms.trends.snapshots.kernels.cells import follows
from cepbench.algorithms.trends.snapshots.kernels.products import evaluate, evaluate_counts
from cepbench.algorithms.trends.snapshots.kernels.vertices import add_expressions


@inlined
def match(i: int, s: int, events: KernelEvents, tables: GloriaTables, shared: Expressions) -> bool:
    """Sets `Expressions.passed` for the queries that event i matches at state s; False if it matches none."""
    matched = False
    for n in range(tables.state[s].test, tables.state[s].test_end):
        passed = fits(tables.lists[n], i, events)
        shared.passed[n] = passed
        matched |= passed
    return matched


@inlined
def sum_expressions(i: int, n: int, events: KernelEvents, program: GloriaProgram, state: GloriaState) -> None:
    """Sums the expressions of the predecessors of event i over incoming transitions n, once for all their queries
    (Equation 3).

    O(s) per transition for s snapshots, whose sum is kept; O(n s) for one whose n predecessors are visited.
    """
    tables, vertices, shared = program.template, state.vertices, state.shared
    incoming, predicates = tables.incoming[n], program.predicates
    if incoming.shared_transition == incoming.shared_transition_end:
        return
    q_set, counts = shared.q_set[incoming.q_set], state.totals.counts[0]
    live, to = q_set.count - q_set.oldest, cell_of(q_set, incoming.row, q_set.oldest)
    clear_run(shared.cells, to, live)
    for e in range(incoming.shared_transition, incoming.shared_transition_end):
        transition = tables.shared_transition[e]
        if transition.predicates == NONE:
            add_run(shared.cells, to, cell_of(q_set, transition.row, q_set.oldest), live)
            counts.additions += live
            continue
        v = vertices.last[transition.vertices]
        while v >= counts.oldest_vertex:
            vertex = vertices.event[v]
            if vertex.time < events.time[i] and follows(
                predicates, transition.predicates, vertices.ints, vertices.reals, v, events.ints, events.reals, i
            ):
                counts.edges += 1
                counts.additions += vertex.size
                add_expressions(v, v, shared.cells, to, q_set.oldest, vertices)
            v = vertex.before


@inlined
def collect(i: int, p: int, events: KernelEvents, program: GloriaProgram, state: GloriaState) -> None:
    """Sets the cells of position p to the trends that event i starts there, or extends, window by window.

    O(l) per window for l transitions that the query does not share, and O(s) for s snapshots of a Q-set whose
    expression is evaluated; O(n) or O(n s) where predecessors are visited.
    """
    tables, totals = program.template, state.totals
    position = tables.position[p]
    collect_sums(i, p, position.value, False, events, tables, totals)
    for n in range(position.evaluation, position.evaluation_end):
        _evaluate(n, p, program, totals, state.shared)
    for e in range(position.enter, position.enter_end):
        if tables.transition[e].visited:
            visit(i, e, position.value, events, program, state)


@inlined
def _evaluate(n: int, p: int, program: GloriaProgram, totals: Totals, shared: Expressions) -> None:
    """Adds the value of an incoming expression, evaluation n, to the cells of position p."""
    tables = program.template
    evaluation, position = tables.evaluation[n], tables.position[p]
    incoming, window = tables.incoming[evaluation.incoming], tables.window[position.window]
    q_set = shared.q_set[incoming.q_set]
    low, high = totals.open[position.window].low, totals.open[position.window].high
    if q_set.start != low * window.slide:
        q_set.start = low * window.slide
        q_set.first = first_in(q_set, shared.times, q_set.start)
    first = q_set.first
    for k in range(low, high + 1):
        while first < q_set.count and time_of(q_set, first, shared.times) < k * window.slide:
            first += 1
        cell, count = position.value + k - low, q_set.count - first
        coefficient, values = (
            cell_of(q_set, incoming.row, first),
            cell_of(q_set, evaluation.value + k % window.span, first),
        )
        if counts_only(totals.cells):
            evaluate_counts(totals.cells, cell, shared.cells, coefficient, values, count)
        else:
            evaluate(
                totals.cells, cell, shared.cells, coefficient, values, count, program.weights, len(tables.state),
            )  # fmt: skip
    totals.counts[0].evaluations += max(high - low + 1, 0)
