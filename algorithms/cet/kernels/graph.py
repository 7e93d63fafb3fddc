"""The CET graph: vertices arrive in time order and get the edges that no longer path replaces (Algorithm 4)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from cepbench.algorithms.kernels.arrays import Flags, Ints, Reals
from cepbench.algorithms.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.kernels.events import KernelEvents, fits, keep_columns
from cepbench.algorithms.kernels.predicates import hold
from cepbench.queries.tables import Tables

VERTICES, EDGES = 0, 1
NO_TRANSITION = -1


class GraphArrays(NamedTuple):
    """Vertices 0..counters[VERTICES]-1 in time order; the owner is `algorithms.cet.graph.CetGraph`.

    - `time[V]`, `position[V]` of the automaton, `place[V]` in the input, `ints[I, V]`, `reals[F, V]`.
    - in-edges of v: `into[in_ptr[v]:in_ptr[v + 1]]`, ascending; `counters[EDGES]` in all.
    - `black[V]`: false between calls; during a call, whether a successor precedes the new event, directly or not.
    """

    time: Ints
    position: Ints
    place: Ints
    in_ptr: Ints
    into: Ints
    black: Flags
    ints: Ints
    reals: Reals
    counters: Ints


@kernel
def insert_events(
    first: int,
    last: int,
    events: KernelEvents,
    place: Ints,
    tables: Tables,
    link: Ints,
    earliest: int,
    connected: bool,
    most: int,
    graph: GraphArrays,
) -> int:
    """Inserts events first..last-1; returns the next event, which is less than `last` if space ran out.

    `link[P, P]`: the transition from one position to another, or NO_TRANSITION. Events before `earliest` are in no
    window. Without `connected`, vertices get no edges. Stops after the event with which the graph exceeds `most` bytes.
    O(|V| + |E|) per event. A vertex that no START event reaches is not stored.
    """
    count = graph.counters
    for i in range(first, last):
        at = tables.binding_ptr[events.kind[i]]
        if at == tables.binding_ptr[events.kind[i] + 1] or events.time[i] < earliest:
            continue
        p = tables.binding[at]
        if not fits(p, i, events, tables):
            continue
        v = count[VERTICES]
        if v == len(graph.time) or count[EDGES] + v > len(graph.into):
            return i
        before = count[EDGES]
        if connected:
            _connect(i, p, events, tables, link, graph)
        if count[EDGES] == before and not tables.start[p]:
            continue
        graph.time[v], graph.position[v], graph.place[v] = events.time[i], p, place[i]
        keep_columns(i, events, graph.ints, graph.reals, v)
        graph.black[v] = False
        graph.in_ptr[v + 1] = count[EDGES]
        count[VERTICES] = v + 1
        if graph_bytes(graph) > most:
            return i + 1
    return last


@kernel
def graph_bytes(graph: GraphArrays) -> int:
    """Bytes of all vertices and edges."""
    vertex = 33 + 8 * (graph.ints.shape[0] + graph.reals.shape[0])
    return vertex * graph.counters[VERTICES] + 8 * graph.counters[EDGES]


@inlined
def adjacent(u: int, e: int, graph: GraphArrays, tables: Tables, ints: Ints, reals: Reals, i: int) -> bool:
    """Whether transition e leads from vertex u to the event in columns `i` of `ints` and `reals`; ignores times."""
    return e != NO_TRANSITION and hold(tables.adjacent, e, graph.ints, graph.reals, u, ints, reals, i)


@inner
def _connect(i: int, p: int, events: KernelEvents, tables: Tables, link: Ints, graph: GraphArrays) -> None:
    """Adds in-edges of event i at position p from the vertices that can precede it and have no black successor.

    A black vertex precedes the event, directly or over others. Vertices are visited from the last one back, and a black
    vertex blackens its predecessors.
    """
    black, before = graph.black, graph.counters[EDGES]
    size = before
    for u in range(graph.counters[VERTICES] - 1, -1, -1):
        if not black[u]:
            if graph.time[u] >= events.time[i]:
                continue
            if not adjacent(u, link[graph.position[u], p], graph, tables, events.ints, events.reals, i):
                continue
            graph.into[size] = u
            size += 1
        black[u] = False
        for at in range(graph.in_ptr[u], graph.in_ptr[u + 1]):
            black[graph.into[at]] = True
    for k in range((size - before) // 2):
        one, other = before + k, size - 1 - k
        graph.into[one], graph.into[other] = graph.into[other], graph.into[one]
    graph.counters[EDGES] = size


@kernel
def drop_before(oldest: int, graph: GraphArrays) -> None:
    """Drops vertices before time `oldest` with their edges and renumbers the rest; O(|V| + |E|)."""
    count = graph.counters
    size = count[VERTICES]
    gone = int(np.searchsorted(graph.time[:size], oldest))
    if gone == 0:
        return
    kept = 0
    begin = graph.in_ptr[gone]
    for v in range(gone, size):
        w = v - gone
        graph.time[w], graph.position[w], graph.place[w] = graph.time[v], graph.position[v], graph.place[v]
        for c in range(graph.ints.shape[0]):
            graph.ints[c, w] = graph.ints[c, v]
        for c in range(graph.reals.shape[0]):
            graph.reals[c, w] = graph.reals[c, v]
        end = graph.in_ptr[v + 1]
        for at in range(begin, end):
            if graph.into[at] >= gone:
                graph.into[kept] = graph.into[at] - gone
                kept += 1
        begin = end
        graph.in_ptr[w + 1] = kept
    count[VERTICES], count[EDGES] = size - gone, kept


@kernel
def number_live(tables: Tables, graph: GraphArrays, number: Ints) -> int:
    """Sets `number[v]` to the vertex's rank among the live ones, or -1; returns their number. O(|V| + |E|)."""
    size = graph.counters[VERTICES]
    for v in range(size):
        number[v] = 1 if tables.start[graph.position[v]] else 0
        for at in range(graph.in_ptr[v], graph.in_ptr[v + 1]):
            number[v] |= number[graph.into[at]] & 1
    for v in range(size - 1, -1, -1):
        if tables.end[graph.position[v]]:
            number[v] |= 2
        if number[v] & 2:
            for at in range(graph.in_ptr[v], graph.in_ptr[v + 1]):
                number[graph.into[at]] |= 2
    live = 0
    for v in range(size):
        if number[v] == 3:
            number[v] = live
            live += 1
        else:
            number[v] = -1
    return live


@kernel
def count_live_edges(graph: GraphArrays, number: Ints) -> int:
    """Number of edges between live vertices."""
    edges = 0
    for v in range(graph.counters[VERTICES]):
        if number[v] >= 0:
            for at in range(graph.in_ptr[v], graph.in_ptr[v + 1]):
                edges += number[graph.into[at]] >= 0
    return edges


@kernel
def extract_live(graph: GraphArrays, number: Ints, time: Ints, place: Ints, in_ptr: Ints, into: Ints) -> None:
    """Writes the live vertices and their in-edges; O(|V| + |E|)."""
    edges = 0
    in_ptr[0] = 0
    for v in range(graph.counters[VERTICES]):
        w = number[v]
        if w >= 0:
            time[w], place[w] = graph.time[v], graph.place[v]
            for at in range(graph.in_ptr[v], graph.in_ptr[v + 1]):
                if number[graph.into[at]] >= 0:
                    into[edges] = number[graph.into[at]]
                    edges += 1
            in_ptr[w + 1] = edges


@kernel
def restrict_edges(low: int, high: int, in_ptr: Ints, into: Ints, own_ptr: Ints, own: Ints) -> int:
    """Writes the in-edges inside vertices low..high-1, renumbered from 0; returns their number. O(|V| + |E|)."""
    edges = 0
    own_ptr[0] = 0
    for v in range(low, high):
        for at in range(in_ptr[v], in_ptr[v + 1]):
            if into[at] >= low:
                own[edges] = into[at] - low
                edges += 1
        own_ptr[v - low + 1] = edges
    return edges


@kernel
def reverse_edges(in_ptr: Ints, into: Ints, out_ptr: Ints, out: Ints) -> None:
    """Out-edges from in-edges, targets ascending. The caller zeroes `out_ptr[V + 1]`. O(|V| + |E|)."""
    size = len(in_ptr) - 1
    for at in range(in_ptr[size]):
        out_ptr[into[at] + 1] += 1
    for v in range(size):
        out_ptr[v + 1] += out_ptr[v]
    for v in range(size):
        for at in range(in_ptr[v], in_ptr[v + 1]):
            u = into[at]
            out[out_ptr[u]] = v
            out_ptr[u] += 1
    for v in range(size, 0, -1):
        out_ptr[v] = out_ptr[v - 1]
    out_ptr[0] = 0
