"""Non-shared graphlets: each query computes its own aggregates of an event, window by window (Section 3.2)."""

from __future__ import annotations

from cepbench.algorithms.hamlet.kernels.program import NONE, HamletProgram, TemplateTables
from cepbench.algorithms.hamlet.kernels.state import HamletState, Totals, Vertices
from cepbench.algorithms.hamlet.kernels.visiting import visit
from cepbench.algorithms.hamlet.kernels.windows import commit
from cepbench.algorithms.kernels.arrays import Flags
from cepbench.algorithms.kernels.cells import Cells, add, begin, copy, counts_only, is_empty
from cepbench.algorithms.kernels.compilation import inlined, inner
from cepbench.algorithms.kernels.events import KernelEvents, keep_columns
from cepbench.algorithms.snapshots.kernels.cells import append_run, fits, fits_class
from cepbench.algorithms.snapshots.kernels.counts import add_cell, clear_cell


@inner
def propagate_alone(
    first: int, stop: int, events: KernelEvents, matches: Flags, program: HamletProgram, state: HamletState,
    modular: bool,
) -> None:  # fmt: skip
    """Inserts a burst into a graphlet of each position that does not share it (Equations 1-3).

    O(l) per event and window for l transitions into its position, whose sums are kept; O(n) for one that is visited.
    """
    template, totals, counts = program.template, state.totals, state.totals.counts[0]
    kind = events.kind[first]
    bound = template.kind[kind]
    for i in range(first, stop):
        if events.kind[i] != kind:
            continue
        if events.time[i] > counts.now:
            commit(events.negated[i], template, totals)
            counts.now = events.time[i]
        for b in range(bound.binding, bound.binding_end):
            p = template.lists[b]
            position = template.position[p]
            if position.unit != NONE and state.graphlets.unit[position.unit].now:
                continue
            if position.selective and not matches_alone(i, p, events, matches, program):
                continue
            low, high = totals.open[position.window].low, totals.open[position.window].high
            if low > high:
                continue
            counts.visits += 1
            reach(i, p, low, high, events, template, totals.cells)
            for e in range(position.enter, position.enter_end):
                if template.transition[e].visited:
                    visit(i, e, low, high, events, program, state, modular)
            _insert(i, p, low, high, events, program, totals, state.vertices)


@inner
def matches_alone(i: int, p: int, events: KernelEvents, matches: Flags, program: HamletProgram) -> bool:
    """Whether event i passes the local predicates of a position."""
    unit = program.template.position[p].unit
    if unit == NONE:
        return fits(program.predicates, p, events.ints, events.reals, i)
    c = program.groups.unit[unit].alike
    return fits_class(matches, c, program.predicates, p, events.ints, events.reals, i)


@inlined
def reach(i: int, p: int, low: int, high: int, events: KernelEvents, template: TemplateTables, cells: Cells) -> None:
    """Sets cell k - low to the trends in window k that event i starts at a position, or extends, as sums tell."""
    position = template.position[p]
    span, slide = template.window[position.window].span, template.window[position.window].slide
    only = counts_only(cells)
    for j in range(high - low + 1):
        clear_cell(cells, j, only)
    if position.start:
        free = low
        for n in range(position.leading, position.leading_end):
            while free <= high and free * slide <= events.negated[i, template.lists[n]]:
                free += 1
        for k in range(free, high + 1):
            begin(cells, k - low)
    for e in range(position.enter, position.enter_end):
        if not template.transition[e].visited:
            base = template.slot[template.transition[e].read].cell
            for k in range(low, high + 1):
                add_cell(cells, k - low, cells, base + k % span, only)


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
    """Appends event i at a position to the trends that reach it, and keeps it if it is visited later."""
    template, counts, cells = program.template, totals.counts[0], totals.cells
    span = template.window[template.position[p].window].span
    append_run(cells, 0, high - low + 1, program.weights, p, events.ints, events.reals, i)
    found = False
    for k in range(low, high + 1):
        if not is_empty(cells, k - low):
            found = True
            feed(p, k % span, k - low, template, totals)
    if found and template.position[p].kept:
        v = counts.vertices
        counts.vertices += 1
        vertices.event[v].time, vertices.event[v].before = events.time[i], vertices.last[p]
        vertices.last[p] = v
        keep_columns(i, events, vertices.ints, vertices.reals, v)
        for k in range(low, high + 1):
            copy(vertices.cells, v * template.whole[0].most + k % span, cells, k - low)


@inlined
def feed(p: int, row: int, j: int, template: TemplateTables, totals: Totals) -> None:
    """Adds cell j, trends that end at a position now, to what its window keeps."""
    position, cells = template.position[p], totals.cells
    wait(p, row, j, template, totals)
    if position.direct:
        add(cells, template.member[position.member].final + row, cells, j)


@inner
def wait(p: int, row: int, j: int, template: TemplateTables, totals: Totals) -> None:
    """Adds cell j, trends that end at a position now, to slots that later events read."""
    position, counts, cells = template.position[p], totals.counts[0], totals.cells
    for n in range(position.feed, position.feed_end):
        s = template.lists[n]
        add_cell(cells, template.slot[s].pending + row, cells, j, counts_only(cells))
        if not totals.pending[s].marked:
            totals.pending[s].marked = True
            totals.pending[counts.touched].touched = s
            counts.touched += 1
