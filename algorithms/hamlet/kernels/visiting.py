"""Events before an event, visited one by one: where predicates select some of them, or a negated sequence does."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.hamlet.kernels.program import NONE, HamletProgram
from cepbench.algorithms.hamlet.kernels.state import ROW, HamletState
from cepbench.algorithms.kernels.compilation import inlined, inner
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.snapshots.kernels.cells import clear_run, follows
from cepbench.algorithms.snapshots.kernels.products import evaluate
from cepbench.algorithms.snapshots.kernels.vertices import add_expression, floor_of, visit


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
        _visit_shared(i, e, unit, low, high, floor, events, program, state, modular)


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
    state: HamletState,
    modular: bool,
) -> None:
    """As `visit`, for the events of the shared graphlets that unit u took part in: their expressions are summed."""
    template, totals, vertices, graphlets = program.template, state.totals, state.vertices, state.graphlets
    counts, cells = totals.counts[0], graphlets.cells
    unit, which = program.groups.unit[u], template.transition[e].predicates
    p, most, now = unit.position, len(graphlets.snapshot), events.time[i]
    first, stop = counts.oldest_snapshot, np.int64(0)
    to = ROW * most + first
    v = vertices.last[len(template.position) + unit.group]
    while v >= counts.oldest_vertex and vertices.event[v].time >= floor:
        if (
            vertices.event[v].time < now
            and graphlets.among[u, vertices.event[v].graphlet]
            and follows(program.predicates, which, vertices.ints, vertices.reals, v, events.ints, events.reals, i)
        ):
            counts.edges += 1
            if stop == 0:
                stop = counts.snapshots
                clear_run(cells, to, stop - first)
            add_expression(v, cells, to, first, vertices)
        v = vertices.event[v].before
    span = template.window[template.position[p].window].span
    if stop > 0:
        for k in range(low, high + 1):
            evaluate(
                totals.cells, k - low, cells, to, (unit.value + k % span) * most + first, stop - first,
                program.weights, p, modular,
            )  # fmt: skip
