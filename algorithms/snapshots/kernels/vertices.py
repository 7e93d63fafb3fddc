"""Events that later ones visit one by one: where predicates select some of them, or a negated sequence does."""

from __future__ import annotations

from cepbench.algorithms.kernels.cells import Cells, add_all
from cepbench.algorithms.kernels.compilation import inlined, inner
from cepbench.algorithms.kernels.events import KernelEvents, keep_columns
from cepbench.algorithms.snapshots.kernels.cells import Index, add, follows
from cepbench.algorithms.snapshots.kernels.template import SetTotals, Template, VertexQueue
from cepbench.queries.tables import Predicates


@inlined
def keep(i: int, n: int, cells: int, events: KernelEvents, totals: SetTotals, vertices: VertexQueue) -> int:
    """Keeps event i as the last of list n, with so many cells, which the caller sets; returns its vertex."""
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
def has_space(more: Index, cells: Index, totals: SetTotals, vertices: VertexQueue) -> bool:
    """Whether there is room for `more` vertices with so many cells; otherwise `SetState.make_room` makes it."""
    counts = totals.counts[0]
    counts.more_vertices, counts.more_vertex_cells = more, cells
    fits: bool = counts.vertices + more <= len(vertices.event)
    return fits and bool(counts.vertex_cells + cells <= len(vertices.cells.over))


@inlined
def floor_of(i: int, e: int, low: int, events: KernelEvents, template: Template) -> int:
    """The time before which no event may connect to event i over transition e: it has left window `low`, or a negated
    match forbids it.
    """
    edge = template.transition[e]
    floor = low * template.window[template.position[edge.source].window].slide
    for n in range(edge.between, edge.between_end):
        floor = max(floor, events.negated[i, template.lists[n]])
    return floor


@inner
def visit(
    i: int, e: int, at: int, low: int, high: int, events: KernelEvents, template: Template, predicates: Predicates,
    totals: SetTotals, vertices: VertexQueue,
) -> None:  # fmt: skip
    """Adds the trends that event i extends over transition e to those that reach it, cell `at + k - low` for window k.

    O(n) for n live events of the position, of which runs are summed window by window.
    """
    edge, counts = template.transition[e], totals.counts[0]
    window = template.window[template.position[edge.source].window]
    span, slide = window.span, window.slide
    now, floor = events.time[i], floor_of(i, e, low, events, template)
    v = vertices.last[edge.source]
    while v >= counts.oldest_vertex and vertices.event[v].time >= floor:
        first, time = first_alike(v, now, floor, edge.predicates, predicates, vertices), vertices.event[v].time
        if time < now and follows(
            predicates, edge.predicates, vertices.ints, vertices.reals, v, events.ints, events.reals, i
        ):
            counts.edges += v - first + 1
            for k in range(low, min(high, time // slide) + 1):
                cell = vertices.event[first].cell + k % span
                add_all(totals.cells, at + k - low, vertices.cells, cell, span, v - first + 1, None)
        v = vertices.event[first].before


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
            add_all(cells, to + s - oldest, vertices.cells, cell, vertex.size, v - begin + 1, None)
