"""Events before an event, visited one by one: where predicates select some of them, or a negated sequence does."""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.hamlet.kernels.cells import add, clear, follows
from cepbench.algorithms.hamlet.kernels.products import add_product
from cepbench.algorithms.hamlet.kernels.program import NONE, HamletProgram
from cepbench.algorithms.hamlet.kernels.state import (
    EDGES,
    OLDEST_SNAPSHOT,
    OLDEST_STORED,
    OLDEST_VERTEX,
    SNAPSHOTS,
    GraphletStore,
    Totals,
    Vertices,
)
from cepbench.algorithms.kernels.compilation import inner
from cepbench.algorithms.kernels.events import KernelEvents


@inner
def floor_of(i: int, e: int, events: KernelEvents, program: HamletProgram) -> int:
    """The time before which no event may connect to event i over transition e, as a negated match forbids it."""
    floor = -1
    for n in range(program.template.between_ptr[e], program.template.between_ptr[e + 1]):
        floor = max(floor, int(events.negated[i, program.template.between[n]]))
    return floor


@inner
def visit(
    i: int,
    e: int,
    low: int,
    high: int,
    events: KernelEvents,
    program: HamletProgram,
    totals: Totals,
    vertices: Vertices,
    graphlets: GraphletStore,
    modular: bool,
) -> None:
    """Adds the trends that event i extends over transition e to `totals.reached`, cell k - low for window k.

    O(n) for n live events of the position, and O(n s + w s) for events of shared graphlets over s snapshots.
    """
    tables, members = program.template, program.members
    q = tables.source[e]
    m = members.of[q]
    span, slide = members.span[members.windows[m]], members.slide[members.windows[m]]
    now, floor = events.time[i], max(floor_of(i, e, events, program), low * slide)
    v = vertices.last[q]
    while v >= totals.counts[OLDEST_VERTEX]:
        if vertices.time[v] < floor:
            break
        if vertices.time[v] < now and follows(
            program.adjacent, e, vertices.ints, vertices.reals, v, events.ints, events.reals, i
        ):
            totals.counts[EDGES] += 1
            for k in range(low, min(high, vertices.time[v] // slide) + 1):
                add(totals.reached, k - low, vertices.cells, v * vertices.most[0] + k % span)
        v = vertices.before[v]
    u = program.groups.unit_of[q]
    if u != NONE:
        _visit_shared(i, e, u, low, high, floor, events, program, totals, graphlets, modular)


@inner
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
    members, groups = program.members, program.groups
    g = groups.of_unit[u]
    most = len(graphlets.snapshot_time)
    v = graphlets.last[g]
    first, stop = totals.counts[OLDEST_SNAPSHOT], np.int64(0)
    now = events.time[i]
    while v >= totals.counts[OLDEST_STORED]:
        if graphlets.time[v] < floor:
            break
        if (
            graphlets.time[v] < now
            and graphlets.among[graphlets.graphlet[v], u]
            and follows(program.adjacent, e, graphlets.ints, graphlets.reals, v, events.ints, events.reals, i)
        ):
            totals.counts[EDGES] += 1
            if stop == 0:
                stop = totals.counts[SNAPSHOTS]
                for s in range(first, stop):
                    clear(graphlets.row, s)
            for s in range(first, graphlets.snapshots[v]):
                add(graphlets.row, s, graphlets.coefficients, v * most + s)
        v = graphlets.before[v]
    p = groups.position[u]
    span = members.span[members.windows[members.of[p]]]
    for s in range(first, stop):
        if graphlets.snapshot_group[s] == g:
            for k in range(low, high + 1):
                at = s * groups.contexts[0] + groups.context[u] + k % span
                add_product(totals.reached, k - low, graphlets.row, s, graphlets.value, at, program.weights, p, modular)
