"""The GRETA graph: a cell per vertex and window, edges that are visited and not stored (dissertation Section 11.1), and
mixed-grained and pattern-grained aggregation on top of it (Section 15.2, Algorithm 8; Section 16.2, Algorithm 9).

Positions that are not kept per event use the cells of `algorithms.online.kernels.lifecycle`.

Algorithm 9 keeps one last matched event. Definition 2.7 needs every event that still waits for its first successor:
under skip-till-next-match a vertex leaves when events of one time stamp extend it, under contiguous semantics when the
time moves on. So O(u) time per event and O(u) space for u waiting events, instead of O(1); u is 1 where Algorithm 9 is
right.
"""

from __future__ import annotations

from cepbench.algorithms.kernels.cells import Cells, add, add_all, add_selected, clear, is_empty
from cepbench.algorithms.kernels.clock import HIGH, LOW, NOW, OCCUPIED, has_ended, row_of
from cepbench.algorithms.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.kernels.events import KernelEvents, RowCells, fits, keep_columns
from cepbench.algorithms.kernels.lanes import DONE, ROOM, ROWS, Calls, over_keys
from cepbench.algorithms.kernels.negation import latest_start
from cepbench.algorithms.online.kernels.lifecycle import CONTIGUOUS, NEXT, OpenWindows, Windowed, append
from cepbench.algorithms.online.kernels.panes import advance_graph
from cepbench.algorithms.online.kernels.store import (
    EDGES,
    NO_BLOCK,
    Blocks,
    Graph,
    KeyGraph,
    graph_of,
    keep_vertex,
    select,
)
from cepbench.queries.tables import Predicates


@inner
def propagate(
    first: int, until: int, events: KernelEvents, fixed: Windowed, blocks: Blocks, own: KeyGraph, out: RowCells,
    size: int,
) -> tuple[int, int, int]:  # fmt: skip
    """Inserts the events of one key into its graph (`kernels.lanes`).

    Each event visits every vertex that may precede it, in every window that both share: O(n**2 k) for n events per
    window of which each lies in k windows, O(n k) space (Theorem 11.5).
    """
    tables, state = fixed.tables, own.windows
    graph = graph_of(blocks, own)
    span = len(state.final.over)
    clock = state.clock
    n = len(events.time)
    for i in range(first, n + 1):
        now = until
        if i < n:
            now = events.time[i]
        elif not has_ended(clock[LOW], clock[HIGH], until, fixed.window):
            break
        fresh = now != clock[NOW]
        if fresh:
            if size + span > len(out.window):
                return i, size, ROWS
            size = advance_graph(now, events.negated[i], fixed, graph, state, out, size)
        if i == n:
            break
        clock[OCCUPIED] = 1
        first_binding, end = tables.binding_ptr[events.kind[i]], tables.binding_ptr[events.kind[i] + 1]
        if fixed.keeps and graph.left[0] < end - first_binding:
            return i, size, ROOM
        low, high = clock[LOW], clock[HIGH]
        if low > high:
            continue
        alone = fresh and fixed.semantics != CONTIGUOUS and end - first_binding == 1
        alone = alone and i + 1 < n and events.time[i + 1] != now
        for j in range(len(state.seen)):
            alone = alone and events.negated[i + 1, j] <= state.seen[j]  # or it is a match that empties sums, too
        for b in range(first_binding, end):
            p = tables.binding[b]
            if fits(p, i, events, tables):
                _insert(i, p, low, high, alone, events, fixed, graph, state)
    return n, size, DONE


@kernel
def propagate_keys(
    at: int, done: int, calls: Calls, fixed: Windowed, blocks: Blocks, lanes: KeyGraph, rows: RowCells
) -> tuple[int, int, int, int]:
    """`propagate` over keys."""
    return over_keys(propagate, at, done, calls, fixed, blocks, lanes, rows)


@inlined
def _insert(
    i: int, p: int, low: int, high: int, alone: bool, events: KernelEvents, fixed: Windowed, graph: Graph,
    state: OpenWindows,
) -> None:  # fmt: skip
    """Event i at position p: collects the cells of its predecessors in windows low..high and becomes a vertex.

    If it is `alone` at its time stamp, it feeds sums at once; under skip-till-next-match it empties those that it read
    before. They are the only ones of their positions there, as COGRA refuses negation between events. Trends of a later
    window are trends of the oldest one, too, unless leading negations forbid that: a sum that is empty there is empty
    everywhere.
    """
    tables, slots = fixed.tables, fixed.slots
    span = len(state.final.over)
    size, row = len(state.touched), low % span
    for k in range(high - low + 1):
        clear(state.reached, k)
    for e in range(tables.enter_ptr[p], tables.enter_ptr[p + 1]):
        q = tables.source[e]
        if fixed.keeps and graph.position[q].kept:
            if fixed.semantics == NEXT:
                graph.position[q].extended = True
            floor = latest_start(events.negated[i], tables.between, tables.between_ptr[e], tables.between_ptr[e + 1])
            visit(i, q, e, low, floor, fixed.semantics, events, tables.adjacent, graph, span, state.reached, 0)
        elif fixed.semantics != NEXT or len(state.seen) > 0 or not is_empty(state.cells, row * size + slots.read[e]):
            for k in range(low, high + 1):
                at = row_of(k, low, row, span) * size + slots.read[e]
                add(state.reached, k - low, state.cells, at)
                if alone and fixed.semantics == NEXT:
                    clear(state.cells, at)
            if fixed.semantics == NEXT and not alone:
                state.consumed[slots.read[e]] = True
    found = append(i, p, low, high, alone, events, fixed, state)
    if fixed.keeps and found and graph.position[p].kept:
        at = keep_vertex(events.time[i], p, low, high, span, state.reached, 0, graph)
        keep_columns(i, events, graph.ints, graph.reals, at)


@inlined
def visit(
    i: int, q: int, which: int, low: int, floor: int, semantics: int, events: KernelEvents, adjacent: Predicates,
    graph: Graph, span: int, cells: Cells, at: int,
) -> None:  # fmt: skip
    """Adds the vertices of position q that event i may follow, by list `which` of predicates and from time `floor` on,
    to cells: those in window k to cell `at + k - low`.
    """
    width, row = graph.time.shape[1], low % span
    checked = adjacent.ptr[which + 1] > adjacent.ptr[which]
    block = graph.position[q].head
    while block != NO_BLOCK:
        shown, found = graph.block[block].shown, graph.block[block].live
        if found > 0 and graph.block[block].high >= low and graph.time[block, shown - 1] >= floor:
            whole = found == shown and not checked and graph.time[block, 0] >= floor and semantics != NEXT
            if not whole:
                found = select(i, q, which, block, floor, events, adjacent, graph)
            if semantics == NEXT:
                for s in range(found):
                    graph.time[block, graph.selected[s]] = events.time[i]  # they leave when this time ends
            graph.counters[EDGES] += found
            first, last = max(low, graph.block[block].low), graph.block[block].high
            if found > 0:
                for k in range(first, last + 1):
                    base = (block * span + row_of(k, low, row, span)) * width
                    if whole:
                        add_all(cells, at + k - low, graph.cells, base, 1, found)
                    else:
                        add_selected(cells, at + k - low, graph.cells, base, graph.selected, found)
        block = graph.block[block].next
