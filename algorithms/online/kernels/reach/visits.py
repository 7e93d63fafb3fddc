"""The GRETA graph: a cell per vertex and window, edges that are visited and not stored (dissertation Section 11.1), and
mixed-grained aggregation on top of it (Section 15.2, Algorithm 8).

Positions that are not kept per event use the cells of `algorithms.online.kernels.lifecycle`.
"""

from __future__ import annotations

import numpy as np

from cepbench.algorithms.kernels.arrays import Ints
from cepbench.algorithms.kernels.cells import Cells, add, clear, copy
from cepbench.algorithms.kernels.clock import HIGH, LOW, NOW, has_ended
from cepbench.algorithms.kernels.compilation import inlined, inner, kernel
from cepbench.algorithms.kernels.events import KernelEvents, RowCells, Sliding, fits, keep_columns
from cepbench.algorithms.kernels.lanes import DONE, ROOM, ROWS, Calls, over_keys
from cepbench.algorithms.online.kernels.lifecycle import OpenWindows, Slots, Windowed, append
from cepbench.algorithms.online.kernels.panes import advance_graph
from cepbench.algorithms.online.kernels.store import (
    EDGES,
    LIVE,
    NO_BLOCK,
    PENDING,
    Blocks,
    Graph,
    KeyGraph,
    graph_of,
    select,
)
from cepbench.queries.tables import Tables


@inner
def propagate(
    first: int,
    until: int,
    events: KernelEvents,
    fixed: Windowed,
    blocks: Blocks,
    own: KeyGraph,
    out: RowCells,
    size: int,
) -> tuple[int, int, int]:
    """Inserts the events of one key into its graph (`kernels.lanes`).

    Each event visits every vertex that may precede it, in every window that both share: O(n**2 k) for n events per
    window of which each lies in k windows, O(n k) space (Theorem 11.5).
    """
    tables, slots, window, state = fixed.tables, fixed.slots, fixed.window, own.windows
    graph = graph_of(blocks, own)
    span = len(state.final.over)
    clock = state.clock
    for i in range(first, len(events.time)):
        now = events.time[i]
        if now != clock[NOW]:
            if size + span > len(out.window):
                return i, size, ROWS
            size = advance_graph(now, events.negated[i], tables, slots, window, graph, state, out, size)
        if graph.left[0] < tables.binding_ptr[events.kind[i] + 1] - tables.binding_ptr[events.kind[i]]:
            return i, size, ROOM
        low, high = clock[LOW], now // window.slide
        if low > high:
            continue
        for b in range(tables.binding_ptr[events.kind[i]], tables.binding_ptr[events.kind[i] + 1]):
            p = tables.binding[b]
            if fits(p, i, events, tables):
                _insert(i, p, low, high, events, tables, slots, window, graph, state)
    n = len(events.time)
    if has_ended(clock[LOW], clock[HIGH], until, window):
        if size + span > len(out.window):
            return n, size, ROWS
        size = advance_graph(until, events.negated[n], tables, slots, window, graph, state, out, size)
    return n, size, DONE


@kernel
def propagate_keys(
    at: int, done: int, calls: Calls, fixed: Windowed, blocks: Blocks, lanes: KeyGraph, rows: RowCells
) -> tuple[int, int, int, int]:
    """`propagate` over keys."""
    return over_keys(propagate, at, done, calls, fixed, blocks, lanes, rows)


@inlined
def _insert(
    i: int,
    p: int,
    low: int,
    high: int,
    events: KernelEvents,
    tables: Tables,
    slots: Slots,
    window: Sliding,
    graph: Graph,
    state: OpenWindows,
) -> None:
    """Event i at position p: collects the cells of its predecessors in windows low..high and becomes a vertex."""
    span = len(state.final.over)
    size = len(state.touched)
    for k in range(high - low + 1):
        clear(state.reached, k)
    for e in range(tables.enter_ptr[p], tables.enter_ptr[p + 1]):
        q = tables.source[e]
        if graph.position[q].kept:
            floor = np.int64(-1)
            for k in range(tables.between_ptr[e], tables.between_ptr[e + 1]):
                floor = max(floor, events.negated[i, tables.between[k]])
            _visit(i, e, low, floor, events, tables, graph, state)
        else:
            for k in range(low, high + 1):
                add(state.reached, k - low, state.cells, (k % span) * size + slots.read[e])
    found = append(i, p, low, high, events, tables, slots, window, state)
    if found and graph.position[p].kept:
        block = _block_for(p, events.time[i] // window.pane, low, high, graph)
        v = graph.block[block].size
        graph.block[block].size = v + 1
        graph.counters[LIVE] += 1
        width = graph.time.shape[1]
        graph.time[block, v] = events.time[i]
        keep_columns(i, events, graph.ints, graph.reals, block * width + v)
        for k in range(low, high + 1):
            copy(graph.cells, (block * span + k % span) * width + v, state.reached, k - low)


@inlined
def _block_for(p: int, pane: int, low: int, high: int, graph: Graph) -> int:
    """The last block of position p if it is of this pane and has room, else a new one."""
    width = graph.time.shape[1]
    block = graph.position[p].tail
    fresh = block == NO_BLOCK or graph.block[block].pane != pane or graph.block[block].size == width
    if fresh:
        last = block
        graph.left[0] -= 1
        block = graph.free[graph.left[0]]
        graph.block[block].size, graph.block[block].shown = 0, 0
        graph.block[block].low, graph.block[block].high, graph.block[block].pane = low, high, pane
        graph.block[block].next = NO_BLOCK
        graph.position[p].tail = block
        if last == NO_BLOCK:
            graph.position[p].head = block
        else:
            graph.block[last].next = block
    listed = False
    for w in range(graph.counters[PENDING]):
        listed |= graph.waiting[w] == p
    if not listed:
        graph.waiting[graph.counters[PENDING]] = p
        graph.counters[PENDING] += 1
    return block


@inlined
def _visit(
    i: int, e: int, low: int, floor: np.int64, events: KernelEvents, tables: Tables, graph: Graph, state: OpenWindows
) -> None:
    """Adds the cells of all predecessors of event i over transition e to `state.reached`."""
    span = len(state.final.over)
    width = graph.time.shape[1]
    checked = tables.adjacent.ptr[e + 1] > tables.adjacent.ptr[e]
    plain = graph.cells.ring.shape[1] == 1 and graph.cells.real.shape[1] == 0 and graph.cells.least.shape[1] == 0
    block = graph.position[tables.source[e]].head
    while block != NO_BLOCK:
        shown = graph.block[block].shown
        if shown > 0 and graph.block[block].high >= low and graph.time[block, shown - 1] >= floor:
            whole = not checked and graph.time[block, 0] >= floor
            found = shown
            if not whole:
                found = select(i, e, block, floor, events, tables, graph)
            graph.counters[EDGES] += found
            for k in range(max(low, graph.block[block].low), graph.block[block].high + 1):
                base = (block * span + k % span) * width
                if whole and plain:
                    _sum_counts(state.reached, k - low, graph.cells, base, found)
                elif whole:
                    _sum_cells(state.reached, k - low, graph.cells, base, found)
                elif plain:
                    _sum_selected_counts(state.reached, k - low, graph.cells, graph.selected, base, found)
                else:
                    _sum_selected_cells(state.reached, k - low, graph.cells, graph.selected, base, found)
        block = graph.block[block].next


@inner
def _sum_cells(cells: Cells, to: int, vertices: Cells, base: int, found: int) -> None:
    """`add` of `found` consecutive cells."""
    for v in range(found):
        add(cells, to, vertices, base + v)


@inner
def _sum_selected_cells(cells: Cells, to: int, vertices: Cells, selected: Ints, base: int, found: int) -> None:
    """`add` of the cells of the `found` selected vertices."""
    for s in range(found):
        add(cells, to, vertices, base + selected[s])


@inner
def _sum_counts(cells: Cells, to: int, vertices: Cells, base: int, found: int) -> None:
    """`add` of `found` consecutive cells that hold COUNT(*) alone."""
    total = cells.ring[to, 0]
    over = cells.over[to]
    carried = False
    for v in range(np.uint64(base), np.uint64(base + found)):
        more = vertices.ring[v, 0]
        total += more
        carried |= total < more
        over |= vertices.over[v]
    cells.ring[to, 0] = total
    cells.over[to] = over | np.uint64(1) if carried else over


@inlined
def _sum_selected_counts(cells: Cells, to: int, vertices: Cells, selected: Ints, base: int, found: int) -> None:
    """`add` of the cells of the `found` selected vertices, which hold COUNT(*) alone."""
    total = cells.ring[to, 0]
    over = cells.over[to]
    carried = False
    for s in range(np.uint64(found)):
        v = np.uint64(base + selected[s])
        more = vertices.ring[v, 0]
        total += more
        carried |= total < more
        over |= vertices.over[v]
    cells.ring[to, 0] = total
    cells.over[to] = over | np.uint64(1) if carried else over
