"""The GRETA graph: a cell per vertex and window; edges are visited, not stored (dissertation Algorithm 6: `_insert`).

Mixed-grained and pattern-grained aggregation build on it (Section 15.2, Algorithm 8; Section 16.2, Algorithm 9).

Positions that are not kept per event use the slots of the windows.

Algorithm 9 keeps one last matched event. Definition 2.7 needs every event that still waits for its first successor:
under skip-till-next-match a vertex leaves when events of one time stamp extend it, under contiguous semantics when the
time moves on. So O(u) time per event and O(u) space for u waiting events, instead of O(1); u is 1 where Algorithm 9 is
right.
"""

from __future__ import annotations

from typing import NamedTuple

from cepbench.algorithms.engine.kernels.arrays import Ints, Static
from cepbench.algorithms.engine.kernels.cells import Weighing, add_all, add_selected
from cepbench.algorithms.engine.kernels.clock import row_of
from cepbench.algorithms.engine.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.engine.kernels.constants import ANY, CONTIGUOUS, LATEST, NEVER, NEXT, NONE
from cepbench.algorithms.engine.kernels.events import KernelEvents, Sliding, fits
from cepbench.algorithms.engine.kernels.lanes import DONE, ROOM, ROWS, Calls, over_keys
from cepbench.algorithms.engine.kernels.negation import latest_start
from cepbench.algorithms.trends.online.kernels.lifecycle import any_ends, close_windows, commit, note_size, open_windows
from cepbench.algorithms.trends.online.kernels.step import append_run, collect_sums, deliver
from cepbench.algorithms.trends.online.kernels.store import (
    Blocks,
    KeyGraph,
    KeyState,
    State,
    leave,
    purge,
    select,
    show_before,
    show_vertices,
    state_of,
)
from cepbench.algorithms.trends.online.kernels.template import GraphTables, MemberRows, Program, Template, Totals
from cepbench.queries.tables import Predicates


class GraphProgram(NamedTuple):
    """The constants of a lane (`kernels.lanes`). List e of `predicates` is that of transition e.

    `keeps`: whether the events of some position are kept. Where none are, an event took up to 1.4 times as long if this
    was not known when the kernel was compiled.
    """

    template: GraphTables
    predicates: Predicates
    weights: Weighing
    keeps: Static
    window: Sliding


@inner
def propagate(
    first: int, until: int, events: KernelEvents, program: GraphProgram, blocks: Blocks, key: KeyGraph, out: MemberRows,
    size: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Inserts the events of one key into its graph; arguments as in `kernels.lanes`.

    Each event visits every vertex that may precede it, in every window that both share: O(n**2 k) for n events per
    window of which each lies in k windows, O(n k) space (Theorem 11.5).
    """
    template, state = program.template, state_of(blocks, key)
    totals, semantics = state.totals, template.whole[0].semantics
    counts = totals.counts[0]
    n = len(events.time)
    for i in range(first, n + 1):
        now = until
        if i < n:
            now = events.time[i]
        elif not any_ends(until, template.window, totals.open):
            break
        fresh = now != counts.now
        if fresh:
            if size + template.whole[0].open > len(out.window):
                return i, size, ROWS
            size = _advance(now, events.negated[i], program, state, out, size)
        if i == n:
            break
        counts.occupied = True
        kind = template.kind[events.kind[i]]
        if program.keeps and state.graph.left[0] < kind.kept:
            return i, size, ROOM
        at_once = fresh and semantics != CONTIGUOUS and kind.binding_end - kind.binding == 1
        at_once = at_once and i + 1 < n and events.time[i + 1] != now
        for j in range(len(totals.seen)):
            at_once = at_once and events.negated[i + 1, j] <= totals.seen[j]  # or it is a match that empties slots, too
        for b in range(kind.binding, kind.binding_end):
            _insert(i, template.lists[b], at_once, events, program, state)
    return n, size, DONE


@kernel
def propagate_keys(
    at: int, done: int, calls: Calls, fixed: GraphProgram, blocks: Blocks, lanes: KeyGraph, rows: MemberRows
) -> tuple[int, int, int, int]:
    """`propagate` over keys."""
    return over_keys(propagate, at, done, calls, fixed, blocks, lanes, rows)


@inlined
def _insert(i: int, p: int, at_once: bool, events: KernelEvents, program: GraphProgram, state: KeyState) -> None:
    """Event i at position p: collects the cells of its predecessors and becomes a vertex, if it matches.

    The table has the letters of the dissertation: e is event i, p a vertex before it. In the code, p is a position and
    t a transition. In each window:

        collect_sums  e.count = 1 if e starts trends, + E'.count of slots (none in GRETA)   Algorithm 8, Lines 6-8
        visit         for each p before e: e.count += p.count                               Algorithm 6, Line 7
        append_run    the other aggregates of e                                             Theorem 12.1
        deliver       V += e, E.count += e.count, final_count += e.count                    Algorithm 6, Lines 6, 8

        SEQ(A+, B)  a1: 1   a2: 1 + 1   b3: 1 + 2   a4: 1 + 1 + 2   b5: 1 + 2 + 4   final_count: 3 + 7
    """
    template, totals, position = program.template, state.totals, program.template.position[p]
    low, high = totals.open[position.window].low, totals.open[position.window].high
    if low > high or not fits(position.condition, i, events):
        return
    collect_sums(i, p, 0, at_once, events, template, totals)
    if program.keeps:
        for t in range(position.enter, position.enter_end):
            if template.transition[t].visited:
                visit(i, t, 0, events, program, state)
    append_run(i, p, totals.cells, 0, high - low + 1, events, program.weights)
    deliver(i, p, 0, at_once, events, template, state)


@inlined
def visit(i: int, t: int, at: int, events: KernelEvents, program: Program, state: State) -> None:
    """Adds the trends that event i extends over transition t to cell `at + k - low`, for each window k.

    Line 7 of Algorithm 6: O(n) for n live events of the position.
    """
    template, predicates, totals, graph = program.template, program.predicates, state.totals, state.graph
    edge = template.transition[t]
    q, which, semantics = edge.source, edge.predicates, template.whole[0].semantics
    low, floor = totals.open[template.position[q].window].low, floor_of(i, t, events, template, totals)
    show_before(q, events.time[i], graph)
    if semantics == NEXT:
        graph.position[q].extended = True
    width, span, cells = graph.time.shape[1], template.whole[0].span, totals.cells
    row = low % span
    checked = predicates.ptr[which + 1] > predicates.ptr[which]
    block = graph.position[q].head
    while block != NONE:
        shown, visited = graph.block[block].shown, graph.block[block].live
        if visited > 0 and graph.block[block].high >= low and graph.time[block, shown - 1] >= floor:
            whole = visited == shown and not checked and graph.time[block, 0] >= floor and semantics != NEXT
            if not whole:
                visited = select(i, edge, block, floor, events, predicates, graph)
            if semantics == NEXT:
                for s in range(visited):
                    graph.time[block, graph.selected[s]] = events.time[i]  # they leave when this time ends
            totals.counts[0].edges += visited
            first, last = max(low, graph.block[block].low), graph.block[block].high
            if visited > 0:
                for k in range(first, last + 1):
                    base = (block * span + row_of(k, low, row, span)) * width
                    if whole:
                        add_all(cells, at + k - low, graph.cells, base, 1, visited)
                    else:
                        add_selected(cells, at + k - low, graph.cells, base, graph.selected, visited)
        block = graph.block[block].next


@inlined
def floor_of(i: int, t: int, events: KernelEvents, template: Template, totals: Totals) -> int:
    """The time before which no event may precede event i over transition t: earlier events have left all windows, or a
    negated match forbids them.
    """
    edge, w = template.transition[t], template.position[template.transition[t].source].window
    latest = latest_start(events.negated[i], template.lists, edge.between, edge.between_end)
    return max(totals.open[w].low * template.window[w].slide, latest)


@inlined
def _advance(now: int, negated: Ints, program: GraphProgram, state: KeyState, out: MemberRows, size: int) -> int:
    """Ends the current time stamp, closes windows that end by `now`, opens those of `now`, and drops vertices that no
    window holds, that are invalid, or that wait no longer (Sections 11.2, 11.4 and 16.2); returns rows in `out`.
    """
    template, totals, graph = program.template, state.totals, state.graph
    counts, whole = totals.counts[0], template.whole[0]
    moved = now >= counts.edge
    if program.keeps or moved:
        live, cells = graph.size[0].vertices, graph.size[0].cells
        note_size(live * whole.event_bytes + cells * whole.cell_bytes, live, cells, 0, template, totals)
    positions = len(graph.position) if program.keeps else 0
    if whole.semantics != ANY:
        passed = whole.semantics == CONTIGUOUS and counts.occupied
        for p in range(positions):
            if passed or graph.position[p].extended:
                graph.position[p].extended = False
                leave(p, passed, counts.now, graph)
    commit(negated, template, totals)
    counts.now, counts.occupied = now, False
    if moved:
        size = close_windows(now, negated, template, state, out, size)
        open_windows(now, template, totals)
    for p in range(positions):
        if moved or whole.semantics != ANY or graph.position[p].prunable:
            floor = _valid_from(p, negated, template) if graph.position[p].prunable else NEVER
            show_vertices(p, graph)
            purge(p, floor, whole.semantics, totals.open[template.position[p].window].low, graph)
    return size


@inlined
def _valid_from(p: int, negated: Ints, template: GraphTables) -> int:
    """The time since which no negated match forbids to extend vertices of position p, over some transition."""
    floor = LATEST
    for e in range(len(template.transition)):
        edge = template.transition[e]
        if edge.source == p:
            floor = min(floor, latest_start(negated, template.lists, edge.between, edge.between_end))
    return floor
