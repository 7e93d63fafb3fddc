"""Snapshots: values, per query and window, that the expressions of a shared graphlet refer to (Section 3.3)."""

from __future__ import annotations

from cepbench.algorithms.engine.kernels.arrays import Flags
from cepbench.algorithms.engine.kernels.cells import append_run
from cepbench.algorithms.engine.kernels.compilation import inner
from cepbench.algorithms.engine.kernels.events import KernelEvents
from cepbench.algorithms.trends.hamlet.kernels.program import NONE, HamletProgram
from cepbench.algorithms.trends.hamlet.kernels.state import FRESH, ROW, SUMS, GraphletStore, HamletState
from cepbench.algorithms.trends.hamlet.kernels.visiting import visit_all
from cepbench.algorithms.trends.online.kernels.step import feed, mark, reach
from cepbench.algorithms.trends.online.kernels.template import Totals
from cepbench.algorithms.trends.snapshots.kernels.cells import Index, clear, copy
from cepbench.algorithms.trends.snapshots.kernels.products import evaluate


@inner
def new_snapshot(
    g: int, i: int, x: Index, events: KernelEvents, matches: Flags, program: HamletProgram, state: HamletState
) -> int:
    """Creates a snapshot at event i of group g, of which no expression has a part yet; returns its number.

    At graphlet level (Definition 8), where `x` is NONE, it has the trends that each event of a graphlet extends, of
    which i is the first. At event level (Definition 9) it has the trends that end with event i, for the queries that
    match it. These extend snapshot x, that of the graphlet, and what is in the graphlet: ROW, where no predicates
    select some of it.
    """
    template, totals, graphlets = program.template, state.totals, state.graphlets
    cells, reached, most = graphlets.cells, totals.cells, len(graphlets.snapshot)
    s = totals.counts[0].snapshots
    totals.counts[0].snapshots += 1
    graphlets.snapshot[s].time, graphlets.snapshot[s].group = events.time[i], g
    clear(cells, SUMS * most + s)
    clear(cells, FRESH * most + s)
    for u in range(template.group[g].unit, template.group[g].unit_end):
        p, value, c = template.unit[u].position, template.unit[u].value, template.unit[u].alike
        w = template.position[p].window
        span, low, high = template.window[w].span, totals.open[w].low, totals.open[w].high
        if not graphlets.unit[u].now or low > high:
            continue
        if x != NONE and not matches[i, c]:
            for k in range(low, high + 1):
                clear(cells, (value + k % span) * most + s)
            continue
        loop, selective = template.unit[u].loop, template.alike[c].loop != NONE
        if x == NONE:
            reach(i, p, 0, False, events, template, totals)
        else:
            for k in range(low, high + 1):
                copy(reached, k - low, cells, (value + k % span) * most + x)
                if not selective:
                    evaluate(
                        reached, k - low, cells, ROW * most + x, (value + k % span) * most + x, s - x,
                        program.weights, p,
                    )  # fmt: skip
        for e in range(template.position[p].enter, template.position[p].enter_end):
            in_graphlet = selective and e == loop  # whose events are visited for each snapshot at event level
            if template.transition[e].visited and in_graphlet == (x != NONE):
                visit_all(i, e, events, program, state)
        if x != NONE:
            append_run(reached, 0, high - low + 1, program.weights, p, events.ints, events.reals, i)
        for k in range(low, high + 1):
            copy(cells, (value + k % span) * most + s, reached, k - low)
    return int(s)


@inner
def end_graphlet(
    g: int, oldest: int, waits: bool, program: HamletProgram, totals: Totals, graphlets: GraphletStore
) -> None:
    """Ends a graphlet: its sums, evaluated for each query and window, are what later graphlets see of it.

    FRESH `waits` until the time moves on, unless it is in SUMS.
    """
    template, reached = program.template, totals.cells
    stop, most = totals.counts[0].snapshots, len(graphlets.snapshot)
    for u in range(template.group[g].unit, template.group[g].unit_end):
        if not graphlets.unit[u].now:
            continue
        p = template.unit[u].position
        position = template.position[p]
        if position.feed == position.feed_end and not position.direct:
            continue
        span = template.window[position.window].span
        for k in range(totals.open[position.window].low, totals.open[position.window].high + 1):
            for row in range(SUMS, FRESH + 1 if waits else FRESH):
                clear(reached, row)
                evaluate(
                    reached, row, graphlets.cells, row * most + oldest,
                    (template.unit[u].value + k % span) * most + oldest, stop - oldest, program.weights, p,
                )  # fmt: skip
                feed(p, k % span, row, row == SUMS, template, totals)
        if waits:
            mark(p, template, totals)
