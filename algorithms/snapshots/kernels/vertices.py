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
    vertices.last[n] = v
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

    O(n) for n live events of the position.
    """
    edge, counts = template.transition[e], totals.counts[0]
    window = template.window[template.position[edge.source].window]
    span, slide = window.span, window.slide
    now, floor = events.time[i], floor_of(i, e, low, events, template)
    v = vertices.last[edge.source]
    while v >= counts.oldest_vertex:
        time = vertices.event[v].time
        if time < floor:
            break
        if time < now and follows(
            predicates, edge.predicates, vertices.ints, vertices.reals, v, events.ints, events.reals, i
        ):
            counts.edges += 1
            for k in range(low, min(high, time // slide) + 1):
                add(totals.cells, at + k - low, vertices.cells, vertices.event[v].cell + k % span)
        v = vertices.event[v].before


@inlined
def add_expressions(v: int, run: int, cells: Cells, to: int, oldest: int, vertices: VertexQueue) -> None:
    """Adds the expressions of `run` vertices, all over the same snapshots, of which v is the last: O(s) per vertex.

    Cell `to` gets the coefficients of snapshot `oldest`.
    """
    vertex, first = vertices.event[v - run + 1], vertices.event[v].first
    for s in range(max(oldest, first), first + vertex.size):
        add_all(cells, to + s - oldest, vertices.cells, vertex.cell + s - first, vertex.size, run, None)
