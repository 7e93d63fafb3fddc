"""The queue of shared events that later events visit; events of a single query are in the GRETA graph."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.engine.kernels.arrays import Ints, Reals
from cepbench.algorithms.engine.kernels.cells import Cells, add_all
from cepbench.algorithms.engine.kernels.compilation import inlined
from cepbench.algorithms.engine.kernels.constants import ANY, LATEST, NEVER, NONE
from cepbench.algorithms.engine.kernels.events import KernelEvents, keep_columns
from cepbench.algorithms.trends.online.kernels.records import ProgressRecord
from cepbench.algorithms.trends.online.kernels.store import Graph, purge, show_vertices
from cepbench.algorithms.trends.online.kernels.template import Template, Totals
from cepbench.algorithms.trends.snapshots.kernels.cells import Index, add
from cepbench.queries.records import Records, records_of
from cepbench.queries.tables import Predicates


class VertexRecord:
    """A shared event that later events visit, and the vertex `before` it in its list (below the oldest: none).

    Cell `cell + s - first` is its coefficient of snapshot s, for `size` snapshots from `first` on. `run`: the number of
    vertices of its list up to this one whose cells are contiguous and of the same snapshots.
    """

    time: int
    before: int
    cell: int
    first: int
    size: int
    run: int


LINK_BYTES = records_of(VertexRecord).itemsize - 8
"""Bytes of a shared vertex in addition to those of a vertex of one query (`online.blocks.event_bytes`)."""


class QueueRecord(ProgressRecord):
    """Progress of a sharable set.

    - Ends of the queue of `vertices` and of their cells; vertices leave at its oldest end. `more_vertices`,
      `more_vertex_cells`, `more_blocks`: the room that the next step may need.
    - `visits`: events, counted once for each graphlet or event type of the template that they are inserted into.
    """

    vertices: int
    oldest_vertex: int
    vertex_cells: int
    oldest_cell: int
    more_vertices: int
    more_vertex_cells: int
    more_blocks: int
    visits: int


class VertexQueue(NamedTuple):
    """Events of shared graphlets (Hamlet) or shared transitions (Gloria) that later events visit: lists in time order.

    `event[V]` with attributes `ints[I, V]`, `reals[F, V]`, linked by list from `last[L]` on; `cells` as `event` says.
    """

    event: Records
    last: Ints
    ints: Ints
    reals: Reals
    cells: Cells


@inlined
def keep(i: int, n: int, cells: int, events: KernelEvents, totals: Totals, vertices: VertexQueue) -> int:
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
def has_space(needed: Index, cells: Index, blocks: Index, totals: Totals, vertices: VertexQueue, graph: Graph) -> bool:
    """Whether there is room for `needed` shared vertices with so many cells, and for `blocks` of those of positions;
    otherwise `SetState.make_room` makes it.
    """
    counts = totals.counts[0]
    counts.more_vertices, counts.more_vertex_cells, counts.more_blocks = needed, cells, blocks
    fits: bool = counts.vertices + needed <= len(vertices.event) and blocks <= graph.left[0]
    return fits and bool(counts.vertex_cells + cells <= len(vertices.cells.over))


@inlined
def first_of_run(v: int, now: int, floor: int, which: int, predicates: Predicates, vertices: VertexQueue) -> int:
    """The first vertex of the run that v ends, if an event at `now` may follow the whole run; otherwise v.

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


@inlined
def forget_vertices(template: Template, totals: Totals, vertices: VertexQueue, graph: Graph) -> np.int64:
    """Drops vertices that have left all windows; returns the time at which the oldest open window begins."""
    counts = totals.counts[0]
    for p in range(len(graph.position) if graph.size[0].vertices > 0 else 0):
        if graph.position[p].head != NONE:
            show_vertices(p, graph)
            purge(p, NEVER, ANY, totals.open[template.position[p].window].low, graph)
    oldest = np.int64(LATEST)
    for w in range(len(totals.open)):
        oldest = min(oldest, totals.open[w].low * template.window[w].slide)
    while counts.oldest_vertex < counts.vertices and vertices.event[counts.oldest_vertex].time < oldest:
        counts.oldest_vertex += 1
    empty = counts.oldest_vertex == counts.vertices
    counts.oldest_cell = counts.vertex_cells if empty else vertices.event[counts.oldest_vertex].cell
    return oldest
