"""Non-shared graphlets: each query computes its own aggregates of an event, window by window (Section 3.2)."""

from __future__ import annotations

from cepbench.algorithms.hamlet.kernels.cells import append, fits
from cepbench.algorithms.hamlet.kernels.program import NONE, HamletProgram
from cepbench.algorithms.hamlet.kernels.state import (
    NOW,
    TOUCHED,
    VERTICES,
    VISITS,
    GraphletStore,
    Totals,
    Vertices,
)
from cepbench.algorithms.hamlet.kernels.visiting import visit
from cepbench.algorithms.hamlet.kernels.windows import commit
from cepbench.algorithms.kernels.cells import Cells, add, begin, clear, copy, is_empty
from cepbench.algorithms.kernels.compilation import inlined, inner
from cepbench.algorithms.kernels.events import KernelEvents, keep_columns


@inner
def propagate_alone(
    first: int,
    stop: int,
    events: KernelEvents,
    program: HamletProgram,
    totals: Totals,
    vertices: Vertices,
    graphlets: GraphletStore,
    modular: bool,
) -> None:
    """Inserts a burst into a graphlet of each position that does not share it (Equations 1-3).

    O(l) per event and window for l transitions into its position, whose sums are kept; O(n) for one that is visited.
    """
    tables, members, groups = program.template, program.members, program.groups
    kind = events.kind[first]
    for i in range(first, stop):
        if events.kind[i] != kind:
            continue
        if events.time[i] > totals.counts[NOW]:
            commit(events.negated[i], program, totals)
            totals.counts[NOW] = events.time[i]
        for b in range(tables.binding_ptr[kind], tables.binding_ptr[kind + 1]):
            p = tables.binding[b]
            u = groups.unit_of[p]
            if (u != NONE and graphlets.share[u]) or not fits(program.local, p, events.ints, events.reals, i):
                continue
            w = members.windows[members.of[p]]
            low, high = totals.low[w], totals.high[w]
            if low > high:
                continue
            totals.counts[VISITS] += 1
            for k in range(high - low + 1):
                clear(totals.reached, k)
            begin_and_follow(i, p, low, high, NONE, events, program, totals)
            for e in range(tables.enter_ptr[p], tables.enter_ptr[p + 1]):
                if program.places.visited[e]:
                    visit(i, e, low, high, events, program, totals, vertices, graphlets, modular)
            _insert(i, p, low, high, events, program, totals, vertices)


@inlined
def begin_and_follow(
    i: int, p: int, low: int, high: int, without: int, events: KernelEvents, program: HamletProgram, totals: Totals
) -> None:
    """Adds to `totals.reached` the trends that event i starts at a position, and those that it extends as sums tell.

    Without transition `without`.
    """
    tables, members, places = program.template, program.members, program.places
    w = members.windows[members.of[p]]
    span, slide = members.span[w], members.slide[w]
    if tables.start[p]:
        free = low
        for n in range(tables.leading_ptr[p], tables.leading_ptr[p + 1]):
            while free <= high and free * slide <= events.negated[i, tables.leading[n]]:
                free += 1
        for k in range(free, high + 1):
            begin(totals.reached, k - low)
    for e in range(tables.enter_ptr[p], tables.enter_ptr[p + 1]):
        if not places.visited[e] and e != without:
            base = members.slot_base[places.read[e]]
            for k in range(low, high + 1):
                add(totals.reached, k - low, totals.cells, base + k % span)


@inlined
def _insert(
    i: int,
    p: int,
    low: int,
    high: int,
    events: KernelEvents,
    program: HamletProgram,
    totals: Totals,
    vertices: Vertices,
) -> None:
    """Appends event i at a position to the trends in `totals.reached`, and keeps it if it is visited later."""
    members = program.members
    span = members.span[members.windows[members.of[p]]]
    found = False
    for k in range(low, high + 1):
        if not is_empty(totals.reached, k - low):
            found = True
            append(totals.reached, k - low, program.weights, p, events.ints, events.reals, i)
            feed(p, k % span, totals.reached, k - low, program, totals)
    if found and program.places.kept[p]:
        v = totals.counts[VERTICES]
        totals.counts[VERTICES] += 1
        vertices.time[v], vertices.before[v] = events.time[i], vertices.last[p]
        vertices.last[p] = v
        keep_columns(i, events, vertices.ints, vertices.reals, v)
        for k in range(low, high + 1):
            copy(vertices.cells, v * vertices.most[0] + k % span, totals.reached, k - low)


@inlined
def feed(p: int, row: int, trends: Cells, j: int, program: HamletProgram, totals: Totals) -> None:
    """Adds cell j of `trends`, those that end at a position now, to what its window keeps."""
    members, places = program.members, program.places
    for f in range(places.feed_ptr[p], places.feed_ptr[p + 1]):
        slot = places.feed[f]
        add(totals.pending, members.slot_base[slot] + row, trends, j)
        if not totals.marked[slot]:
            totals.marked[slot] = True
            totals.touched[totals.counts[TOUCHED]] = slot
            totals.counts[TOUCHED] += 1
    if places.direct[p]:
        add(totals.final, members.final_base[members.of[p]] + row, trends, j)
