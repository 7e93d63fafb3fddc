"""Events that later ones visit: those of each query in the GRETA graph, shared ones in a queue."""

from __future__ import annotations

from cepbench.algorithms.kernels.cells import Cells, add_all
from cepbench.algorithms.kernels.compilation import inlined
from cepbench.algorithms.kernels.events import KernelEvents, keep_columns
from cepbench.algorithms.kernels.negation import latest_start
from cepbench.algorithms.online.kernels import store
from cepbench.algorithms.online.kernels.lifecycle import ANY
from cepbench.algorithms.online.kernels.reach import visits
from cepbench.algorithms.online.kernels.store import EDGES, LIVE, NO_BLOCK, Graph, keep_vertex, release
from cepbench.algorithms.snapshots.kernels.cells import Index, add
from cepbench.algorithms.snapshots.kernels.template import SetTotals, Template, VertexQueue
from cepbench.queries.tables import Predicates


@inlined
def keep_own(
    time: int, p: int, at: int, low: int, high: int, template: Template, totals: SetTotals, graph: Graph
) -> int:
    """Makes an event, whose trends in window k are cell `at + k - low`, a vertex of position p.

    Returns the place of its attributes, which the caller sets.
    """
    _show(p, time, graph)
    totals.counts[0].own_cells += template.window[template.position[p].window].span
    return keep_vertex(time, p, low, high, template.whole[0].most, totals.cells, at, graph)


@inlined
def _show(p: int, now: int, graph: Graph) -> None:
    """Makes the vertices of position p before `now` visible."""
    block = graph.position[p].tail
    if block != NO_BLOCK:
        v = graph.block[block].size
        if graph.block[block].shown < v and graph.time[block, v - 1] < now:
            store.show(p, graph)


@inlined
def visit(
    i: int, e: int, at: int, low: int, events: KernelEvents, template: Template, predicates: Predicates,
    totals: SetTotals, graph: Graph,
) -> None:  # fmt: skip
    """Adds the trends that event i extends over transition e to those that reach it, cell `at + k - low` for window k.

    As GRETA does, O(n) for n live events of the position.
    """
    edge = template.transition[e]
    q, floor = edge.source, floor_of(i, e, low, events, template)
    _show(q, events.time[i], graph)
    visits.visit(
        i, q, edge.predicates, low, floor, ANY, events, predicates, graph, template.whole[0].most, totals.cells, at
    )
    totals.counts[0].edges += graph.counters[EDGES]
    graph.counters[EDGES] = 0


@inlined
def forget_own(template: Template, totals: SetTotals, graph: Graph) -> None:
    """Drops vertices of positions that have left all windows."""
    if graph.counters[LIVE] == 0:
        return
    for p in range(len(graph.position)):
        w = template.position[p].window
        block, low = graph.position[p].head, totals.open[w].low
        if block != NO_BLOCK and graph.block[block].high < low:
            store.show(p, graph)
        while block != NO_BLOCK and graph.block[block].high < low:
            totals.counts[0].own_cells -= graph.block[block].live * template.window[w].span
            block = release(p, NO_BLOCK, graph)


@inlined
def keep(i: int, n: int, cells: int, events: KernelEvents, totals: SetTotals, vertices: VertexQueue) -> int:
    """Keeps shared event i as the last of list n, with so many cells, which the caller sets; returns its vertex."""
    counts = totals.counts[0]
    v = counts.vertices
    vertex = vertices.event[v]
    vertex.time, vertex.before, vertex.cell = events.time[i], vertices.last[n], counts.vertex_cells
    vertices.last[n], vertex.run = v, 1
    counts.vertices += 1
    counts.vertex_cells += cells
    keep_columns(i, events, vertices.ints, vertices.reals, v)
    return int(v)


@inlined
def has_space(more: Index, cells: Index, blocks: Index, totals: SetTotals, vertices: VertexQueue, graph: Graph) -> bool:
    """Whether there is room for `more` shared vertices with so many cells, and for `blocks` of those of positions;
    otherwise `SetState.make_room` makes it.
    """
    counts = totals.counts[0]
    counts.more_vertices, counts.more_vertex_cells, counts.more_blocks = more, cells, blocks
    fits: bool = counts.vertices + more <= len(vertices.event) and blocks <= graph.left[0]
    return fits and bool(counts.vertex_cells + cells <= len(vertices.cells.over))


@inlined
def floor_of(i: int, e: int, low: int, events: KernelEvents, template: Template) -> int:
    """The time before which no event may connect to event i over transition e: it has left window `low`, or a negated
    match forbids it.
    """
    edge = template.transition[e]
    latest = latest_start(events.negated[i], template.lists, edge.between, edge.between_end)
    return max(low * template.window[template.position[edge.source].window].slide, latest)


@inlined
def first_alike(v: int, now: int, floor: int, which: int, predicates: Predicates, vertices: VertexQueue) -> int:
    """The first vertex of the run that v ends, if an event at `now` may follow all of them; otherwise v.

    It may if their times are in floor..now - 1 and list `which` of predicates is empty.
    """
    first = v - vertices.event[v].run + 1
    checked = predicates.ptr[which + 1] > predicates.ptr[which]
    return v if checked or vertices.event[v].time >= now or vertices.event[first].time < floor else first


@inlined
def add_expressions(begin: int, v: int, cells: Cells, to: int, oldest: int, vertices: VertexQueue) -> None:
    """Adds the expressions of vertices `begin` to v, part of a run: O(s) per vertex.

    Cell `to` gets the coefficients of snapshot `oldest`.
    """
    vertex = vertices.event[begin]
    for s in range(max(oldest, vertex.first), vertex.first + vertex.size):
        cell = vertex.cell + s - vertex.first
        if begin == v:
            add(cells, to + s - oldest, vertices.cells, cell)
        else:
            add_all(cells, to + s - oldest, vertices.cells, cell, vertex.size, v - begin + 1)
