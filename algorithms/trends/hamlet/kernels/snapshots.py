"""Snapshots at graphlet level (Definition 8) and at event level (Definition 9) of a shared graphlet (Section 3.3).

A snapshot has a value per query and window, to which the expressions of the graphlet's events refer. A unit is the
position of a query in a group of queries that can share E+ (`program.UnitRecord`).
"""

from __future__ import annotations

from cepbench.algorithms.engine.kernels.arrays import Flags
from cepbench.algorithms.engine.kernels.cells import clear, copy
from cepbench.algorithms.engine.kernels.compilation import inlined, inner
from cepbench.algorithms.engine.kernels.constants import NONE
from cepbench.algorithms.engine.kernels.events import KernelEvents
from cepbench.algorithms.trends.hamlet.kernels.program import HamletProgram
from cepbench.algorithms.trends.hamlet.kernels.state import ROW, GraphletStore, HamletState
from cepbench.algorithms.trends.hamlet.kernels.visiting import visit_all
from cepbench.algorithms.trends.online.kernels.step import append_run, collect_sums, feed, mark
from cepbench.algorithms.trends.online.kernels.template import Totals
from cepbench.algorithms.trends.snapshots.kernels.products import evaluate


@inner
def graphlet_snapshot(g: int, i: int, events: KernelEvents, program: HamletProgram, state: HamletState) -> int:
    """Definition 8: creates the snapshot x of a graphlet of group g that begins with event i; returns its number.

    Its value is, per query and window, the trends that each event of the graphlet extends, or starts: those that end at
    events of other types (Equation 5), and at earlier events of type E, unless the loop's predicates select them.
    """
    template, totals, graphlets = program.template, state.totals, state.graphlets
    x = _add_snapshot(g, events.time[i], state)
    for u in range(template.group[g].unit, template.group[g].unit_end):
        unit = template.unit[u]
        position = template.position[unit.position]
        if not graphlets.unit[u].now or _is_closed(position.window, totals):
            continue
        selective = template.predicate_class[unit.predicate_class].loop != NONE
        collect_sums(i, unit.position, 0, False, events, template, totals)
        for e in range(position.enter, position.enter_end):
            if template.transition[e].visited and not (selective and e == unit.loop):
                visit_all(i, e, events, program, state)
        _set_values(u, x, program, state)
    return x


@inner
def event_snapshot(
    g: int, i: int, x: int, events: KernelEvents, matches: Flags, program: HamletProgram, state: HamletState
) -> int:
    """Definition 9: creates a snapshot at event i of the graphlet of group g with snapshot x; returns its number.

    Its value is, per query and window, the trends that end with event i, none for queries that do not match it. These
    extend the value of x, and the events of the graphlet: those in row `event`, or those that the loop's predicates
    select.
    """
    template, totals, graphlets = program.template, state.totals, state.graphlets
    cells, work, room = graphlets.cells, totals.cells, len(graphlets.snapshot)
    z = _add_snapshot(g, events.time[i], state)
    for u in range(template.group[g].unit, template.group[g].unit_end):
        unit = template.unit[u]
        p, w = unit.position, template.position[unit.position].window
        if not graphlets.unit[u].now or _is_closed(w, totals):
            continue
        span, low, high = template.window[w].span, totals.open[w].low, totals.open[w].high
        if not matches[i, unit.predicate_class]:
            for k in range(low, high + 1):
                clear(cells, (unit.value + k % span) * room + z)
            continue
        selective = template.predicate_class[unit.predicate_class].loop != NONE
        for k in range(low, high + 1):
            value = (unit.value + k % span) * room + x
            copy(work, k - low, cells, value)
            if not selective:
                evaluate(work, k - low, cells, ROW.event * room + x, value, z - x, program.weights, p)
        if selective and template.transition[unit.loop].visited:
            visit_all(i, unit.loop, events, program, state)
        append_run(i, p, work, 0, high - low + 1, events, program.weights)
        _set_values(u, z, program, state)
    return z


@inlined
def _add_snapshot(g: int, time: int, state: HamletState) -> int:
    """Adds a snapshot of group g that is in no expression yet; returns its number."""
    counts, graphlets = state.totals.counts[0], state.graphlets
    s, room = counts.snapshots, len(graphlets.snapshot)
    counts.snapshots += 1
    graphlets.snapshot[s].time, graphlets.snapshot[s].group = time, g
    clear(graphlets.cells, ROW.sums * room + s)
    clear(graphlets.cells, ROW.fresh * room + s)
    return int(s)


@inlined
def _is_closed(w: int, totals: Totals) -> bool:
    """Whether no window of kind w is open."""
    return bool(totals.open[w].low > totals.open[w].high)


@inlined
def _set_values(u: int, s: int, program: HamletProgram, state: HamletState) -> None:
    """Sets the values of snapshot s for unit u to the trends that were computed window by window."""
    template, totals, graphlets = program.template, state.totals, state.graphlets
    unit, room = template.unit[u], len(graphlets.snapshot)
    w = template.position[unit.position].window
    span, low = template.window[w].span, totals.open[w].low
    for k in range(low, totals.open[w].high + 1):
        copy(graphlets.cells, (unit.value + k % span) * room + s, totals.cells, k - low)


@inner
def end_graphlet(
    g: int, oldest: int, waits: bool, program: HamletProgram, totals: Totals, graphlets: GraphletStore
) -> None:
    """Ends a graphlet: later graphlets read its sums, which are evaluated for each query and window.

    Row `fresh` `waits` until the time moves on, unless it is in row `sums`.
    """
    template, work = program.template, totals.cells
    stop, room = totals.counts[0].snapshots, len(graphlets.snapshot)
    for u in range(template.group[g].unit, template.group[g].unit_end):
        if not graphlets.unit[u].now:
            continue
        p = template.unit[u].position
        position = template.position[p]
        if position.feed == position.feed_end and not position.direct:
            continue
        span = template.window[position.window].span
        for k in range(totals.open[position.window].low, totals.open[position.window].high + 1):
            for row in range(ROW.sums, ROW.fresh + 1 if waits else ROW.fresh):
                clear(work, row)
                evaluate(
                    work, row, graphlets.cells, row * room + oldest,
                    (template.unit[u].value + k % span) * room + oldest, stop - oldest, program.weights, p,
                )  # fmt: skip
                feed(p, k % span, row, row == ROW.sums, template, totals)
        if waits:
            mark(p, template, totals)
