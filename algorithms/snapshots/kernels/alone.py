"""An event at a position that a member has alone: what it extends, and what reads it later (docs/semantics.md)."""

from __future__ import annotations

from cepbench.algorithms.kernels.cells import begin, is_empty
from cepbench.algorithms.kernels.compilation import inlined, inner
from cepbench.algorithms.kernels.events import KernelEvents, keep_columns
from cepbench.algorithms.snapshots.kernels.cells import add, copy, follows
from cepbench.algorithms.snapshots.kernels.counts import add_cell, clear_cell
from cepbench.algorithms.snapshots.kernels.template import SetTotals, Template, VertexQueue
from cepbench.queries.tables import Predicates


@inlined
def reach(
    i: int,
    p: int,
    at: int,
    low: int,
    high: int,
    events: KernelEvents,
    template: Template,
    totals: SetTotals,
    only: bool,
) -> None:
    """Sets cell `at + k - low` to the trends in window k that event i starts at a position, or extends, by sums.

    O(l) per window for l transitions into the position.
    """
    position, cells = template.position[p], totals.cells
    span = template.window[position.window].span
    for j in range(high - low + 1):
        clear_cell(cells, at + j, only)
    if position.start:
        for k in range(first_free(i, p, low, high, events, template), high + 1):
            begin(cells, at + k - low)
    for e in range(position.enter, position.enter_end):
        if not template.transition[e].visited:
            base = template.slot[template.transition[e].read].cell
            for k in range(low, high + 1):
                add_cell(cells, at + k - low, cells, base + k % span, only)


@inlined
def first_free(i: int, p: int, low: int, high: int, events: KernelEvents, template: Template) -> int:
    """The lowest window in low..high+1 that holds no earlier match of a leading negation of START position p."""
    position = template.position[p]
    free, slide = low, template.window[position.window].slide
    for n in range(position.leading, position.leading_end):
        while free <= high and free * slide <= events.negated[i, template.lists[n]]:
            free += 1
    return free


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
def deliver(
    i: int, p: int, at: int, low: int, high: int, at_once: bool, events: KernelEvents, template: Template,
    totals: SetTotals, vertices: VertexQueue, only: bool,
) -> bool:  # fmt: skip
    """Adds the trends that end with event i at a position, cell `at + k - low` for window k, to what windows keep, and
    keeps the event if it is visited later; False if there is no trend. `at_once` if no other event has its time.
    """
    position, counts, cells = template.position[p], totals.counts[0], totals.cells
    span, found = template.window[position.window].span, False
    for k in range(low, high + 1):
        j = at + k - low
        if not is_empty(cells, j):
            found = True
            for n in range(position.feed, position.feed_end):
                slot = template.slot[template.lists[n]]
                add_cell(cells, (slot.cell if at_once else slot.pending) + k % span, cells, j, only)
            if position.direct:
                add_cell(cells, template.member[position.member].final + k % span, cells, j, only)
    if found and not at_once:
        mark(p, template, totals)
    if found and position.kept:
        v, cell = counts.vertices, counts.vertex_cells
        counts.vertices += 1
        counts.vertex_cells += span
        vertices.event[v].time, vertices.event[v].before, vertices.event[v].cell = (
            events.time[i],
            vertices.last[p],
            cell,
        )
        vertices.last[p] = v
        keep_columns(i, events, vertices.ints, vertices.reals, v)
        for k in range(low, high + 1):
            copy(vertices.cells, cell + k % span, cells, at + k - low)
    return found


@inlined
def mark(p: int, template: Template, totals: SetTotals) -> None:
    """Notes that slots of a position have pending cells."""
    counts = totals.counts[0]
    for n in range(template.position[p].feed, template.position[p].feed_end):
        s = template.lists[n]
        if not totals.pending[s].marked:
            totals.pending[s].marked = True
            totals.pending[counts.touched].touched = s
            counts.touched += 1


@inner
def wait(p: int, row: int, j: int, template: Template, totals: SetTotals, only: bool) -> None:
    """Adds cell j, trends that end at a position now, to slots that later events read."""
    for n in range(template.position[p].feed, template.position[p].feed_end):
        add_cell(totals.cells, template.slot[template.lists[n]].pending + row, totals.cells, j, only)
    mark(p, template, totals)
