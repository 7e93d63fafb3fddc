"""Snapshots: values, per query and window, that the expressions of a shared graphlet refer to (Section 3.3)."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.hamlet.kernels.program import NONE, HamletProgram
from cepbench.algorithms.hamlet.kernels.state import FRESH, ROW, SUMS, GraphletStore, HamletState
from cepbench.algorithms.hamlet.kernels.visiting import visit_all
from cepbench.algorithms.kernels.arrays import Flags
from cepbench.algorithms.kernels.cells import begin, counts_only
from cepbench.algorithms.kernels.compilation import inlined, inner
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.snapshots.kernels.alone import feed, mark, reach
from cepbench.algorithms.snapshots.kernels.cells import Index, append_run, clear, copy, fits_class, is_empty
from cepbench.algorithms.snapshots.kernels.counts import clear_cell, copy_cell
from cepbench.algorithms.snapshots.kernels.products import evaluate
from cepbench.algorithms.snapshots.kernels.template import SetTotals


@inlined
def _new_snapshot(g: int, time: int, totals: SetTotals, graphlets: GraphletStore) -> int:
    """The number of a further snapshot, of which no expression has a part yet."""
    counts, most = totals.counts[0], len(graphlets.snapshot)
    s, only = counts.snapshots, counts_only(graphlets.cells)
    counts.snapshots += 1
    graphlets.snapshot[s].time, graphlets.snapshot[s].group = time, g
    clear_cell(graphlets.cells, SUMS * most + s, only)
    clear_cell(graphlets.cells, FRESH * most + s, only)
    return s


@inner
def graphlet_snapshot(
    g: int, i: int, events: KernelEvents, program: HamletProgram, state: HamletState, modular: bool
) -> int:
    """Creates the snapshot at graphlet level (Definition 8); returns its number."""
    template, groups, totals, graphlets = program.template, program.groups, state.totals, state.graphlets
    most, only = len(graphlets.snapshot), counts_only(totals.cells)
    x = _new_snapshot(g, events.time[i], totals, graphlets)
    totals.counts[0].graphlet_snapshots += 1
    for u in range(groups.group[g].unit, groups.group[g].unit_end):
        p, value, c = groups.unit[u].position, groups.unit[u].value, groups.unit[u].alike
        w = template.position[p].window
        span, low, high = template.window[w].span, totals.open[w].low, totals.open[w].high
        for row in range(span):
            clear_cell(graphlets.cells, (value + row) * most + x, only)
        if graphlets.unit[u].now and low <= high:
            selected = NONE if groups.alike[c].loop == NONE else groups.unit[u].loop
            _gather(i, p, selected, low, high, events, program, state, modular)
            for k in range(low, high + 1):
                copy_cell(graphlets.cells, (value + k % span) * most + x, totals.cells, k - low, only)
    return x


@inlined
def _gather(
    i: int, p: int, but: Index, low: int, high: int, events: KernelEvents, program: HamletProgram, state: HamletState,
    modular: bool,
) -> None:  # fmt: skip
    """Sets cell k - low to the trends in window k that event i starts, or extends, by all transitions `but` one."""
    template = program.template
    reach(i, p, 0, low, high, events, template, state.totals, counts_only(state.totals.cells))
    for e in range(template.position[p].enter, template.position[p].enter_end):
        if template.transition[e].visited and e != but:
            visit_all(i, e, low, high, events, program, state, modular)


@inner
def event_snapshot(
    g: int,
    i: int,
    x: int,
    oldest: int,
    events: KernelEvents,
    matches: Flags,
    program: HamletProgram,
    state: HamletState,
    modular: bool,
) -> None:
    """Creates the snapshot at event level (Definition 9), and sets ROW to it; x is that of the graphlet.

    Its values come from x and what is in the graphlet; at event granularity from all events before, as if unshared.
    """
    template, groups, totals, graphlets = program.template, program.groups, state.totals, state.graphlets
    cells, reached, most = graphlets.cells, totals.cells, len(graphlets.snapshot)
    z = _new_snapshot(g, events.time[i], totals, graphlets)
    totals.counts[0].event_snapshots += 1
    for u in range(groups.group[g].unit, groups.group[g].unit_end):
        p, value, c = groups.unit[u].position, groups.unit[u].value, groups.unit[u].alike
        loop = groups.alike[c].loop
        w = template.position[p].window
        span, low, high = template.window[w].span, totals.open[w].low, totals.open[w].high
        for row in range(span):
            clear(cells, (value + row) * most + z, np.int64(1))
        if not graphlets.unit[u].now or low > high:
            continue
        if not fits_class(matches, c, program.predicates, p, events.ints, events.reals, i):
            continue
        if template.whole[0].every:
            _gather(i, p, np.int64(NONE), low, high, events, program, state, modular)
        else:
            for k in range(low, high + 1):
                copy(reached, k - low, cells, (value + k % span) * most + x)
                if loop == NONE:
                    evaluate(
                        reached, k - low, cells, SUMS * most + x, (value + k % span) * most + x, z - x,
                        program.weights, p, modular,
                    )  # fmt: skip
        if loop != NONE and not template.whole[0].every:
            visit_all(i, groups.unit[u].loop, low, high, events, program, state, modular)
        append_run(reached, 0, high - low + 1, program.weights, p, events.ints, events.reals, i)
        for k in range(low, high + 1):
            if not is_empty(reached, k - low):
                copy(cells, (value + k % span) * most + z, reached, k - low)
    clear(cells, ROW * most + oldest, z + 1 - oldest)
    begin(cells, ROW * most + z)


@inner
def end_graphlet(
    g: int, oldest: int, waits: bool, program: HamletProgram, totals: SetTotals, graphlets: GraphletStore, modular: bool
) -> None:
    """Ends a graphlet: its sums, evaluated for each query and window, are what later graphlets see of it.

    FRESH `waits` until the time moves on, unless it is in SUMS.
    """
    template, groups, reached = program.template, program.groups, totals.cells
    stop, only, most = totals.counts[0].snapshots, counts_only(totals.cells), len(graphlets.snapshot)
    for u in range(groups.group[g].unit, groups.group[g].unit_end):
        if not graphlets.unit[u].now:
            continue
        p = groups.unit[u].position
        position = template.position[p]
        if position.feed == position.feed_end and not position.direct:
            continue
        span = template.window[position.window].span
        for k in range(totals.open[position.window].low, totals.open[position.window].high + 1):
            for row in range(SUMS, FRESH + 1 if waits else FRESH):
                clear_cell(reached, row, only)
                evaluate(
                    reached, row, graphlets.cells, row * most + oldest,
                    (groups.unit[u].value + k % span) * most + oldest, stop - oldest, program.weights, p, modular,
                )  # fmt: skip
                feed(p, k % span, row, row == SUMS, template, totals, only)
        if waits:
            mark(p, template, totals)
