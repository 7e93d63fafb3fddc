"""Events before an event, visited one by one: where predicates select some of them, or a negated sequence does."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.hamlet.kernels.program import NONE, HamletProgram
from cepbench.algorithms.hamlet.kernels.state import VISITED, HamletState
from cepbench.algorithms.kernels.compilation import in_python, inlined, inner
from cepbench.algorithms.kernels.events import KernelEvents
from cepbench.algorithms.snapshots.kernels.cells import clear_run, follows
from cepbench.algorithms.snapshots.kernels.products import evaluate
from cepbench.algorithms.snapshots.kernels.vertices import add_expressions, first_alike, floor_of, visit

_visit = inlined(in_python(visit))
"""Compiled in, as `alone` has this part itself."""


@inner
def visit_all(
    i: int, e: int, low: int, high: int, events: KernelEvents, program: HamletProgram, state: HamletState
) -> None:
    """Adds the trends that event i extends over transition e to those that reach it, cell k - low for window k.

    Events of shared graphlets that the unit before took part in have expressions, which are summed and then evaluated.
    O(n) for n live events of the position, and O(n s + w s) for those of shared graphlets over s snapshots.
    """
    template, totals, vertices, graphlets = program.template, state.totals, state.vertices, state.graphlets
    _visit(i, e, 0, low, events, template, program.predicates, totals, state.graph)
    adjacent = program.predicates
    u, which = template.position[template.transition[e].source].unit, template.transition[e].predicates
    if u == NONE:
        return
    unit, counts, cells = template.unit[u], totals.counts[0], graphlets.cells
    most, now, floor = len(graphlets.snapshot), events.time[i], floor_of(i, e, low, events, template)
    first, stop = counts.oldest_snapshot, np.int64(0)
    to = VISITED * most + first
    v = vertices.last[unit.group]
    while v >= counts.oldest_vertex and vertices.event[v].time >= floor:
        vertex, begin = vertices.event[v], first_alike(v, now, floor, which, adjacent, vertices)
        if (
            vertex.time < now
            and graphlets.among[u, vertex.graphlet]
            and follows(adjacent, which, vertices.ints, vertices.reals, v, events.ints, events.reals, i)
        ):
            counts.edges += v - begin + 1
            if stop == 0:
                stop = counts.snapshots
                clear_run(cells, to, stop - first)
            add_expressions(begin, v, cells, to, first, vertices)
        v = vertices.event[begin].before
    span = template.window[template.position[unit.position].window].span
    if stop > 0:
        for k in range(low, high + 1):
            evaluate(
                totals.cells, k - low, cells, to, (unit.value + k % span) * most + first, stop - first,
                program.weights, unit.position,
            )  # fmt: skip
