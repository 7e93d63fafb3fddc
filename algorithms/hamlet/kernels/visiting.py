"""Events before an event, visited one by one: where predicates select some of them, or a negated sequence does."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.hamlet.kernels.program import NONE, HamletProgram
from cepbench.algorithms.hamlet.kernels.state import ROW, GraphletStore, HamletState, Totals
from cepbench.algorithms.kernels.compilation import inlined, inner
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.snapshots.kernels.alone import floor_of, visit
from cepbench.algorithms.snapshots.kernels.cells import add, clear, follows
from cepbench.algorithms.snapshots.kernels.evaluation import evaluate


@inner
def visit_all(
    i: int, e: int, low: int, high: int, events: KernelEvents, program: HamletProgram, state: HamletState, modular: bool
) -> None:
    """Adds the trends that event i extends over transition e to those that reach it, cell k - low for window k.

    O(n) for n live events of the position, and O(n s + w s) for events of shared graphlets over s snapshots.
    """
    template = program.template
    visit(i, e, 0, low, high, events, template, program.predicates, state.totals, state.vertices)
    unit = template.position[template.transition[e].source].unit
    if unit != NONE:
        floor = floor_of(i, e, low, events, template)
        _visit_shared(i, e, unit, low, high, floor, events, program, state.totals, state.graphlets, modular)


@inlined
def add_expression(v: int, oldest: int, graphlets: GraphletStore) -> None:
    """Adds the expression of stored event v to ROW, from snapshot `oldest` on."""
    event, row = graphlets.event[v], np.int64(ROW) * len(graphlets.snapshot)
    for s in range(max(oldest, event.first), event.stop):
        add(graphlets.cells, row + s, graphlets.expressions, event.cell + s - event.first)


@inlined
def _visit_shared(
    i: int,
    e: int,
    u: int,
    low: int,
    high: int,
    floor: int,
    events: KernelEvents,
    program: HamletProgram,
    totals: Totals,
    graphlets: GraphletStore,
    modular: bool,
) -> None:
    """As `visit`, for the events of the shared graphlets that unit u took part in: their expressions are summed."""
    template, counts, cells = program.template, totals.counts[0], graphlets.cells
    unit, which = program.groups.unit[u], template.transition[e].predicates
    p, g = unit.position, unit.group
    most, now = len(graphlets.snapshot), events.time[i]
    first, stop = counts.oldest_snapshot, np.int64(0)
    v = graphlets.group[g].last
    while v >= counts.oldest_stored and graphlets.event[v].time >= floor:
        if (
            graphlets.event[v].time < now
            and graphlets.among[graphlets.event[v].graphlet, u]
            and follows(program.predicates, which, graphlets.ints, graphlets.reals, v, events.ints, events.reals, i)
        ):
            counts.edges += 1
            if stop == 0:
                stop = counts.snapshots
                clear(cells, ROW * most + first, stop - first)
            add_expression(v, first, graphlets)
        v = graphlets.event[v].before
    span = template.window[template.position[p].window].span
    if stop > 0:
        for k in range(low, high + 1):
            evaluate(
                totals.cells, k - low, cells, ROW * most + first, (unit.value + k % span) * most + first, stop - first,
                program.weights, p, modular,
            )  # fmt: skip
